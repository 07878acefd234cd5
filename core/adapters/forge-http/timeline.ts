import type { TimelineEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { FORGE_PAGE_SIZE_MAX, FORGE_PAGES_MAX } from '#core/domain/limits.ts';
import { ListingTooLong } from '#core/ports/forge.ts';
import { readBody } from './wire/read-body.ts';
import { PushBody, type TimelineRow, TimelineRows } from './wire/schema.ts';
import type { ForgeTransport } from './wire/transport.ts';

const KINDS: ReadonlyMap<string, TimelineEntry['kind']> = new Map([
  ['pull_scheduled_merge', 'scheduled'],
  ['pull_cancel_scheduled_merge', 'cancelled'],
  ['pull_push', 'pushed'],
  ['reopen', 'reopened'],
  ['change_target_branch', 'retargeted'],
  ['add_dependency', 'dependency'],
  ['remove_dependency', 'dependency'],
]);

/**
 * Pages in a row without a new entry that are passed over. The forge leaves inline comments, and references from repositories that the
 * bot may not read, out of a page after it has cut it: an empty page is no sign of the end.
 */
const EMPTY_PAGES_MAX = 10;
/** A page of so many rows may be full, and the next page may hold entries of the same second. By default a full page has no fewer. */
const FULL_PAGE_ROWS_MIN = 30;

/**
 * Reads the whole timeline, oldest first (decision 0320). Where no page is asked for, Forgejo and Gitea before 1.26 give all of it,
 * and later versions its first page (forge facts, 3.4). Once an entry is as new as the last change of the pull request, `changedAt`,
 * none follows. Without `changedAt` the timeline ends at the first page that brings no new entry. The forge sorts by the second of
 * its clock, which can go back; numbers are given in the order of writing. Throws `ListingTooLong`.
 */
export async function readTimeline(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  changedAt?: EpochMs,
): Promise<readonly TimelineEntry[]> {
  const rows = new Map<number, TimelineRow>();
  const emptyMax = changedAt === undefined ? 1 : EMPTY_PAGES_MAX;
  let empty = 0;
  for (let page = 1; empty < emptyMax; page += 1) {
    if (page > FORGE_PAGES_MAX) throw new ListingTooLong(callOf(transport, pr).label);
    const part = await readPart(transport, pr, page);
    const before = rows.size;
    for (const row of part) if (row !== null) rows.set(row.id, row);
    empty = rows.size === before ? empty + 1 : 0;
    // More than a page was given for the first one: that is all.
    if (part.length > FORGE_PAGE_SIZE_MAX) break;
    if (part.length < FULL_PAGE_ROWS_MIN && isAsNew([...rows.values()], changedAt)) break;
  }
  return [...rows.values()].sort((one, other) => one.id - other.id).map(toTimelineEntry);
}

function isAsNew(rows: readonly TimelineRow[], changedAt: EpochMs | undefined): boolean {
  return changedAt !== undefined && rows.some(({ created_at: at }) => at >= changedAt);
}

/** @param page - From 1. The first page is asked for without its number: only so do some versions give all entries at once. */
async function readPart(
  transport: ForgeTransport,
  pr: PullRequestNumber,
  page: number,
): Promise<readonly (TimelineRow | null)[]> {
  const query = { limit: FORGE_PAGE_SIZE_MAX, ...(page === 1 ? {} : { page }) };
  const call = { ...callOf(transport, pr), query };
  return readBody(TimelineRows, call, await transport.request(call));
}

function callOf(transport: ForgeTransport, pr: PullRequestNumber) {
  return {
    method: 'GET',
    label: 'GET issues/{n}/timeline',
    path: [...transport.repoPath, 'issues', String(pr), 'timeline'],
  } as const;
}

function toTimelineEntry(row: TimelineRow): TimelineEntry {
  const kind = row.type === 'label' ? labelKind(row) : (KINDS.get(row.type) ?? 'other');
  return {
    id: row.id,
    kind,
    at: row.created_at,
    user: row.user,
    newHead: kind === 'pushed' ? readNewHead(row.body) : null,
    ...(kind === 'retargeted' && row.old_ref !== '' ? { baseBefore: row.old_ref } : {}),
    ...(row.type === 'label' && row.label != null ? { label: row.label.name } : {}),
  };
}

/** Kind of a label entry: its body is "1" where the label was put on, and empty where it was taken off. */
function labelKind({ body }: TimelineRow): TimelineEntry['kind'] {
  return body === '1' ? 'labelled' : 'unlabelled';
}

/** Newest commit of a push: the last id, in a normal push (oldest first) and in a force push (`[old, new]`) alike. */
function readNewHead(body: string): CommitSha | null {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return null;
  }
  const parsed = PushBody.safeParse(json);
  return parsed.success ? (parsed.data.commit_ids.at(-1) ?? null) : null;
}
