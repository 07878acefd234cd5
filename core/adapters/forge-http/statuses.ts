import type { CommitStatus } from '#core/domain/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { readAllPages } from './paging.ts';
import { readBody } from './read-body.ts';
import { CombinedStatus, type StatusRow } from './schema.ts';
import type { ForgeTransport } from './transport.ts';

/** Latest status per context of one commit. */
export async function readStatuses(
  transport: ForgeTransport,
  sha: CommitSha,
): Promise<readonly CommitStatus[]> {
  const rows = await listLatestStatuses(transport, sha);
  return rows.map((row) => ({
    context: row.context,
    state: row.status,
    description: row.description,
    creator: row.creator,
    createdAt: row.created_at,
  }));
}

/** The same as the forge sends it. `total_count` of the body counts this page only and is not looked at. */
export async function listLatestStatuses(
  transport: ForgeTransport,
  sha: CommitSha,
): Promise<readonly StatusRow[]> {
  const call = {
    method: 'GET',
    label: 'GET commits/{sha}/status',
    path: [...transport.repoPath, 'commits', sha, 'status'],
  } as const;
  return readAllPages(transport, call, (answer) => readBody(CombinedStatus, call, answer));
}
