import type { PostedState } from '#core/domain/forge/forge.ts';
import type { BatchId, CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { PRIORITY_AGING_MS } from '#core/domain/limits.ts';
import type { Signal } from '#core/domain/queue/forecast.ts';
import { PRIORITIES, type Priority } from '#core/domain/repos/priority.ts';
import type { Refusal } from '../admission/admission-facts.ts';
import type { MovedWhy } from '../admission/readings.ts';

/** A pull request in the queue. Its place: `comparePositions` (D-22). */
export interface QueueEntry {
  readonly pr: PullRequestNumber;
  title: string;
  /** Login on the forge; absent: not known, or in records of before. */
  author?: string;
  head: CommitSha;
  /** Timeline entry of the schedule that binds `head`; 0 while the head moved after it was scheduled. */
  scheduleId: number;
  queuedAt: EpochMs;
  /** This schedule replaced one that is in flight, and is not admitted yet: nothing lands by it. Absent: it was admitted, or nothing is in flight. */
  isUnjudged?: true;
  /** Login of who scheduled this head; absent: not known. */
  scheduledBy?: string;
  /** By its labels; absent: normal. */
  priority?: Exclude<Priority, 'normal'>;
  /** By its labels: it is staged and lands in a freeze window too. */
  isExempt?: true;
  /** The head with which it has overtaken batches; absent: with none. */
  overtook?: CommitSha;
  /** First time it was admissible on this head; null while it is not. */
  readyAt: EpochMs | null;
  /** Reason key of the refusal whose `error` status was posted on this head. */
  refusedFor: Refusal | null;
  /** Refusals of this head and schedule that were an event already; absent: none. */
  toldRefusals?: readonly string[];
  /** When the head moved away from the one that was scheduled; null while bound. */
  movedAt: EpochMs | null;
  /** The schedule that the head moved away from: it holds for the new head once it is renewed. */
  staleScheduleId: number | null;
  /** Why it does not hold yet, as the status of the head says; absent: bound, or said by an older version. */
  movedWhy?: MovedWhy;
  /** The schedule was made while it targeted another branch, and holds for no head here; absent: it was not. */
  isForOtherTarget?: true;
  /** Last status that was wanted on this head; it may not be written yet, or may have been dropped. Absent: none. */
  said?: Said;
  /** Staging refused it with these words on a base that has moved since: they stand until staging says anything else. */
  refusedBefore?: { readonly head: CommitSha; readonly says: string };
  /** Evidence older than this does not prove a tree with it: its last landing timed out (A21), or it was scheduled again after a bounce. */
  retestAfter: EpochMs | null;
  /** It was staged with a change of the settings file that would do this. Absent: it has none, or was not staged. */
  settingsNote?: { readonly head: CommitSha; readonly says: string };
  /** It stood in a prefix that passed on a base which has moved since: very likely good, still to be proven. */
  passedOnStaleBase: boolean;
  /** Times that it stood in a batch that failed though it had passed before; absent: never. */
  timesHeldBack?: number;
  /** It stood in a batch that failed and is not searched any more: its chance to be bad if all before it are good. */
  failureProbability: FailureProbability | null;
  /** Known of it before a gate run; absent: nothing. */
  signals?: readonly Signal[];
  /**
   * Times that it was set aside because staging failed with it, or each gate run broke off. 0: such a thing has happened to its
   * batch, so it is judged alone, and it was never set aside for it. Absent: it has not happened.
   */
  timesSetAside?: number;
  /** Times that staging it alone failed since it was set aside or staged last; it is tried alone. Absent: none. */
  stagingTries?: number;
  /** The forge did not merge this head in time: it is tried alone, and waits until others had a turn. Absent: it never timed out. */
  mergeTimedOut?: 'waits' | 'tries';
  /** Since when the forge does not have this head, which it shows. */
  notReady?: { readonly head: CommitSha; readonly since: EpochMs };
  /** Another one with the same head is ahead of it: one at a time is admitted. Absent: none is. */
  isBehindTwin?: true;
  /** Since when the forge does not answer requests about this head that admission needs. */
  unclear?: { readonly head: CommitSha; readonly since: EpochMs };
  /** When its own reading contradicted the list of open ones, by which it was staged. */
  contradictedAt?: EpochMs;
  /** The head that its own reading had then, where that was another one than the list's. `times`: it was set aside for them; absent: never. */
  twoHeads?: { readonly head: CommitSha; readonly other: CommitSha; readonly times?: number };
  /** Since when no list has it and the forge says that there is none. */
  goneSince?: EpochMs;
  /** Since when no list has it and a reading of it fails. */
  unreadSince?: EpochMs;
  /** The forge did not merge it because of something that leaves no trace on it: that is read at each look from now on. */
  isBlocked?: true;
  /** When it was first seen under this schedule the repository allowed the style of the queue; absent: not so, or not known. */
  hadStyle?: true;
  /** When it was first seen under this schedule the rule asked for no signed commits; absent: it did, or that is not known. */
  neededNoSignature?: true;
}

/** Does its schedule hold for the head that a pull request has? Without that it is neither staged nor landed (A18). */
export function isBound({ scheduleId }: Pick<QueueEntry, 'scheduleId'>): boolean {
  return scheduleId !== 0;
}

/** The batch of this pull request failed in a way that blames no member: each of them is staged in a batch of its own, until one shows the cause. */
export function isJudgedAlone({ timesSetAside }: QueueEntry): boolean {
  return timesSetAside !== undefined;
}

export function wasSetAside({ timesSetAside = 0 }: QueueEntry): boolean {
  return timesSetAside > 0;
}

type Arrival = Pick<QueueEntry, 'pr' | 'title' | 'author' | 'head' | 'scheduleId' | 'queuedAt'>;

/** The author as a field, where one is known. */
export function authored({ author }: { readonly author?: string }): { readonly author?: string } {
  return author === undefined || author === '' ? {} : { author };
}

/** Nothing was found out about it yet. */
export function createEntry(arrival: Arrival): QueueEntry {
  return {
    ...arrival,
    readyAt: null,
    refusedFor: null,
    movedAt: null,
    staleScheduleId: null,
    retestAfter: null,
    passedOnStaleBase: false,
    failureProbability: null,
  };
}

/**
 * The order of the queue at this time: by priority, then by the schedule, then by number (D-22). Each `PRIORITY_AGING_MS` of waiting
 * lifts a pull request by one priority, to `high` at most, so that none waits for ever (decision 0206).
 */
export function comparePositions(now: EpochMs): (a: QueueEntry, b: QueueEntry) => number {
  return (a, b) => rankOf(a, now) - rankOf(b, now) || a.queuedAt - b.queuedAt || a.pr - b.pr;
}

/** Rank of the priority that it has by its labels; lower comes first. */
export function labelRankOf({ priority }: QueueEntry): number {
  return PRIORITIES.indexOf(priority ?? 'normal');
}

/** The rank of its labels, lifted for the time that it has waited, to `high` at most. */
export function rankOf(entry: QueueEntry, now: EpochMs): number {
  const { queuedAt } = entry;
  const rank = labelRankOf(entry);
  const aged = rank - Math.floor(Math.max(0, now - queuedAt) / PRIORITY_AGING_MS);
  return Math.min(rank, Math.max(PRIORITIES.indexOf('high'), aged));
}

export interface Said {
  readonly head: CommitSha;
  readonly state: PostedState;
  readonly description: string;
  /** A context that is used no more, under which they stand until they are told anew; absent: they are told. */
  readonly ofContext?: string;
}

export interface FailureProbability {
  /** The batch that failed. */
  readonly by: BatchId;
  readonly chance: number;
}
