import type { Commit, TreeEntry } from '#core/domain/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repo.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { Action, ActionOutcome, CutReason } from './queue/actions.ts';
import type { Staged } from './queue/record.ts';
import {
  applyToNewBranch,
  placeBranch,
  publishTree,
  type TreeCache,
  touchSameFiles,
  unlessNotReady,
} from './stage-trees.ts';
import { findStackBase, listReplayed, type OwnCommit } from './staging/ancestry.ts';
import { findGateFile, type GateFile, judgeGateChange } from './staging/gate-file.ts';
import { renderPatch } from './staging/patch.ts';
import { type MergePlan, planMerge } from './staging/three-way.ts';
import { diffTrees } from './staging/tree-diff.ts';
import { formatOf, hashTree } from './staging/tree-hash.ts';

type StageRoot = Extract<Action, { kind: 'stage_root' }>;
type Plan = Extract<MergePlan, { kind: 'plan' }>;

export interface StageRootDeps {
  readonly forge: EngineForge;
  readonly trees: TreeCache;
  readonly baseBranch: string;
  readonly queueName: string;
  readonly mergeStyle: MergeStyle;
  /** True when staging should publish what it has and leave the rest for the next batch. */
  readonly isOutOfTime: () => boolean;
}

/** Raised inside this file only: the base is not where the plan began. */
class BaseMoved extends Error {}

/**
 * Builds a batch by content-free patches, one commit per pull request in queue order (A9), on a work branch that
 * starts no run; only the last commit is pushed under `mq/**`, so that one attempt is one run (E22).
 */
export async function stageRoot(deps: StageRootDeps, action: StageRoot): Promise<ActionOutcome> {
  const builder = new ChainBuilder(deps, action);
  try {
    return await builder.build();
  } catch (error) {
    if (error instanceof BaseMoved) return { kind: 'base_moved' };
    throw error;
  } finally {
    await builder.cleanUp();
  }
}

interface Pending {
  readonly pr: number;
  readonly plan: Plan;
}

/** A commit that a rebase replays, as the trees of its parent and its own. */
interface ReplayStep {
  readonly base: readonly TreeEntry[];
  readonly theirs: readonly TreeEntry[];
}

type MemberPlan =
  | { readonly kind: 'plan'; readonly plan: Plan; readonly gate: GateFile | null }
  /** Commits that the forge itself has to replay, because it merges contents on the way. */
  | { readonly kind: 'replay'; readonly steps: readonly ReplayStep[] };

class ChainBuilder {
  readonly #deps: StageRootDeps;
  readonly #action: StageRoot;
  readonly #chain: Staged[] = [];
  #tip: CommitSha;
  #entries: readonly TreeEntry[] = [];
  #workExists = false;
  /** Commits that the members staged so far bring along. */
  readonly #staged = new Set<CommitSha>();

  constructor(deps: StageRootDeps, action: StageRoot) {
    this.#deps = deps;
    this.#action = action;
    this.#tip = action.baseSha;
  }

