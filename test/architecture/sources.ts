import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');

/** Not of the project: fetched, built or generated. */
const FOREIGN = new Set(['node_modules', 'dist', 'cdk.out', 'coverage', '.git', '.mergeyard']);

/** Every file of the project, by its path from the root. */
export function listFiles(folder = ''): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    if (FOREIGN.has(entry.name)) return [];
    const path = join(folder, entry.name);
    return entry.isDirectory() ? listFiles(path) : [path];
  });
}

export function listSources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)));
}

export function readSource(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export interface Edge {
  readonly from: string;
  /** Path from the root, or the name of a package. */
  readonly to: string;
}

/** Every import, of types too: those leave no trace in a bundle, but they are edges all the same. */
export function readEdges(from: string): Edge[] {
  const names = [
    ...readSource(from).matchAll(
      /^(?:import|export)\b[^;]*?\bfrom\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|^import\s+'([^']+)'/gm,
    ),
  ];
  return names.map((match) => {
    const name = match[1] ?? match[2] ?? match[3] ?? '';
    if (name.startsWith('#core/')) return { from, to: name.replace('#core/', 'core/') };
    return { from, to: name.startsWith('.') ? relative(ROOT, resolve(ROOT, dirname(from), name)) : name };
  });
}
