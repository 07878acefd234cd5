import type { ActivityEventName, BatchOutcome, BatchRow } from './batch.ts';
import type { EpochMs } from './ids.ts';
import type { LeaseState } from './lease.ts';
import type { ManagedRepo, ReconcileOutcome } from './repo.ts';
import type { Reading } from './result.ts';

/** D-28: a superset of the values that the contract shows. */
export const REPO_STATES = [
  'idle',
  'lingering',
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
}

export interface WeekReadings {
  readonly events: Reading<readonly { readonly at: EpochMs; readonly event: ActivityEventName }[]>;
  readonly batches: Reading<readonly { readonly at: EpochMs; readonly outcome: BatchOutcome }[]>;
  /** Start of the UTC day. */
  readonly dayStart: EpochMs;
}

export function summarizeWeek(week: WeekReadings): ActivityStats {
  const events = week.events.known ? week.events.value : null;
  const batches = week.batches.known ? week.batches.value : null;
  const landed = events?.filter((each) => each.event === 'pr_landed') ?? null;
  const bounces = events?.filter((each) => each.event === 'pr_bounced').length ?? null;
  const superseded = batches?.filter((each) => each.outcome === 'superseded').length ?? null;
  return {
    todayMerges: landed?.filter((each) => each.at >= week.dayStart).length ?? null,
    weekMerges: landed?.length ?? null,
    weekBounces: bounces,
    mergeSuccessRate:
      landed === null || bounces === null ? null : percent(landed.length, landed.length + bounces),
    weekBatches: batches?.length ?? null,
    weekSuperseded: superseded,
    restageRate: batches === null || superseded === null ? null : percent(superseded, batches.length),
  };
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
  readonly repo: ManagedRepo;
  readonly held: boolean;
  readonly outcome: ReconcileOutcome | undefined;
  /** Rows of this repo, newest first. */
  readonly batches: Reading<readonly BatchRow[]>;
  readonly lease: LeaseState;
}

/** What the queue of one repo is doing, told from the rows that its worker stored. */
export function describeRepoActivity(facts: RepoActivityFacts): RepoActivity {
  const { repo } = facts;
  const stagingBranch = `mq/${repo.baseBranch}/staging`;
  if (!facts.batches.known) {
    return {
      state: settledState(facts) ?? 'unknown',
      ciStatus: 'unknown',
      ciUrl: null,
      stagingBranch,
      prs: [],
    };
  }
  const rows = facts.batches.value;
  const running = rows.filter((row) => row.outcome === 'running');
  const root = running.find((row) => row.parentId === null) ?? running[0];
  const shown = root ?? rows.find((row) => row.gateVerdict !== 'none' && row.gateSource === null);
  return {
    state: settledState(facts) ?? liveState(running, facts.outcome),
    ciStatus: shown === undefined ? 'none' : ciStateOf(shown),
    ciUrl: shown?.runUrl ?? null,
    stagingBranch: root?.stagingBranch ?? stagingBranch,
    prs: root?.prs ?? [],
  };
}

function settledState({ repo, held }: RepoActivityFacts): RepoState | null {
  if (!repo.queueEnabled) return 'disabled';
  return held ? 'held' : null;
}

function liveState(running: readonly BatchRow[], outcome: ReconcileOutcome | undefined): RepoState {
  if (running.length === 0) return outcome?.ok === false ? 'error' : 'idle';
  if (running.some((row) => row.phase === 'waiting_merge')) return 'landing';
  if (running.some((row) => row.parentId !== null || row.nodeId === 'b')) return 'bisecting';
  return running.some((row) => row.stagingSha !== null) ? 'waiting_gate' : 'staging';
}

function ciStateOf(row: BatchRow): CiState {
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
