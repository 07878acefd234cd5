import type { PacedEffort } from '#core/domain/effort.ts';
import { type Computation, TURN } from '../objects.ts';
import { compareByMyers } from './histogram.ts';
import type { LinePair, Marks } from './lines.ts';

/** Steps of one line, changed or not, that a group may move past. */
const SETTLE_STEPS = 2;

/** Lines [start, end) that are changed; empty between two unchanged lines. */
interface Group {
  start: number;
  end: number;
}

/** The groups of one text, one after the other; between any two groups, empty or not, stands one unchanged line. */
class Groups {
  readonly #lines: Int32Array;
  readonly #marks: Uint8Array;
  start = 0;
  end = 0;

  constructor(lines: Int32Array, marks: Uint8Array) {
    this.#lines = lines;
    this.#marks = marks;
    this.#growDown();
  }

  get isEmpty(): boolean {
    return this.start === this.end;
  }

  get size(): number {
    return this.end - this.start;
  }

  next(): boolean {
    if (this.end === this.#lines.length) return false;
    this.start = this.end + 1;
    this.end = this.start;
    this.#growDown();
    return true;
  }

  previous(): void {
    this.end = this.start - 1;
    this.start = this.end;
    this.#growUp();
  }

  /** Moves the group by one line where the result reads the same, and joins what it then touches. */
  slideUp(): boolean {
    if (this.start === 0 || this.#lines[this.start - 1] !== this.#lines[this.end - 1]) return false;
    this.start -= 1;
    this.end -= 1;
    this.#marks[this.start] = 1;
    this.#marks[this.end] = 0;
    this.#growUp();
    return true;
  }

  slideDown(): boolean {
    if (this.end === this.#lines.length || this.#lines[this.start] !== this.#lines[this.end]) return false;
    this.#marks[this.start] = 0;
    this.#marks[this.end] = 1;
    this.start += 1;
    this.end += 1;
    this.#growDown();
    return true;
  }

  #growDown(): void {
    while (this.#marks[this.end] === 1) this.end += 1;
  }

  #growUp(): void {
    while (this.#marks[this.start - 1] === 1) this.start -= 1;
  }
}

/**
 * Where a group of changed lines could as well stand a little higher or lower, git moves it to where the other text has
 * changes too, else as low as it goes. Changes `marks` in place. `recompare`: as git does since 2.54, a group that moved
 * is compared again with the group that it came to stand against.
 */
export function* settleGroups(
  pair: LinePair,
  marks: Marks,
  recompare: boolean,
  effort: PacedEffort,
): Computation<void> {
  const compareRemoved = (own: Group, other: Group): Computation<void> =>
    compareByMyers(
      pair,
      { left: own.start, right: own.end, top: other.start, bottom: other.end },
      marks,
      effort,
    );
  const turned = { before: pair.after, after: pair.before };
  const turnedMarks = { removed: marks.added, added: marks.removed };
  const compareAdded = (own: Group, other: Group): Computation<void> =>
    compareByMyers(
      turned,
      { left: own.start, right: own.end, top: other.start, bottom: other.end },
      turnedMarks,
      effort,
    );
  yield* settleSide(pair, marks, effort, recompare ? compareRemoved : null);
  yield* settleSide(turned, turnedMarks, effort, recompare ? compareAdded : null);
}

function* settleSide(
  { before, after }: LinePair,
  marks: Marks,
  effort: PacedEffort,
  recompare: ((own: Group, other: Group) => Computation<void>) | null,
): Computation<void> {
  const own = new Groups(before, marks.removed);
  const other = new Groups(after, marks.added);
  do {
    effort.walk(SETTLE_STEPS);
    if (effort.isTurnDue()) yield TURN;
    if (!own.isEmpty) {
      const from = { start: own.start, end: own.end };
      yield* settleGroup(own, other, effort);
      const moved = own.start !== from.start || own.end !== from.end;
      if (moved && !other.isEmpty && recompare !== null) yield* recompare(own, other);
    }
  } while (own.next() && other.next());
}

function* settleGroup(own: Groups, other: Groups, effort: PacedEffort): Computation<void> {
  let highestEnd = 0;
  let facesChanges = false;
  let size = 0;
  do {
    size = own.size;
    while (own.slideUp()) {
      other.previous();
      effort.spend(1 + other.size);
    }
    if (effort.isTurnDue()) yield TURN;
    highestEnd = own.end;
    facesChanges = !other.isEmpty;
    while (own.slideDown()) {
      other.next();
      effort.spend(1 + other.size);
      facesChanges ||= !other.isEmpty;
    }
    if (effort.isTurnDue()) yield TURN;
    // A group that grew on the way may slide further.
  } while (size !== own.size);
  if (own.end === highestEnd || !facesChanges) return;
  while (other.isEmpty) {
    own.slideUp();
    other.previous();
  }
}

/** Lines [start, end) of the first text that become lines [newStart, newEnd) of the second. */
export interface Change {
  readonly start: number;
  readonly end: number;
  readonly newStart: number;
  readonly newEnd: number;
}

export function listChanges(marks: Marks): readonly Change[] {
  const { removed, added } = marks;
  const changes: Change[] = [];
  let [at, newAt] = [0, 0];
  while (at < removed.length || newAt < added.length) {
    const [start, newStart] = [at, newAt];
    while (removed[at] === 1) at += 1;
    while (added[newAt] === 1) newAt += 1;
    if (at > start || newAt > newStart) changes.push({ start, end: at, newStart, newEnd: newAt });
    at += 1;
    newAt += 1;
  }
  return changes;
}
