import { DAY_MS, HOUR_MS, WEEK_MS } from '../api-limits.ts';
import type { EpochMs } from '../ids.ts';
import type { EventHead } from './activity.ts';
import type { NodeRow } from './batch.ts';

/** Median and 95th percentile in ms, by nearest rank. Null: not one is known. */
export interface Spread {
  readonly p50Ms: number | null;
  readonly p95Ms: number | null;
}

/** One week of one branch, from Monday 00:00 UTC. Null: cannot be said exactly. */
export interface WeekFigures {
  readonly week: EpochMs;
  readonly landed: number;
  readonly bounced: number;
  /** From the schedule to the staging that was proven, earlier attempts included. */
  readonly waiting: Spread;
  /** From that staging until its verdict was seen. */
  readonly gate: Spread;
  /** From that verdict to the landing. */
  readonly merging: Spread;
  readonly runs: number | null;
  /** Against one gate run for each pull request that landed or was bounced. */
  readonly runsSaved: number | null;
  /** Gate runs of batches in which a pull request was bounced, beyond the first one of each. */
  readonly bounceRuns: number | null;
  /** Trees that a gate run failed, and those of them that another gate run passed. */
  readonly failedTrees: number;
  readonly flakyTrees: number;
}

/** Hours of a day in UTC in which gate runs failed on trees that others passed. */
export interface FlakyWindow {
  readonly fromHour: number;
  readonly toHour: number;
  readonly judged: number;
  readonly flaky: number;
}

export interface QueueFigures {
  /** Oldest first; the last one is under way. */
  readonly weeks: readonly WeekFigures[];
  /** Most flaky first; of the whole time. */
  readonly flakyWindows: readonly FlakyWindow[];
}

const WINDOW_HOURS = 4;
const WINDOWS_SHOWN_MAX = 3;

/** Monday 00:00 UTC of the week of a time: the epoch began on a Thursday. */
export function weekOf(at: EpochMs): EpochMs {
  return Math.floor((at - 4 * DAY_MS) / WEEK_MS) * WEEK_MS + 4 * DAY_MS;
}

/** `events` and `rows` of one repository since before the first week. */
export function readFigures(
  weeks: readonly EpochMs[],
  events: readonly EventHead[],
  rows: readonly NodeRow[],
): QueueFigures {
  const flaky = flakyTreesOf(rows);
  const landings = landingsOf(events, rows);
  const bouncing = new Set(rows.filter(isBouncing).map(({ batchId }) => batchId));
  return {
    weeks: weeks.map((week) => {
      const within = (at: EpochMs): boolean => at >= week && at < week + WEEK_MS;
      const ofWeek = rows.filter(({ createdAt }) => within(createdAt));
      const count = (name: EventHead['event']) =>
        events.filter(({ event, at }) => event === name && within(at)).length;
      const [landed, bounced] = [count('pr_landed'), count('pr_bounced')];
      const parts = landings.filter(({ at }) => within(at));
      const runs = sumRuns(ofWeek);
      const failed = treesOf(ofWeek.filter(({ gateVerdict }) => gateVerdict === 'failure'));
      return {
        week,
        landed,
        bounced,
        runs,
        runsSaved: runs === null ? null : landed + bounced - runs,
        waiting: spreadOf(parts.map(({ waiting }) => waiting)),
        gate: spreadOf(parts.map(({ gate }) => gate)),
        merging: spreadOf(parts.map(({ merging }) => merging)),
        bounceRuns: bounceRunsOf(ofWeek, bouncing),
        failedTrees: failed.size,
        flakyTrees: [...failed].filter((tree) => flaky.has(tree)).length,
      };
    }),
    flakyWindows: flakyWindowsOf(rows, flaky),
  };
}

function isBouncing({ actions }: NodeRow): boolean {
  return actions.some(({ action }) => action === 'bounced');
}

/** Rows that were judged by a gate run of their own. */
export function isJudged({ gateVerdict, gateSource }: NodeRow): boolean {
  return gateSource === null && (gateVerdict === 'success' || gateVerdict === 'failure');
}

function treesOf(rows: readonly NodeRow[]): ReadonlySet<string> {
  return new Set(rows.filter(isJudged).flatMap(({ stagingTree }) => stagingTree ?? []));
}

