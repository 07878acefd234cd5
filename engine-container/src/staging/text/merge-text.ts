import { EffortSpent, PacedEffort } from '#core/domain/effort.ts';
import { MERGE_STEPS_MAX } from '#core/domain/limits.ts';
import { type Computation, TURN } from '../objects.ts';
import { type Change, listChanges, settleGroups } from './change-groups.ts';
import { diffByHistogram } from './histogram.ts';
import {
  DiffGivenUp,
  hasMoreLines,
  joinLines,
  LINE_STEPS,
  type LinePair,
  type Marks,
  pairLines,
  splitLines,
} from './lines.ts';

export type TextMerge =
  | { readonly kind: 'merged'; readonly content: Buffer }
  | { readonly kind: 'conflict' }
  /** The result of git depends on its version, or would take too long to find out. */
  | { readonly kind: 'unsure' }
  /** More lines than are compared here. */
  | { readonly kind: 'too_long' };

/** Lines of each version. A line costs some hundred bytes and two microseconds, however short it is. */
export const MERGE_LINES_MAX = 250_000;

/** Git looks for a zero byte here to tell a binary file. */
const BINARY_PROBE_BYTES = 8000;

export function isBinary(content: Buffer): boolean {
  return content.subarray(0, BINARY_PROBE_BYTES).includes(0);
}

/**
 * Merges one file as `git merge` does (strategy ort: histogram, no indent heuristic, level "zealous"), byte for byte.
 * `base` is empty where both sides added the file. Binary files that both sides changed are a conflict.
 *
 * @param effort - Steps of comparing, beyond which the result is `unsure`.
 */
export function* mergeText(
  base: Buffer,
  ours: Buffer,
  theirs: Buffer,
  effort: PacedEffort = new PacedEffort(MERGE_STEPS_MAX),
): Computation<TextMerge> {
  if ([base, ours, theirs].some(isBinary)) return { kind: 'conflict' };
  if ([base, ours, theirs].some((text) => hasMoreLines(text, MERGE_LINES_MAX))) return { kind: 'too_long' };
  try {
    const texts = {
      base: yield* splitLines(base, effort),
      ours: yield* splitLines(ours, effort),
      theirs: yield* splitLines(theirs, effort),
    };
    return yield* mergeLines(texts, effort);
  } catch (error) {
    if (error instanceof DiffGivenUp || error instanceof EffortSpent) return { kind: 'unsure' };
    throw error;
  }
}

interface Texts {
  readonly base: readonly string[];
  readonly ours: readonly string[];
  readonly theirs: readonly string[];
}

/** Whether groups that moved are compared again is what distinguishes the versions of git. */
function* mergeLines(texts: Texts, effort: PacedEffort): Computation<TextMerge> {
  const sides = {
    ours: yield* compare(texts.base, texts.ours, effort),
    theirs: yield* compare(texts.base, texts.theirs, effort),
  };
  const older = yield* mergeSides(texts, sides, false, effort);
  const newer = yield* mergeSides(texts, sides, true, effort);
  if (older === null || newer === null) return { kind: older === newer ? 'conflict' : 'unsure' };
  const content = joinLines(older);
  return content.equals(joinLines(newer)) ? { kind: 'merged', content } : { kind: 'unsure' };
}

/** Null: a conflict. */
function* mergeSides(
  texts: Texts,
  { ours, theirs }: { readonly ours: Compared; readonly theirs: Compared },
  recompare: boolean,
  effort: PacedEffort,
): Computation<readonly string[] | null> {
  const regions = new RegionList(texts);
  const mine = yield* settle(ours, recompare, effort);
  const yours = yield* settle(theirs, recompare, effort);
  collectRegions(texts, mine, yours, regions);
  effort.walk(LINE_STEPS * (texts.ours.length + texts.theirs.length));
  if (effort.isTurnDue()) yield TURN;
  return regions.render();
}

interface Compared {
  readonly pair: LinePair;
  readonly marks: Marks;
}

function* compare(
  before: readonly string[],
  after: readonly string[],
  effort: PacedEffort,
): Computation<Compared> {
  const pair = yield* pairLines(before, after, effort);
  return { pair, marks: yield* diffByHistogram(pair, effort) };
}

