import type { CommitSha } from '#core/domain/ids.ts';
import { type StatusRow, stampOf, type World, writeJournal } from './world.ts';

/** Append-only; the newest row of a context counts. Exactly `success` may start automatic merges. */
export function appendStatus(world: World, sha: CommitSha, input: Omit<StatusRow, 'createdAt' | 'at'>): void {
  const at = world.timers.now();
  const row: StatusRow = { ...input, createdAt: stampOf(world), at };
  let rows = world.statuses.get(sha);
  if (rows === undefined) {
    rows = { history: [], latest: new Map() };
    world.statuses.set(sha, rows);
  }
  rows.history.push(row);
  const { context, state, description, creator } = row;
  writeJournal(world, { kind: 'status', at, sha, context, state, description, creator });
  rows.latest.set(row.context, row);
  if (row.state === 'success') world.reactions.statusSucceeded(sha);
}
