import type { EpochMs, RepoId, TenantId } from '../../../domain/ids.ts';
import { isWatched } from '../../../domain/notices/queue-notices.ts';
import { type ActivityEvent, endsPullRequest, type NodeRow } from '../../../domain/queue/batch.ts';
import type { Connection, ManagedRepo } from '../../../domain/repos/repo.ts';
import { connection } from './connection-item.ts';
import { activityEvent } from './event-items.ts';
import { guard } from './guard-item.ts';
import type { Key } from './keys.ts';
import {
  ALL_BATCHES_PARTITION,
  ALL_CONNECTIONS_PARTITION,
  ALL_REPOS_PARTITION,
  batchPartition,
  batchSortKey,
  connectionKey,
  duePartition,
  dueSortKey,
  eventPartition,
  eventSortKey,
  PHASE_PARTITION,
  padTime,
  repoKey,
  terminalKey,
  WATCH_PARTITION,
  wakeKey,
} from './keys.ts';
import { nodeRow } from './node-item.ts';
import { repoSettings } from './repo-item.ts';
import { wakeState } from './wake-item.ts';

/** A row as it is put: keys of the table, keys of the indexes, attributes. */
export type StoredRow = Record<string, unknown>;

/** @param stored - Row that it takes the place of: attributes of a newer release stay in it. */
export function toRepoRow(repo: ManagedRepo, stored: StoredRow = {}): StoredRow {
  const { gsi1pk: _1, gsi1sk: _2, gsi2pk: _3, gsi2sk: _4, ...columns } = stored;
  return {
    ...repoSettings.writeOver(columns, repo),
    ...repoKey(repo.tenantId, repo.id),
    // A deleted repo is in no list of the operator, although it waits for the engine.
    ...(repo.tombstone
      ? {}
      : { gsi2pk: ALL_REPOS_PARTITION, gsi2sk: `${repo.slug.toLowerCase()}#${repo.id}` }),
    ...(isWatched(repo) ? { gsi1pk: WATCH_PARTITION, gsi1sk: repo.id } : {}),
  };
}

export function isWakeable(repo: Pick<ManagedRepo, 'queueEnabled' | 'tombstone'>): boolean {
  return repo.queueEnabled && !repo.tombstone;
}

/** Due time of a repo once it is stored as `next`. A repo that is off stays as due as it is: its last look may be under way. */
export function dueAfterUpdate(
  stored: ManagedRepo,
  next: ManagedRepo,
  lastLook: boolean,
  now: EpochMs,
): EpochMs | null {
  if (isWakeable(next)) return stored.dueAt ?? next.dueAt ?? now;
  if (lastLook) return now;
  return isWakeable(stored) ? null : stored.dueAt;
}

export function toWakeRow(repo: ManagedRepo, dueAt: EpochMs | null): StoredRow {
  const state = {
    repoId: repo.id,
    tenantId: repo.tenantId,
    enabled: isWakeable(repo),
    wakeSeq: repo.wakeSeq,
    dueAt,
    stopUntil: undefined,
    deliveryHeardAt: undefined,
    statusHeardAt: undefined,
    runHeardAt: undefined,
  };
  return {
    ...wakeKey(repo.id),
    ...(dueAt === null ? {} : dueIndex(dueAt, repo.id)),
    ...wakeState.write(state),
  };
}

export function dueIndex(dueAt: EpochMs, id: RepoId): { readonly gsi1pk: string; readonly gsi1sk: string } {
  return { gsi1pk: duePartition(id), gsi1sk: dueSortKey(dueAt, id) };
}

export function toConnectionRow(value: Connection): StoredRow {
  return {
    ...connectionKey(value.tenantId, value.id),
    gsi2pk: ALL_CONNECTIONS_PARTITION,
    gsi2sk: `${padTime(value.createdAt)}#${value.id}`,
    // Copies at the top level: an index cannot project a member of the credential, and may not have the whole of it.
    credential_format: value.credential.format,
    key_version: value.credential.keyVersion,
    ...connection.write(value),
  };
}

export function toGuardRow(key: Key, tenantId: TenantId, id: string): StoredRow {
  return { ...key, ...guard.write({ tenantId, id }) };
}

export function toNodeRow(row: NodeRow): StoredRow {
  const phase =
    row.phase === null ? {} : { gsi1pk: PHASE_PARTITION, gsi1sk: `${padTime(row.createdAt)}#${row.id}` };
  const history = { gsi2pk: ALL_BATCHES_PARTITION, gsi2sk: `${padTime(row.createdAt)}#${row.id}` };
  return {
    pk: batchPartition(row.tenantId),
    sk: batchSortKey(row),
    ...phase,
    ...history,
    ...nodeRow.write(row),
  };
}

export function toEventRow(event: ActivityEvent, version: number, index: number): StoredRow {
  return {
    pk: eventPartition(event.tenantId),
    sk: eventSortKey(event, version, index),
    ...activityEvent.write(event),
  };
}

/** Rows of the newest event that ended each pull request. */
export function toTerminalRows(events: readonly ActivityEvent[]): readonly StoredRow[] {
  const newest = new Map<number, ActivityEvent>();
  for (const event of events) {
    if (endsPullRequest(event)) newest.set(event.pr, event);
  }
  return [...newest.values()].map((event) => ({
    ...terminalKey(event.repoId, event.pr),
    ...activityEvent.write(event),
  }));
}
