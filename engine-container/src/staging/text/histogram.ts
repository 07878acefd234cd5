import type { PacedEffort } from '#core/domain/effort.ts';
import { type Computation, TURN } from '../objects.ts';
import { DiffGivenUp, emptyMarks, type LinePair, type Marks } from './lines.ts';
import { diffByMyers } from './myers.ts';

/** A line that occurs more often than this starts no match; git also gives up where so many lines share one slot. */
const OCCURRENCES_MAX = 64;

/** Lines [left, right) of one text against [top, bottom) of the other. */
interface Region {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/**
 * The comparison that git's merge uses: splits at the longest match around the rarest line, and goes on before and
 * behind it. Where all common lines are frequent, that part is left to `diffByMyers`. Throws `DiffGivenUp` and `EffortSpent`.
 */
export function* diffByHistogram(pair: LinePair, effort: PacedEffort): Computation<Marks> {
  const marks = emptyMarks(pair);
  const { before, after } = pair;
  const places = new Places(before);
  const regions: Region[] = [{ left: 0, right: before.length, top: 0, bottom: after.length }];
  for (let region = regions.pop(); region !== undefined; region = regions.pop()) {
    const { left, right, top, bottom } = region;
    if (left === right || top === bottom) {
      markAll(marks, region);
      continue;
    }
    const match = yield* new Histogram(pair, places, region, effort).findMatch();
    if (match === 'only frequent lines') yield* compareByMyers(pair, region, marks, effort);
    else if (match === null) markAll(marks, region);
    else {
      regions.push({ left, right: match.left, top, bottom: match.top });
      regions.push({ left: match.right, right, top: match.bottom, bottom });
    }
  }
  return marks;
}

function markAll(marks: Marks, { left, right, top, bottom }: Region): void {
  marks.removed.fill(1, left, right);
  marks.added.fill(1, top, bottom);
}

/** Compares a part of the texts as if there were nothing else, and takes over what comes out. */
export function* compareByMyers(
  { before, after }: LinePair,
  region: Region,
  marks: Marks,
  effort: PacedEffort,
): Computation<void> {
  const { left, right, top, bottom } = region;
  const pair = { before: before.subarray(left, right), after: after.subarray(top, bottom) };
  const part = yield* diffByMyers(pair, effort);
  marks.removed.set(part.removed, left);
  marks.added.set(part.added, top);
}

/** Where the lines of one region stand in the first text. Arrays serve all regions: a new region makes the old one void. */
class Places {
  readonly #before: Int32Array;
  readonly #first: Int32Array;
  readonly #count: Int32Array;
  readonly #regionOfLine: Int32Array;
  readonly #next: Int32Array;
  readonly #taken: Int32Array;
  readonly #regionOfSlot: Int32Array;
  #region = 0;

  constructor(before: Int32Array) {
    const distinct = before.reduce((most, line) => Math.max(most, line), -1) + 1;
    this.#before = before;
    this.#first = new Int32Array(distinct);
    this.#count = new Int32Array(distinct);
    this.#regionOfLine = new Int32Array(distinct);
    this.#next = new Int32Array(before.length);
    const slots = 1 << slotBitsOf(before.length);
    this.#taken = new Int32Array(slots);
    this.#regionOfSlot = new Int32Array(slots);
  }

  read({ left, right }: Region): void {
    this.#region += 1;
    const bits = slotBitsOf(right - left);
    for (let at = right - 1; at >= left; at -= 1) {
      const line = this.#before[at] ?? 0;
      const isKnown = this.#regionOfLine[line] === this.#region;
      if (!isKnown) this.#takeSlot((line + (line >> bits)) & ((1 << bits) - 1));
      this.#regionOfLine[line] = this.#region;
      this.#count[line] = isKnown ? (this.#count[line] ?? 0) + 1 : 1;
      this.#next[at] = isKnown ? (this.#first[line] ?? NONE) : NONE;
      this.#first[line] = at;
    }
  }

  /** 0 = the region does not have the line. */
  countOf(line: number): number {
    return this.#regionOfLine[line] === this.#region ? (this.#count[line] ?? 0) : 0;
  }

  /** Only of a line that the region has. */
  firstOf(line: number): number {
    return this.#first[line] ?? NONE;
  }

  /** The next place of the same line; `NONE` behind the last. */
  after(place: number): number {
    return this.#next[place] ?? NONE;
  }

  #takeSlot(slot: number): void {
    const taken = this.#regionOfSlot[slot] === this.#region ? (this.#taken[slot] ?? 0) : 0;
    if (taken === OCCURRENCES_MAX) throw new DiffGivenUp();
    this.#regionOfSlot[slot] = this.#region;
    this.#taken[slot] = taken + 1;
  }
}

const NONE = -1;

/** Git's table has as many slots as the region has lines, rounded up to a power of two, and room for so many per slot. */
function slotBitsOf(lines: number): number {
  return Math.max(1, Math.ceil(Math.log2(lines)));
}

class Histogram {
  readonly #pair: LinePair;
  readonly #places: Places;
  readonly #region: Region;
  readonly #effort: PacedEffort;

  constructor(pair: LinePair, places: Places, region: Region, effort: PacedEffort) {
    this.#pair = pair;
    this.#places = places;
    this.#region = region;
    this.#effort = effort;
    effort.spend(region.right - region.left + region.bottom - region.top);
    places.read(region);
  }

  /** Null: nothing in common. */
  *findMatch(): Computation<Region | null | 'only frequent lines'> {
    const { after } = this.#pair;
    const { top, bottom } = this.#region;
    let best: Region | null = null;
    let rarest = OCCURRENCES_MAX + 1;
    let hasCommon = false;
    for (let at = top; at < bottom; ) {
      let next = at + 1;
      const line = after[at] ?? 0;
      const count = this.#places.countOf(line);
      if (count > 0) {
        hasCommon = true;
        if (count <= rarest) {
          let passed = -1;
          for (let place = this.#places.firstOf(line); place !== NONE; place = this.#places.after(place)) {
            // Inside the match before: it would be found again.
            if (place < passed) continue;
            const { match, rarity } = this.#extend(place, at, count);
            passed = match.right;
            if (match.bottom > next) next = match.bottom;
            const isLonger = match.right - match.left > (best === null ? 1 : best.right - best.left);
            if (isLonger || rarity < rarest) {
              best = match;
              rarest = rarity;
            }
            if (this.#effort.isTurnDue()) yield TURN;
          }
        }
      }
      at = next;
    }
    if (this.#effort.isTurnDue()) yield TURN;
    return hasCommon && rarest > OCCURRENCES_MAX ? 'only frequent lines' : best;
  }

  /** The match around one pair of equal lines, and how often its rarest line occurs. */
  #extend(place: number, at: number, occurrences: number): { match: Region; rarity: number } {
    const { before, after } = this.#pair;
    const region = this.#region;
    let left = place;
    let top = at;
    while (left > region.left && top > region.top && before[left - 1] === after[top - 1]) {
      left -= 1;
      top -= 1;
    }
    let right = place + 1;
    let bottom = at + 1;
    while (right < region.right && bottom < region.bottom && before[right] === after[bottom]) {
      right += 1;
      bottom += 1;
    }
    let rarity = occurrences;
    for (let line = left; line < right && rarity > 1; line += 1) {
      const count = this.#places.countOf(before[line] ?? 0);
      if (count < rarity) rarity = count;
    }
    this.#effort.spend(right - left);
    return { match: { left, right, top, bottom }, rarity };
  }
}
