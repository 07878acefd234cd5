import { keyOfPaths } from '#core/contracts/paths-key.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import type { ChangedCommit, EngineForge } from '#core/ports/forge.ts';
import type { RepoObjects } from './repo-objects.ts';
import type { ReplayStep } from './staging/ancestry.ts';
import { planMerge } from './staging/three-way.ts';
import { diffTrees } from './staging/tree-walk.ts';

/** Heads of a repository of which it is kept what the base has beyond them. */
const BASE_SIDES_KEPT_MAX = 100;

export interface RebasedOverDeps {
  readonly forge: Pick<EngineForge, 'listChangesSince'>;
  readonly objects: RepoObjects;
}

/** A commit that stands where others are rebased to. */
interface Standing extends ReplayStep {
  /** Of the paths that it changes; null: not told, and worked out where it is asked for. */
  readonly pathsKey: string | null;
}

/**
 * The ground that heads are rebased to: the base, and what lands on it before them. `git rebase` leaves a commit out whose
 * patch the other side has, whatever came of it there since: after a revert the change does not come back. `git replay`,
 * which newer Forgejos use where they can, leaves none out.
 */
export class RebasedOver {
  readonly #deps: RebasedOverDeps;
  readonly #base: CommitSha;
  readonly #before: ReplayStep[] = [];
  readonly #keys = new Map<CommitSha, string>();

  constructor(deps: RebasedOverDeps, base: CommitSha) {
    this.#deps = deps;
    this.#base = base;
  }

  /** These land before what is asked about from now on. */
  add(steps: readonly ReplayStep[]): void {
    this.#before.push(...steps);
  }

  /**
   * Those of the steps that a rebase may leave out.
   *
   * @param isUpToDate the head holds the whole base
   */
  async listLeftOut(
    head: CommitSha,
    steps: readonly ReplayStep[],
    isUpToDate: boolean,
  ): Promise<ReadonlySet<CommitSha>> {
    const base = isUpToDate ? [] : (await this.#readBaseSide(head)).flatMap(toStanding);
    const standing = [...base, ...this.#before.map((step) => ({ ...step, pathsKey: null }))];
    const leftOut = new Set<CommitSha>();
    if (standing.length === 0) return leftOut;
    for (const step of steps) if (await this.#standsIn(standing, step)) leftOut.add(step.sha);
    return leftOut;
  }

  async #standsIn(standing: readonly Standing[], step: ReplayStep): Promise<boolean> {
    const key = await this.#keyOf(step);
    for (const each of standing) {
      const other = each.pathsKey ?? (await this.#keyOf(each));
      if (other === key && (await this.#isSamePatch(step, each))) return true;
    }
    return false;
  }

  /** Done on the ground of the other, it makes the tree of the other. */
  async #isSamePatch(step: ReplayStep, other: ReplayStep): Promise<boolean> {
    const { objects } = this.#deps;
    const trees = {
      base: await objects.treeOf(step.parent),
      ours: await objects.treeOf(other.parent),
      theirs: await objects.treeOf(step.sha),
    };
    const plan = await objects.run(planMerge(objects, trees));
    return plan.kind === 'plan' && plan.tree === (await objects.treeOf(other.sha));
  }

  async #keyOf({ sha, parent }: ReplayStep): Promise<string> {
    const known = this.#keys.get(sha);
    if (known !== undefined) return known;
    const { objects } = this.#deps;
    const [from, to] = [await objects.treeOf(parent), await objects.treeOf(sha)];
    const { changes } = await objects.run(diffTrees(objects, from, to, 'head'));
    const key = keyOfPaths(changes.map(({ path }) => path));
    this.#keys.set(sha, key);
    return key;
  }

  /**
   * A base that has moved is asked for what is new on it. What it has lost since is kept: at worst a commit counts as left
   * out. Where it cannot be told from the base of before, which a push may have taken away, the next look asks for all.
   */
  async #readBaseSide(head: CommitSha): Promise<readonly ChangedCommit[]> {
    const { forge, objects } = this.#deps;
    const { baseSides } = objects;
    const known = baseSides.get(head);
    if (known?.base === this.#base) return known.commits;
    baseSides.delete(head);
    const fresh = await forge.listChangesSince(known?.base ?? head, this.#base);
    const commits = [...fresh, ...(known?.commits ?? [])];
    baseSides.set(head, { base: this.#base, commits });
    const [oldest] = baseSides.keys();
    if (baseSides.size > BASE_SIDES_KEPT_MAX && oldest !== undefined) baseSides.delete(oldest);
    return commits;
  }
}

/** A rebase passes merges over. */
function toStanding({ sha, parents, pathsKey }: ChangedCommit): readonly Standing[] {
  const [parent] = parents;
  return parent === undefined || parents.length > 1 ? [] : [{ sha, parent, pathsKey }];
}
