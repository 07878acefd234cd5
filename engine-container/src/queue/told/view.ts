import type { EpochMs } from '#core/domain/ids.ts';
import { LANDING_TIMEOUT_MS } from '#core/domain/limits.ts';
import type { PullCodeName } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import {
  type Block,
  QUEUE_PLACES_MAX,
  QUEUE_TITLE_CHARS_MAX,
  type QueuePlace,
  type QueueView,
} from '#core/domain/queue/queue-view.ts';
import { type Hold, holdToTell } from '#core/domain/repos/pause.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { REFUSALS, type Refusal } from '../admission/admission-facts.ts';
import { activeMembers, landingBatchOf, waitsForStaging } from '../batches/pipeline.ts';
import { judgedWith } from '../batches/shared-run.ts';
import { lingerEndsAt } from '../batches/start-batch.ts';
import { deadlineAt, gateDeadlineMs } from '../gate/gate-deadline.ts';
import { runSince, waitsForRunner } from '../gate/runner-wait.ts';
import { graceEndsAt } from '../landing/unheard.ts';
import { holdAt, isKeptFromStaging, isStagingStopped } from '../line/holds.ts';
import { toChosenFanout } from '../policy/auto-fanout.ts';
import { tellForecast } from '../policy/forecast.ts';
import { gateMsOf } from '../policy/pace.ts';
import { badRate } from '../policy/policy.ts';
import { bounceOf, isBounced } from '../record/bounced.ts';
import { type Deferred, deferralsOf, isSilent } from '../record/deferral.ts';
import { isHeadShut } from '../record/pending-status.ts';
import { isBound, type QueueEntry } from '../record/queue-entry.ts';
import type { Batch, QueueRecord } from '../record/record.ts';
import { keptReason } from '../words/deferral-words.ts';
import {
  codeOfBounce,
  codeOfTakeBack,
  describeHeadChange,
  describeNotAdmitted,
  describeOtherChecks,
  describeRefusal,
} from '../words/phrases.ts';

/** The record told to people: the queue in order, and what stands before the next landing. */
export function toQueueView(repo: ManagedRepo, record: QueueRecord, at: EpochMs): QueueView {
  const hold = holdAt(record, repo, at);
  const places = record.entries.map((entry) => placeOf(record, entry, at, hold));
  return {
    at,
    places: places.slice(0, QUEUE_PLACES_MAX),
    more: Math.max(0, places.length - QUEUE_PLACES_MAX),
    block: blockOf(repo, record, places, at),
    ...(record.autoFanout === undefined
      ? {}
      : { fanout: toChosenFanout(record.autoFanout, gateMsOf(record.rate)) }),
    ...(record.unprovenBase === undefined ? {} : { unprovenSince: record.unprovenBase.at }),
  };
}

function placeOf(record: QueueRecord, entry: QueueEntry, at: EpochMs, hold: Hold | null): QueuePlace {
  return {
    pr: entry.pr,
    title: cutTitle(entry.title),
    head: entry.head,
    queuedAt: entry.queuedAt,
    ...(entry.priority === undefined ? {} : { priority: entry.priority }),
    ...(entry.isExempt === true ? { isExempt: true } : {}),
    ...(entry.settingsNote?.head === entry.head ? { settings: entry.settingsNote.says } : {}),
    ...situationOf(record, entry, at, hold),
    ...forecastOf(record, entry),
  };
}

/** Of a pull request that a gate run has said something about, nothing that was known before counts. */
function forecastOf(record: QueueRecord, entry: QueueEntry): Pick<QueuePlace, 'forecast'> {
  const { forecast, rate } = record;
  if (forecast === undefined || entry.passedOnStaleBase || entry.failureProbability !== null) return {};
  const told = tellForecast(forecast, badRate(rate), entry.signals ?? []);
  return told === null ? {} : { forecast: told };
}

/** By code points: half a pair is no character. */
function cutTitle(title: string): string {
  if (title.length <= QUEUE_TITLE_CHARS_MAX) return title;
  return `${[...title.slice(0, QUEUE_TITLE_CHARS_MAX * 2)].slice(0, QUEUE_TITLE_CHARS_MAX - 1).join('')}…`;
}

type Situation = Pick<QueuePlace, 'state' | 'reason' | 'until' | 'says'>;

