import type { PacedEffort } from '#core/domain/effort.ts';
import { type Computation, TURN } from '../objects.ts';
import { emptyMarks, type LinePair, type Marks } from './lines.ts';

/** Lines that occur at least this often in the other text, or as often as the root of its length, may be left out. */
const FREQUENT_MAX = 1024;
/** How far around a frequent line is looked. */
const NEIGHBOURHOOD = 100;
/** A frequent line is left out where at most one in this many of its neighbours has a partner. */
const LONELY_FACTOR = 4;
/** Matching lines in a row that make a path promising. */
const LONG_RUN = 20;
const PROMISING_FACTOR = 4;
/** Edits after which a promising path is good enough, and those after which any path is, at least. */
const EDITS_MIN = 256;
/** Steps of one line that is counted in the other text. */
const COUNT_STEPS = 4;
const FAR = 0x7fffffff;

/**
 * Git's default comparison (Myers 1986, both ends at once) with the shortcuts that git takes on long texts: which of
 * several smallest changes comes out, and when it is not the smallest, is the same as in git.
 */
export function* diffByMyers(pair: LinePair, effort: PacedEffort): Computation<Marks> {
  const marks = emptyMarks(pair);
  const { before, after } = pair;
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before[before.length - 1 - tail] === after[after.length - 1 - tail]) {
    tail += 1;
  }
  effort.spend(before.length + after.length);
  const left = yield* reduce(before, after, { head, tail }, marks.removed, effort);
  const right = yield* reduce(after, before, { head, tail }, marks.added, effort);
  yield* new Search(left, right, marks, effort).run();
  return marks;
}

/** Lines that are worth comparing, each with its place in the text. */
interface Reduced {
  readonly lines: Int32Array;
  readonly places: Int32Array;
}

/** Marks what has no partner, and what has too many amid what has none; the rest is compared. */
function* reduce(
  text: Int32Array,
  other: Int32Array,
  { head, tail }: { readonly head: number; readonly tail: number },
  marks: Uint8Array,
  effort: PacedEffort,
): Computation<Reduced> {
  effort.walk(COUNT_STEPS * other.length);
  if (effort.isTurnDue()) yield TURN;
  const counts = new Map<number, number>();
  for (const line of other) counts.set(line, (counts.get(line) ?? 0) + 1);
  const frequent = Math.min(roughRoot(text.length), FREQUENT_MAX);
  const kinds = text.subarray(head, text.length - tail).map((line) => {
    const count = counts.get(line) ?? 0;
    return count === 0 ? ALONE : count >= frequent ? FREQUENT : USEFUL;
  });
  const places: number[] = [];
  for (let at = 0; at < kinds.length; at += 1) {
    if (kinds[at] === USEFUL || (kinds[at] === FREQUENT && !isAmidLonely(kinds, at, effort)))
      places.push(head + at);
    else marks[head + at] = 1;
    if (effort.isTurnDue()) yield TURN;
  }
  return { lines: Int32Array.from(places, (place) => text[place] ?? 0), places: Int32Array.from(places) };
}

const ALONE = 0;
const USEFUL = 1;
const FREQUENT = 2;

function isAmidLonely(kinds: Int32Array, at: number, effort: PacedEffort): boolean {
  const first = Math.max(0, at - NEIGHBOURHOOD);
  const last = Math.min(kinds.length - 1, at + NEIGHBOURHOOD);
  const above = countRun(kinds, at - 1, -1, first);
  effort.spend(1 + above.alone + above.often);
  if (above.alone === 0) return false;
  const below = countRun(kinds, at + 1, 1, last);
  effort.spend(1 + below.alone + below.often);
  if (below.alone === 0) return false;
  const alone = above.alone + below.alone;
  // The line itself counts once for each direction.
  const often = above.often + below.often + 2;
  return often * LONELY_FACTOR < often + alone;
}

/** The lines next to a line in one direction, up to the first line that has a partner. */
function countRun(
  kinds: Int32Array,
  start: number,
  step: 1 | -1,
  last: number,
): { readonly alone: number; readonly often: number } {
  let alone = 0;
  let often = 0;
  for (let at = start; step === 1 ? at <= last : at >= last; at += step) {
    if (kinds[at] === ALONE) alone += 1;
    else if (kinds[at] === FREQUENT) often += 1;
    else break;
  }
  return { alone, often };
}

/** A power of two near the square root, as git estimates it. */
function roughRoot(value: number): number {
  let root = 1;
  for (let rest = value; rest > 0; rest >>= 2) root *= 2;
  return root;
}

/** A rectangle of the grid: lines [left, right) of one text against [top, bottom) of the other. */
interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  /** True: no shortcut, because the way through this part was found without one. */
  readonly exact: boolean;
}

