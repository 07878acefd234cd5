import { Effort, EffortSpent, Turns } from '#core/domain/effort.ts';
import type { BlobId } from '#core/domain/ids.ts';
import { MERGE_BYTES_MAX, MERGE_STEPS_MAX, RENAME_BLOBS_MAX } from '#core/domain/limits.ts';
import type { MergeRules } from '../merge-rules.ts';
import { type Computation, type ObjectView, readBlobs, TURN } from '../objects.ts';
import { isRegularFile } from '../path-change.ts';
import { Refused } from '../refusal.ts';
import type { RenameFile } from './sides.ts';
import { type ChunkCounts, canReach, countChunks, scoreOf } from './similarity.ts';

/** Steps that all comparing of one side may take; one for each byte that is read through. */
const SCORE_STEPS_MAX = MERGE_STEPS_MAX;
/** Steps of one chunk that is looked up in another file. */
const CHUNK_STEPS = 4;

type Files = readonly RenameFile[];

/**
 * How alike the files of one side are. Files of the same contents are compared once, however many paths have them: a thousand copies
 * of one file against a thousand of another would hold up all other repositories for an hour. Throws `Refused` where it is too much.
 */
export class Scores {
  readonly #view: ObjectView;
  readonly #rules: MergeRules;
  readonly #countsTail: boolean;
  readonly #effort = new Effort(SCORE_STEPS_MAX);
  readonly #turns = new Turns(() => this.#effort.left);
  readonly #sizes = new Map<BlobId, number | null>();
  /** By the contents of source and target. */
  readonly #scores = new Map<BlobId, Map<BlobId, number>>();

  constructor(view: ObjectView, rules: MergeRules, countsTail: boolean) {
    this.#view = view;
    this.#rules = rules;
    this.#countsTail = countsTail;
  }

  /** Of each source and each target; null: it is below `scoreMin`. Only after `read` of both. */
  of(source: RenameFile, target: RenameFile, scoreMin: number): number | null {
    if (!isLikely(source, target, scoreMin)) return null;
    const score = this.#scores.get(source.id)?.get(target.id) ?? 0;
    return score < scoreMin ? null : score;
  }

  /** Reads and compares what may reach the score. */
  *read(sources: Files, targets: Files, scoreMin: number): Computation<void> {
    const likely = this.#listLikely(sources, targets, scoreMin);
    const ids = new Set(likely.flat());
    this.#countBytes([...sources, ...targets], ids);
    const blobs = yield* readBlobs(
      this.#view,
      [...ids].map((id) => ({ id, size: this.#sizes.get(id) })),
    );
    // Kept for this call alone: those of a thousand files together are more than the memory of the engine.
    const chunks = new Map<BlobId, ChunkCounts>();
    for (const pair of likely) {
      const [from, to] = pair.map((id) => blobs.get(id));
      if (!Buffer.isBuffer(from) || !Buffer.isBuffer(to)) throw new Refused('file_too_large');
      for (const [id, content] of [[pair[0], from] as const, [pair[1], to] as const]) {
        if (chunks.has(id)) continue;
        this.#spend(content.length);
        chunks.set(id, countChunks(content, this.#countsTail));
        if (this.#turns.isDue()) yield TURN;
      }
      this.#compare(pair, chunks, [from.length, to.length], scoreMin);
      if (this.#turns.isDue()) yield TURN;
    }
    const ofCrlf = new Set([...ids].filter((id) => isOfCrlf(blobs.get(id))));
    for (const { path, id } of [...sources, ...targets]) if (ofCrlf.has(id)) yield* this.#rules.refuse(path);
  }

  /** Contents of a source and of a target, each two once. */
  #listLikely(sources: Files, targets: Files, scoreMin: number): readonly (readonly [BlobId, BlobId])[] {
    const likely: (readonly [BlobId, BlobId])[] = [];
    const [ids, seen] = [new Set<BlobId>(), new Map<BlobId, Set<BlobId>>()];
    for (const target of targets) {
      const known = seen.get(target.id) ?? new Set();
      seen.set(target.id, known);
      for (const source of sources) {
        if (known.has(source.id) || !isLikely(source, target, scoreMin)) continue;
        known.add(source.id);
        likely.push([source.id, target.id]);
        if (ids.add(source.id).add(target.id).size > RENAME_BLOBS_MAX) throw new Refused('merge_unsure');
      }
    }
    return likely;
  }

  #countBytes(files: Files, ids: ReadonlySet<BlobId>): void {
    for (const { id, size } of files) if (ids.has(id)) this.#sizes.set(id, size);
    const bytes = [...this.#sizes.values()].reduce<number>((sum, size) => sum + (size ?? 0), 0);
    if (bytes > MERGE_BYTES_MAX) throw new Refused('file_too_large');
  }

  #compare(
    [source, target]: readonly [BlobId, BlobId],
    chunks: ReadonlyMap<BlobId, ChunkCounts>,
    [from, to]: readonly [number, number],
    scoreMin: number,
  ): void {
    const known = this.#scores.get(source) ?? new Map<BlobId, number>();
    this.#scores.set(source, known);
    const [ofSource, ofTarget] = [chunks.get(source), chunks.get(target)];
    if (ofSource === undefined || ofTarget === undefined || !canReach(from, to, scoreMin)) return;
    this.#spend(CHUNK_STEPS * ofSource.size);
    known.set(target, scoreOf(ofSource, ofTarget, Math.max(from, to)));
  }

  #spend(steps: number): void {
    try {
      this.#effort.spend(steps);
    } catch (error) {
      if (error instanceof EffortSpent) throw new Refused('merge_unsure');
      throw error;
    }
  }
}

/** Such a file is like another one to git in one way as text and in another way as binary. */
function isOfCrlf(content: Buffer | 'withheld' | undefined): boolean {
  return Buffer.isBuffer(content) && content.includes(CRLF);
}

const CRLF = '\r\n';

function isLikely(source: RenameFile, target: RenameFile, scoreMin: number): boolean {
  if (!isRegularFile(source) || !isRegularFile(target)) return false;
  return source.size === null || target.size === null || canReach(source.size, target.size, scoreMin);
}
