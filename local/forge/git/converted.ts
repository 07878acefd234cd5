import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { git } from './process.ts';
import type { Repository } from './repository.ts';

const RULES = /(?:^|\/)\.gitattributes$/;

let scratch = 0;

/**
 * Whether git takes one of these files for changed that were checked out by the rules of one tree, once those of another hold.
 * The files are the same in both. Git looks at contents only where a file's time says nothing, which holds of each here.
 */
export async function hasConverted(
  repository: Repository,
  { written, read }: { readonly written: string; readonly read: string },
  paths: readonly string[],
): Promise<boolean> {
  const files = await repository.objects.readFlat(written);
  const present = paths.filter((path) => files.has(path));
  const all = [...files.keys(), ...(await repository.objects.readFlat(read)).keys()];
  if (present.length === 0 || !all.some((path) => RULES.test(path))) return false;
  const dir = join(repository.dir, `checkout-${process.pid}-${scratch++}`);
  const env = { GIT_INDEX_FILE: join(dir, 'index'), GIT_WORK_TREE: join(dir, 'files') };
  mkdirSync(env.GIT_WORK_TREE, { recursive: true });
  try {
    await git(repository.dir, ['read-tree', written], { env });
    const input = present.map((path) => `${path}\0`).join('');
    await git(repository.dir, ['checkout-index', '-q', '-f', '-z', '--stdin'], { env, input });
    // A file of rules that is on disk counts before the one in the index.
    for (const path of present) if (RULES.test(path)) rmSync(join(env.GIT_WORK_TREE, path));
    await git(repository.dir, ['read-tree', read], { env });
    return (await git(repository.dir, ['diff', '--name-only', '--diff-filter=M'], { env })) !== '';
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
