import type { Commit, TreeEntry } from '#core/domain/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { Action, ActionOutcome, CutReason } from './queue/actions.ts';
import type { Staged } from './queue/record.ts';
import { applyToNewBranch, publishTree, type TreeCache } from './stage-trees.ts';
import { findGateFile, type GateFile } from './staging/gate-file.ts';
import { renderPatch } from './staging/patch.ts';
import { type MergePlan, planMerge } from './staging/three-way.ts';
import { hashTree } from './staging/tree-hash.ts';

type StageRoot = Extract<Action, { kind: 'stage_root' }>;
type Plan = Extract<MergePlan, { kind: 'plan' }>;

export interface StageRootDeps {
  readonly forge: EngineForge;
  readonly trees: TreeCache;
  readonly baseBranch: string;
  readonly queueName: string;
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

class ChainBuilder {
  readonly #deps: StageRootDeps;
  readonly #action: StageRoot;
  readonly #chain: Staged[] = [];
  #tip: CommitSha;
  #entries: readonly TreeEntry[] = [];
  #workExists = false;

  constructor(deps: StageRootDeps, action: StageRoot) {
    this.#deps = deps;
    this.#action = action;
    this.#tip = action.baseSha;
  }

  async build(): Promise<ActionOutcome> {
    const { trees, queueName } = this.#deps;
    const baseEntries = await trees.read(this.#action.baseSha);
    this.#entries = baseEntries;
    const { last, cut } = await this.#applyAllButLast(findGateFile(baseEntries, queueName));
    if (last === null && this.#chain.length === 0) {
      return cut === null ? { kind: 'failed' } : { kind: 'nothing_staged', cut };
    }
    return this.#publish(last, cut, baseEntries);
  }

  /** Plans ahead by one: the last member that can be staged is the one whose commit is published. */
  async #applyAllButLast(
    baseGate: GateFile | null,
  ): Promise<{ last: Pending | null; cut: { index: number; reason: CutReason } | null }> {
    let pending: Pending | null = null;
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
      const next = await this.#planMember(member, pending?.plan.result ?? this.#entries);
      if (typeof next === 'string') return { last: pending, cut: { index, reason: next } };
      const editsGate = next.gate?.id !== baseGate?.id;
      // The tree defines its own judge: at least it is judged alone (D-18).
      if (editsGate && index > 0) return { last: pending, cut: { index, reason: 'edits_gate' } };
      if (pending !== null && !(await this.#applyOnWork(pending))) {
        return { last: null, cut: { index: index - 1, reason: 'conflict' } };
      }
      pending = { pr: member.pr, plan: next.plan };
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

  async #planMember(
    member: StageRoot['members'][number],
    ours: readonly TreeEntry[],
  ): Promise<{ plan: Plan; gate: GateFile | null } | CutReason> {
    const { forge, trees, queueName } = this.#deps;
    let theirs: readonly TreeEntry[];
    let base: readonly TreeEntry[];
    try {
      theirs = await trees.read(member.head);
      const fork = member.mergeBase ?? (await forge.readMergeBase(this.#action.baseSha, member.head));
      if (fork === null) return 'conflict';
      base = await trees.read(fork);
    } catch (error) {
      // The head of a fork arrives in the base repository some time after the push.
      if (error instanceof ForgeError && (error.kind === 'missing' || error.kind === 'rejected'))
        return 'head_not_ready';
      throw error;
    }
    const plan = planMerge({ base, ours, theirs });
    if (plan.kind === 'conflict') return 'conflict';
    if (plan.changes.length === 0) return 'no_changes';
    return { plan, gate: findGateFile(plan.result ?? theirs, queueName) };
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
      message: `mq: ${this.#action.runId.slice(0, 8)} #${pending.pr} ${mark}`.trimEnd(),
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
    const { queueName } = this.#deps;
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
    const gate = findGateFile(this.#entries, queueName);
    if (gate === null) {
      await this.#deps.forge.deleteBranch(this.#action.branch);
      return { kind: 'gate_missing' };
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
      baseGateKey: findGateFile(baseEntries, queueName)?.id ?? null,
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
      ontoTree: this.#action.baseSha,
      tree,
      message: `mq: ${this.#action.runId.slice(0, 8)} r`,
    });
  }

  #isDecided(plan: Plan): boolean {
    if (plan.result === null) return false;
    const gate = findGateFile(plan.result, this.#deps.queueName);
    return gate !== null && this.#hasVerdict(hashTree(plan.result, formatOf({ sha: this.#tip })), gate);
  }

  #hasVerdict(tree: string, gate: GateFile): boolean {
    return this.#action.knownTrees.some((known) => known.tree === tree && known.gate === gate.id);
  }

  #isKnownFailure(tree: string | undefined, entries: readonly TreeEntry[]): boolean {
    const gate = findGateFile(entries, this.#deps.queueName);
    return this.#action.knownTrees.some(
      (known) => known.verdict === 'failure' && known.tree === tree && known.gate === gate?.id,
    );
  }

  /** The commits stay reachable from the staging branch; the work branch itself is litter. */
  async cleanUp(): Promise<void> {
    if (this.#workExists) await this.#deps.forge.deleteBranch(this.#action.workBranch);
  }
}

function formatOf(commit: { readonly sha: CommitSha }): 'sha1' | 'sha256' {
  return commit.sha.length === 64 ? 'sha256' : 'sha1';
}
