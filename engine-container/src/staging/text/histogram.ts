import { emptyMarks, type LinePair, type Marks } from './lines.ts';
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

/** Raised where git itself fails: its table of lines overflows. */
export class DiffGivenUp extends Error {}

/**
 * The comparison that git's merge uses: splits at the longest match around the rarest line, and goes on before and
 * behind it. Where all common lines are frequent, that part is left to `diffByMyers`. Throws `DiffGivenUp`.
 */
export function diffByHistogram(pair: LinePair): Marks {
  const marks = emptyMarks(pair);
  const { before, after } = pair;
  const regions: Region[] = [{ left: 0, right: before.length, top: 0, bottom: after.length }];
  for (let region = regions.pop(); region !== undefined; region = regions.pop()) {
    const { left, right, top, bottom } = region;
    if (left === right || top === bottom) {
      markAll(marks, region);
      continue;
    }
    const match = new Histogram(pair, region).findMatch();
    if (match === 'only frequent lines') compareByMyers(pair, region, marks);
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
export function compareByMyers({ before, after }: LinePair, region: Region, marks: Marks): void {
  const { left, right, top, bottom } = region;
  const part = diffByMyers({ before: before.subarray(left, right), after: after.subarray(top, bottom) });
  marks.removed.set(part.removed, left);
  marks.added.set(part.added, top);
}

/** Where the lines of one region stand in the first text. */
class Histogram {
  readonly #pair: LinePair;
  readonly #region: Region;
  /** Places of each line, first to last. */
  readonly #places = new Map<number, number[]>();

  constructor(pair: LinePair, region: Region) {
    this.#pair = pair;
    this.#region = region;
    const slots = new SlotCounter(region.right - region.left);
    for (let at = region.right - 1; at >= region.left; at -= 1) {
      const line = pair.before[at] ?? 0;
      const known = this.#places.get(line);
      if (known === undefined) {
        slots.take(line);
        this.#places.set(line, [at]);
      } else known.push(at);
    }
    for (const places of this.#places.values()) places.reverse();
  }

  /** Null: nothing in common. */
  findMatch(): Region | null | 'only frequent lines' {
    const { after } = this.#pair;
    const { top, bottom } = this.#region;
    let best: Region | null = null;
    let rarest = OCCURRENCES_MAX + 1;
    let hasCommon = false;
    for (let at = top; at < bottom; ) {
      let next = at + 1;
      const places = this.#places.get(after[at] ?? 0);
      if (places !== undefined) {
        hasCommon = true;
        if (places.length <= rarest) {
          let passed = -1;
          for (const place of places) {
            // Inside the match before: it would be found again.
            if (place < passed) continue;
            const { match, rarity } = this.#extend(place, at, places.length);
            passed = match.right;
            next = Math.max(next, match.bottom);
            const isLonger = match.right - match.left > (best === null ? 1 : best.right - best.left);
            if (isLonger || rarity < rarest) {
              best = match;
              rarest = rarity;
            }
          }
        }
      }
      at = next;
    }
    return hasCommon && rarest > OCCURRENCES_MAX ? 'only frequent lines' : best;
  }

  /** The match around one pair of equal lines, and how often its rarest line occurs. */
  #extend(place: number, at: number, occurrences: number): { match: Region; rarity: number } {
    const { before, after } = this.#pair;
    const region = this.#region;
    let rarity = occurrences;
    const include = (line: number): void => {
      if (rarity > 1) rarity = Math.min(rarity, this.#places.get(before[line] ?? 0)?.length ?? rarity);
    };
    let [left, right, top, bottom] = [place, place + 1, at, at + 1];
    while (left > region.left && top > region.top && before[left - 1] === after[top - 1]) {
      left -= 1;
      top -= 1;
      include(left);
    }
    while (right < region.right && bottom < region.bottom && before[right] === after[bottom]) {
      include(right);
      right += 1;
      bottom += 1;
    }
    return { match: { left, right, top, bottom }, rarity };
  }
}

/** Git's table has as many slots as the region has lines, rounded up to a power of two, and room for so many per slot. */
class SlotCounter {
  readonly #bits: number;
  readonly #taken = new Map<number, number>();

  constructor(lines: number) {
    this.#bits = Math.max(1, Math.ceil(Math.log2(lines)));
  }

  take(line: number): void {
    const slot = (line + (line >> this.#bits)) & ((1 << this.#bits) - 1);
    const taken = this.#taken.get(slot) ?? 0;
    if (taken === OCCURRENCES_MAX) throw new DiffGivenUp();
    this.#taken.set(slot, taken + 1);
  }
}
