import type { CommitSha } from '#core/domain/ids.ts';
import { readBody } from './wire/read-body.ts';
import { Branch } from './wire/schema.ts';
import { type ForgeCall, type ForgeTransport, splitBranch } from './wire/transport.ts';

function getBranch(transport: ForgeTransport, branch: string): ForgeCall {
  return {
    method: 'GET',
    label: 'GET branches/{branch}',
    path: [...transport.repoPath, 'branches', ...splitBranch(branch)],
  };
}

/** Tip of a branch, null when there is none. */
export async function readBranchTip(transport: ForgeTransport, branch: string): Promise<CommitSha | null> {
  const call = getBranch(transport, branch);
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) {
    // The forge says 404 as well when the whole repository is gone or hidden from the token: not "no such branch".
    await assertRepoReadable(transport);
    return null;
  }
  if (answer.status !== 200) throw transport.failure(call, answer);
  return readBody(Branch, call, answer).commit.id;
}

/** The branch as the forge describes it to every reader. Throws `missing`. */
export async function readBranch(transport: ForgeTransport, branch: string): Promise<Branch> {
  const call = getBranch(transport, branch);
  return readBody(Branch, call, await transport.request(call));
}

export async function assertRepoReadable(transport: ForgeTransport): Promise<void> {
  await transport.request({ method: 'GET', label: 'GET repo', path: transport.repoPath });
}

/** Creates a branch. False: the name is taken, also by a branch below or above it (`a` and `a/b` cannot coexist). */
export async function createBranch(
  transport: ForgeTransport,
  branch: string,
  at: CommitSha,
): Promise<boolean> {
  const call = {
    method: 'POST',
    label: 'POST branches',
    path: [...transport.repoPath, 'branches'],
    body: { new_branch_name: branch, old_ref_name: at },
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 409 && answer.isJson) return false;
  if (answer.status !== 201) throw transport.failure(call, answer);
  // A page in a success status proves nothing.
  readBody(Branch, call, answer);
  return true;
}

/** Deletes a branch. False: there is none, or none that this account may see. */
export async function deleteBranch(transport: ForgeTransport, branch: string): Promise<boolean> {
  const call = {
    method: 'DELETE',
    label: 'DELETE branches/{branch}',
    path: [...transport.repoPath, 'branches', ...splitBranch(branch)],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) return false;
  // Forgejo fails with a bare 500 on a branch that is not there, as on any fault of its own: look which one it was.
  const isAbsent =
    answer.status === 500 && answer.isJson && (await readBranchTip(transport, branch)) === null;
  if (!isAbsent && answer.status !== 204) throw transport.failure(call, answer);
  return !isAbsent;
}
