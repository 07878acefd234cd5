import type { Commit } from '#core/domain/forge/forge.ts';
import type { PatchRequest } from '#core/ports/forge.ts';
import { makeCommit } from './wire/made-commit.ts';
import type { ForgeTransport } from './wire/transport.ts';

/**
 * Applies a patch as one commit (forge facts, 6.2). The forge answers a patch that does not apply with a bare 500, the
 * same as any fault of its own; the engine sends none that could fail to apply, so it is read as a fault.
 */
export function applyPatch(transport: ForgeTransport, request: PatchRequest): Promise<Commit> {
  return makeCommit(transport, {
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
  });
}
