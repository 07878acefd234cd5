import type { Commit } from '#core/domain/forge.ts';
import type { PatchRequest } from '#core/ports/forge.ts';
import { readBody } from './read-body.ts';
import { PatchAnswer } from './schema.ts';
import type { ForgeAnswer, ForgeTransport } from './transport.ts';

/**
 * Applies a content-free patch as one commit (forge facts, 6.2).
 *
 * The forge answers every patch that does not apply with a bare 500, the same as any fault of its own. Only when the
 * plan left a content merge to the forge, and only when it says so twice, is that read as a conflict.
 */
export async function applyPatch(
  transport: ForgeTransport,
  request: PatchRequest,
): Promise<Commit | 'conflict'> {
  const call = {
    method: 'POST',
    label: 'POST diffpatch',
    path: [...transport.repoPath, 'diffpatch'],
    body: {
      branch: request.branch,
      ...(request.newBranch === undefined ? {} : { new_branch: request.newBranch }),
      content: request.patch,
      message: request.message,
      // Demanded by every Forgejo and by Gitea up to 1.24, never looked at.
      sha: 'unused',
    },
  } as const;
  let answer = await transport.exchange(call);
  if (request.mayConflict && isRefusedPatch(answer)) {
    answer = await transport.exchange(call);
    if (isRefusedPatch(answer)) return 'conflict';
  }
  if (answer.status !== 201) throw transport.failure(call, answer);
  const { commit } = readBody(PatchAnswer, call, answer);
  return {
    sha: commit.sha,
    tree: commit.tree.sha,
    parents: commit.parents.map((parent) => parent.sha),
    message: commit.message,
  };
}

/** The forge's own 500; a proxy's page is not about the patch. */
function isRefusedPatch(answer: ForgeAnswer): boolean {
  return answer.status === 500 && answer.isJson;
}
