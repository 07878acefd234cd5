import type { PullRequestNumber } from '#core/domain/ids.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { ChangedFileRows } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

/** Paths that a pull request changes, under their new names: what the forge compares with its protected patterns. */
export async function listChangedFiles(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<readonly string[]> {
  const call = {
    method: 'GET',
    label: 'GET pulls/{n}/files',
    path: [...transport.repoPath, 'pulls', String(pr), 'files'],
  } as const;
  const rows = await readAllPages(transport, call, (answer) => readBody(ChangedFileRows, call, answer));
  return rows.map((row) => row.filename);
}
