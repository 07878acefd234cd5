import { LINGERS_MAX } from '#core/domain/api-limits.ts';
import { statusGateOf } from '#core/domain/forge/status-gate.ts';
import type { BatchId, EpochMs } from '#core/domain/ids.ts';
import { BATCH_PULL_REQUESTS_MAX } from '#core/domain/limits.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type DecisionContext, takeId, wakeNoLaterThan } from '../decision-context.ts';
import { isIncident } from '../line/incidents.ts';
import { noteStagingTurn } from '../line/staging-turns.ts';
import { noteTurns } from '../line/turns.ts';
import { chanceOfGood, fanoutOf, forecastOfGood, gateRunsMax, policyFor } from '../policy/in-force.ts';
import { chooseBatchSize } from '../policy/policy.ts';
import { authored, type QueueEntry } from '../record/queue-entry.ts';
import type { Batch, Ground, Member, Place } from '../record/record.ts';
import { createNode } from './nodes.ts';
import { openRunsOf } from './pipeline.ts';

/** Gate runs that may still be started: what is wanted already counts, and what waits for a retry too. */
export function freeSlots(pass: DecisionContext): number {
  return gateRunsMax(pass) - pass.record.batches.flatMap(openRunsOf).length;
}

export function sizeOf(
  pass: DecisionContext,
  ready: readonly (QueueEntry | Member)[],
  depthLeft: number,
): number {
  const good = ready.map((entry) => forecastOfGood(pass, entry));
  const policy = policyFor(pass);
  const free = freeSlots(pass);
  const places = Math.min(depthLeft, free);
  // What the pipeline does not take is tried beside it, where searches need slots too.
  const slots = policy.pieces.trials ? Math.ceil((places + free) / 2) : places;
  return chooseBatchSize({ good, fanout: fanoutOf(pass), policy, slots: Math.max(1, slots) });
}

/** The queue with strangers behind it, so that "full" does not depend on who has come yet. */
export function padTo(pass: DecisionContext, ready: readonly QueueEntry[]): readonly number[] {
  const stranger = chanceOfGood(pass, { pr: 0 });
  const good = ready.map((entry) => forecastOfGood(pass, entry));
  return [...good, ...Array.from({ length: BATCH_PULL_REQUESTS_MAX }, () => stranger)];
}

export function startBatch(
  pass: DecisionContext,
  place: Place,
  stagedOn: BatchId | null,
  ground: Ground,
  entries: readonly QueueEntry[],
): boolean {
  const { record, s } = pass;
  const batchId = takeId(pass);
  if (batchId === null || !s.base.known) return false;
  const gate = statusGateOf(s.repo);
  const batch: Batch = {
    batchId,
    place,
    stagedOn,
    members: entries.map((entry) => {
      const { pr, head, scheduleId, title, signals } = entry;
      const known = signals === undefined ? {} : { signals };
      const before = entry.passedOnStaleBase ? ({ passedBefore: true } as const) : {};
      return { pr, head, scheduleId, title, ...authored(entry), ...known, ...before };
    }),
    groundSha: ground.sha,
    groundTree: ground.tree,
    builds: 0,
    chain: [],
    ...(gate === null ? {} : { statusGate: gate }),
    gateKey: null,
    baseGateKey: null,
    gateFile: null,
    landed: 0,
    released: 0,
    receipts: [],
    fates: [],
    tip: ground.sha,
    limit: entries.length,
    nodes: [],
    landing: null,
    unmergeableSince: null,
    teardown: null,
    createdAt: s.now,
  };
  if (createNode(pass, batch, { nodeId: 'r', parent: null, from: 0, to: entries.length }) === null)
    return false;
  record.batches.push(batch);
  noteStagingTurn(pass, entries);
  noteTurns(pass, entries);
  record.tip ??= s.base.value.sha;
  return true;
}

/**
 * True once the linger has passed since the newest ready pull request, or enough wait, or the oldest has waited for
 * `LINGERS_MAX` of them: others that keep coming do not hold the line up for ever (A33). The next look comes when it has.
 */
export function awaitLinger(pass: DecisionContext, ready: readonly QueueEntry[]): boolean {
  const { repo, now } = pass.s;
  const enough =
    repo.batchTarget > 0 ? Math.min(repo.batchTarget, BATCH_PULL_REQUESTS_MAX) : BATCH_PULL_REQUESTS_MAX;
  if (repo.batchLingerSeconds === 0 || ready.length >= enough || ready.some(isIncident)) return true;
  const until = lingerEndsAt(
    repo,
    ready.map((entry) => entry.readyAt ?? now),
  );
  if (now >= until) return true;
  wakeNoLaterThan(pass, until);
  return false;
}

/** @param readyAts - When each of those that are ready became so. */
export function lingerEndsAt(
  { batchLingerSeconds }: Pick<ManagedRepo, 'batchLingerSeconds'>,
  readyAts: readonly EpochMs[],
): EpochMs {
  const lingerMs = batchLingerSeconds * 1000;
  return Math.min(Math.max(...readyAts) + lingerMs, Math.min(...readyAts) + LINGERS_MAX * lingerMs);
}
