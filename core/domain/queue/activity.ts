import { DAY_MS } from '../api-limits.ts';
import type { EpochMs, PullRequestNumber, RepoId } from '../ids.ts';
import type { ManagedRepo, ReconcileOutcome } from '../repos/repo.ts';
import type { Reading } from '../result.ts';
import type { LeaseState } from '../wakes/lease.ts';
import { nextTickAt } from '../wakes/next-tick.ts';
import type { ActivityEventName, BatchOutcome, NodeRow } from './batch.ts';
import { stagingBranch } from './queue-names.ts';
import type { QueueView } from './queue-view.ts';

/** D-28: a superset of the values that the contract shows. */
export const REPO_STATES = [
  'idle',
  'lingering',
  'paused',
  'staging',
  'waiting_gate',
  'bisecting',
  'landing',
  'held',
  'disabled',
  'error',
  'unknown',
] as const;
export type RepoState = (typeof REPO_STATES)[number];

export const CI_STATES = ['none', 'pending', 'running', 'passing', 'failing', 'error', 'unknown'] as const;
export type CiState = (typeof CI_STATES)[number];

/** One UTC day. Null: cannot be said exactly. */
export interface DayCount {
  /** Start of the day. */
  readonly day: EpochMs;
  readonly landed: number | null;
  readonly bounced: number | null;
  readonly runs: number | null;
}

/** Null: cannot be said exactly. Clients show "unknown", never zero (A73). */
export interface ActivityStats {
  readonly todayMerges: number | null;
  readonly weekMerges: number | null;
  readonly weekBounces: number | null;
  /** Percent of terminal outcomes that landed; also null when there was none (D-80). */
  readonly mergeSuccessRate: number | null;
  readonly weekBatches: number | null;
  readonly weekSuperseded: number | null;
  /** Percent of batches that were repeated work. */
  readonly restageRate: number | null;
  /** From the schedule to landing; counted anew after a bounce. */
  readonly timeInQueueP50Ms: number | null;
  readonly timeInQueueP95Ms: number | null;
  readonly weekRuns: number | null;
  readonly runsPerLanded: number | null;
  /** Against one gate run for each pull request that landed or was bounced; negative when the queue took more. */
  readonly runsSaved: number | null;
  /** Oldest first: seven UTC days, today the last. The week is 168 hours, so it begins in the day before the first of them. */
  readonly days: readonly DayCount[];
}

export interface EventHead {
  readonly at: EpochMs;
  readonly event: ActivityEventName;
  readonly repoId: RepoId;
  readonly pr: PullRequestNumber;
  readonly scheduledAt?: EpochMs;
}

export interface BatchHead {
  readonly at: EpochMs;
  readonly outcome: BatchOutcome;
  /** Null: a row of before gate runs were counted. */
  readonly gateRuns: number | null;
}

export interface WeekReadings {
  readonly events: Reading<readonly EventHead[]>;
  readonly batches: Reading<readonly BatchHead[]>;
  /** Start of the UTC day. */
  readonly dayStart: EpochMs;
}

export function summarizeWeek(week: WeekReadings): ActivityStats {
  const events = week.events.known ? week.events.value : null;
  const batches = week.batches.known ? week.batches.value : null;
  const landed = countEvents(events, 'pr_landed');
  const bounces = countEvents(events, 'pr_bounced');
  const superseded = batches?.filter((each) => each.outcome === 'superseded').length ?? null;
  const runs = sumRuns(batches);
  const waits = events === null ? null : waitsOf(events);
  return {
    todayMerges: countEvents(events?.filter((each) => each.at >= week.dayStart) ?? null, 'pr_landed'),
    weekMerges: landed,
    weekBounces: bounces,
    mergeSuccessRate: landed === null || bounces === null ? null : percent(landed, landed + bounces),
    weekBatches: batches?.length ?? null,
    weekSuperseded: superseded,
    restageRate: batches === null || superseded === null ? null : percent(superseded, batches.length),
    timeInQueueP50Ms: waits === null ? null : percentile(waits, 0.5),
    timeInQueueP95Ms: waits === null ? null : percentile(waits, 0.95),
    weekRuns: runs,
    runsPerLanded:
      runs === null || landed === null || landed === 0 ? null : Math.round((runs / landed) * 100) / 100,
    runsSaved: runs === null || landed === null || bounces === null ? null : landed + bounces - runs,
    days: countDays(events, batches, week.dayStart),
  };
}

