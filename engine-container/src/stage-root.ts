import type { Commit, TreeEntry } from '#core/domain/forge.ts';
import type { CommitSha, TreeHash } from '#core/domain/ids.ts';
import {
  type MemberPlan,
  MemberPlanner,
  type Plan,
  type PlannerDeps,
  type ReplayStep,
} from './plan-members.ts';
import type { Action, ActionOutcome, CutReason } from './queue/actions.ts';
import type { Staged } from './queue/record.ts';
import { applyToNewBranch, placeBranch, publishTree } from './stage-trees.ts';
import { findGateFile, type GateFile } from './staging/gate-file.ts';
import { renderPatch } from './staging/patch.ts';
import { planMerge } from './staging/three-way.ts';
import { diffTrees } from './staging/tree-diff.ts';
import { formatOf, hashTree } from './staging/tree-hash.ts';

type StageRoot = Extract<Action, { kind: 'stage_root' }>;
type Member = StageRoot['members'][number];

export interface StageRootDeps extends PlannerDeps {
  readonly baseBranch: string;
  /** Whether members may share a commit; false once an attempt has failed, to learn on whose account. */
  readonly together: boolean;
  /** True when staging should publish what it has and leave the rest for the next batch. */
  readonly isOutOfTime: () => boolean;
}

/** Raised inside this file only: the base is not where the plan began. */
class BaseMoved extends Error {}
/** Raised inside this file only: the commit of several members did not come out as planned. */
class NotTogether extends Error {}

/**
 * Builds a batch by content-free patches in queue order (A9). The tree after each member is known by its hash before
 * anything is written, unless the forge has to merge contents; so members in a row share one commit, and only what the
 * forge merges is a commit of its own, on a work branch that starts no run. Only the last commit is pushed under
 * `mq/**`, so that one attempt is one run (E22).
 */
export async function stageRoot(deps: StageRootDeps, action: StageRoot): Promise<ActionOutcome> {
  const builder = new ChainBuilder(deps, action);
  try {
    return await builder.build();
  } catch (error) {
    if (error instanceof BaseMoved) return { kind: 'base_moved' };
    // One by one it shows whose change the forge applies otherwise than planned.
    if (error instanceof NotTogether) return await stageRoot({ ...deps, together: false }, action);
    throw error;
  } finally {
    await builder.cleanUp();
  }
}

/** Members planned and not yet written, one commit for all of them. */
interface Pending {
  readonly members: readonly Member[];
  /** The tree after each; null for one whose contents the forge merges, which is always alone. */
  readonly trees: readonly (TreeHash | null)[];
  /** Of the last one: what it changes in the tree before it, and the tree after it. */
  readonly plan: Plan;
}

class ChainBuilder {
  readonly #deps: StageRootDeps;
  readonly #action: StageRoot;
  readonly #chain: Staged[] = [];
  #tip: CommitSha;
  #entries: readonly TreeEntry[] = [];
  readonly #planner: MemberPlanner;
  #workExists = false;

  constructor(deps: StageRootDeps, action: StageRoot) {
    this.#deps = deps;
    this.#action = action;
    this.#tip = action.baseSha;
    this.#planner = new MemberPlanner(deps, action);
  }

