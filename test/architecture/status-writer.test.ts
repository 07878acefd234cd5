import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const ROOT = resolve(__dirname, '../..');
const SOURCE_FOLDERS = ['bin', 'core', 'engine-container', 'lambdas', 'lib', 'local'];
const ADAPTER = 'core/adapters/forge-http';

function listSources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
    .filter((path) => !path.includes('node_modules'));
}

/** Files that a file imports, as paths from the root. Packages are left out. */
function readImports(path: string): string[] {
  const source = readFileSync(join(ROOT, path), 'utf8');
  const names = [...source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"]+)['"]/g)].map(
    (match) => match[1] ?? '',
  );
  return names.flatMap((name) => {
    if (name.startsWith('#core/')) return [name.replace('#core/', 'core/')];
    return name.startsWith('.') ? [relative(ROOT, resolve(ROOT, dirname(path), name))] : [];
  });
}

const files = SOURCE_FOLDERS.flatMap(listSources);

function importersOf(target: string): string[] {
  return files.filter((path) => readImports(path).includes(target));
}

describe('the writers of commit statuses (A6)', () => {
  test('the scan sees the files it judges', () => {
    expect(files).toEqual(
      expect.arrayContaining([`${ADAPTER}/status-writer.ts`, `${ADAPTER}/engine-forge.ts`]),
    );
    expect(importersOf(`${ADAPTER}/wire/transport.ts`).length).toBeGreaterThan(5);
  });

  test('the writer is imported by the engine’s client alone', () => {
    expect(importersOf(`${ADAPTER}/status-writer.ts`)).toEqual([`${ADAPTER}/engine-forge.ts`]);
  });

  test('the engine’s client is imported by the engine alone', () => {
    for (const path of importersOf(`${ADAPTER}/engine-forge.ts`)) expect(path).toMatch(/^engine-container\//);
  });

  test('the engine’s writer is made from a held lease, and one service grants leases (A40, A41)', () => {
    for (const writer of ['stager', 'schedule-probe', 'status-writer']) {
      const path = `${ADAPTER}/${writer}.ts`;
      expect(importersOf(path)).toEqual([`${ADAPTER}/engine-forge.ts`]);
      expect(readFileSync(join(ROOT, path), 'utf8')).toMatch(
        /export function create\w+\(transport: LeasedTransport\)/,
      );
    }
    const naming = (word: RegExp) =>
      files.filter((path) => word.test(readFileSync(join(ROOT, path), 'utf8')));
    expect(naming(/\bgrantHeldLease\(/)).toEqual([
      'core/domain/wakes/lease.ts',
      'core/services/wakes/lease.ts',
    ]);
    expect(naming(/\bas (unknown as )?(HeldLease|LeasedTransport)\b/)).toEqual([
      'core/domain/wakes/lease.ts',
    ]);
  });

  test('no other code of ours writes below /statuses', () => {
    const writers = files.filter((path) => {
      if (path.startsWith('local/forge/')) return false;
      const source = readFileSync(join(ROOT, path), 'utf8');
      return /method: '(?:POST|PUT|PATCH)'[\s\S]{0,300}['"`/]statuses\b/.test(source);
    });
    expect(writers).toEqual([`${ADAPTER}/status-writer.ts`]);
  });
});
