import type { Commit } from '#core/domain/forge/forge.ts';
import type { FileCommit, ForgeFile } from '#core/ports/forge-admin.ts';
import { readMadeCommit } from './wire/made-commit.ts';
import { readBody } from './wire/read-body.ts';
import { FolderOrFile } from './wire/schema-admin.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Lists the files directly in a folder; null where the branch has no such folder, or a file of that name. */
export async function listFolder(
  transport: ForgeTransport,
  path: string,
  branch: string,
): Promise<readonly ForgeFile[] | null> {
  const call = {
    method: 'GET',
    label: 'GET contents/{path}',
    path: [...transport.repoPath, 'contents', ...path.split('/')],
    query: { ref: branch },
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) return null;
  if (answer.status !== 200) throw transport.failure(call, answer);
  const body = readBody(FolderOrFile, call, answer);
  if (!Array.isArray(body)) return null;
  return body.filter((row) => row.type === 'file').map((row) => ({ path: row.path, blob: row.sha }));
}

/** Commits one new file on a new branch. Returns `rejected` where the file or the branch exists. */
export async function commitFile(transport: ForgeTransport, commit: FileCommit): Promise<Commit> {
  const call = {
    method: 'POST',
    label: 'POST contents/{path}',
    path: [...transport.repoPath, 'contents', ...commit.path.split('/')],
    body: {
      branch: commit.branch,
      new_branch: commit.newBranch,
      content: Buffer.from(commit.content, 'utf8').toString('base64'),
      message: commit.message,
    },
  } as const;
  return readMadeCommit(call, await transport.request(call));
}
