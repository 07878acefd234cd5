import type { EpochMs } from '#core/domain/ids.ts';
import { UNMERGEABLE_REFUSED_AFTER_MS } from '#core/domain/limits.ts';
import type { Batch, QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import { judgeByContent } from '../scenario/stories.ts';
import type { Managed } from './managed.ts';
import { listUnsettled } from './oracle.ts';

const MINUTE_MS = 60_000;

/**
 * Within this time after the last fault each pull request that is not at fault has landed, or its author is told why
 * not: the longest wait that a fault may have begun (a red base is probed again after 30 minutes, a broken gate run is
 * tried again after 15), and three gate runs for each that is open.
 */
export const SETTLED_BASE_MS = 45 * MINUTE_MS;
const RUNS_PER_PULL = 3;
const AROUND_A_RUN_MS = MINUTE_MS;

/** `forgeRefuses`: the forge calls conflicts what git merges; that is told as one when no check can still be running. */
export function settledWithinMs(openPulls: number, gateMs: number, forgeRefuses: boolean): number {
  const longestWaitMs = SETTLED_BASE_MS + (forgeRefuses ? UNMERGEABLE_REFUSED_AFTER_MS : 0);
  return longestWaitMs + openPulls * RUNS_PER_PULL * (gateMs + AROUND_A_RUN_MS);
}

export interface WaitingRepo extends Pick<Managed, 'forge' | 'project' | 'contexts' | 'rules'> {
  /** The queue record as stored; null when there is none. Read for the words only, never for the judgement. */
  readonly record: QueueRecord | null;
  readonly now: EpochMs;
  /** How many the queue has no room for. */
  readonly beyond?: number;
}

/** The pull requests that wait after the stated time, and for what. A base that keeps failing keeps all waiting, and their authors are told. */
export async function judgeLiveness({
  forge,
  project,
  contexts,
  record,
  now,
  beyond = 0,
  rules,
}: WaitingRepo): Promise<readonly string[]> {
  if (judgeByContent(await forge.readFiles(await forge.tip(forge.base))) === 'failure') return [];
  const unsettled = await listUnsettled({
    forge,
    project,
    contexts,
    ...(rules === undefined ? {} : { rules }),
  });
  const untold = unsettled.filter(({ isUntold }) => isUntold);
  // Which of them has no place is the queue's to know; that these have none is true of no more than there are too many.
  const spared = untold.length <= beyond ? untold : [];
  return unsettled
    .filter((each) => !spared.includes(each))
    .map(({ pr, words }) => `#${pr} waits: ${explainWait(record, pr, now)}; its head says "${words}"`);
}

/** The record's entry of a pull request that did not land and whose author was not told why. */
export function explainWait(record: QueueRecord | null, pr: number, now: EpochMs): string {
  if (record === null) return 'the queue has no record';
  const whole = describeStandstill(record, now);
  const own = describeOwn(record, pr, now);
  return whole === '' ? own : `${own}, ${whole}`;
}

function describeOwn(record: QueueRecord, pr: number, now: EpochMs): string {
  const batch = record.batches.find((each) => each.members.some((member) => member.pr === pr));
  if (batch !== undefined) return describeBatch(batch, pr, now);
  const deferred = record.deferred.find((each) => each.pr === pr);
  if (deferred !== undefined) return `set aside as ${deferred.reason} ${describeUntil(deferred.until, now)}`;
  const entry = record.entries.find((each) => each.pr === pr);
  if (entry === undefined) return 'it is not in the queue';
  if (entry.refusedFor !== null) return `refused as ${entry.refusedFor}`;
  if (record.bounced.some((each) => each.pr === pr && each.head === entry.head)) return 'held to be bounced';
  if (entry.scheduleId === 0) return 'held to have moved away from its schedule';
  if (entry.readyAt === null) return 'in the queue, not admitted';
  return 'in the queue, admitted, in no batch';
}

function describeBatch(batch: Batch, pr: number, now: EpochMs): string {
  const place = batch.members.findIndex((member) => member.pr === pr) + 1;
  const parts = [
    `number ${place} of ${batch.members.length} in a batch (${batch.place}, built ${batch.builds} times)`,
  ];
  if (batch.teardown !== null) parts.push(`torn down for ${batch.teardown}`);
  const { landing } = batch;
  if (landing !== null)
    parts.push(
      landing.takeBack === null
        ? `#${landing.pr} lands since ${minutes(now - landing.intentAt)}`
        : `the success of #${landing.pr} is taken back for ${landing.takeBack.reason}`,
    );
  if (batch.unmergeableSince !== null)
    parts.push(`the next is not mergeable since ${minutes(now - batch.unmergeableSince)}`);
  for (const node of batch.nodes) {
    if (node.state === 'done') continue;
    const since = node.stagedAt === null ? 'never staged' : `staged ${minutes(now - node.stagedAt)} ago`;
    parts.push(`run ${node.nodeId} ${node.state}, ${since}, ${describeUntil(node.retryAt, now)}`);
  }
  return parts.join(', ');
}

function describeStandstill(record: QueueRecord, now: EpochMs): string {
  const parts: string[] = [];
  if (record.halted !== null) parts.push(`the queue is halted by #${record.halted.pr}`);
  if (record.restsUntil !== null) parts.push(`the queue pauses ${describeUntil(record.restsUntil, now)}`);
  if (record.rebuilding) parts.push('the record is being rebuilt');
  if (record.recall !== undefined)
    parts.push(`statuses of #${record.recall.join(', #')} are still to be read`);
  if (record.pendingStatuses.length > 0)
    parts.push(`${record.pendingStatuses.length} statuses are still to be written`);
  return parts.join(', ');
}

function describeUntil(until: EpochMs | null, now: EpochMs): string {
  if (until === null) return 'without a time';
  return until > now ? `for another ${minutes(until - now)}` : `until ${minutes(now - until)} ago`;
}

function minutes(ms: number): string {
  return `${Math.round(ms / 6_000) / 10} min`;
}
