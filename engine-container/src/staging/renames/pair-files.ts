import type { BlobId } from '#core/domain/ids.ts';
import { MERGE_BYTES_MAX, RENAME_BLOBS_MAX, RENAME_PAIRS_MAX } from '#core/domain/limits.ts';
import { type ObjectView, type Reading, readBlobs } from '../objects.ts';
import { Refused } from '../refusal.ts';
import { guessDirectory, type IdenticalPairs, pairIdentical } from './identical.ts';
import { basenameOf, directoryOf, groupBy, isRegular, type RenameFile, type RenameSides } from './sides.ts';
import { type ChunkCounts, canReach, countChunks, SCORE_MAX, scoreOf } from './similarity.ts';

/** Git's `-M50%`, and half way from there to identical for two files of one name. */
const SCORE_MIN = SCORE_MAX / 2;
const NAMESAKE_SCORE_MIN = SCORE_MIN + (SCORE_MAX - SCORE_MIN) / 2;
/** Git keeps so many sources for each target. */
const CANDIDATES_MAX = 4;

/**
 * Which file of the base became which new file of one side, as git's merge detects it: identical files, then files of one
 * name, then the most similar. Throws `Refused` where versions of git differ, or git decides by the order it walks in.
 */
export function* pairFiles(view: ObjectView, sides: RenameSides): Reading<ReadonlyMap<string, string>> {
  if (sides.relevant.size === 0 || sides.targets.length === 0) return new Map();
  const identical = pairIdentical(sides);
  const older = yield* new Pairing(view, sides, identical, false).run();
  const newer = yield* new Pairing(view, sides, identical, true).run();
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
  readonly #view: ObjectView;
  readonly #sides: RenameSides;
  readonly #identical: IdenticalPairs;
  readonly #countsTail: boolean;
  readonly #chunks = new Map<BlobId, ChunkCounts>();
  readonly #pairs: Map<string, string>;
  readonly #taken: Set<string>;

  constructor(view: ObjectView, sides: RenameSides, identical: IdenticalPairs, countsTail: boolean) {
    this.#view = view;
    this.#sides = sides;
    this.#identical = identical;
    this.#countsTail = countsTail;
    this.#pairs = new Map(identical.pairs);
    this.#taken = new Set(identical.pairs.values());
  }

  *run(): Reading<ReadonlyMap<string, string>> {
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

  *#pairNamesakes(): Reading<void> {
    const { sources, targets, openSources, openTargets } = this.#identical;
    const sourceNames = groupBy(sources, ({ path }) => basenameOf(path));
    const targetNames = groupBy(targets, ({ path }) => basenameOf(path));
    const openNames = new Set([...openSources, ...openTargets].map(({ path }) => basenameOf(path)));
    for (const source of this.#waiting()) {
      const name = basenameOf(source.path);
      if (openNames.has(name)) throw new Refused('merge_unsure');
      const namesakes = targetNames.get(name);
      if (namesakes === undefined) continue;
      const isOnly = namesakes.length === 1 && sourceNames.get(name)?.length === 1;
      const target = isOnly ? namesakes[0] : this.#guessTarget(source, namesakes);
      if (target === undefined || this.#taken.has(target.path)) continue;
      const [candidate] = yield* this.#score([[source, target]], NAMESAKE_SCORE_MIN);
      if (candidate !== undefined) this.#take(candidate);
    }
  }

  /** Of several files of one name the one that went where its directory went. */
  #guessTarget(source: RenameFile, namesakes: readonly RenameFile[]): RenameFile | undefined {
    const directory = directoryOf(source.path);
    if (!this.#sides.removedDirectories.has(directory)) return undefined;
    const place = guessDirectory(this.#identical, directory);
    // Git's guess never finds anything in the root directory.
    if (place === null || place === '') return undefined;
    return namesakes.find(({ path }) => directoryOf(path) === place);
  }

  *#pairSimilar(): Reading<void> {
    const sources = this.#waiting();
    const { targets, openTargets } = this.#identical;
    const free = targets.filter(({ path }) => !this.#taken.has(path));
    const all = [...free, ...openTargets];
    if (sources.length * all.length > RENAME_PAIRS_MAX) throw new Refused('merge_unsure');
    const combined = all.flatMap((target) =>
      sources.map((source): readonly [RenameFile, RenameFile] => [source, target]),
    );
    const open = new Set(openTargets);
    const candidates: Candidate[] = [];
    for (const group of groupBy(yield* this.#score(combined, SCORE_MIN), ({ target }) => target).values()) {
      const [first] = group;
      if (first !== undefined && open.has(first.target)) throw new Refused('merge_unsure');
      const best = group.sort(byScore);
      const [last, next] = [best[CANDIDATES_MAX - 1], best[CANDIDATES_MAX]];
      if (last !== undefined && next !== undefined && byScore(last, next) === 0) {
        throw new Refused('merge_unsure');
      }
      candidates.push(...best.slice(0, CANDIDATES_MAX));
    }
    this.#takeBest(candidates.sort(byScore));
  }

  /** Best first. Of equal ones that share a file git takes the first that it met. */
  #takeBest(candidates: readonly Candidate[]): void {
    for (let at = 0; at < candidates.length; ) {
      const first = candidates[at];
      if (first === undefined) return;
      const equal = candidates.slice(at).filter((other) => byScore(first, other) === 0);
      const possible = equal.filter(
        ({ source, target }) => !this.#pairs.has(source.path) && !this.#taken.has(target.path),
      );
      const files = possible.flatMap(({ source, target }) => [source, target]);
      if (new Set(files).size < files.length) throw new Refused('merge_unsure');
      for (const candidate of possible) this.#take(candidate);
      at += equal.length;
    }
  }

  #take({ source, target }: Candidate): void {
    this.#pairs.set(source.path, target.path);
    this.#taken.add(target.path);
  }

  /** Those of the combinations that reach the score. */
  *#score(combined: readonly (readonly [RenameFile, RenameFile])[], scoreMin: number): Reading<Candidate[]> {
    const likely = combined.filter(
      ([source, target]) =>
        isRegular(source) &&
        isRegular(target) &&
        (source.size === null || target.size === null || canReach(source.size, target.size, scoreMin)),
    );
    const ids = new Set(likely.flatMap(([source, target]) => [source.id, target.id]));
    if (ids.size > RENAME_BLOBS_MAX) throw new Refused('merge_unsure');
    const sizes = new Map(likely.flat().map(({ id, size }) => [id, size ?? 0]));
    const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    if (bytes > MERGE_BYTES_MAX) throw new Refused('file_too_large');
    const blobs = yield* readBlobs(this.#view, [...ids]);
    return likely.flatMap(([source, target]): Candidate[] => {
      const [from, to] = [blobs.get(source.id), blobs.get(target.id)];
      if (!Buffer.isBuffer(from) || !Buffer.isBuffer(to)) throw new Refused('file_too_large');
      if (!canReach(from.length, to.length, scoreMin)) return [];
      const larger = Math.max(from.length, to.length);
      const score = scoreOf(this.#chunksOf(source.id, from), this.#chunksOf(target.id, to), larger);
      const isNamesake = basenameOf(source.path) === basenameOf(target.path);
      return score < scoreMin ? [] : [{ source, target, score, isNamesake }];
    });
  }

  #chunksOf(id: BlobId, content: Buffer): ChunkCounts {
    const known = this.#chunks.get(id) ?? countChunks(content, this.#countsTail);
    this.#chunks.set(id, known);
    return known;
  }
}

/** Better first; 0 = git sees no difference. */
function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || Number(b.isNamesake) - Number(a.isNamesake);
}
