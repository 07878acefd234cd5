import type { TreeEntry } from '#core/domain/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repo.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { Action, CutReason } from './queue/actions.ts';
import { type TreeCache, touchSameFiles } from './stage-trees.ts';
import { findStackBase, listReplayed, type OwnCommit } from './staging/ancestry.ts';
import { findGateFile, type GateFile } from './staging/gate-file.ts';
import { type MergePlan, planMerge } from './staging/three-way.ts';
import { diffTrees } from './staging/tree-diff.ts';

type StageRoot = Extract<Action, { kind: 'stage_root' }>;
export type PlannedMember = StageRoot['members'][number];
export type Plan = Extract<MergePlan, { kind: 'plan' }>;

export interface PlannerDeps {
  readonly forge: EngineForge;
  readonly trees: TreeCache;
  readonly queueName: string;
  readonly mergeStyle: MergeStyle;
}

/** A commit that a rebase replays, as the trees of its parent and its own. */
export interface ReplayStep {
  readonly base: readonly TreeEntry[];
  readonly theirs: readonly TreeEntry[];
}

export type MemberPlan =
  | { readonly kind: 'plan'; readonly plan: Plan; readonly gate: GateFile | null }
  /** Commits that the forge itself has to replay, because it merges contents on the way. */
  | { readonly kind: 'replay'; readonly steps: readonly ReplayStep[] };

/** What each member of a batch does to the tree that those before it leave, decided from listings alone. */
export class MemberPlanner {
  readonly #deps: PlannerDeps;
  readonly #ground: Pick<StageRoot, 'forkSha' | 'stackedOn' | 'members'>;
  /** Commits that everybody before brings along. */
  readonly #before = new Set<CommitSha>();

  constructor(deps: PlannerDeps, ground: Pick<StageRoot, 'forkSha' | 'stackedOn' | 'members'>) {
    this.#deps = deps;
    this.#ground = ground;
  }

  /** What lands below a batch that is built on another counts as staged before it. */
  async standOnStack(): Promise<void> {
    if (this.#deps.mergeStyle === 'squash') return;
    for (const head of this.#ground.stackedOn ?? []) this.pass((await this.listOwn(head)) ?? []);
  }

  /** These are staged before whatever comes next. */
  pass(own: readonly OwnCommit[]): void {
    for (const { sha } of own) this.#before.add(sha);
  }

  /** Own commits of a head, where the landing's tree depends on them; null when the head is not there yet. */
  async listOwn(head: CommitSha): Promise<readonly OwnCommit[] | null> {
    const { forge, mergeStyle } = this.#deps;
    // A squash leaves no commit of the head on the base, and a merge alone has nobody to stand on.
    const { members, stackedOn, forkSha } = this.#ground;
    const matters =
      mergeStyle === 'rebase' || (mergeStyle === 'merge' && members.length + (stackedOn?.length ?? 0) > 1);
    if (!matters) return [];
    return unlessNotReady(() => forge.listOwnCommits(forkSha, head));
  }

  /** A plan, unless it touches what suspects ahead of it touch: then they go first, if they go. */
  async planInTurn(
    member: PlannedMember,
    own: readonly OwnCommit[],
    ours: readonly TreeEntry[],
  ): Promise<MemberPlan | CutReason> {
    const { forge, trees } = this.#deps;
    const planned = await this.#planMember(member, own, ours);
    if (typeof planned === 'string') return planned;
    for (const tree of member.behind) {
      const touches = await unlessNotReady(async () => {
        const fork = member.mergeBase ?? (await forge.readMergeBase(this.#ground.forkSha, member.head));
        return fork !== null && touchSameFiles(trees, { fork, tree, head: member.head });
      });
      if (touches === true) return 'suspect_ahead';
    }
    return planned;
  }

  async #planMember(
    member: PlannedMember,
    own: readonly OwnCommit[],
    ours: readonly TreeEntry[],
  ): Promise<MemberPlan | CutReason> {
    const { forge, trees, mergeStyle } = this.#deps;
    if (mergeStyle === 'rebase' && own.length > 1) return this.#planReplay(own, ours);
    const stackBase = mergeStyle === 'merge' ? findStackBase(own, this.#before) : null;
    if (stackBase === 'several') return 'conflict';
    const sides = await unlessNotReady(async () => {
      const theirs = await trees.read(member.head);
      const fork =
        stackBase ?? member.mergeBase ?? (await forge.readMergeBase(this.#ground.forkSha, member.head));
      return { theirs, base: fork === null ? null : await trees.read(fork) };
    });
    if (sides === null) return 'head_not_ready';
    if (sides.base === null) return 'conflict';
    const plan = planMerge({ base: sides.base, ours, theirs: sides.theirs });
    if (plan.kind === 'conflict') return 'conflict';
    if (plan.changes.length === 0) return 'no_changes';
    return { kind: 'plan', plan, gate: findGateFile(plan.result ?? sides.theirs, this.#deps.queueName) };
  }

  /**
   * A native rebase replays commit by commit, so that a change which is taken back on the way undoes the same change of
   * the base, where a merge keeps it (D-13). While no step leaves contents to merge, its tree is known without a write.
   */
  async #planReplay(own: readonly OwnCommit[], ours: readonly TreeEntry[]): Promise<MemberPlan | CutReason> {
    const { trees, queueName } = this.#deps;
    const steps = await unlessNotReady(async () => {
      const read: ReplayStep[] = [];
      for (const { sha, parent } of listReplayed(own, this.#before)) {
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
    return { kind: 'plan', plan, gate: findGateFile(entries, queueName) };
  }
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
