import * as z from 'zod';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import { readBody } from './wire/read-body.ts';
import { Sha } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

// Not among the other schemas: the functions that hold those read no such answer.
const CommitRefRow = z.object({ ref: z.string(), object: z.object({ sha: Sha }) });
/** A list, or the one reference that has exactly this name. */
const CommitRefRows = z.union([z.array(CommitRefRow), CommitRefRow.transform((row) => [row])]);

/** Reads the commit at `refs/pull/<n>/head`; null: there is no such reference. One call. */
export async function readKeptHead(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<CommitSha | null> {
  const call = {
    method: 'GET',
    label: 'GET git/refs/{ref}',
    path: [...transport.repoPath, 'git', 'refs', 'pull', String(pr), 'head'],
  } as const;
  const answer = await transport.exchange(call);
  if (answer.status === 404 && answer.isJson) return null;
  if (answer.status !== 200) throw transport.failure(call, answer);
  const rows = readBody(CommitRefRows, call, answer);
  return rows.find(({ ref }) => ref === `refs/pull/${pr}/head`)?.object.sha ?? null;
}
