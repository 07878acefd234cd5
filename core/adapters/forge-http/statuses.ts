import type { CommitStatus } from '#core/domain/forge/forge.ts';
import type { PostedStatus } from '#core/domain/forge/status-gate.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { readAllPages } from './wire/paging.ts';
import { readBody } from './wire/read-body.ts';
import { readLink } from './wire/read-link.ts';
import { CombinedStatus, type StatusRow, StatusRows } from './wire/schema.ts';
import { type ForgeTransport, unusable } from './wire/transport.ts';

/**
 * Latest status per context of one commit. `total_count` of the body counts one page only and is not looked at. The forge takes the
 * id for a name first: a branch or tag of that name answers in place of the commit, which the id in the answer shows.
 */
export async function readStatuses(
  transport: ForgeTransport,
  sha: CommitSha,
): Promise<readonly CommitStatus[]> {
  const call = {
    method: 'GET',
    label: 'GET commits/{sha}/status',
    path: [...transport.repoPath, 'commits', sha, 'status'],
  } as const;
  const rows = await readAllPages(transport, call, (answer) => {
    const combined = readBody(CombinedStatus, call, answer);
    if (combined.sha !== null && combined.sha !== sha) throw unusable(call, answer.status);
    return combined.statuses;
  });
  return rows.map((row) => ({
    context: row.context,
    state: row.status,
    description: row.description,
    creator: row.creator,
    createdAt: row.created_at,
  }));
}

/**
 * Lists every status that was ever posted on a commit, in no promised order; `id` grows with time. They are asked for
 * by their number on that commit, because the forge sorts by seconds otherwise: rows of one second may then be on
 * another page at each call, and one of them on none.
 */
export async function listStatusHistory(
  transport: ForgeTransport,
  sha: CommitSha,
): Promise<readonly StatusRow[]> {
  const call = {
    method: 'GET',
    label: 'GET statuses/{sha}',
    // Not `commits/{sha}/statuses`, where a branch or tag of that name answers in place of the commit (forge facts, 7).
    path: [...transport.repoPath, 'statuses', sha],
    query: { sort: 'leastindex' },
  } as const;
  const rows = await readAllPages(transport, call, (answer) => readBody(StatusRows, call, answer));
  return rows.filter((row) => row !== null);
}

/** As `listStatusHistory`, in the types of the port. */
export async function readStatusHistory(
  transport: ForgeTransport,
  sha: CommitSha,
): Promise<readonly PostedStatus[]> {
  const rows = await listStatusHistory(transport, sha);
  return rows.map((row) => ({
    id: row.id,
    context: row.context,
    state: row.status,
    description: row.description,
    creator: row.creator,
    createdAt: row.created_at,
    url: readLink(transport, row.target_url),
  }));
}
