import type { TreeEntry } from '#core/domain/forge.ts';
import { FORGE_PAGES_MAX, FORGE_TREE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { readBody } from './read-body.ts';
import { TreePage } from './schema.ts';
import { type ForgeTransport, unusable } from './transport.ts';

/** All entries below a commit or tree in git's order: directories dropped, submodules kept. */
export async function readTree(transport: ForgeTransport, sha: string): Promise<readonly TreeEntry[]> {
  const call = {
    method: 'GET',
    label: 'GET git/trees/{sha}',
    path: [...transport.repoPath, 'git', 'trees', sha],
  } as const;
  const entries: TreeEntry[] = [];
  let seen = 0;
  for (let page = 1; page <= FORGE_PAGES_MAX; page += 1) {
    const query = { recursive: 'true', per_page: FORGE_TREE_PAGE_SIZE_MAX, page };
    const answer = await transport.exchange({ ...call, query });
    // Old versions say 400 for an object that does not exist, newer ones 404.
    if (answer.status === 400 && answer.isJson) throw new ForgeError('missing', call.label, 400);
    if (answer.status !== 200) throw transport.failure(call, answer);
    const body = readBody(TreePage, call, answer);
    seen += body.tree.length;
    for (const row of body.tree) {
      if (row.type !== 'tree') entries.push({ path: row.path, mode: row.mode, id: row.sha });
    }
    if (seen >= body.total_count) return entries;
    // Half a tree taken for the whole would delete the other half.
    if (body.tree.length === 0) throw unusable(call, answer.status);
  }
  throw new ForgeError('unreachable', call.label, null);
}
