import type { CommitSha, EpochMs, PullRequestNumber, TreeHash } from '#core/domain/ids.ts';
import { isMergeRefusal, type MergeRefusal } from '#core/domain/pulls/merge-refusal.ts';

export type DeferReason =
  /** Reasons for which staging refuses a pull request on the base itself. */
  | MergeRefusal
  /** Conflicts with what is in flight before it, not with the base: its turn comes with the next batch. */
  | 'conflict_ahead'
  /** The same for each other reason why it cannot be staged on top of what is in flight. */
  | 'not_on_batch'
  /** Touches what suspects ahead of it touch; `baseTree` is the tree that ends theirs. Gone when they are. */
  | 'suspect_ahead'
  | 'no_changes'
  /** Without it nothing could be tested: its author keeps the gate workflow, or takes it away past the queue. */
  | 'removes_gate'
  | 'base_red'
  | 'head_not_ready'
  | 'gate_missing'
  /** It changes the gate workflow, and no gate run of that began, or none ended. */
  | 'gate_not_started'
  | 'gate_not_ended'
  /** Gate run after gate run of it alone was cancelled or broke off. */
  | 'runs_broken_off'
  /** The forge shows one head in its list, and another one where it is asked for this pull request. */
  | 'heads_differ'
  /** The forge failed on it again and again while it was otherwise well. */
  | 'staging_failed'
  /** Proven, but not mergeable for the forge, which may still check it: until the forge calls it mergeable. */
  | 'not_mergeable'
  /** The same once no check can be running any more: the forge, and it alone, calls it a conflict. */
  | 'forge_conflict';

/**
 * Set aside. It ends at the first of these:
 *
 * - Neither the base nor anything in flight has the tree `baseTree` any more. On the base, reasons of what is ahead
 *   (`isOfBatchAhead`) hold nothing back even before that.
 * - For `suspect_ahead`, not that, but: no suspect ahead of it is searched any more.
 * - For reasons of the head (`isOfHead`), on whatever tree: the head changes, or it is scheduled again.
 * - For what the forge alone holds (`isHeldByForge`), likewise: the head changes, or the forge calls it mergeable.
 * - For `gate_missing`: the settings, or the forge, name another gate.
 * - For `isUnwritten`, the first time: a word is written on the head.
 * - The time `until`. What the forge holds outlasts it, and has other words from then on; a refusal is kept for its words, and is
 *   tried again.
 */
export interface Deferred {
  readonly pr: PullRequestNumber;
  readonly head: CommitSha;
  readonly reason: DeferReason;
  /** Tree that it was set aside on: of the base, or of what is ahead of it. Not always one of the base. */
  readonly baseTree: TreeHash;
  /** Looked at again at this time even if nothing else ends it; null = at no time. */
  readonly until: EpochMs | null;
  /** Of `gate_missing`: the gate that was searched for (`describeWanted`). Absent: an older version searched. */
  readonly gate?: string;
  /** Of `staging_failed`: no `success` could be written on the head. Absent: staging failed, or an older version set it aside. */
  readonly isUnwritten?: boolean;
}

type ByPull = ReadonlyMap<PullRequestNumber, readonly Deferred[]>;

const indexes = new WeakMap<readonly Deferred[], ByPull>();

/**
 * All of one pull request, of whatever head, in their order. A pass asks for each one of a line of thousands: each array, of which
 * none is changed in place, is looked through once.
 */
export function deferralsOfPull(
  { deferred }: { readonly deferred: readonly Deferred[] },
  pr: PullRequestNumber,
): readonly Deferred[] {
  let index = indexes.get(deferred);
  if (index === undefined) {
    index = indexByPull(deferred);
    indexes.set(deferred, index);
  }
  return index.get(pr) ?? [];
}

/** Those of this head. */
export function deferralsOf(
  record: { readonly deferred: readonly Deferred[] },
  { pr, head }: Pick<Deferred, 'pr' | 'head'>,
): readonly Deferred[] {
  return deferralsOfPull(record, pr).filter((each) => each.head === head);
}

