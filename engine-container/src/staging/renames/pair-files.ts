import { RENAME_PAIRS_MAX } from '#core/domain/limits.ts';
import type { MergeRules } from '../merge-rules.ts';
import { type Computation, type ObjectView, TURN } from '../objects.ts';
import { Refused } from '../refusal.ts';
import { DirectoryGuess, type IdenticalPairs, pairIdentical } from './identical.ts';
import { Scores } from './scores.ts';
import { basenameOf, directoryOf, groupBy, type RenameFile, type RenameSides } from './sides.ts';
import { SCORE_MAX } from './similarity.ts';

/** Git's `-M50%`, and half way from there to identical for two files of one name. */
const SCORE_MIN = SCORE_MAX / 2;
const NAMESAKE_SCORE_MIN = SCORE_MIN + (SCORE_MAX - SCORE_MIN) / 2;
/** Git keeps so many sources for each target. */
const CANDIDATES_MAX = 4;
/** Pairs of files that are put in order between two turns of all others in the engine. */
const TURN_PAIRS = 100_000;

/**
 * Which file of the base became which new file of one side, as git's merge detects it: identical files, then files of one
 * name, then the most similar. Throws `Refused` where versions of git differ, git decides by the order it walks in, or a rule says
 * how alike two files are.
 */
export function* pairFiles(
  view: ObjectView,
  rules: MergeRules,
  sides: RenameSides,
): Computation<ReadonlyMap<string, string>> {
  if (sides.relevant.size === 0 || sides.targets.length === 0) return new Map();
  const identical = pairIdentical(sides);
  const guess = new DirectoryGuess(identical);
  const older = yield* new Pairing(sides, identical, guess, new Scores(view, rules, false)).run();
  const newer = yield* new Pairing(sides, identical, guess, new Scores(view, rules, true)).run();
  const isSame = older.size === newer.size && [...older].every(([from, to]) => newer.get(from) === to);
  if (!isSame) throw new Refused('merge_unsure');
  return older;
}

interface Candidate {
  readonly source: RenameFile;
  readonly target: RenameFile;
  readonly score: number;
  readonly isNamesake: boolean;
}

class Pairing {
  readonly #sides: RenameSides;
  readonly #identical: IdenticalPairs;
  readonly #guess: DirectoryGuess;
  readonly #scores: Scores;
  readonly #pairs: Map<string, string>;
  readonly #taken: Set<string>;

  constructor(sides: RenameSides, identical: IdenticalPairs, guess: DirectoryGuess, scores: Scores) {
    this.#sides = sides;
    this.#identical = identical;
    this.#guess = guess;
    this.#scores = scores;
    this.#pairs = new Map(identical.pairs);
    this.#taken = new Set(identical.pairs.values());
  }

  *run(): Computation<ReadonlyMap<string, string>> {
    yield* this.#pairNamesakes();
    yield* this.#pairSimilar();
    return this.#pairs;
  }

  /** Relevant sources that have no partner yet. */
  #waiting(): readonly RenameFile[] {
    return this.#identical.sources.filter(
      ({ path }) => this.#sides.relevant.has(path) && !this.#pairs.has(path),
    );
  }

  *#pairNamesakes(): Computation<void> {
    const { sources, targets, openSources, openTargets } = this.#identical;
    const sourceNames = groupBy(sources, ({ path }) => basenameOf(path));
    const targetNames = groupBy(targets, ({ path }) => basenameOf(path));
    const targetPaths = new Map(targets.map((target) => [target.path, target]));
    const openNames = new Set([...openSources, ...openTargets].map(({ path }) => basenameOf(path)));
    for (const source of this.#waiting()) {
      const name = basenameOf(source.path);
      if (openNames.has(name)) throw new Refused('merge_unsure');
      const namesakes = targetNames.get(name);
      if (namesakes === undefined) continue;
      const isOnly = namesakes.length === 1 && sourceNames.get(name)?.length === 1;
      const target = isOnly ? namesakes[0] : this.#guessTarget(source, targetPaths);
      if (target === undefined || this.#taken.has(target.path)) continue;
      yield* this.#scores.read([source], [target], NAMESAKE_SCORE_MIN);
      if (this.#scores.of(source, target, NAMESAKE_SCORE_MIN) !== null) this.#take({ source, target });
    }
  }

  /** Of several files of one name the one that went where its directory went. */
  #guessTarget(source: RenameFile, targets: ReadonlyMap<string, RenameFile>): RenameFile | undefined {
    const directory = directoryOf(source.path);
    if (!this.#sides.removedDirectories.has(directory)) return undefined;
    const place = this.#guess.of(directory);
    // Git's guess never finds anything in the root directory.
    if (place === null || place === '') return undefined;
    return targets.get(`${place}/${basenameOf(source.path)}`);
  }

  *#pairSimilar(): Computation<void> {
    const sources = this.#waiting();
    const { targets, openTargets } = this.#identical;
    const free = targets.filter(({ path }) => !this.#taken.has(path));
    const all = [...free, ...openTargets];
    if (sources.length * all.length > RENAME_PAIRS_MAX) throw new Refused('merge_unsure');
    yield* this.#scores.read(sources, all, SCORE_MIN);
    const open = new Set(openTargets);
    const candidates: Candidate[] = [];
    let pairs = 0;
    for (const target of all) {
      pairs += sources.length;
      if (pairs > TURN_PAIRS) {
        yield TURN;
        pairs = 0;
      }
      const best = this.#candidatesFor(target, sources);
      if (best.length > 0 && open.has(target)) throw new Refused('merge_unsure');
      const [last, next] = [best[CANDIDATES_MAX - 1], best[CANDIDATES_MAX]];
      if (last !== undefined && next !== undefined && byScore(last, next) === 0) {
        throw new Refused('merge_unsure');
      }
      candidates.push(...best.slice(0, CANDIDATES_MAX));
    }
    this.#takeBest(candidates.sort(byScore));
  }

  /** Those that reach the score, best first. */
  #candidatesFor(target: RenameFile, sources: readonly RenameFile[]): readonly Candidate[] {
    const name = basenameOf(target.path);
    return sources
      .flatMap((source): Candidate[] => {
        const score = this.#scores.of(source, target, SCORE_MIN);
        return score === null
          ? []
          : [{ source, target, score, isNamesake: basenameOf(source.path) === name }];
      })
      .sort(byScore);
  }

  /** Best first. Of equal ones that share a file git takes the first that it met. */
  #takeBest(candidates: readonly Candidate[]): void {
    for (let at = 0; at < candidates.length; ) {
      const first = candidates[at];
      if (first === undefined) return;
      let end = at + 1;
      for (
        let other = candidates[end];
        other !== undefined && byScore(first, other) === 0;
        other = candidates[end]
      )
        end += 1;
      const equal = candidates.slice(at, end);
      const possible = equal.filter(
        ({ source, target }) => !this.#pairs.has(source.path) && !this.#taken.has(target.path),
      );
      const files = possible.flatMap(({ source, target }) => [source, target]);
      if (new Set(files).size < files.length) throw new Refused('merge_unsure');
      for (const candidate of possible) this.#take(candidate);
      at = end;
    }
  }

  #take({ source, target }: Pick<Candidate, 'source' | 'target'>): void {
    this.#pairs.set(source.path, target.path);
    this.#taken.add(target.path);
  }
}

/** Better first; 0 = git sees no difference. */
function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || Number(b.isNamesake) - Number(a.isNamesake);
}
