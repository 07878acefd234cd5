import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ObjectStore } from './objects.ts';
import { git } from './process.ts';

let scratch = 0;

/**
 * Runs with the environment in which git obeys the `.gitmodules` of a commit, as where that is checked out: git that has no working
 * tree reads none.
 */
export async function withSubmoduleRules<Result>(
  { dir, objects }: { readonly dir: string; readonly objects: ObjectStore },
  commit: string,
  run: (env: Readonly<Record<string, string>>) => Promise<Result>,
): Promise<Result> {
  if (!(await objects.readFlat(commit)).has('.gitmodules')) return run({});
  const place = join(dir, `modules-${process.pid}-${scratch++}`);
  const env = { GIT_INDEX_FILE: join(place, 'index'), GIT_WORK_TREE: join(place, 'files') };
  mkdirSync(env.GIT_WORK_TREE, { recursive: true });
  try {
    await git(dir, ['read-tree', commit], { env });
    return await run(env);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}
