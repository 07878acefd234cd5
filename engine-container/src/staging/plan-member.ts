import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import { type EngineForge, ForgeError, ListingTooLong } from '#core/ports/forge.ts';
import type { CutReason, StageBatch } from '../queue/actions.ts';
import {
  hasMerges,
  hasRoots,
  isFastForward,
  isUnrelated,
  listReplayed,
  type OwnCommit,
  type ReplayStep,
  standsOn,
  type WrittenStep,
} from './ancestry.ts';
import { findGateFile, findStatusGate, type GateFile } from './gate-file.ts';
import { confirmMergeBase, findMergeBase, isAncestor, listAbove } from './merge-base.ts';
import { Unsayable } from './objects.ts';
import type { PathChange } from './path-change.ts';
import { dropsEdit, treeOfPlan } from './rebase/dropped-edit.ts';
import { findCheckoutRefusal } from './rebase/rebase-checkouts.ts';
import { RebasedOver } from './rebase/rebased-over.ts';
import { unlessTooMany } from './refusal.ts';
import type { RepoObjects } from './repo-objects.ts';
import { type MergePlan, planMerge } from './three-way.ts';
import { diffTrees } from './tree-walk.ts';

type StagedMember = StageBatch['members'][number];

/** Trees that one replay may come to, beyond which it is not followed. */
const REPLAY_OUTCOMES_MAX = 8;

/** The plan of one pull request on the tree that it is staged on. */
export interface MemberPlan {
  readonly pr: number;
  readonly changes: readonly PathChange[];
  readonly tree: TreeHash;
  readonly gate: GateFile | null;
}

export interface MemberPlannerDeps {
  readonly forge: EngineForge;
  readonly objects: RepoObjects;
  readonly queueName: string;
  readonly mergeStyle: MergeStyle;
}

/** Plans the members of one batch in their order, each on the tree of the one before. Writes nothing. */
export class MemberPlanner {
  readonly #deps: MemberPlannerDeps;
  readonly #action: StageBatch;
  /** Commits that the members before bring along. */
  readonly #staged = new Set<CommitSha>();
  /** Those of them that a rebase of the forge leaves as they are. */
  readonly #kept = new Set<CommitSha>();
  readonly #over: RebasedOver;
  /** Where the heads that land before this batch have come to, as a rebase writes them. */
  #below: TreeHash | null = null;
  /** One of them brings more along than can be listed: where a head on top of them forks off cannot be told. */
  #isUnlisted = false;

  constructor(deps: MemberPlannerDeps, action: StageBatch) {
    this.#deps = deps;
    this.#action = action;
    this.#over = new RebasedOver(deps, action.forkSha);
  }