  async build(): Promise<ActionOutcome> {
    const { trees, queueName } = this.#deps;
    const baseEntries = await trees.read(this.#action.baseSha);
    this.#entries = baseEntries;
    await this.#standOnStack();
    const { last, cut } = await this.#applyAllButLast(findGateFile(baseEntries, queueName));
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
    await this.#planner.standOnStack();
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
      const own = await this.#planner.listOwn(member.head);
      const next: MemberPlan | CutReason =
        own === null
          ? 'head_not_ready'
          : await this.#planner.planInTurn(member, own, pending?.plan.result ?? this.#entries);
      if (typeof next === 'string') return { last: pending, cut: { index, reason: next } };
      if (next.kind === 'replay') {
        if (pending !== null && !(await this.#applyOnWork(pending))) {
          return { last: null, cut: { index: index - 1, reason: 'conflict' } };
        }
        pending = null;
        const reason = await this.#replayOnWork(member, next.steps, index > 0 ? baseGate : 'any');
        if (reason !== null) return { last: null, cut: { index, reason } };
        this.#planner.pass(own ?? []);
        const ends = this.#reasonToEndAfterReplay(baseGate);
        if (ends !== null && index + 1 < members.length)
          return { last: null, cut: { index: index + 1, reason: ends } };
        continue;
      }
      const editsGate = next.gate?.id !== baseGate?.id;
      // The tree defines its own judge: at least it is judged alone (D-18).
      if (editsGate && index > 0) return { last: pending, cut: { index, reason: 'edits_gate' } };
      const { result } = next.plan;
      const tree = result === null ? null : hashTree(result, formatOf({ sha: this.#tip }));
      const joined: Pending | null = pending === null ? null : this.#join(pending, member, next.plan, tree);
      if (joined === null && pending !== null && !(await this.#applyOnWork(pending))) {
        return { last: null, cut: { index: index - 1, reason: 'conflict' } };
      }
      pending = joined ?? { members: [member], trees: [tree], plan: next.plan };
      this.#planner.pass(own ?? []);
      if (editsGate && members.length > 1) return { last: pending, cut: { index: 1, reason: 'edits_gate' } };
      if (index + 1 < members.length && result !== null && this.#isKnownFailure(tree ?? undefined, result)) {
        // What is known to fail needs no run of anything longer: the batch ends at the suspect.
        return { last: pending, cut: { index: index + 1, reason: 'known_failure' } };
      }
    }
    return { last: pending, cut: null };
  }

  /** Null: this one needs a commit of its own. */
  #join(pending: Pending, member: Member, plan: Plan, tree: TreeHash | null): Pending | null {
    if (!this.#deps.together || plan.result === null || pending.plan.result === null) return null;
    // What takes back all that is pending would leave an empty patch, which no forge takes.
    if (tree === hashTree(this.#entries, formatOf({ sha: this.#tip }))) return null;
    return { members: [...pending.members, member], trees: [...pending.trees, tree], plan };
  }

  /** Applies the steps on the work branch; only the last counts. Null when all went well, else why the batch ends here. */
  async #replayOnWork(
    member: Member,
    steps: readonly ReplayStep[],
    onlyGate: GateFile | null | 'any',
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
      if (!(await this.#applyOnWork({ members: [member], trees: [null], plan }))) return undo('conflict');
      const made = this.#chain.pop();
      if (made !== undefined) this.#chain.splice(before.length, 1, made);
    }
    if (this.#chain.length === before.length) return undo('no_changes');
    // The tree defines its own judge: it waits to be judged alone (D-18).
    const gate = findGateFile(this.#entries, this.#deps.queueName);
    return onlyGate !== 'any' && gate?.id !== onlyGate?.id ? undo('edits_gate') : null;
  }

  #reasonToEndAfterReplay(baseGate: GateFile | null): CutReason | null {
    if (findGateFile(this.#entries, this.#deps.queueName)?.id !== baseGate?.id) return 'edits_gate';
    return this.#isKnownFailure(this.#chain.at(-1)?.tree, this.#entries) ? 'known_failure' : null;
  }

  /** One commit on the work branch, told to start no run; false when the forge finds a conflict in the contents. */
  async #applyOnWork(pending: Pending): Promise<boolean> {
    return this.#apply(pending, this.#workExists ? null : this.#action.workBranch, '[skip ci]');
  }

  async #apply(pending: Pending, newBranch: string | null, mark: string): Promise<boolean> {
    const { forge, trees, baseBranch } = this.#deps;
    const { members, plan } = pending;
    const isAlone = members.length === 1;
    const changes = isAlone ? plan.changes : diffTrees(this.#entries, plan.result ?? []);
    const request = {
      branch: this.#workExists ? this.#action.workBranch : baseBranch,
      patch: renderPatch(changes),
      message: this.#describe(members, mark),
      mayConflict: plan.contentMerges.length > 0,
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
    const { result } = plan;
    if (result !== null && commit.tree !== hashTree(result, formatOf(commit))) {
      // The forge made another tree of this patch than git's merge would be: held to be a conflict of this one alone,
      // so that it keeps nobody else waiting and nothing is ever gated as what it is not (A9).
      if (newBranch === this.#action.branch) await forge.deleteBranch(newBranch);
      if (!isAlone) throw new NotTogether();
      return false;
    }
    this.#entries = result ?? (await trees.read(commit.tree));
    if (result !== null) trees.remember(commit.tree, result);
    this.#tip = commit.sha;
    for (const tree of pending.trees) this.#chain.push({ sha: commit.sha, tree: tree ?? commit.tree });
    return true;
  }

  /**
   * Names who is in it, in order, with the exact heads; never a title, which could hold words that steer the gate, and
   * never `#n` or `!n`, which the forge would write into the timeline of each: n reads more, and noise for its people.
   */
  #describe(members: readonly Member[], mark: string): string {
    const [only, ...others] = members;
    const who = others.length === 0 ? `pull request ${only?.pr}` : `${members.length} pull requests`;
    const subject = `mq: ${this.#action.runId.slice(0, 8)} ${who} ${mark}`.trimEnd();
    return `${subject}\n\n${members.map(({ pr, head }) => `${pr} ${head}`).join('\n')}\n`;
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
      anchorBranch: this.#action.stackedOn === null ? null : this.#action.workBranch,
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
