import type { Commit } from '#core/domain/forge/forge.ts';
import type { FilesRequest, FileWrite } from '#core/ports/forge.ts';
import { readMadeCommit } from './wire/made-commit.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Writes whole files as one commit (forge facts, 6.2). The forge checks no file of the branch out for it. */
export async function writeFiles(transport: ForgeTransport, request: FilesRequest): Promise<Commit> {
  const call = {
    method: 'POST',
    label: 'POST contents',
    path: [...transport.repoPath, 'contents'],
    body: {
      branch: request.branch,
      ...(request.newBranch === undefined ? {} : { new_branch: request.newBranch }),
      files: request.files.map(toOperation),
      message: request.message,
    },
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status !== 201) throw transport.failure(call, answer);
  return readMadeCommit(call, answer);
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