function* settle(
  { pair, marks }: Compared,
  recompare: boolean,
  effort: PacedEffort,
): Computation<readonly Change[]> {
  const settled = { removed: marks.removed.slice(), added: marks.added.slice() };
  yield* settleGroups(pair, settled, recompare, effort);
  return listChanges(settled);
}

/** The source of one part of the result, as lines of either side that stand for the same lines of the base. */
interface Region {
  take: 'ours' | 'theirs' | 'conflict';
  readonly ours: { readonly start: number; end: number };
  readonly theirs: { readonly start: number; end: number };
}

class RegionList {
  readonly #texts: Texts;
  readonly #regions: Region[] = [];

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  /** Regions that touch on either side become one, a conflict unless both take the same side. */
  add(next: Region): void {
    const last = this.#regions.at(-1);
    if (last === undefined || (next.ours.start > last.ours.end && next.theirs.start > last.theirs.end)) {
      this.#regions.push(next);
      return;
    }
    if (last.take !== next.take) last.take = 'conflict';
    last.ours.end = next.ours.end;
    last.theirs.end = next.theirs.end;
  }

  render(): readonly string[] | null {
    const { ours, theirs } = this.#texts;
    const merged: string[] = [];
    let at = 0;
    for (const region of this.#regions) {
      // Both sides came to the same lines by different changes: ours stands.
      if (region.take === 'conflict' && !this.#isSame(region)) return null;
      if (region.take !== 'theirs') continue;
      for (const line of ours.slice(at, region.ours.start)) merged.push(line);
      for (const line of theirs.slice(region.theirs.start, region.theirs.end)) merged.push(line);
      at = region.ours.end;
    }
    for (const line of ours.slice(at)) merged.push(line);
    return merged;
  }

  /** Git does not compare where one side is empty. */
  #isSame(region: Region): boolean {
    const ours = this.#texts.ours.slice(region.ours.start, region.ours.end);
    const theirs = this.#texts.theirs.slice(region.theirs.start, region.theirs.end);
    return ours.length > 0 && ours.length === theirs.length && ours.every((line, at) => line === theirs[at]);
  }
}

/** Walks both lists of changes in the order of the base. Changes of two sides that touch overlap. */
function collectRegions(
  texts: Texts,
  ours: readonly Change[],
  theirs: readonly Change[],
  regions: RegionList,
): void {
  let [mine, yours] = [0, 0];
  for (;;) {
    const our = ours[mine];
    const their = theirs[yours];
    if (our === undefined && their === undefined) return;
    if (our !== undefined && (their === undefined || our.end < their.start)) {
      const shift =
        their === undefined ? texts.theirs.length - texts.base.length : their.newStart - their.start;
      regions.add(regionOf('ours', our, shift));
      mine += 1;
      continue;
    }
    if (their !== undefined && (our === undefined || their.end < our.start)) {
      const shift = our === undefined ? texts.ours.length - texts.base.length : our.newStart - our.start;
      regions.add(regionOf('theirs', their, shift));
      yours += 1;
      continue;
    }
    if (our === undefined || their === undefined) return;
    if (!isSameChange(texts, our, their)) {
      const start = Math.min(our.start, their.start);
      const end = Math.max(our.end, their.end);
      regions.add({
        take: 'conflict',
        ours: { start: our.newStart - (our.start - start), end: our.newEnd + (end - our.end) },
        theirs: { start: their.newStart - (their.start - start), end: their.newEnd + (end - their.end) },
      });
    }
    if (our.end >= their.end) yours += 1;
    if (their.end >= our.end) mine += 1;
  }
}

/** A change of one side, and the same lines of the base on the other side, which has not changed them. */
function regionOf(take: 'ours' | 'theirs', change: Change, shift: number): Region {
  const own = { start: change.newStart, end: change.newEnd };
  const other = { start: change.start + shift, end: change.end + shift };
  return take === 'ours' ? { take, ours: own, theirs: other } : { take, ours: other, theirs: own };
}

function isSameChange(texts: Texts, our: Change, their: Change): boolean {
  if (our.start !== their.start || our.end !== their.end) return false;
  const lines = our.newEnd - our.newStart;
  if (lines !== their.newEnd - their.newStart) return false;
  for (let at = 0; at < lines; at += 1) {
    if (texts.ours[our.newStart + at] !== texts.theirs[their.newStart + at]) return false;
  }
  return true;
}
