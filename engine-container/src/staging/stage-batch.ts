import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import { stagedMessage } from '#core/domain/queue/queue-names.ts';
import { type FileWrite, ReadNotBegun } from '#core/ports/forge.ts';
import {
  type ActionOutcome,
  type CutReason,
  type HeadRun,
  isOfMember,
  type StageBatch,
} from '../queue/actions.ts';
import type { Staged } from '../queue/record/record.ts';
import { type ToldSettings, tellSettingsChanges } from '../reading/settings-changes.ts';
import { BranchMoved, type ChangeWriter } from './change-writer.ts';
import { type GateFile, judgeGateChange } from './gate-file.ts';
import { findHeadRun } from './head-evidence.ts';
import { Unsayable } from './objects.ts';
import { type MemberPlan, MemberPlanner, type MemberPlannerDeps } from './plan-member.ts';
import { ReadingUnfinished } from './repo-objects.ts';
import {
  type Published,
  placeBranch,
  publishTree,
  removeWorkBranch,
  writeToNewBranch,
} from './stage-trees.ts';

/** A plan with what makes its commit. */
type ReadyPlan = MemberPlan & { readonly files: readonly FileWrite[] | null };

type Cut = { readonly index: number; readonly reason: CutReason };

export interface StageBatchDeps extends MemberPlannerDeps {
  readonly writer: ChangeWriter;
  readonly baseBranch: string;
  /** True when staging should publish what it has and leave the rest for the next batch. */
  readonly isOutOfTime: () => boolean;
  readonly settings: ToldSettings;
}

/**
 * Builds a batch by patches, one commit per pull request in queue order (A9), on a work branch that starts no gate run; only
 * the last commit is pushed under the pattern of the gate, so that one attempt is one gate run (E22).
 */
export async function stageBatch(deps: StageBatchDeps, action: StageBatch): Promise<ActionOutcome> {
  const builder = new ChainBuilder(deps, action);
  try {
    const outcome = await builder.build();
    return (await builder.cleanUp()) ? outcome : { ...outcome, leavesWorkBranch: true };
  } catch (error) {
    await builder.cleanUp();
    if (error instanceof BranchMoved) return { kind: 'base_moved' };
    throw error;
  }
}

class ChainBuilder {
  readonly #deps: StageBatchDeps;
  readonly #action: StageBatch;
  readonly #planner: MemberPlanner;
  readonly #chain: Staged[] = [];
  #tip: CommitSha;
  #workExists = false;
  #leavesWork = false;

  constructor(deps: StageBatchDeps, action: StageBatch) {
    this.#deps = deps;
    this.#action = action;
    this.#planner = new MemberPlanner(deps, action);
    this.#tip = action.groundSha;
  }

  async build(): Promise<ActionOutcome> {
    const { objects } = this.#deps;
    const { groundSha } = this.#action;
    // An empty tree: this tip is not verified, and its tree is not known.
    if (this.#action.groundTree !== '') objects.noteTree(groundSha, this.#action.groundTree);
    const groundTree = await objects.treeOf(groundSha);
    const baseGate = await this.#readBaseGate(groundTree);
    if (baseGate === 'unsayable') {
      return { kind: 'nothing_staged', cut: { index: 0, reason: 'base_name_not_utf8' } };
    }
    await this.#standOnStack();
    const { last, cut } = await this.#applyAllButLast(groundTree, baseGate);
    if (last === null && this.#chain.length === 0) {
      return cut === null ? { kind: 'failed', forgeAnswers: false } : { kind: 'nothing_staged', cut };
    }
    return this.#publish(last, cut, baseGate);
  }

  async #readBaseGate(tree: TreeHash): Promise<GateFile | null | 'unsayable'> {
    try {
      return await this.#planner.readGate(tree);
    } catch (error) {
      if (error instanceof Unsayable) return 'unsayable';
      throw error;
    }
  }

  /** A batch on top of another is built from that one's last commit, which no branch of ours may hold any more. */
  async #standOnStack(): Promise<void> {
    const { groundSha, headsBelow, workBranch } = this.#action;
    if (headsBelow === null) return;
    await placeBranch(this.#deps.forge, workBranch, groundSha);
    this.#workExists = true;
    for (const head of headsBelow) await this.#planner.addBelow(head);
  }

