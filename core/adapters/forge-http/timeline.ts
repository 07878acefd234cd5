import type { TimelineEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
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
 * Reads the whole timeline, oldest first. `page` is left out: with it, the forge filters after it cuts the page. The forge sorts
 * by the second of its clock, which can go back; numbers are given in the order of writing.
 */
export async function readTimeline(
  transport: ForgeTransport,
  pr: PullRequestNumber,
): Promise<readonly TimelineEntry[]> {
  const call = {
    method: 'GET',
    label: 'GET issues/{n}/timeline',
    path: [...transport.repoPath, 'issues', String(pr), 'timeline'],
  } as const;
  const rows = readBody(TimelineRows, call, await transport.request(call));
  return rows
    .filter((row) => row !== null)
    .sort((one, other) => one.id - other.id)
    .map(toTimelineEntry);
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
