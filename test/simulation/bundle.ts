import { readFile } from 'node:fs/promises';
import { relative } from 'node:path';
import { build, type Plugin } from 'esbuild';

/** One change of the source text, made in the test build only: what is delivered has no switch that turns a guard off. */
export interface Mutation {
  /** Path from the root of the project. */
  readonly file: string;
  /** Text that must occur exactly once; a mutation whose text is gone fails the build instead of testing nothing. */
  readonly find: string;
  readonly replace: string;
}

/** Bundles a program of this folder into one CommonJS text for worker threads, with these mutations applied. */
export async function bundleProgram(entry: string, mutations: readonly Mutation[] = []): Promise<string> {
  const applied = new Set<Mutation>();
  const { outputFiles } = await build({
    absWorkingDir: process.cwd(),
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    logLevel: 'silent',
    plugins: [mutate(mutations, applied)],
  });
  for (const mutation of mutations)
    if (!applied.has(mutation)) throw new Error(`${mutation.file} is no part of ${entry}`);
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${entry} came to nothing`);
  return output.text;
}

function mutate(mutations: readonly Mutation[], applied: Set<Mutation>): Plugin {
  return {
    name: 'mutate',
    setup(hooks) {
      if (mutations.length === 0) return;
      hooks.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const own = mutations.filter(({ file }) => file === relative(process.cwd(), path));
        if (own.length === 0) return undefined;
        let contents = await readFile(path, 'utf8');
        for (const mutation of own) {
          contents = replaceOnce(contents, mutation);
          applied.add(mutation);
        }
        return { contents, loader: 'ts' };
      });
    },
  };
}

export function replaceOnce(text: string, { file, find, replace }: Mutation): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
  return parts.join(replace);
}