  /** Plans ahead by one: the last member that can be staged is the one whose commit is published. */
  async #applyAllButLast(
    groundTree: TreeHash,
    baseGate: GateFile | null,
  ): Promise<{ last: ReadyPlan | null; cut: Cut | null }> {
    const { members } = this.#action;
    let pending: ReadyPlan | null = null;
    for (const [index, member] of members.entries()) {
      const plan: ReadyPlan | CutReason = await this.#planNext(index, member, pending?.tree ?? groundTree);
      if (typeof plan === 'string') return { last: pending, cut: { index, reason: plan } };
      const change = judgeGateChange(baseGate, plan.gate);
      // The tree defines its own judge: at least it is judged alone (D-18).
      if (change === 'removes_gate' || (change !== null && index > 0)) {
        return { last: pending, cut: { index, reason: change } };
      }
      if (pending !== null && !(await this.#applyOnWork(pending))) {
        return { last: null, cut: { index: index - 1, reason: 'merge_unsure' } };
      }
      pending = plan;
      const isLast = index + 1 === members.length;
      if (change !== null && !isLast) return { last: pending, cut: { index: 1, reason: change } };
      // A prefix that is known to fail needs no gate run of a longer one: the batch ends at the suspect.
      if (!isLast && this.#isKnownFailure(plan)) {
        return { last: pending, cut: { index: index + 1, reason: 'known_failure' } };
      }
    }
    return { last: pending, cut: null };
  }

  async #planNext(
    index: number,
    member: StageBatch['members'][number],
    ours: TreeHash,
  ): Promise<ReadyPlan | CutReason> {
    if (index === 0) return this.#plan(member, ours);
    if (this.#deps.isOutOfTime() || this.#deps.objects.isFull) return 'out_of_time';
    try {
      return await this.#plan(member, ours);
    } catch (error) {
      if (error instanceof ReadingUnfinished || error instanceof ReadNotBegun) return 'out_of_time';
      throw error;
    }
  }

  /** Contents are read together with the plan: where the time is up, the commits before still make a batch. */
  async #plan(member: StageBatch['members'][number], ours: TreeHash): Promise<ReadyPlan | CutReason> {
    const plan = await this.#planner.plan(member, ours);
    if (typeof plan === 'string') return plan;
    const { writer } = this.#deps;
    const files = await writer.readFiles(ours, plan.changes);
    const { members, headsBelow } = this.#action;
    const isAlone = members.length === 1 && headsBelow === null;
    return files === null && writer.isPatchGivenUp && !isAlone ? 'slow_patch' : { ...plan, files };
  }

  /** One commit on the work branch, told to start no gate run; false when the forge makes another tree of it. */
  async #applyOnWork(plan: ReadyPlan): Promise<boolean> {
    return this.#apply(plan, this.#workExists ? null : this.#action.workBranch, '[skip ci]');
  }

  async #apply(plan: ReadyPlan, newBranch: string | null, mark: string): Promise<boolean> {
    const { forge, baseBranch, writer } = this.#deps;
    const request = {
      branch: this.#workExists ? this.#action.workBranch : baseBranch,
      parent: this.#tip,
      changes: plan.changes,
      files: plan.files,
      // Never `#n` or `!n`: the forge would write it into the timeline of each. Never a title: its words could steer the gate.
      message: this.#say(`pull request ${plan.pr} ${mark}`),
    };
    const commit =
      newBranch === null
        ? await writer.write(request)
        : await writeToNewBranch(this.#deps, { ...request, newBranch });
    if (newBranch === this.#action.workBranch) this.#workExists = true;
    const isOnTip = commit.parents[0] === this.#tip;
    if (isOnTip && commit.tree === plan.tree) {
      this.#tip = commit.sha;
      this.#chain.push({ sha: commit.sha, tree: commit.tree });
      return true;
    }
    // Nothing is ever gated as what it is not (A9). Another tree than the planned one is held against this pull request
    // alone, so that it keeps no other waiting.
    if (newBranch === this.#action.branch) await forge.deleteBranch(newBranch);
    if (isOnTip) return false;
    throw new BranchMoved();
  }

  async #publish(last: ReadyPlan | null, cut: Cut | null, baseGate: GateFile | null): Promise<ActionOutcome> {
    const { forge } = this.#deps;
    const { branch } = this.#action;
    let finalCut = cut;
    let published: { sha: CommitSha } | null = null;
    let isShared = false;
    let headRun: HeadRun | null = null;
    if (last !== null) {
      const isKnown = last.gate !== null && this.#hasVerdict(last.tree, last.gate);
      if (!isKnown) headRun = await this.#findHeadRun(last, baseGate);
      const isDecided = isKnown || headRun !== null;
      isShared = !isDecided && this.#mayShareRun(cut);
      const isUnpublished = isDecided || isShared;
      const isApplied = await (isUnpublished ? this.#applyOnWork(last) : this.#apply(last, branch, ''));
      if (!isApplied) {
        finalCut = { index: this.#chain.length, reason: 'merge_unsure' };
        headRun = null;
        isShared = false;
      } else if (!isUnpublished) published = { sha: this.#tip };
    }
    const tree = this.#chain.at(-1)?.tree;
    if (tree === undefined)
      return { kind: 'nothing_staged', cut: finalCut ?? { index: 0, reason: 'conflict' } };
    const gate = await this.#planner.readGate(tree);
    if (gate === null) {
      await forge.deleteBranch(branch);
      return { kind: 'gate_missing', members: this.#chain.length };
    }
    if (published === null && headRun === null && !isShared && !this.#hasVerdict(tree, gate)) {
      const { commit, leavesWorkBranch = false } = await this.#publishChainTip(tree);
      this.#leavesWork = leavesWorkBranch;
      if (commit === 'base_moved') return { kind: 'base_moved' };
      published = { sha: commit.sha };
    }
    // Publishing replaces what an attempt that died left behind; without it nothing else would remove that.
    if (published === null) await forge.deleteBranch(branch);
    const { id: gateKey, file: gateFile } = gate;
    const settingsTold = await this.#tellSettings();
    return {
      kind: 'batch_staged',
      chain: this.#chain,
      gateKey,
      baseGate,
      gateFile,
      ...(judgeGateChange(baseGate, gate) === null ? {} : { editsGate: true }),
      published,
      ...(isShared ? { sharesRun: true } : {}),
      ...(headRun === null ? {} : { headRun }),
      ...(settingsTold.length === 0 ? {} : { settingsTold }),
      cut: finalCut,
    };
  }

  /** Those behind it in the same batch come next, so that one gate run is enough for all. */
  #mayShareRun(cut: Cut | null): boolean {
    const { mayShareRun, members } = this.#action;
    return mayShareRun && cut !== null && isOfMember(cut.reason) && cut.index + 1 < members.length;
  }

  async #tellSettings() {
    const { members, groundSha } = this.#action;
    const ground = await this.#deps.objects.treeOf(groundSha);
    const trees = [ground, ...this.#chain.map(({ tree }) => tree)];
    const steps = members
      .slice(0, this.#chain.length)
      .map(({ pr }, index) => ({ pr, before: trees[index] ?? ground, after: trees[index + 1] ?? ground }));
    return tellSettingsChanges(this.#deps, steps);
  }

  async #findHeadRun(last: MemberPlan, baseGate: GateFile | null): Promise<HeadRun | null> {
    const { forge, objects } = this.#deps;
    const { members, statusGate } = this.#action;
    const member = members.find(({ pr }) => pr === last.pr);
    if (member === undefined || last.gate === null) return null;
    const { head, ownBranch } = member;
    const question = { head, ownBranch, tree: last.tree, gate: last.gate, baseGate, statusGate };
    return findHeadRun(forge, objects, question);
  }

  /** The chain's last commit says "skip ci", so its tree is published again in a commit that does not. */
  #publishChainTip(tree: TreeHash): Promise<Published> {
    const { baseBranch, queueName } = this.#deps;
    return publishTree(this.#deps, {
      baseBranch,
      queueName,
      branch: this.#action.branch,
      groundSha: this.#action.groundSha,
      workBranch: this.#action.workBranch,
      isAnchored: this.#action.headsBelow !== null,
      groundTree: this.#action.groundSha,
      tree,
      message: this.#say('r'),
    });
  }

  #say(about: string): string {
    return stagedMessage(this.#deps.queueName, this.#action.batchId.slice(0, 8), about).trimEnd();
  }

  #hasVerdict(tree: TreeHash, gate: GateFile): boolean {
    return this.#action.knownTrees.some((known) => known.tree === tree && known.gate === gate.id);
  }

  #isKnownFailure({ tree, gate }: MemberPlan): boolean {
    return this.#action.knownTrees.some(
      (known) => known.verdict === 'failure' && known.tree === tree && known.gate === gate?.id,
    );
  }

  /**
   * The work branch itself is litter: what was published holds its commits, and where nothing was published the forge keeps them for as
   * long as it keeps what no branch holds. False: it may stand.
   */
  async cleanUp(): Promise<boolean> {
    if (!this.#workExists) return !this.#leavesWork;
    return removeWorkBranch(this.#deps.forge, this.#action.workBranch);
  }
}
