import type { CommitSha, EpochMs, PullRequestNumber } from '../ids.ts';
import {
  GLANCE_AGE_SHARE,
  GLANCE_EVERY_MS,
  GLANCE_REST_FACTOR,
  READING_SETTLE_MS,
  TICK_INTERVAL_MS,
} from '../limits.ts';

/** A pull request as it was read. Both times of reading are ours. */
export interface PullReading {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly updatedAt: EpochMs;
  /** When (`head`, `updatedAt`) was first seen, and when its timeline was read. Absent: in a record of before. */
  readonly seenAt?: EpochMs;
  readonly readAt?: EpochMs;
}

export type NewestPull = Pick<PullReading, 'pr' | 'head' | 'updatedAt'>;

/**
 * Sight that a full look had of one branch, as far as two cheap calls can tell whether it is still so: every schedule, push and
 * comment makes its pull request the one that changed last.
 */
export interface ForgeSight {
  readonly tip: CommitSha | null;
  /** The open pull request to the branch that changed last; null: none is open. */
  readonly newest: NewestPull | null;
  /** False: a later change may have the same time stamp, so that an equal sight proves nothing. */
  readonly isSettled: boolean;
}

/** As it is kept beside the outcome. `since`: it is known to be so since then. */
export interface KnownSight extends ForgeSight {
  readonly since: EpochMs;
}

/** The sight of two calls. `newest` null: none of those that changed last is to this branch, which says nothing. */
export type Glance = Pick<ForgeSight, 'tip' | 'newest'>;

/**
 * The forge's time stamps have a resolution of 1 s: what was read within that second may have changed again unseen. Both
 * times are ours, because the forge's clock may be ahead of ours or behind.
 */
export function isSettled({ seenAt, readAt }: PullReading): boolean {
  return seenAt !== undefined && readAt !== undefined && readAt - seenAt >= READING_SETTLE_MS;
}

/** `pulls`: all open ones to the branch. */
export function sightOf(tip: CommitSha | null, pulls: readonly PullReading[]): ForgeSight {
  return { tip, newest: newestOf(pulls), isSettled: pulls.every(isSettled) };
}

/** The pull request that changed last; of several that changed in the same second, the one with the highest number. */
export function newestOf(pulls: readonly NewestPull[]): NewestPull | null {
  const [first] = [...pulls].sort((one, other) => other.updatedAt - one.updatedAt || other.pr - one.pr);
  return first === undefined ? null : { pr: first.pr, head: first.head, updatedAt: first.updatedAt };
}

/** A pull request that was closed is no news: nothing can be staged because of it. */
export function showsNews(known: ForgeSight, glance: Glance): boolean {
  if (!known.isSettled || known.tip !== glance.tip) return true;
  return glance.newest !== null && !isSamePull(known.newest, glance.newest);
}

/** The first sight is as old as the forge says: after an update of the service not every repository is active. */
export function keepSight(before: KnownSight | undefined, seen: ForgeSight, now: EpochMs): KnownSight {
  if (before === undefined) return { ...seen, since: Math.min(now, seen.newest?.updatedAt ?? 0) };
  const isSame = before.tip === seen.tip && isSamePull(before.newest, seen.newest);
  return { ...seen, since: isSame ? before.since : now };
}

function isSamePull(one: NewestPull | null, other: NewestPull | null): boolean {
  if (one === null || other === null) return one === other;
  return one.pr === other.pr && one.head === other.head && one.updatedAt === other.updatedAt;
}

/**
 * Until the next glance at a repository in which nothing has happened for `quietMs`; null: the tick comes before it. A
 * forge that answers slowly is asked more rarely, so that it holds little of a worker.
 */
export function glanceDelayMs(quietMs: number, tookMs: number): number | null {
  const delayMs = Math.max(GLANCE_EVERY_MS, quietMs * GLANCE_AGE_SHARE, tookMs * GLANCE_REST_FACTOR);
  return delayMs < TICK_INTERVAL_MS ? Math.round(delayMs) : null;
}
