import { isRegularFile } from '../path-change.ts';
import { Refused } from '../refusal.ts';
import { basenameOf, directoryOf, groupBy, type RenameFile, type RenameSides } from './sides.ts';

/** Git stops looking through identical sources after this many. */
const IDENTICAL_MAX = 100;

export interface IdenticalPairs {
  /** Source to target. */
  readonly pairs: ReadonlyMap<string, string>;
  readonly sources: readonly RenameFile[];
  readonly targets: readonly RenameFile[];
  /** Among identical files git picks by the order it walks the trees in: which of these stay without a partner is open. */
  readonly openSources: readonly RenameFile[];
  readonly openTargets: readonly RenameFile[];
}

/** Pairs files of the same content and type. Throws `Refused` where git's order of walking decides about a relevant file. */
export function pairIdentical(sides: RenameSides): IdenticalPairs {
  const pairs = new Map<string, string>();
  const rest = {
    sources: [] as RenameFile[],
    targets: [] as RenameFile[],
    openSources: [] as RenameFile[],
    openTargets: [] as RenameFile[],
  };
  const targetGroups = groupBy(sides.targets, groupOf);
  const sourceGroups = groupBy(sides.sources, groupOf);
  for (const [group, targets] of targetGroups) if (!sourceGroups.has(group)) rest.targets.push(...targets);
  for (const [group, sources] of sourceGroups) {
    const targets = targetGroups.get(group);
    if (targets === undefined) {
      rest.sources.push(...sources);
      continue;
    }
    const namesakes = new Map(sources.map((source) => [basenameOf(source.path), source]));
    if (isSettled(sources, targets, namesakes)) {
      for (const target of targets) {
        const source = namesakes.get(basenameOf(target.path)) ?? sources[0];
        if (source !== undefined) pairs.set(source.path, target.path);
      }
      rest.sources.push(...sources.filter((source) => !pairs.has(source.path)));
      continue;
    }
    if (sources.some((source) => sides.relevant.has(source.path))) throw new Refused('merge_unsure');
    if (targets.length > sources.length) rest.openTargets.push(...targets);
    else rest.openSources.push(...sources);
  }
  return { pairs, ...rest };
}

/** Whether the order of walking makes no difference: one of each, or each target has one source of its name. */
function isSettled(
  sources: readonly RenameFile[],
  targets: readonly RenameFile[],
  namesakes: ReadonlyMap<string, RenameFile>,
): boolean {
  if (sources.length === 1 && targets.length === 1) return true;
  if (sources.length > IDENTICAL_MAX || namesakes.size < sources.length) return false;
  const names = new Set(targets.map((target) => basenameOf(target.path)));
  return names.size === targets.length && [...names].every((name) => namesakes.has(name));
}

function groupOf(file: RenameFile): string {
  return isRegularFile(file) ? file.id : `${file.mode} ${file.id}`;
}

/** Says where most of the files went that left a removed directory unchanged; null: none did. */
export class DirectoryGuess {
  readonly #open: ReadonlySet<string>;
  /** By directory: the places that its files went to, and how many to each. */
  readonly #places = new Map<string, Map<string, number>>();

  constructor({ openSources, pairs }: IdenticalPairs) {
    this.#open = new Set(openSources.map(({ path }) => directoryOf(path)));
    for (const [source, target] of pairs) {
      const [directory, place] = [directoryOf(source), directoryOf(target)];
      const places = this.#places.get(directory) ?? new Map<string, number>();
      this.#places.set(directory, places.set(place, (places.get(place) ?? 0) + 1));
    }
  }

  /** Throws `Refused` where git's hash order would decide. */
  of(directory: string): string | null {
    if (this.#open.has(directory)) throw new Refused('merge_unsure');
    const [first, second] = bestTwo(this.#places.get(directory) ?? new Map());
    if (second !== null && second.count === first?.count) throw new Refused('merge_unsure');
    return first?.place ?? null;
  }
}

interface CountedPlace {
  readonly place: string;
  readonly count: number;
}

function bestTwo(places: ReadonlyMap<string, number>): readonly [CountedPlace | null, CountedPlace | null] {
  let [first, second]: [CountedPlace | null, CountedPlace | null] = [null, null];
  for (const [place, count] of places) {
    if (first === null || count > first.count) [first, second] = [{ place, count }, first];
    else if (second === null || count > second.count) second = { place, count };
  }
  return [first, second];
}