interface Split {
  readonly x: number;
  readonly y: number;
  readonly exactBefore: boolean;
  readonly exactAfter: boolean;
}

/** Furthest line reached per diagonal, from one corner. `low` and `high` are the diagonals in use. */
class Front {
  readonly #reach: Int32Array;
  readonly #offset: number;
  readonly #outside: number;
  readonly middle: number;
  low: number;
  high: number;

  constructor(reach: Int32Array, offset: number, outside: number, middle: number, start: number) {
    this.#reach = reach;
    this.#offset = offset;
    this.#outside = outside;
    this.middle = middle;
    this.low = middle;
    this.high = middle;
    this.set(middle, start);
  }

  get(diagonal: number): number {
    return this.#reach[this.#offset + diagonal] ?? this.#outside;
  }

  set(diagonal: number, value: number): void {
    this.#reach[this.#offset + diagonal] = value;
  }

  /** One diagonal more on either side, or one less where the box ends: every second diagonal is visited. */
  widen(lowest: number, highest: number): void {
    if (this.low > lowest) {
      this.low -= 1;
      this.set(this.low - 1, this.#outside);
    } else this.low += 1;
    if (this.high < highest) {
      this.high += 1;
      this.set(this.high + 1, this.#outside);
    } else this.high -= 1;
  }
}

class Search {
  readonly #a: Reduced;
  readonly #b: Reduced;
  readonly #marks: Marks;
  readonly #effort: PacedEffort;
  readonly #forward: Int32Array;
  readonly #backward: Int32Array;
  readonly #offset: number;
  readonly #editsMax: number;

  constructor(a: Reduced, b: Reduced, marks: Marks, effort: PacedEffort) {
    this.#a = a;
    this.#b = b;
    this.#marks = marks;
    this.#effort = effort;
    const diagonals = a.lines.length + b.lines.length + 3;
    this.#forward = new Int32Array(diagonals + 1);
    this.#backward = new Int32Array(diagonals + 1);
    this.#offset = b.lines.length + 1;
    this.#editsMax = Math.max(roughRoot(diagonals), EDITS_MIN);
  }

  *run(): Computation<void> {
    const boxes: Box[] = [
      { left: 0, right: this.#a.lines.length, top: 0, bottom: this.#b.lines.length, exact: false },
    ];
    for (let box = boxes.pop(); box !== undefined; box = boxes.pop()) {
      let { left, right, top, bottom } = box;
      while (left < right && top < bottom && this.#match(left, top)) {
        left += 1;
        top += 1;
      }
      while (left < right && top < bottom && this.#match(right - 1, bottom - 1)) {
        right -= 1;
        bottom -= 1;
      }
      if (left === right) mark(this.#marks.added, this.#b.places, top, bottom);
      else if (top === bottom) mark(this.#marks.removed, this.#a.places, left, right);
      else {
        const { x, y, exactBefore, exactAfter } = yield* this.#split({
          left,
          right,
          top,
          bottom,
          exact: box.exact,
        });
        boxes.push({ left, right: x, top, bottom: y, exact: exactBefore });
        boxes.push({ left: x, right, top: y, bottom, exact: exactAfter });
      }
    }
  }

  #match(x: number, y: number): boolean {
    return this.#a.lines[x] === this.#b.lines[y];
  }

  /** A point on a good way through the box, where two ways from opposite corners meet. */
  *#split(box: Box): Computation<Split> {
    const { left, right, top, bottom } = box;
    const [lowest, highest] = [left - bottom, right - top];
    const forward = new Front(this.#forward, this.#offset, -1, left - top, left);
    const backward = new Front(this.#backward, this.#offset, FAR, right - bottom, right);
    const isOdd = ((forward.middle - backward.middle) & 1) !== 0;
    for (let edits = 1; ; edits += 1) {
      this.#effort.spend(2 * edits);
      if (this.#effort.isTurnDue()) yield TURN;
      forward.widen(lowest, highest);
      const ahead = this.#advance(box, forward, isOdd ? backward : null);
      if (ahead.met !== null) return ahead.met;
      backward.widen(lowest, highest);
      const behind = this.#retreat(box, backward, isOdd ? null : forward);
      if (behind.met !== null) return behind.met;
      if (box.exact) continue;
      if ((ahead.longRun || behind.longRun) && edits > EDITS_MIN) {
        const promising =
          this.#findPromising(box, forward, edits) ?? this.#findPromisingBack(box, backward, edits);
        if (promising !== null) return promising;
      }
      if (edits >= this.#editsMax) return furthest(box, forward, backward);
    }
  }

  #advance(box: Box, front: Front, other: Front | null): { met: Split | null; longRun: boolean } {
    let longRun = false;
    for (let diagonal = front.high; diagonal >= front.low; diagonal -= 2) {
      const [below, above] = [front.get(diagonal - 1), front.get(diagonal + 1)];
      const start = below >= above ? below + 1 : above;
      let x = start;
      while (x < box.right && x - diagonal < box.bottom && this.#match(x, x - diagonal)) x += 1;
      this.#effort.spend(x - start);
      longRun ||= x - start > LONG_RUN;
      front.set(diagonal, x);
      if (other !== null && other.low <= diagonal && diagonal <= other.high && other.get(diagonal) <= x) {
        return { met: { x, y: x - diagonal, exactBefore: true, exactAfter: true }, longRun };
      }
    }
    return { met: null, longRun };
  }

  #retreat(box: Box, front: Front, other: Front | null): { met: Split | null; longRun: boolean } {
    let longRun = false;
    for (let diagonal = front.high; diagonal >= front.low; diagonal -= 2) {
      const [below, above] = [front.get(diagonal - 1), front.get(diagonal + 1)];
      const start = below < above ? below : above - 1;
      let x = start;
      while (x > box.left && x - diagonal > box.top && this.#match(x - 1, x - 1 - diagonal)) x -= 1;
      this.#effort.spend(start - x);
      longRun ||= start - x > LONG_RUN;
      front.set(diagonal, x);
      if (other !== null && other.low <= diagonal && diagonal <= other.high && x <= other.get(diagonal)) {
        return { met: { x, y: x - diagonal, exactBefore: true, exactAfter: true }, longRun };
      }
    }
    return { met: null, longRun };
  }

  #findPromising(box: Box, front: Front, edits: number): Split | null {
    let best = 0;
    let split: Split | null = null;
    for (let diagonal = front.high; diagonal >= front.low; diagonal -= 2) {
      const x = front.get(diagonal);
      const y = x - diagonal;
      const gain = x - box.left + (y - box.top) - Math.abs(diagonal - front.middle);
      if (gain <= PROMISING_FACTOR * edits || gain <= best) continue;
      if (x < box.left + LONG_RUN || x >= box.right || y < box.top + LONG_RUN || y >= box.bottom) continue;
      if (!this.#runs(x - LONG_RUN, y - LONG_RUN)) continue;
      best = gain;
      split = { x, y, exactBefore: true, exactAfter: false };
    }
    return split;
  }

  #findPromisingBack(box: Box, front: Front, edits: number): Split | null {
    let best = 0;
    let split: Split | null = null;
    for (let diagonal = front.high; diagonal >= front.low; diagonal -= 2) {
      const x = front.get(diagonal);
      const y = x - diagonal;
      const gain = box.right - x + (box.bottom - y) - Math.abs(diagonal - front.middle);
      if (gain <= PROMISING_FACTOR * edits || gain <= best) continue;
      if (x <= box.left || x > box.right - LONG_RUN || y <= box.top || y > box.bottom - LONG_RUN) continue;
      if (!this.#runs(x, y)) continue;
      best = gain;
      split = { x, y, exactBefore: false, exactAfter: true };
    }
    return split;
  }

  #runs(x: number, y: number): boolean {
    for (let at = 0; at < LONG_RUN; at += 1) if (!this.#match(x + at, y + at)) return false;
    return true;
  }
}

function mark(marks: Uint8Array, places: Int32Array, start: number, end: number): void {
  for (const place of places.subarray(start, end)) marks[place] = 1;
}

/** The point furthest from its corner, when meeting costs too much. */
function furthest(box: Box, forward: Front, backward: Front): Split {
  const ahead = { sum: -1, x: -1 };
  for (let diagonal = forward.high; diagonal >= forward.low; diagonal -= 2) {
    let x = Math.min(forward.get(diagonal), box.right);
    if (x - diagonal > box.bottom) x = box.bottom + diagonal;
    if (2 * x - diagonal > ahead.sum) Object.assign(ahead, { sum: 2 * x - diagonal, x });
  }
  const behind = { sum: FAR, x: FAR };
  for (let diagonal = backward.high; diagonal >= backward.low; diagonal -= 2) {
    let x = Math.max(backward.get(diagonal), box.left);
    if (x - diagonal < box.top) x = box.top + diagonal;
    if (2 * x - diagonal < behind.sum) Object.assign(behind, { sum: 2 * x - diagonal, x });
  }
  const isAhead = box.right + box.bottom - behind.sum < ahead.sum - (box.left + box.top);
  const { sum, x } = isAhead ? ahead : behind;
  return { x, y: sum - x, exactBefore: isAhead, exactAfter: !isAhead };
}
