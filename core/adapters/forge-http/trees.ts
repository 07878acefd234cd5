import { createHash } from 'node:crypto';
import type { TreeEntry, TreeListing } from '#core/domain/forge/forge.ts';
import {
  DIRECTORY_MEMORY_ENTRIES_MAX,
  FORGE_PAGES_MAX,
  FORGE_TREE_PAGE_SIZE_MAX,
} from '#core/domain/limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { readBody } from './wire/read-body.ts';
import { TreePage } from './wire/schema.ts';
import { type ForgeTransport, unusable } from './wire/transport.ts';

/** Ids of a file without contents, of either kind of hash. */
const EMPTY_BLOBS: ReadonlySet<string> = new Set(
  ['sha1', 'sha256'].map((hash) => createHash(hash).update('blob 0\0').digest('hex')),
);

/** A forge that fails to read a size lists 0, and no hash shows that (forge facts, 6.1): only an empty file has that size. */
function isToldSize({ type, size, sha }: TreePage['tree'][number]): boolean {
  return type === 'blob' && (size !== 0 || EMPTY_BLOBS.has(sha));
}

/**
 * Lists the entries below a commit or tree, in git's order. Everything below is included only where one page holds it.
 */
export async function readTree(
  transport: ForgeTransport,
  id: string,
  depth: 'all' | 'one',
): Promise<TreeListing> {
  const call = {
    method: 'GET',
    label: 'GET git/trees/{sha}',
    // Asked by commit the forge names the commit; peeled with git's own `^{tree}` it names the tree.
    path: [...transport.repoPath, 'git', 'trees', `${id}^{tree}`],
  } as const;
  const entries: TreeEntry[] = [];
  for (let page = 1; page <= FORGE_PAGES_MAX; page += 1) {
    const recursive = depth === 'all' ? { recursive: 'true' } : {};
    const query = { ...recursive, per_page: FORGE_TREE_PAGE_SIZE_MAX, page };
    const answer = await transport.exchange({ ...call, query });
    // Old versions say 400 for an object that does not exist, newer ones 404.
    if (answer.status === 400 && answer.isJson) throw new ForgeError('missing', call.label, 400);
    if (answer.status !== 200) throw transport.failure(call, answer);
    const body = readBody(TreePage, call, answer);
    for (const row of body.tree) {
      const { path, mode, sha, size } = row;
      entries.push({ path, mode, id: sha, size: isToldSize(row) ? size : null });
    }
    if (entries.length > DIRECTORY_MEMORY_ENTRIES_MAX) break;
    if (entries.length >= body.total_count) return { tree: body.sha, entries };
    if (depth === 'all') return { tree: body.sha, entries: null };
    // Half a tree taken for the whole would delete the other half.
    if (body.tree.length === 0) throw unusable(call, answer.status);
  }
  throw new ForgeError('unreachable', call.label, null);
}
