import type { EpochMs } from '#core/domain/ids.ts';
import type { EventHead } from '#core/domain/queue/activity.ts';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import { flakyTreesOf, isJudged } from '#core/domain/queue/queue-figures.ts';
import type { OutcomeRate } from '../queue/policy/rate.ts';

/** One stay of a pull request in the queue that ended with a landing or a bounce. */
export interface Stay {
  readonly at: EpochMs;
  /** It was bounced: in a replay each tree with it fails. */
  readonly isBad: boolean;
}

/** A gate run as it was: when its commit was published, and how long until its verdict was seen. */
export interface JudgedRun {
  readonly at: EpochMs;
  readonly ms: number;
  readonly verdict: 'success' | 'failure';
}

export interface ReplayPlan {
  /** Oldest first. */
  readonly stays: readonly Stay[];
  /** Oldest first. */
  readonly runs: readonly JudgedRun[];
  /** Share of the judged gate runs that failed on a tree that another one passed. */
  readonly flakeShare: number;
  /** Experience that the queue had with such a repository. */
  readonly rate: OutcomeRate;
}

/** The plan of a replay, of the events and rows of one repository; of more than `staysMax` stays the newest. */
export function planReplay(
  events: readonly EventHead[],
  rows: readonly NodeRow[],
  staysMax: number,
): ReplayPlan {
  const stays = staysOf(events).slice(-staysMax);
  const judged = rows.filter(isJudged);
  const flaky = flakyTreesOf(rows);
  const flaked = judged.filter(
    ({ gateVerdict, stagingTree }) =>
      gateVerdict === 'failure' && stagingTree !== null && flaky.has(stagingTree),
  ).length;
  const runs = judged.flatMap(toRun).sort((one, other) => one.at - other.at);
  const bounced = stays.filter(({ isBad }) => isBad).length;
  const usualMs = medianOf(runs.map(({ ms }) => ms));
  return {
    stays,
    runs,
    flakeShare: judged.length === 0 ? 0 : flaked / judged.length,
    rate: {
      landed: stays.length - bounced,
      bounced,
      steady: judged.length - flaked,
      flaked,
      paces: usualMs === null ? [] : [{ ms: usualMs, runs: runs.length }],
    },
  };
}

/** A stay begins with the schedule, or with the bounce before it where no event tells of another schedule. */
function staysOf(events: readonly EventHead[]): readonly Stay[] {
  const since = new Map<number, EpochMs>();
  const stays: Stay[] = [];
  for (const { at, event, pr, scheduledAt = at } of [...events].sort((one, other) => one.at - other.at)) {
    if (event === 'pr_queued' && !since.has(pr)) since.set(pr, Math.min(scheduledAt, at));
    if (event === 'pr_skipped') since.delete(pr);
    if (event !== 'pr_landed' && event !== 'pr_bounced') continue;
    const begin = since.get(pr);
    since.delete(pr);
    if (begin !== undefined) stays.push({ at: begin, isBad: event === 'pr_bounced' });
  }
  return stays.sort((one, other) => one.at - other.at);
}

function toRun({ stagedAt, judgedAt, gateVerdict }: NodeRow): readonly JudgedRun[] {
  if (stagedAt === undefined || judgedAt === undefined || judgedAt < stagedAt) return [];
  const verdict = gateVerdict === 'failure' ? 'failure' : 'success';
  return [{ at: stagedAt, ms: judgedAt - stagedAt, verdict }];
}

function medianOf(values: readonly number[]): number | null {
  return percentileOf(values, 0.5);
}

/** Nearest rank. */
export function percentileOf(values: readonly number[], share: number): number | null {
  const sorted = [...values].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
}
