import { isBinary } from '../text/merge-text.ts';

/** Git's measure: this much is identical. */
export const SCORE_MAX = 60_000;
/** A chunk ends at a line feed, or here. */
const CHUNK_BYTES_MAX = 64;
const HASH_BASE = 107_927;

/** How many bytes of a file lie in chunks of each hash. */
export type ChunkCounts = ReadonlyMap<number, number>;

/** `countsTail`: whether a last chunk without a line end counts, which git does since 2.44 only. */
export function countChunks(content: Buffer, countsTail: boolean): ChunkCounts {
  const counts = new Map<number, number>();
  const isText = !isBinary(content);
  let [low, high, length] = [0, 0, 0];
  const close = (): void => {
    const hash = ((low + Math.imul(high, 0x61)) >>> 0) % HASH_BASE;
    counts.set(hash, (counts.get(hash) ?? 0) + length);
    [low, high, length] = [0, 0, 0];
  };
  for (let at = 0; at < content.length; at += 1) {
    const byte = content[at] ?? 0;
    // Line ends of either kind are the same to git here.
    if (isText && byte === CR && content[at + 1] === LF) continue;
    const before = low;
    low = (((low << 7) ^ (high >>> 25)) + byte) >>> 0;
    high = ((high << 7) ^ (before >>> 25)) >>> 0;
    length += 1;
    if (length === CHUNK_BYTES_MAX || byte === LF) close();
  }
  if (countsTail && length > 0) close();
  return counts;
}

const CR = 13;
const LF = 10;

/** Whether files of these sizes can reach the score at all. */
export function canReach(sizeA: number, sizeB: number, scoreMin: number): boolean {
  const larger = Math.max(sizeA, sizeB);
  const difference = larger - Math.min(sizeA, sizeB);
  return larger * (SCORE_MAX - scoreMin) >= difference * SCORE_MAX;
}

/** How much of the larger file is in both: 0 to SCORE_MAX. */
export function scoreOf(from: ChunkCounts, to: ChunkCounts, largerSize: number): number {
  let copied = 0;
  for (const [hash, bytes] of from) copied += Math.min(bytes, to.get(hash) ?? 0);
  return largerSize === 0 ? 0 : Math.floor((copied * SCORE_MAX) / largerSize);
}