  async build(): Promise<ActionOutcome> {
    const { trees } = this.#deps;
    const baseEntries = await trees.read(this.#action.baseSha);
    this.#entries = baseEntries;
    await this.#standOnStack();
    const { last, cut } = await this.#applyAllButLast(this.#findGate(baseEntries));
    if (last === null && this.#chain.length === 0) {
      return cut === null ? { kind: 'failed' } : { kind: 'nothing_staged', cut };
    }
    return this.#publish(last, cut, baseEntries);
  }

  /** A batch on top of another is built from that one's last commit, which no branch of ours may hold any more. */
  async #standOnStack(): Promise<void> {
    const { baseSha, stackedOn, workBranch } = this.#action;
    if (stackedOn === null) return;
    await placeBranch(this.#deps.forge, workBranch, baseSha);
    this.#workExists = true;
    if (this.#deps.mergeStyle === 'squash') return;
    for (const head of stackedOn) {
      for (const { sha } of (await this.#listOwn(head)) ?? []) this.#staged.add(sha);
    }
  }

  /** Plans ahead by one: the last member that can be staged is the one whose commit is published. */
  async #applyAllButLast(
    baseGate: GateFile | null,
  ): Promise<{ last: Pending | null; cut: { index: number; reason: CutReason } | null }> {
    let pending = null as Pending | null;
    const { members } = this.#action;
    for (let index = 0; index < members.length; index += 1) {
      const member = members[index];
      if (member === undefined) break;
      if (pending !== null && pending.plan.result === null) {
        if (!(await this.#applyOnWork(pending)))
          return { last: null, cut: { index: index - 1, reason: 'conflict' } };
        pending = null;
        if (this.#isKnownFailure(this.#chain.at(-1)?.tree, this.#entries)) {
          return { last: null, cut: { index, reason: 'known_failure' } };
        }
      }
      if (index > 0 && this.#deps.isOutOfTime())
        return { last: pending, cut: { index, reason: 'out_of_time' } };
      const own = await this.#listOwn(member.head);
      const next: MemberPlan | CutReason =
        own === null
          ? 'head_not_ready'
          : await this.#planInTurn(member, own, pending?.plan.result ?? this.#entries);
      if (typeof next === 'string') return { last: pending, cut: { index, reason: next } };
      if (next.kind === 'replay') {
        if (pending !== null && !(await this.#applyOnWork(pending))) {
          return { last: null, cut: { index: index - 1, reason: 'conflict' } };
        }
        pending = null;
        const reason = await this.#replayOnWork(member.pr, next.steps, { baseGate, isFirst: index === 0 });
        if (reason !== null) return { last: null, cut: { index, reason } };
        for (const { sha } of own ?? []) this.#staged.add(sha);
        const ends = this.#reasonToEndAfterReplay(baseGate);
        if (ends !== null && index + 1 < members.length)
          return { last: null, cut: { index: index + 1, reason: ends } };
        continue;
      }
      const change = judgeGateChange(baseGate, next.gate);
      if (change === 'removes_gate') return { last: pending, cut: { index, reason: change } };
      const editsGate = change === 'edits_gate';
      // The tree defines its own judge: at least it is judged alone (D-18).
      if (editsGate && index > 0) return { last: pending, cut: { index, reason: 'edits_gate' } };
      if (pending !== null && !(await this.#applyOnWork(pending))) {
        return { last: null, cut: { index: index - 1, reason: 'conflict' } };
      }
      pending = { pr: member.pr, plan: next.plan };
      for (const { sha } of own ?? []) this.#staged.add(sha);
      if (editsGate && members.length > 1) return { last: pending, cut: { index: 1, reason: 'edits_gate' } };
      const { result } = next.plan;
      const tree = result === null ? undefined : hashTree(result, formatOf({ sha: this.#tip }));
      if (index + 1 < members.length && result !== null && this.#isKnownFailure(tree, result)) {
        // What is known to fail needs no run of anything longer: the batch ends at the suspect.
        return { last: pending, cut: { index: index + 1, reason: 'known_failure' } };
      }
    }
    return { last: pending, cut: null };
  }

  /** Own commits of a head, where the landing's tree depends on them; null when the head is not there yet. */
  async #listOwn(head: CommitSha): Promise<readonly OwnCommit[] | null> {
    const { forge, mergeStyle } = this.#deps;
    // A squash leaves no commit of the head on the base, and a merge alone has nobody to stand on.
    const matters =
      mergeStyle === 'rebase' ||
      (mergeStyle === 'merge' && this.#action.members.length + (this.#action.stackedOn?.length ?? 0) > 1);
    if (!matters) return [];
    return unlessNotReady(() => forge.listOwnCommits(this.#action.forkSha, head));
  }

  /** A plan, unless it touches what suspects ahead of it touch: then they go first, if they go. */
  async #planInTurn(
    member: StageRoot['members'][number],
    own: readonly OwnCommit[],
    ours: readonly TreeEntry[],
  ): Promise<MemberPlan | CutReason> {
    const { forge, trees } = this.#deps;
    const planned = await this.#planMember(member, own, ours);
    if (typeof planned === 'string') return planned;
    for (const tree of member.behind) {
      const touches = await unlessNotReady(async () => {
        const fork = member.mergeBase ?? (await forge.readMergeBase(this.#action.forkSha, member.head));
        return fork !== null && touchSameFiles(trees, { fork, tree, head: member.head });
      });
      if (touches === true) return 'suspect_ahead';
    }
    return planned;
  }

  async #planMember(
    member: StageRoot['members'][number],
    own: readonly OwnCommit[],
    ours: readonly TreeEntry[],
  ): Promise<MemberPlan | CutReason> {
    const { forge, trees, mergeStyle } = this.#deps;
    if (mergeStyle === 'rebase' && own.length > 1) return this.#planReplay(own, ours);
    const stackBase = mergeStyle === 'merge' ? findStackBase(own, this.#staged) : null;
    if (stackBase === 'several') return 'conflict';
    const sides = await unlessNotReady(async () => {
      const theirs = await trees.read(member.head);
      const fork =
        stackBase ?? member.mergeBase ?? (await forge.readMergeBase(this.#action.forkSha, member.head));
      return { theirs, base: fork === null ? null : await trees.read(fork) };
    });
    if (sides === null) return 'head_not_ready';
    if (sides.base === null) return 'conflict';
    const plan = planMerge({ base: sides.base, ours, theirs: sides.theirs });
    if (plan.kind === 'conflict') return 'conflict';
    if (plan.changes.length === 0) return 'no_changes';
    return { kind: 'plan', plan, gate: this.#findGate(plan.result ?? sides.theirs) };
  }

  /**
   * A native rebase replays commit by commit, so that a change which is taken back on the way undoes the same change of
   * the base, where a merge keeps it (D-13). While no step leaves contents to merge, its tree is known without a write.
   */
  async #planReplay(own: readonly OwnCommit[], ours: readonly TreeEntry[]): Promise<MemberPlan | CutReason> {
    const { trees } = this.#deps;
    const steps = await unlessNotReady(async () => {
      const read: ReplayStep[] = [];
      for (const { sha, parent } of listReplayed(own, this.#staged)) {
        read.push({ base: await trees.read(parent), theirs: await trees.read(sha) });
      }
      return read;
    });
    if (steps === null) return 'head_not_ready';
    let entries = ours;
    for (const step of steps) {
      const plan = planMerge({ ...step, ours: entries });
      if (plan.kind === 'conflict') return 'conflict';
      if (plan.result === null) return { kind: 'replay', steps };
      entries = plan.result;
    }
    const changes = diffTrees(ours, entries);
    if (changes.length === 0) return 'no_changes';
    const plan: Plan = { kind: 'plan', changes, result: entries, contentMerges: [] };
    return { kind: 'plan', plan, gate: this.#findGate(entries) };
  }

  /** Applies the steps on the work branch; only the last counts. Null when all went well, else why the batch ends here. */
  async #replayOnWork(
    pr: number,
    steps: readonly ReplayStep[],
    { baseGate, isFirst }: { readonly baseGate: GateFile | null; readonly isFirst: boolean },
  ): Promise<CutReason | null> {
    const before = { entries: this.#entries, length: this.#chain.length };
    const undo = (reason: CutReason): CutReason => {
      this.#entries = before.entries;
      this.#chain.length = before.length;
      return reason;
    };
    for (const step of steps) {
      const plan = planMerge({ ...step, ours: this.#entries });
      if (plan.kind === 'conflict') return undo('conflict');
      if (plan.changes.length === 0) continue;
      if (!(await this.#applyOnWork({ pr, plan }))) return undo('conflict');
      const made = this.#chain.pop();
      if (made !== undefined) this.#chain.splice(before.length, 1, made);
    }
    if (this.#chain.length === before.length) return undo('no_changes');
    const change = judgeGateChange(baseGate, this.#findGate(this.#entries));
    if (change === 'removes_gate') return undo(change);
    // The tree defines its own judge: it waits to be judged alone (D-18).
    return change === 'edits_gate' && !isFirst ? undo(change) : null;
  }

  #reasonToEndAfterReplay(baseGate: GateFile | null): CutReason | null {
    const change = judgeGateChange(baseGate, this.#findGate(this.#entries));
    if (change !== null) return 'edits_gate';
    return this.#isKnownFailure(this.#chain.at(-1)?.tree, this.#entries) ? 'known_failure' : null;
  }

  /** One commit on the work branch, told to start no run; false when the forge finds a conflict in the contents. */
  async #applyOnWork(pending: Pending): Promise<boolean> {
    return this.#apply(pending, this.#workExists ? null : this.#action.workBranch, '[skip ci]');
  }

  async #apply(pending: Pending, newBranch: string | null, mark: string): Promise<boolean> {
    const { forge, trees, baseBranch } = this.#deps;
    const request = {
      branch: this.#workExists ? this.#action.workBranch : baseBranch,
      patch: renderPatch(pending.plan.changes),
      // Never `#n` or `!n`: the forge would write it into the timeline of each. Never a title: its words could steer the gate.
      message: `mq: ${this.#action.runId.slice(0, 8)} pull request ${pending.pr} ${mark}`.trimEnd(),
      mayConflict: pending.plan.contentMerges.length > 0,
    };
    const commit =
      newBranch === null
        ? await forge.applyPatch(request)
        : await applyToNewBranch(forge, { ...request, newBranch });
    if (commit === 'conflict') return false;
    if (newBranch === this.#action.workBranch) this.#workExists = true;
    if (commit.parents[0] !== this.#tip) {
      if (newBranch === this.#action.branch) await forge.deleteBranch(newBranch);
      throw new BaseMoved();
    }
    const { result } = pending.plan;
    if (result !== null && commit.tree !== hashTree(result, formatOf(commit))) {
      // The forge made another tree of this patch than git's merge would be: held to be a conflict of this one alone,
      // so that it keeps nobody else waiting and nothing is ever gated as what it is not (A9).
      if (newBranch === this.#action.branch) await forge.deleteBranch(newBranch);
      return false;
    }
    this.#entries = result ?? (await trees.read(commit.tree));
    if (result !== null) trees.remember(commit.tree, result);
    this.#tip = commit.sha;
    this.#chain.push({ sha: commit.sha, tree: commit.tree });
    return true;
  }

  async #publish(
    last: Pending | null,
    cut: { index: number; reason: CutReason } | null,
    baseEntries: readonly TreeEntry[],
  ): Promise<ActionOutcome> {
    let finalCut = cut;
    let published: { sha: CommitSha } | null = null;
    if (last !== null && this.#isDecided(last.plan)) {
      if (!(await this.#applyOnWork(last))) finalCut = { index: this.#chain.length, reason: 'conflict' };
    } else if (last !== null) {
      if (await this.#apply(last, this.#action.branch, '')) published = { sha: this.#tip };
      else finalCut = { index: this.#chain.length, reason: 'conflict' };
    }
    const tree = this.#chain.at(-1)?.tree;
    if (tree === undefined) {
      return { kind: 'nothing_staged', cut: finalCut ?? { index: 0, reason: 'conflict' } };
    }
    const gate = this.#findGate(this.#entries);
    if (gate === null) {
      await this.#deps.forge.deleteBranch(this.#action.branch);
      return { kind: 'gate_missing', members: this.#chain.length };
    }
    if (published === null && !this.#hasVerdict(tree, gate)) {
      const commit = await this.#publishChainTip(tree);
      if (commit === 'base_moved') return { kind: 'base_moved' };
      published = { sha: commit.sha };
    }
    // Publishing replaces what an attempt that died left behind; without it nothing else would remove that.
    if (published === null) await this.#deps.forge.deleteBranch(this.#action.branch);
    return {
      kind: 'root_staged',
      chain: this.#chain,
      gateKey: gate.id,
      baseGate: this.#findGate(baseEntries),
      gateFile: gate.file,
      published,
      cut: finalCut,
    };
  }

  /** The chain's last commit says "skip ci", so its tree is published again in a commit that does not. */
  #publishChainTip(tree: string): Promise<Commit | 'base_moved'> {
    const { forge, trees, baseBranch } = this.#deps;
    return publishTree(forge, trees, {
      baseBranch,
      branch: this.#action.branch,
      onto: this.#action.baseSha,
      workBranch: this.#action.workBranch,
      isAnchored: this.#action.stackedOn !== null,
      ontoTree: this.#action.baseSha,
      tree,
      message: `mq: ${this.#action.runId.slice(0, 8)} r`,
    });
  }

  #findGate(entries: readonly TreeEntry[]): GateFile | null {
    return findGateFile(entries, { queueName: this.#deps.queueName, folders: this.#action.workflowFolders });
  }

  #isDecided(plan: Plan): boolean {
    if (plan.result === null) return false;
    const gate = this.#findGate(plan.result);
    return gate !== null && this.#hasVerdict(hashTree(plan.result, formatOf({ sha: this.#tip })), gate);
  }

  #hasVerdict(tree: string, gate: GateFile): boolean {
    return this.#action.knownTrees.some((known) => known.tree === tree && known.gate === gate.id);
  }

  #isKnownFailure(tree: string | undefined, entries: readonly TreeEntry[]): boolean {
    const gate = this.#findGate(entries);
    return this.#action.knownTrees.some(
      (known) => known.verdict === 'failure' && known.tree === tree && known.gate === gate?.id,
    );
  }

  /** The commits stay reachable from the staging branch; the work branch itself is litter. */
  async cleanUp(): Promise<void> {
    if (this.#workExists) await this.#deps.forge.deleteBranch(this.#action.workBranch);
  }
}
