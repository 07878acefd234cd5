import type { CommitSha, EpochMs, PullRequestNumber, TreeHash } from '../ids.ts';
import type { Priority } from '../repos/priority.ts';
import type { ChosenFanout } from './auto-fanout.ts';
import type { ToldForecast } from './forecast.ts';

/** Where a pull request of the queue stands. */
export const PLACE_STATES = ['landing', 'staged', 'ready', 'waiting', 'refused', 'bounced'] as const;
export type PlaceState = (typeof PLACE_STATES)[number];

/** The obstacle before the next landing of a repo. */
export const BLOCK_KINDS = [
  'tree_mismatch',
  'merge',
  'revoke',
  'gate',
  'runner',
  'gate_retry',
  'staging',
  'paused',
  'paused_by_owner',
  'base_red',
  'gate_missing',
  'linger',
  'admission',
  'empty',
] as const;
export type BlockKind = (typeof BLOCK_KINDS)[number];

export interface QueuePlace {
  readonly pr: PullRequestNumber;
  /** Cut to `QUEUE_TITLE_CHARS_MAX`. */
  readonly title: string;
  readonly head: CommitSha;
  readonly queuedAt: EpochMs;
  /** By its labels; absent: normal. */
  readonly priority?: Priority;
  /** By its labels, from freeze windows; absent: it is not. */
  readonly isExempt?: true;
  readonly state: PlaceState;
  /** Key of a fixed phrase; null when the state says it all. */
  readonly reason: string | null;
  /** Looked at again at this time by itself; null = when something changes. */
  readonly until: EpochMs | null;
  /** The words of its head, where they tell more than those of `reason`, as `WHAT; STEP`. Absent: they do not. */
  readonly says?: string;
  /** The change that its head would make to the settings once it landed, or what is wrong in it; absent: none is known. */
  readonly settings?: string;
  /** Absent: its chance to fail is the usual one. */
  readonly forecast?: ToldForecast;
}

export interface Block {
  readonly kind: BlockKind;
  readonly since: EpochMs | null;
  /** When it ends by itself at the latest; null = not known. */
  readonly until: EpochMs | null;
  readonly pr: PullRequestNumber | null;
  readonly runUrl: string | null;
  /** Of a gate run that waits for a runner: labels that this runner has to have. Absent: not known. */
  readonly labels?: readonly string[];
  /** Of a stop for a wrong tree only. */
  readonly evidence?: HaltEvidence;
}

/** The evidence when a landed tree was not the proven one; ids of the forge's repository. */
export interface HaltEvidence {
  readonly mergeCommit: CommitSha;
  readonly landedTree: TreeHash;
  readonly provenTree: TreeHash;
  /** Tip of the base that the landing was to stand on. */
  readonly baseBefore: CommitSha;
}

/** The queue of one repo after its last step, told to people. Nothing is decided by it. */
export interface QueueView {
  readonly at: EpochMs;
  /** In order, at most `QUEUE_PLACES_MAX`. */
  readonly places: readonly QueuePlace[];
  /** Places behind those of `places`. */
  readonly more: number;
  readonly block: Block;
  /** Absent: the settings name the number of gate runs at once. */
  readonly fanout?: ChosenFanout;
  /** Since when the base is known to hold what was moved there past the queue; absent: what is on it is proven. */
  readonly unprovenSince?: EpochMs;
}

/** Kept small enough to be read with every look at the dashboard. */
export const QUEUE_PLACES_MAX = 100;
export const QUEUE_TITLE_CHARS_MAX = 300;