function countEvents(events: readonly EventHead[] | null, name: ActivityEventName): number | null {
  return events?.filter((each) => each.event === name).length ?? null;
}

/** One row without a count makes the sum unknown. */
function sumRuns(batches: readonly BatchHead[] | null): number | null {
  if (batches === null) return null;
  return batches.reduce<number | null>(
    (sum, each) => (sum === null || each.gateRuns === null ? null : sum + each.gateRuns),
    0,
  );
}

/** Ascending. One that was queued before the first event that was read waited for longer than can be told. */
function waitsOf(events: readonly EventHead[]): readonly number[] {
  const since = new Map<string, EpochMs>();
  const waits: number[] = [];
  for (const { at, event, repoId, pr, scheduledAt = at } of [...events].sort((a, b) => a.at - b.at)) {
    const key = `${repoId} ${pr}`;
    if (event === 'pr_landed') {
      waits.push(at - (since.get(key) ?? Number.NEGATIVE_INFINITY));
      since.delete(key);
    } else if (event === 'pr_skipped') since.delete(key);
    else if (event === 'pr_bounced') since.set(key, at);
    // The forge's clock may be ahead of ours.
    else if (event === 'pr_queued' && !since.has(key)) since.set(key, Math.min(scheduledAt, at));
  }
  return waits.sort((a, b) => a - b);
}

/** Nearest rank. */
function percentile(sorted: readonly number[], share: number): number | null {
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  return value === undefined || !Number.isFinite(value) ? null : value;
}

const WEEK_DAYS = 7;

function countDays(
  events: readonly EventHead[] | null,
  batches: readonly BatchHead[] | null,
  dayStart: EpochMs,
): readonly DayCount[] {
  return Array.from({ length: WEEK_DAYS }, (_, index) => {
    const day = dayStart - (WEEK_DAYS - 1 - index) * DAY_MS;
    const within = ({ at }: { readonly at: EpochMs }): boolean => at >= day && at < day + DAY_MS;
    const ofDay = events?.filter(within) ?? null;
    return {
      day,
      landed: countEvents(ofDay, 'pr_landed'),
      bounced: countEvents(ofDay, 'pr_bounced'),
      runs: sumRuns(batches?.filter(within) ?? null),
    };
  });
}

/** When a repo is looked at next: what is due by now is found by the next tick at the latest. Null: nothing is planned. */
export function nextLookAt(dueAt: EpochMs | null, now: EpochMs): EpochMs | null {
  if (dueAt === null || dueAt > now) return dueAt;
  return nextTickAt(now);
}

/** One decimal; nothing of nothing is undefined, not zero. */
function percent(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.round((part / whole) * 1000) / 10;
}

export interface RepoActivity {
  readonly state: RepoState;
  readonly ciStatus: CiState;
  readonly ciUrl: string | null;
  readonly stagingBranch: string;
  readonly prs: readonly number[];
}

export interface RepoActivityFacts {
  readonly queueName: string;
  readonly repo: ManagedRepo;
  readonly isOnHold: boolean;
  readonly outcome: ReconcileOutcome | undefined;
  /** Rows of this repo, newest first. Unknown: none was read, and there may be older ones. */
  readonly batches: Reading<readonly NodeRow[]>;
  /** Undefined: not known. */
  readonly view: QueueView | undefined;
  readonly lease: LeaseState;
  /** Ready pull requests wait for more of them before anything is staged. */
  readonly lingers: boolean;
  /** Its owner has paused it. */
  readonly isPaused: boolean;
}

