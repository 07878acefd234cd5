import type { Commit } from '#core/domain/forge/forge.ts';
import type { FilesRequest, FileWrite } from '#core/ports/forge.ts';
import { makeCommit } from './wire/made-commit.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Writes whole files as one commit (forge facts, 6.2). The forge checks no file of the branch out for it. */
export function writeFiles(transport: ForgeTransport, request: FilesRequest): Promise<Commit> {
  return makeCommit(transport, {
    method: 'POST',
    label: 'POST contents',
    path: [...transport.repoPath, 'contents'],
    body: {
      branch: request.branch,
      ...(request.newBranch === undefined ? {} : { new_branch: request.newBranch }),
      files: request.files.map(toOperation),
      message: request.message,
    },
  });
}

function toOperation({ path, content, replaces }: FileWrite) {
  const sha = replaces === null ? {} : { sha: replaces };
  if (content === null) return { operation: 'delete', path, ...sha };
  return {
    operation: replaces === null ? 'create' : 'update',
    path,
    content: content.toString('base64'),
    ...sha,
  };
}
