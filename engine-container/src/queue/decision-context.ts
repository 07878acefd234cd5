import { Effort } from '#core/domain/effort.ts';
import type { PullRequest } from '#core/domain/forge/forge.ts';
import { asksForkForMergeRight } from '#core/domain/forge/forge-version.ts';
import { GLOB_STEPS_MAX, type GlobDialect, GlobReader } from '#core/domain/globs/glob.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import type { ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import type { Action, Alarm } from './actions.ts';
import { inFlightOf } from './batches/pipeline.ts';
import { cloneRecord } from './record/clone.ts';
import type { DecidedEvent } from './record/decided-event.ts';
import { authored, type QueueEntry } from './record/queue-entry.ts';
import type { Batch, QueueRecord } from './record/record.ts';
import type { Snapshot } from './snapshot.ts';

/** Everything one pass of `decide` works on: the snapshot, a draft of the record, and what comes of it. */
export interface DecisionContext {
  readonly s: Snapshot;
  readonly record: QueueRecord;
  readonly actions: Action[];
  readonly events: DecidedEvent[];
  readonly alarms: Alarm[];
  readonly log: string[];
  /** Verified tip when the pass began: a reading of the base says nothing about a later one. */
  readonly tipBefore: CommitSha | null;
  /** Pull requests that a batch spoke for when the pass began. */
  readonly inFlightBefore: ReadonlySet<PullRequestNumber>;
  /** Batches that ended in this pass: their rows are stored with the record that no longer holds them. */
  readonly closedBatches: Batch[];
  /** Read the required contexts, each of them once for all heads. */
  readonly globs: Readonly<Record<GlobDialect, GlobReader>>;
  /** How many of `s.ids` this pass has taken. */
  idsUsed: number;
  /** From here to `errorCode`: the fields of `Decision` of these names, as far as the pass has come. */
  pollMs: number | null;
  nextStartAt: EpochMs | null;
  refresh: boolean;
  wakeAt: EpochMs | null;
  errorCode: ReconcileErrorCode | null;
  /** A proven pull request only waits for the look that comes at once. */
  landsAtNextLook: boolean;
}

export function beginPass(s: Snapshot, record: QueueRecord): DecisionContext {
  const effort = new Effort(GLOB_STEPS_MAX);
  return {
    s,
    record: cloneRecord(record),
    actions: [],
    events: [],
    alarms: [],
    log: [],
    tipBefore: record.tip,
    inFlightBefore: inFlightOf(record),
    closedBatches: [],
    globs: {
      gitea: new GlobReader('gitea', null, effort),
      gobwas: new GlobReader('gobwas', null, effort),
    },
    idsUsed: 0,
    pollMs: null,
    nextStartAt: null,
    refresh: false,
    landsAtNextLook: false,
    wakeAt: null,
    errorCode: null,
  };
}

export function emitEvent(
  pass: DecisionContext,
  event: DecidedEvent['event'],
  subject: Pick<QueueEntry, 'pr' | 'head' | 'title' | 'author'>,
  reason: string | null = null,
  facts: Pick<DecidedEvent, 'scheduledAt'> = {},
): void {
  const { pr, head, title } = subject;
  pass.events.push({ event, pr, head, title, reason, ...authored(subject), ...facts });
  pass.log.push(`${event} #${subject.pr}${reason === null ? '' : ` ${reason}`}`);
}

/** Told once per head, schedule and reason: a pull request stands aside anew each time the base moves, and that is no news. */
export function tellRefusal(pass: DecisionContext, entry: QueueEntry, reason: string): void {
  if (entry.toldRefusals?.includes(reason) === true) return;
  entry.toldRefusals = [...(entry.toldRefusals ?? []), reason];
  emitEvent(pass, 'pr_refused', entry, reason);
}

/** Another reconcile begins at this time at the latest. */
export function wakeNoLaterThan(pass: DecisionContext, at: EpochMs): void {
  if (pass.wakeAt === null || at < pass.wakeAt) pass.wakeAt = at;
}

/** Another look of this very reconcile comes after so many ms at the latest; 0: at once. */
export function pollNoLaterThan(pass: DecisionContext, ms: number): void {
  if (pass.pollMs === null || ms < pass.pollMs) pass.pollMs = ms;
}

/** The first thing that stands in the way is what the outcome names. */
export function reportCode(pass: DecisionContext, code: ReconcileErrorCode): void {
  pass.errorCode ??= code;
}

/** The reasons why the queue cannot stage. A queue that is off stages nothing, and these must not hold up its wind-down. */
export function raiseStandstill(pass: DecisionContext, code: ReconcileErrorCode): void {
  if (pass.s.repo.queueEnabled) reportCode(pass, code);
}

/** A fresh UUID, or null when the pass has used its share: whatever needs it is done in the next pass. */
export function takeId(pass: DecisionContext): string | null {
  const id = pass.s.ids[pass.idsUsed];
  if (id === undefined) {
    pollNoLaterThan(pass, 0);
    return null;
  }
  pass.idsUsed += 1;
  return id;
}

export function entryOf(record: QueueRecord, pr: PullRequestNumber): QueueEntry | undefined {
  return record.entries.find((entry) => entry.pr === pr);
}

/** For the receipt of a landing: who scheduled this head, and who approved it; nothing where that is not known. */
export function askersOf(
  record: QueueRecord,
  pr: PullRequestNumber,
  head: CommitSha,
): Pick<Receipt, 'scheduledBy' | 'approvedBy'> {
  const entry = entryOf(record, pr);
  const approvedBy = record.readings.find((each) => each.pr === pr && each.head === head)?.approvedBy;
  return {
    ...(entry?.head !== head || entry.scheduledBy === undefined ? {} : { scheduledBy: entry.scheduledBy }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
  };
}

/** A retargeted pull request is merged by another base's rules, and into that base: no landing of ours, whatever its tree. */
export function isMergedHere(pass: DecisionContext, pull: PullRequest): boolean {
  return pull.merged && pull.baseRef === pass.s.repo.baseBranch;
}

/** Does this forge ask the fork whether who scheduled may merge (forge facts, 11)? Null: unknown. */
export function asksFork({ record }: DecisionContext): boolean | null {
  const version = record.forge?.version ?? null;
  return version === null ? null : asksForkForMergeRight(version);
}