/** The same order of questions as `tearDownGroundless` and `readyEntries`. */
function situationOf(record: QueueRecord, entry: QueueEntry, at: EpochMs, hold: Hold | null): Situation {
  const standing = record.pendingStatuses.filter(({ context, told }) => context === record.context && told);
  if (standing.some(({ sha }) => sha === entry.head)) return asTold('success_stands');
  if (isHeadShut(record, entry.head)) return asTold('staging_failed');
  const landing = record.batches.find((batch) => batch.landing?.pr === entry.pr)?.landing;
  if (landing) {
    const { takeBack } = landing;
    if (takeBack === null) return situation('landing');
    const refused = entry.refusedFor ?? (takeBack.reason === 'merge_blocked' ? toldRefusal(entry) : null);
    if (refused !== null) return asTold(refused);
    return situation('waiting', codeOfTakeBack(takeBack.reason));
  }
  if (!isBound(entry))
    return entry.isForOtherTarget
      ? situation('waiting', 'other_target')
      : { ...situation('waiting', 'head_changed'), says: describeHeadChange(entry.movedWhy) };
  if (isBounced(record, entry)) return situation('bounced', codeOfBounce(bounceOf(record, entry)));
  if (entry.refusedFor !== null) return asTold(entry.refusedFor);
  const deferred = deferOf(record, entry, at);
  const kept = keptReason(record, entry);
  if (
    deferred !== undefined &&
    (!isSilent(deferred.reason) || (kept === null && !isHeld(record, entry, hold)))
  )
    return { ...asTold(deferred.reason), until: deferred.until };
  const own = record.batches.filter((batch) =>
    activeMembers(batch).some((member) => member.pr === entry.pr && member.head === entry.head),
  );
  const isBuilt = own.some(({ chain }) => chain.length > 0);
  if (kept !== null && !isBuilt) return asTold(kept);
  const isAtStaging = own.every((batch) => waitsForStaging(batch, entry.pr));
  if (own.length > 0 && isAtStaging && isStagingStopped(record)) return situation('waiting', 'queue_stopped');
  // A batch of which the forge has nothing yet may come to nothing.
  if (own.length > 0 && !isBuilt) return situation('ready');
  if (own.length > 0) return situation('staged', isAtRunner(record, own, entry.pr) ? 'runner_wait' : null);
  if (entry.readyAt === null) return situation('waiting', whyNotAdmitted(entry));
  if (hold !== null && isKeptFromStaging(hold, entry))
    return {
      ...situation('waiting', hold.isArchived === true ? 'archived' : 'paused'),
      until: holdToTell(hold, entry).until,
    };
  if (isStagingStopped(record)) return situation('waiting', 'queue_stopped');
  return situation('ready', record.batches.length === 0 ? null : 'next_batch');
}

/** The block that its head tells of, which refuses it once its landing has ended. */
function toldRefusal({ head, said }: QueueEntry): Refusal | null {
  if (said?.head !== head) return null;
  return REFUSALS.find((each) => describeRefusal(each) === said.description) ?? null;
}

/**
 * Its head says that the queue is held up or has stopped, or that another check keeps it out: that goes before a reason that is told on
 * the page alone.
 */
function isHeld(record: QueueRecord, entry: QueueEntry, hold: Hold | null): boolean {
  const { head, said, readyAt } = entry;
  if (readyAt === null)
    return said?.head === head && [describeNotAdmitted(), describeOtherChecks()].includes(said.description);
  return isKeptFromStaging(hold, entry) || isStagingStopped(record);
}

function whyNotAdmitted(entry: QueueEntry): string {
  const { head, unclear, isBehindTwin, said } = entry;
  if (isBehindTwin === true) return 'twin_ahead';
  if (unclear?.head === head) return 'unclear';
  // Its head tells that the check has kept the forge from its merge.
  return said?.head === head && said.description === describeOtherChecks() ? 'other_checks' : 'not_admitted';
}

/** No gate run that speaks for it has a runner yet. */
function isAtRunner(record: QueueRecord, staged: readonly Batch[], pr: number): boolean {
  const runs = staged.flatMap((batch) => {
    const judged = judgedWith(record, batch);
    const gating = judged.nodes.filter(({ state }) => state === 'gating');
    if (judged !== batch) return gating;
    const place = batch.members.findIndex((member) => member.pr === pr);
    return gating.filter(({ from, to }) => from <= place && place < to);
  });
  return runs.length > 0 && runs.every(waitsForRunner);
}

function situation(state: Situation['state'], reason: string | null = null): Situation {
  return { state, reason, until: null };
}