function indexByPull(deferred: readonly Deferred[]): ByPull {
  const index = new Map<PullRequestNumber, Deferred[]>();
  for (const each of deferred) {
    const own = index.get(each.pr);
    if (own === undefined) index.set(each.pr, [each]);
    else own.push(each);
  }
  return index;
}

/** The first of them. */
export function deferralOf(
  record: { readonly deferred: readonly Deferred[] },
  head: Pick<Deferred, 'pr' | 'head'>,
): Deferred | undefined {
  return deferralsOf(record, head)[0];
}

interface Traits {
  /** Told on the page only: the next look is soon, or the status of the base says it. */
  readonly isSilent?: true;
  /** Says nothing against the pull request itself: it is staged again once others are out of the way. */
  readonly passesWithOthers?: true;
  /** Says nothing of the base: it holds on top of what is in flight alone. */
  readonly isOfBatchAhead?: true;
  /** Holds of a head whatever the base is, until its author schedules it again. */
  readonly isOfHead?: true;
  /** The forge alone stands against this head: on whatever base, until it calls it mergeable. */
  readonly isHeldByForge?: true;
}

/** Each reason has its row here, and its words, whose turn it is and whether it is a fault in `PULL_CODES`. */
const DEFERRALS: Readonly<Record<DeferReason, Traits>> = {
  conflict: {},
  merge_unsure: {},
  directory_renamed: {},
  merge_rules: {},
  file_too_large: {},
  name_not_utf8: {},
  base_name_not_utf8: {},
  criss_cross: {},
  unrelated_history: {},
  commit_left_out: {},
  merges_in_rebase: {},
  empty_directory: {},
  file_converted: {},
  too_many_commits: {},
  too_many_files: {},
  conflict_ahead: { isSilent: true, passesWithOthers: true, isOfBatchAhead: true },
  not_on_batch: { isSilent: true, passesWithOthers: true, isOfBatchAhead: true },
  suspect_ahead: { isSilent: true, passesWithOthers: true },
  no_changes: {},
  removes_gate: {},
  base_red: { passesWithOthers: true },
  head_not_ready: { isSilent: true, passesWithOthers: true },
  gate_missing: {},
  gate_not_started: { isOfHead: true },
  gate_not_ended: { isOfHead: true },
  runs_broken_off: { isOfHead: true },
  heads_differ: { isOfHead: true },
  staging_failed: { isOfHead: true },
  not_mergeable: { isHeldByForge: true },
  forge_conflict: { isHeldByForge: true },
};

export function isSilent(reason: DeferReason): boolean {
  return DEFERRALS[reason].isSilent === true;
}

export function isDeferReason(reason: unknown): reason is DeferReason {
  return typeof reason === 'string' && Object.hasOwn(DEFERRALS, reason);
}

export function passesWithOthers(reason: DeferReason): boolean {
  return DEFERRALS[reason].passesWithOthers === true;
}

export function isOfBatchAhead({ reason }: Pick<Deferred, 'reason'>): boolean {
  return DEFERRALS[reason].isOfBatchAhead === true;
}

const OTHERS_FOUND_BY_STAGING: readonly DeferReason[] = [
  'no_changes',
  'removes_gate',
  'gate_missing',
  'staging_failed',
];

/** Found by staging alone: whether it still holds, only another try can tell. */
export function isFoundByStaging(reason: DeferReason): boolean {
  return isMergeRefusal(reason) || OTHERS_FOUND_BY_STAGING.includes(reason);
}

export const FOUND_BY_STAGING = (Object.keys(DEFERRALS) as DeferReason[]).filter(isFoundByStaging);

export function isHeldByForge({ reason }: Pick<Deferred, 'reason'>): boolean {
  return DEFERRALS[reason].isHeldByForge === true;
}

/** Reasons that last as long as the head, wherever the base moves. */
export function outlastsBase(deferred: Deferred): boolean {
  return isOfHead(deferred) || isHeldByForge(deferred);
}

export function isOfHead({ reason }: Pick<Deferred, 'reason'>): boolean {
  return DEFERRALS[reason].isOfHead === true;
}