/** Failed by one gate run and passed by another. */
export function flakyTreesOf(rows: readonly NodeRow[]): ReadonlySet<string> {
  const passed = treesOf(rows.filter(({ gateVerdict }) => gateVerdict === 'success'));
  const failed = treesOf(rows.filter(({ gateVerdict }) => gateVerdict === 'failure'));
  return new Set([...failed].filter((tree) => passed.has(tree)));
}

function sumRuns(rows: readonly NodeRow[]): number | null {
  return rows.reduce<number | null>(
    (sum, { gateRuns }) => (sum === null || gateRuns === undefined ? null : sum + gateRuns),
    0,
  );
}

function bounceRunsOf(rows: readonly NodeRow[], bouncing: ReadonlySet<string>): number | null {
  const searched = rows.filter(({ batchId }) => bouncing.has(batchId));
  const runs = sumRuns(searched);
  const batches = new Set(searched.map(({ batchId }) => batchId)).size;
  return runs === null ? null : Math.max(0, runs - batches);
}

interface Landing {
  readonly at: EpochMs;
  readonly waiting: number | null;
  readonly gate: number | null;
  readonly merging: number | null;
}

/** Each landing with a receipt, by the row whose gate run has proven it. */
function landingsOf(events: readonly EventHead[], rows: readonly NodeRow[]): readonly Landing[] {
  const byCommit = new Map(rows.flatMap((row) => (row.stagingSha === null ? [] : [[row.stagingSha, row]])));
  const queued = events.filter(({ event }) => STAY_EVENTS.has(event)).sort((one, other) => one.at - other.at);
  const landed = new Map<string, Landing>();
  for (const { actions } of rows) {
    for (const { pr, receipt } of actions) {
      if (receipt === undefined) continue;
      const { landedAt: at, stagedSha, ofHead } = receipt;
      const { stagedAt, judgedAt } = (ofHead === true ? undefined : byCommit.get(stagedSha)) ?? {};
      const since = queuedAt(queued.filter((each) => each.pr === pr && each.at <= at));
      landed.set(`${pr} ${receipt.mergeCommit}`, {
        at,
        waiting: since === null || stagedAt === undefined ? null : Math.max(0, stagedAt - since),
        gate: stagedAt === undefined || judgedAt === undefined ? null : Math.max(0, judgedAt - stagedAt),
        merging: judgedAt === undefined ? null : Math.max(0, at - judgedAt),
      });
    }
  }
  return [...landed.values()];
}

const STAY_EVENTS: ReadonlySet<EventHead['event']> = new Set(['pr_queued', 'pr_bounced', 'pr_skipped']);

/** First of the last stay in the queue. A bounce begins a new one; one that left stays nowhere until it is back. */
function queuedAt(events: readonly EventHead[]): EpochMs | null {
  const end = events.findLastIndex(({ event }) => event !== 'pr_queued');
  const first = events.slice(end + 1).find(({ event }) => event === 'pr_queued');
  if (first === undefined) return events[end]?.event === 'pr_bounced' ? (events[end]?.at ?? null) : null;
  return Math.min(first.scheduledAt ?? first.at, first.at);
}

/** One part that is not known makes no other one unknown: it is left out. */
function spreadOf(parts: readonly (number | null)[]): Spread {
  const sorted = parts.filter((part) => part !== null).sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
  return { p50Ms: at(0.5), p95Ms: at(0.95) };
}

function flakyWindowsOf(rows: readonly NodeRow[], flaky: ReadonlySet<string>): readonly FlakyWindow[] {
  const windows = Array.from({ length: 24 / WINDOW_HOURS }, (_, index) => {
    const fromHour = index * WINDOW_HOURS;
    const judged = rows.filter(
      (row) =>
        isJudged(row) &&
        Math.floor(((row.stagedAt ?? row.createdAt) % DAY_MS) / HOUR_MS / WINDOW_HOURS) === index,
    );
    const failed = judged.filter(
      ({ gateVerdict, stagingTree }) =>
        gateVerdict === 'failure' && stagingTree !== null && flaky.has(stagingTree),
    );
    return { fromHour, toHour: fromHour + WINDOW_HOURS, judged: judged.length, flaky: failed.length };
  });
  return windows
    .filter((window) => window.flaky > 0)
    .sort((one, other) => other.flaky / other.judged - one.flaky / one.judged)
    .slice(0, WINDOWS_SHOWN_MAX);
}
