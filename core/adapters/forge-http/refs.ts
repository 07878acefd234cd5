import { branchRef, type RefInTheWay } from '#core/domain/forge/forge.ts';
import { readBody } from './wire/read-body.ts';
import { RefRows, TagRow } from './wire/schema.ts';
import { type ForgeTransport, splitBranch } from './wire/transport.ts';

/**
 * Finds the reference beside which git cannot hold one of these branches; a branch of that very name is none. Two
 * calls.
 */
export async function findRefInTheWay(
  transport: ForgeTransport,
  branches: readonly string[],
): Promise<RefInTheWay | null> {
  // A forge lists by the beginning of a name: that of the branches of a queue is that of its work branches too.
  const [root = ''] = branches.map((branch) => branch.split('/')[0] ?? '').sort();
  for (const name of await listRefs(transport, 'heads', root)) {
    const isInTheWay = branches.some(
      (branch) => branch.startsWith(`${name}/`) || name.startsWith(`${branch}/`),
    );
    if (isInTheWay) return { kind: 'branch', name };
  }
  for (const name of await listRefs(transport, 'tags', root)) {
    if (branches.includes(name)) return { kind: 'tag', name };
  }
  return null;
}

/** Finds a branch or tag with the full name of this branch, which git takes for that branch as well (forge facts, 3.5). Two calls. */
export async function findNamesake(transport: ForgeTransport, branch: string): Promise<RefInTheWay | null> {
  const name = branchRef(branch);
  if ((await listRefs(transport, 'heads', name)).includes(name)) return { kind: 'branch', name };
  return (await listRefs(transport, 'tags', name)).includes(name) ? { kind: 'tag', name } : null;
}

/** Tells whether a tag has exactly this name. One call. */
export async function hasTag(transport: ForgeTransport, name: string): Promise<boolean> {
  const call = {
    method: 'GET',
    label: 'GET tags/{tag}',
    path: [...transport.repoPath, 'tags', ...splitBranch(name)],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) return false;
  if (answer.status !== 200) throw transport.failure(call, answer);
  readBody(TagRow, call, answer);
  return true;
}

/** Lists the names of references of one kind with this beginning. */
async function listRefs(
  transport: ForgeTransport,
  kind: 'heads' | 'tags',
  root: string,
): Promise<readonly string[]> {
  const call = {
    method: 'GET',
    label: 'GET git/refs/{ref}',
    path: [...transport.repoPath, 'git', 'refs', kind, ...splitBranch(root)],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) return [];
  if (answer.status !== 200) throw transport.failure(call, answer);
  const prefix = `refs/${kind}/`;
  return readBody(RefRows, call, answer)
    .filter(({ ref }) => ref.startsWith(prefix))
    .map(({ ref }) => ref.slice(prefix.length));
}