  /** A head that lands before this batch. A squash leaves no commit of it on the base. */
  async addBelow(head: CommitSha): Promise<void> {
    const { forge, mergeStyle } = this.#deps;
    if (mergeStyle === 'squash') return;
    const own = (await unlessNotReady(() => listAbove(forge, this.#action.forkSha, head))) ?? [];
    if (own !== 'too many' && mergeStyle === 'rebase') await this.#writeBelow(own);
    this.#addStaged(own);
  }

  async #writeBelow(own: readonly OwnCommit[]): Promise<void> {
    const below = this.#below ?? (await this.#deps.objects.treeOf(this.#action.forkSha));
    const plan = await this.#merge(listReplayed(own, this.#staged), below);
    if (typeof plan === 'string') return;
    this.#over.add(plan.written);
    this.#below = plan.tree;
  }

  /** A plan, unless it touches what suspects ahead of it touch: then they go first, if they go. */
  async plan(member: StagedMember, ours: TreeHash): Promise<MemberPlan | CutReason> {
    if (this.#isUnlisted) return 'unlisted_ahead';
    try {
      return await this.#plan(member, ours);
    } catch (error) {
      if (error instanceof ListingTooLong) return 'too_many_commits';
      if (!(error instanceof Unsayable)) throw error;
      return error.side === 'head' ? 'name_not_utf8' : 'base_name_not_utf8';
    }
  }

  async #plan(member: StagedMember, ours: TreeHash): Promise<MemberPlan | CutReason> {
    const own = await this.#listOwn(member);
    if (own === 'not ready') return 'head_not_ready';
    const fork = await this.#findFork(member, own);
    if (fork === 'not ready') return 'head_not_ready';
    if (fork === 'too many') return 'too_many_commits';
    const { mergeStyle } = this.#deps;
    const plan =
      mergeStyle === 'rebase' && own !== null && own !== 'too many' && own.length > 0
        ? await this.#planRebase(member, own, ours)
        : await this.#planFrom(fork, member.head, ours);
    if (typeof plan === 'string') return plan;
    for (const tree of member.behind)
      if (await this.#touches(fork, tree, member.head)) return 'suspect_ahead';
    if (own !== null && mergeStyle !== 'squash') this.#addStaged(own);
    const { tree, changes, written } = plan;
    this.#over.add(written);
    return { pr: member.pr, tree, changes, gate: await this.readGate(tree) };
  }

  /** The gate of a tree. Throws `Unsayable`. */
  readGate(tree: TreeHash): Promise<GateFile | null> {
    const { objects, queueName } = this.#deps;
    const { workflowFolders: folders, otherWorkflowFolders: otherFolders, statusGate } = this.#action;
    if (statusGate !== null) return objects.run(findStatusGate(objects, tree, statusGate));
    return objects.run(findGateFile(objects, tree, { queueName, folders, otherFolders }));
  }

  #addStaged(own: readonly OwnCommit[] | 'too many'): void {
    if (own === 'too many') {
      this.#isUnlisted = true;
      return;
    }
    if (this.#deps.mergeStyle === 'rebase') {
      this.#over.add(listReplayed(own, this.#staged));
      if (isFastForward(own, this.#action.forkSha, this.#staged, this.#kept))
        for (const { sha } of own) this.#kept.add(sha);
    }
    for (const { sha } of own) this.#staged.add(sha);
  }

  /** Commits of a head that the base does not have; null where the forge's merge base says all that matters. */
  async #listOwn(member: StagedMember): Promise<readonly OwnCommit[] | null | 'too many' | 'not ready'> {
    const { forge, mergeStyle } = this.#deps;
    const { forkSha, members, headsBelow } = this.#action;
    const isAlone = members.length + (headsBelow?.length ?? 0) === 1;
    // A head that has the whole base has one merge base with it, which is the base.
    const isPlain = mergeStyle === 'squash' || (mergeStyle === 'merge' && isAlone);
    if (isPlain && member.mergeBase === forkSha) {
      // Of a head that has no commit in common with the base a forge may tell the base's tip as well (forge facts, 2).
      const hasBase = await unlessNotReady(() => isAncestor(forge, forkSha, member.head));
      if (hasBase !== false) return hasBase === null ? 'not ready' : null;
    }
    return (await unlessNotReady(() => listAbove(forge, forkSha, member.head))) ?? 'not ready';
  }

  async #findFork(
    member: StagedMember,
    own: readonly OwnCommit[] | null | 'too many',
  ): Promise<CommitSha | null | 'several' | 'too many' | 'not ready'> {
    if (own === null) return member.mergeBase;
    if (own === 'too many') return this.#confirmFork(member);
    if (this.#deps.mergeStyle === 'rebase' && own.length > 0 && member.behind.length === 0) return null;
    return this.#askFork(member, own);
  }

  async #askFork({ head }: StagedMember, own: readonly OwnCommit[]) {
    const { forge } = this.#deps;
    const fork = await unlessNotReady(async () => ({
      sha: await findMergeBase(forge, head, own, this.#staged),
    }));
    return fork === null ? 'not ready' : fork.sha;
  }

  /** Without a list of its commits none can be replayed, and what it shares with those staged before it cannot be told. */
  async #confirmFork({ pr, head }: StagedMember): Promise<CommitSha | 'too many' | 'not ready'> {
    const { forge, mergeStyle } = this.#deps;
    const { forkSha } = this.#action;
    if (mergeStyle === 'rebase' || this.#staged.size > 0) return 'too many';
    const fork = await unlessNotReady(async () => {
      const { headSha, baseTip, mergeable, mergeBase } = await forge.readPullRequest(pr);
      if (headSha !== head || mergeBase === null) return null;
      const isOfBefore = mergeable !== true || baseTip !== forkSha;
      return (await confirmMergeBase(forge, head, forkSha, mergeBase)) ?? (isOfBefore ? null : 'too many');
    });
    return fork ?? 'not ready';
  }

  async #planFrom(
    fork: CommitSha | 'several' | null,
    head: CommitSha,
    ours: TreeHash,
  ): Promise<Planned | CutReason> {
    if (fork === null) return 'unrelated_history';
    if (fork === 'several') return 'criss_cross';
    return this.#merge([{ parent: fork, sha: head }], ours);
  }

  /**
   * A native rebase replays commit by commit, so that a change which is taken back on the way undoes the same change of
   * the base, where a merge keeps it (D-13). Versions and settings of the forge differ in what they replay: where that makes
   * another tree, it is refused.
   */
  async #planRebase(
    member: StagedMember,
    own: readonly OwnCommit[],
    ours: TreeHash,
  ): Promise<Planned | CutReason> {
    if (isUnrelated(own)) return 'unrelated_history';
    const steps = listReplayed(own, this.#staged);
    const plan = await this.#merge(steps, ours);
    // A rebase replays the first commit of an imported history as well, beside the files that are there.
    if (hasRoots(own)) return 'merges_in_rebase';
    if (hasMerges(own)) {
      const whole = await this.#planWhole(member, own, ours);
      if (whole === 'head_not_ready') return whole;
      if (dropsEdit(plan, whole, ours)) return 'merges_in_rebase';
    }
    const isUpToDate = this.#isUpToDate(member, own);
    const leftOut = await unlessNotReady(() => this.#over.listLeftOut(member.head, steps, isUpToDate));
    if (leftOut === null) return 'head_not_ready';
    if (leftOut.size > 0) {
      const kept = steps.filter(({ sha }) => !leftOut.has(sha));
      if (!isSamePlan(plan, await this.#merge(kept, ours))) return 'commit_left_out';
    }
    const tree = treeOfPlan(plan, ours);
    if (tree === null) return plan;
    const isSettled = await unlessNotReady(() => this.#isSettled(own, leftOut, ours, tree));
    if (isSettled !== true) return isSettled === null ? 'head_not_ready' : 'commit_left_out';
    if (typeof plan === 'string') return plan;
    // Commits that stand on the base are not written one by one: the branch moves to the last of them.
    const isKept = isFastForward(own, this.#action.forkSha, this.#staged, this.#kept);
    const holdsBase = isKept || (this.#isNext(member) && isUpToDate);
    const head = await this.#deps.objects.treeOf(member.head);
    if (holdsBase && head !== tree) return 'empty_directory';
    if (holdsBase && !this.#action.rebasesUpToDate) return plan;
    const written = isKept ? [{ sha: head, parent: ours }] : plan.written;
    const rebase = { head, ours, written };
    const refusal = await unlessNotReady(() => findCheckoutRefusal(this.#deps.objects, rebase));
    return refusal === null ? 'head_not_ready' : refusal === 'none' ? plan : refusal;
  }

  /**
   * Whether it makes this tree whichever of the commits that may be left out are left out. Of those that land before it, newly
   * written, some may be other patches then, and are replayed where the next one is left out. What conflicts lands nothing.
   */
  async #isSettled(
    own: readonly OwnCommit[],
    leftOut: ReadonlySet<CommitSha>,
    ours: TreeHash,
    tree: TreeHash,
  ): Promise<boolean> {
    const steps = listReplayed(own, this.#kept);
    const isOpen = ({ sha }: ReplayStep): boolean => leftOut.has(sha) || this.#staged.has(sha);
    if (leftOut.size < 2 && !steps.some(({ sha }) => this.#staged.has(sha))) return true;
    let outcomes = new Set([ours]);
    for (const step of steps) {
      const next = new Set(isOpen(step) ? outcomes : []);
      for (const before of outcomes) {
        const plan = await this.#planMerge(step.parent, before, step.sha);
        if (plan.kind === 'plan') next.add(plan.tree);
      }
      if (next.size > REPLAY_OUTCOMES_MAX) return false;
      outcomes = next;
    }
    return [...outcomes].every((each) => each === tree);
  }

  /** With what was changed in its merges. Forgejo rebases no head that holds the whole base; every other rebase drops them. */
  async #planWhole(
    member: StagedMember,
    own: readonly OwnCommit[],
    ours: TreeHash,
  ): Promise<Pick<Planned, 'tree'> | CutReason> {
    if (this.#isNext(member) && member.mergeBase === this.#action.forkSha)
      return { tree: await this.#deps.objects.treeOf(member.head) };
    const fork = await this.#askFork(member, own);
    return fork === 'not ready' ? 'head_not_ready' : this.#planFrom(fork, member.head, ours);
  }

  /** The forge says so and its own commits show it: where Forgejo fails to find a merge base, it tells the tip. */
  #isUpToDate({ mergeBase }: StagedMember, own: readonly OwnCommit[]): boolean {
    const { forkSha } = this.#action;
    return mergeBase === forkSha && standsOn(own, forkSha);
  }

  /** Nothing lands before it. */
  #isNext({ pr }: StagedMember): boolean {
    const { members, headsBelow } = this.#action;
    return members[0]?.pr === pr && (headsBelow ?? []).length === 0;
  }

  /** Merges commits one after the other, each from its own base. */
  async #merge(
    steps: readonly { readonly parent: CommitSha; readonly sha: CommitSha }[],
    ours: TreeHash,
  ): Promise<Planned | CutReason> {
    const { objects } = this.#deps;
    let planned: Omit<Planned, 'written'> = { tree: ours, changes: [] };
    const written: WrittenStep[] = [];
    for (const { parent, sha } of steps) {
      const { tree } = planned;
      const plan = await unlessNotReady(() => this.#planMerge(parent, tree, sha));
      if (plan === null) return 'head_not_ready';
      if (plan.kind === 'refused') return plan.reason;
      if (plan.tree !== tree) written.push({ sha: plan.tree, parent: tree });
      planned = plan;
    }
    if (planned.tree === ours) return 'no_changes';
    if (steps.length === 1) return { ...planned, written };
    const whole = await unlessTooMany(() => objects.run(diffTrees(objects, ours, planned.tree)));
    return whole === null ? 'too_many_files' : { tree: planned.tree, changes: whole.changes, written };
  }

  async #planMerge(base: CommitSha, ours: TreeHash, theirs: CommitSha): Promise<MergePlan> {
    const { objects } = this.#deps;
    const trees = { base: await objects.treeOf(base), ours, theirs: await objects.treeOf(theirs) };
    return objects.run(planMerge(objects, trees));
  }

  /** Whether a head changes a file that `tree` has otherwise than the fork, and not in the same way. */
  async #touches(fork: CommitSha | 'several' | null, tree: TreeHash, head: CommitSha): Promise<boolean> {
    const { objects } = this.#deps;
    if (fork === null || fork === 'several') return true;
    const touches = await unlessNotReady(async () => {
      const trees = { base: await objects.treeOf(fork), ours: tree, theirs: await objects.treeOf(head) };
      const plan = await objects.runWithoutContents(planMerge(objects, trees));
      return plan === null || plan.kind === 'refused';
    });
    return touches === true;
  }
}

function isSamePlan(one: Planned | CutReason, other: Planned | CutReason): boolean {
  if (typeof one === 'string' || typeof other === 'string') return one === other;
  return one.tree === other.tree;
}

interface Planned {
  readonly tree: TreeHash;
  readonly changes: readonly PathChange[];
  /** The commits as a rebase writes them, by their trees: what stands there already is no part of them any more. */
  readonly written: readonly WrittenStep[];
}

/** The head of a fork arrives in the base repository some time after the push: null until it has. */
async function unlessNotReady<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'missing' || error.kind === 'rejected')) return null;
    throw error;
  }
}
