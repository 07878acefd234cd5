import type { ObjectStore } from './objects.ts';

/** A longer walk is git's, which has better means. */
const COMMITS_MAX = 20_000;

/**
 * The history as a look at the parents tells it. Null when that is not enough, and git has to be asked: an object that is
 * not at hand, several merge bases, an order that only dates decide.
 */
export class History {
  readonly #objects: ObjectStore;
  readonly #parents = new Map<string, readonly string[]>();

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  #parentsOf(id: string): readonly string[] | null {
    const known = this.#parents.get(id);
    if (known !== undefined) return known;
    const parents = this.#objects.commitAtHand(id)?.parents ?? null;
    if (parents !== null) this.#parents.set(id, parents);
    return parents;
  }

  /** A commit, and all that it is built on. */
  #closure(tips: readonly string[]): Set<string> | null {
    const seen = new Set(tips);
    for (const id of seen) {
      const parents = this.#parentsOf(id);
      if (parents === null || seen.size > COMMITS_MAX) return null;
      for (const parent of parents) seen.add(parent);
    }
    return seen;
  }

  mergeBase(a: string, b: string): { readonly id: string | null } | null {
    const below = this.#closure([a]);
    if (below === null) return null;
    // The first common ones on each way down from b: one alone is the best, as every other is behind it.
    const common = new Set<string>();
    const seen = new Set([b]);
    for (const id of seen) {
      if (below.has(id)) {
        common.add(id);
        continue;
      }
      const parents = this.#parentsOf(id);
      if (parents === null || seen.size > COMMITS_MAX) return null;
      for (const parent of parents) seen.add(parent);
    }
    const [id = null] = common;
    return common.size > 1 ? null : { id };
  }

  /** The commits that `tip` has beyond `excluded`, newest first, where there is but one way down. */
  chain(tip: string, excluded: readonly string[]): readonly string[] | null {
    const left = this.#closure(excluded);
    if (left === null) return null;
    const chain: string[] = [];
    let next: string | undefined = tip;
    while (next !== undefined && !left.has(next)) {
      chain.push(next);
      const parents: readonly string[] | undefined = this.#parentsOf(next)?.filter(
        (parent) => !left.has(parent),
      );
      if (parents === undefined || parents.length > 1 || chain.length > COMMITS_MAX) return null;
      next = parents[0];
    }
    return chain;
  }

  isMerge(id: string): boolean {
    return (this.#parentsOf(id)?.length ?? 0) > 1;
  }
}