/** The activity of the queue of one repo, told from the rows that its worker stored. */
export function describeRepoActivity(facts: RepoActivityFacts): RepoActivity {
  const plainBranch = stagingBranch(facts.queueName, facts.repo.baseBranch);
  if (!facts.batches.known) {
    const { block, places = [] } = facts.view ?? {};
    return {
      state: settledState(facts) ?? stateOfView(facts),
      ciStatus: 'unknown',
      ciUrl: block?.runUrl ?? null,
      stagingBranch: plainBranch,
      prs: places.flatMap(({ pr, state }) => (state === 'staged' || state === 'landing' ? [pr] : [])),
    };
  }
  const rows = facts.batches.value;
  const running = rows.filter((row) => row.outcome === 'running');
  const live = liveRows(running);
  // One part of a batch, so that an entry does not call that landing which is still gated.
  const root = live === null ? undefined : partOf(live.rows, running);
  const shown = root ?? rows.find((row) => row.gateVerdict !== 'none' && row.gateSource === null);
  return {
    state: settledState(facts) ?? live?.state ?? restingState(facts),
    ciStatus: shown === undefined ? 'none' : ciStateOf(shown),
    ciUrl: shown?.runUrl ?? null,
    stagingBranch: root?.stagingBranch ?? plainBranch,
    prs: root?.prs ?? [],
  };
}

function settledState({ repo, isOnHold }: RepoActivityFacts): RepoState | null {
  if (!repo.queueEnabled) return 'disabled';
  return isOnHold ? 'held' : null;
}

/** The first of these that has rows is the state, and they are what it is about. */
const LIVE_STATES: readonly (readonly [RepoState, (row: NodeRow) => boolean])[] = [
  ['landing', (row) => row.phase === 'waiting_merge'],
  ['bisecting', (row) => row.parentId !== null || row.nodeId === 'b'],
  ['waiting_gate', (row) => row.stagingSha !== null],
  ['staging', () => true],
];

function liveRows(
  running: readonly NodeRow[],
): { readonly state: RepoState; readonly rows: readonly NodeRow[] } | null {
  for (const [state, isAbout] of LIVE_STATES) {
    const rows = running.filter(isAbout);
    if (rows.length > 0) return { state, rows };
  }
  return null;
}

/** The probe of the base has no pull request: the part that waits for it is told. */
function partOf(rows: readonly NodeRow[], running: readonly NodeRow[]): NodeRow | undefined {
  const [newest] = rows;
  return (
    rows.find(({ parentId }) => parentId === null) ??
    rows.find(({ prs }) => prs.length > 0) ??
    running.find(({ id }) => id === newest?.parentId) ??
    newest
  );
}

function stateOfView(facts: RepoActivityFacts): RepoState {
  switch (facts.view?.block.kind) {
    case undefined:
      return 'unknown';
    case 'staging':
      return 'staging';
    case 'gate':
    case 'runner':
    case 'gate_retry':
      return 'waiting_gate';
    case 'merge':
    case 'revoke':
      return 'landing';
    // No batch is under way.
    case 'tree_mismatch':
    case 'paused':
    case 'paused_by_owner':
    case 'base_red':
    case 'gate_missing':
    case 'linger':
    case 'admission':
    case 'empty':
      return restingState(facts);
  }
}

function restingState({ outcome, lingers, isPaused }: RepoActivityFacts): RepoState {
  if (outcome?.ok === false) return 'error';
  if (isPaused) return 'paused';
  return lingers ? 'lingering' : 'idle';
}

function ciStateOf(row: NodeRow): CiState {
  switch (row.gateVerdict) {
    case 'success':
      return 'passing';
    case 'failure':
      return 'failing';
    case 'cancelled':
    case 'error':
      return 'error';
    case 'none':
      return row.runUrl === null ? 'pending' : 'running';
  }
}
