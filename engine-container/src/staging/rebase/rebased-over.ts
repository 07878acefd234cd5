import { createHash } from 'node:crypto';
import { keyOfPaths } from '#core/contracts/paths-key.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import type { ChangedCommit, EngineForge } from '#core/ports/forge.ts';
import type { ReplayStep, TreeStep } from '../ancestry.ts';
import { isOfSubmodule, readPatchText, type Submodules } from '../patch-text.ts';
import type { PathChange } from '../path-change.ts';
import { unlessTooMany } from '../refusal.ts';
import type { RepoObjects } from '../repo-objects.ts';
import { diffTrees } from '../tree-walk.ts';
import { passesSubmodulesOver } from './submodule-rules.ts';

/** Key of more paths than are compared: two such changes may be one patch. */
const TOO_MANY_PATHS = 'too many paths';

/**
 * Commits of the other side that are compared without their submodules, each by its tree. Beyond it each commit of a head may be one
 * of them.
 */
const WITHOUT_SUBMODULES_MAX = 200;

/** Heads of a repository of which it is kept what the base has beyond them. */
const BASE_SIDES_KEPT_MAX = 100;

export interface RebasedOverDeps {
  readonly forge: Pick<EngineForge, 'listChangesSince'>;
  readonly objects: RepoObjects;
}

/** A commit that stands where others are rebased to. */
interface Standing extends TreeStep {
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
  readonly #before: TreeStep[] = [];
  readonly #keys = new Map<string, readonly string[]>();

  constructor(deps: RebasedOverDeps, base: CommitSha) {
    this.#deps = deps;
    this.#base = base;
  }

  /** These land before what is asked about from now on. */
  add(steps: readonly TreeStep[]): void {
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
    if (standing.length === 0 || steps.length === 0) return leftOut;
    const groups = await this.#groupByPaths(standing, 'compared');
    for (const step of steps) if (await this.#standsIn(groups, step, 'compared')) leftOut.add(step.sha);
    if (!(await passesSubmodulesOver(this.#deps.objects, head))) return leftOut;
    if (standing.length > WITHOUT_SUBMODULES_MAX) return new Set(steps.map(({ sha }) => sha));
    const others = await this.#groupByPaths(standing, 'ignored');
    for (const step of steps) if (await this.#standsIn(others, step, 'ignored')) leftOut.add(step.sha);
    return leftOut;
  }

  async #groupByPaths(standing: readonly Standing[], submodules: Submodules): Promise<PatchGroups> {
    const groups = new Map<string, PatchGroup>();
    for (const each of standing) {
      const isTold = each.pathsKey !== null && submodules === 'compared';
      const keys = isTold ? [each.pathsKey] : await this.#keysOf(each, submodules);
      for (const key of new Set(keys)) {
        const group = groups.get(key) ?? new PatchGroup((step) => this.#patchOf(step, submodules));
        groups.set(key, group);
        group.steps.push(each);
      }
    }
    return groups;
  }

  async #standsIn(groups: PatchGroups, step: ReplayStep, submodules: Submodules): Promise<boolean> {
    for (const key of new Set(await this.#keysOf(step, submodules))) {
      const group = groups.get(key);
      if (group !== undefined && (await group.mayHave(await this.#patchOf(step, submodules)))) return true;
    }
    return false;
  }

  /** Kept: of a base that changed one file a thousand times, one reconcile reads a part, and the next goes on. */
  async #patchOf({ sha, parent }: TreeStep, submodules: Submodules): Promise<string | null> {
    const { objects } = this.#deps;
    const place = `${parent} ${sha} ${submodules}`;
    const known = objects.patches.get(place);
    if (known !== undefined) return known;
    const [from, to] = [await objects.treeOf(parent), await objects.treeOf(sha)];
    const text = await unlessTooMany(() => objects.run(readPatchText(objects, from, to, submodules)));
    const patch = text === null ? null : createHash('sha256').update(text).digest('base64');
    objects.patches.set(place, patch);
    return patch;
  }

  /** Of all paths, and of those alone that a forge lists: it tells of no file that becomes a link, or a link that becomes a file. */
  async #keysOf({ sha, parent }: TreeStep, submodules: Submodules): Promise<readonly string[]> {
    const place = `${parent} ${sha} ${submodules}`;
    const known = this.#keys.get(place);
    if (known !== undefined) return known;
    const { objects } = this.#deps;
    const [from, to] = [await objects.treeOf(parent), await objects.treeOf(sha)];
    const diff = await unlessTooMany(() => objects.run(diffTrees(objects, from, to, 'head')));
    const all = diff?.changes ?? [];
    const changes = submodules === 'compared' ? all : all.filter((change) => !isOfSubmodule(change));
    const listed = changes.filter((change) => !isOtherType(change));
    const keys =
      diff === null
        ? [TOO_MANY_PATHS]
        : [changes, listed].map((each) => keyOfPaths(each.map(({ path }) => path)));
    this.#keys.set(place, keys);
    return keys;
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
    const newer = await forge.listChangesSince(known?.base ?? head, this.#base);
    const commits = [...newer, ...(known?.commits ?? [])];
    baseSides.set(head, { base: this.#base, commits });
    const [oldest] = baseSides.keys();
    if (baseSides.size > BASE_SIDES_KEPT_MAX && oldest !== undefined) baseSides.delete(oldest);
    return commits;
  }
}

type PatchGroups = ReadonlyMap<string, PatchGroup>;

/** Changes of the same paths. Of thousands that change one file each is compared once, not once for each that asks. */
class PatchGroup {
  readonly steps: TreeStep[] = [];
  readonly #patchOf: (step: TreeStep) => Promise<string | null>;
  readonly #patches = new Set<string | null>();
  #read = 0;

  constructor(patchOf: (step: TreeStep) => Promise<string | null>) {
    this.#patchOf = patchOf;
  }

  /** The same lines change with the same ones around them, wherever they stand. What cannot be told (null) may be the same. */
  async mayHave(patch: string | null): Promise<boolean> {
    if (patch === null) return this.steps.length > 0;
    for (;;) {
      const next = this.steps[this.#read];
      if (this.#patches.has(patch) || this.#patches.has(null)) return true;
      if (next === undefined) return false;
      this.#patches.add(await this.#patchOf(next));
      this.#read += 1;
    }
  }
}

function isOtherType({ from, to }: PathChange): boolean {
  return from !== null && to !== null && from.mode.slice(0, 3) !== to.mode.slice(0, 3);
}

/** A rebase passes merges over. */
function toStanding({ sha, parents, pathsKey }: ChangedCommit): readonly Standing[] {
  const [parent] = parents;
  return parent === undefined || parents.length > 1 ? [] : [{ sha, parent, pathsKey }];
}