/** The state of a place is the word that its status begins with. */
function asTold(reason: PullCodeName): Situation {
  return situation(PULL_CODES[reason].says.startsWith('refused:') ? 'refused' : 'waiting', reason);
}

function deferOf(record: QueueRecord, entry: QueueEntry, at: EpochMs): Deferred | undefined {
  return deferralsOf(record, entry).find(({ until }) => until === null || until > at);
}

function blockOf(repo: ManagedRepo, record: QueueRecord, places: readonly QueuePlace[], at: EpochMs): Block {
  if (record.halted !== null) {
    const { at: since, pr, evidence } = record.halted;
    return block('tree_mismatch', { since, pr, ...(evidence === undefined ? {} : { evidence }) });
  }
  const batch = landingBatchOf(record) ?? record.batches[0];
  if (batch !== undefined) return blockOfBatch(judgedWith(record, batch), at, gateDeadlineMs(repo, record));
  // The forge keeps the schedule of one that was bounced: it is out of the queue all the same.
  if (places.every(({ state }) => state === 'bounced')) return block('empty');
  const hold = holdAt(record, repo, at);
  const ready = places.some((place) => place.state === 'ready');
  if (hold?.isArchived === true) return block('admission', { since: hold.since });
  // One that is exempt from a freeze window is staged next.
  if (hold !== null && !ready) return block('paused_by_owner', { since: hold.since, until: hold.until });
  if (record.restsUntil !== null && record.restsUntil > at) {
    // The contract's word for a rest; a pause of the owner is the block above.
    return block('paused', { until: record.restsUntil });
  }
  for (const reason of ['base_red', 'gate_missing'] as const) {
    const deferred = record.deferred.find((each) => each.reason === reason);
    const since = reason === 'gate_missing' ? (record.gateMissing?.since ?? null) : null;
    if (deferred !== undefined) return block(reason, { since, until: deferred.until, pr: deferred.pr });
  }
  if (!ready) return block('admission', { since: noneReadySince(record, places) });
  // One that was bounced or set aside was ready once, and no linger waits for it.
  const readyTimes = record.entries.flatMap(({ readyAt }, index) =>
    readyAt === null || places[index]?.state !== 'ready' ? [] : [readyAt],
  );
  const since = Math.min(...readyTimes);
  const until = lingerEndsAt(repo, readyTimes);
  return until > at ? block('linger', { since, until }) : block('staging', { since });
}

/** Since the oldest of them came, or since something landed after that. */
function noneReadySince({ landed = [] }: QueueRecord, places: readonly QueuePlace[]): EpochMs | null {
  const oldest = places.find(({ state }) => state !== 'bounced')?.queuedAt ?? null;
  return oldest === null ? null : Math.max(oldest, ...landed.map(({ at }) => at));
}

function blockOfBatch(batch: Batch, at: EpochMs, deadlineMs: number | null): Block {
  const { landing } = batch;
  if (landing !== null) {
    const { pr, takeBack } = landing;
    const runUrl = landing.proof.runUrl;
    if (takeBack !== null) {
      const since = takeBack.postedAt;
      return block('revoke', {
        since,
        until: since === null ? null : graceEndsAt(landing, since),
        pr,
        runUrl,
      });
    }
    const since = landing.postedAt ?? landing.intentAt;
    return block('merge', { since, until: since + LANDING_TIMEOUT_MS, pr, runUrl });
  }
  const gating = batch.nodes.filter((node) => node.state === 'gating').sort((a, b) => a.to - b.to)[0];
  if (gating !== undefined) {
    const since = runSince(gating) ?? gating.createdAt;
    return block(waitsForRunner(gating) ? 'runner' : 'gate', {
      since,
      until: deadlineMs === null ? null : deadlineAt(gating, deadlineMs, since),
      pr: gating.to - gating.from === 1 ? (batch.members[gating.from]?.pr ?? null) : null,
      runUrl: gating.runUrl,
      ...(waitsForRunner(gating) && gating.runnerWait?.labels ? { labels: gating.runnerWait.labels } : {}),
    });
  }
  const retry = batch.nodes.find((node) => node.state === 'wanted' && (node.retryAt ?? 0) > at);
  if (retry !== undefined) return block('gate_retry', { since: retry.createdAt, until: retry.retryAt });
  return block('staging', { since: batch.createdAt });
}

function block(kind: Block['kind'], facts: Partial<Omit<Block, 'kind'>> = {}): Block {
  return { kind, since: null, until: null, pr: null, runUrl: null, ...facts };
}
