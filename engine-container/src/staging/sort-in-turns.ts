import { Pace } from '#core/domain/effort.ts';
import { type Computation, TURN } from './objects.ts';

/** Steps of one comparison, beside one for so many characters of the shorter text. */
const COMPARE_STEPS = 6;
const CHARS_PER_STEP = 4;

/**
 * The items in order, equal ones as they came. A stranger's directory has as many names as are read at all, and as long ones, so that
 * all others have turns meanwhile. What is in order already is looked through once.
 */
export function* sortInTurns<Item>(
  items: readonly Item[],
  textOf: (item: Item) => string,
  compare: (a: Item, b: Item) => number,
): Computation<readonly Item[]> {
  const pace = new Pace();
  const isAfter = (a: Item, b: Item): boolean => {
    pace.walk(COMPARE_STEPS + Math.min(textOf(a).length, textOf(b).length) / CHARS_PER_STEP);
    return compare(a, b) > 0;
  };
  /** Where each part begins that is in order by itself. */
  let starts: number[] = [];
  for (const [at, item] of items.entries()) {
    const before = items[at - 1];
    if (before === undefined || isAfter(before, item)) starts.push(at);
    if (pace.isTurnDue()) yield TURN;
  }
  let sorted: readonly Item[] = items;
  while (starts.length > 1) {
    const merged: Item[] = [];
    const next: number[] = [];
    for (let part = 0; part < starts.length; part += 2) {
      let left = starts[part] ?? 0;
      const middle = starts[part + 1] ?? sorted.length;
      let right = middle;
      const end = starts[part + 2] ?? sorted.length;
      next.push(left);
      while (left < middle || right < end) {
        const [one, other] = [sorted[left] as Item, sorted[right] as Item];
        const takesRight = left === middle || (right < end && isAfter(one, other));
        merged.push(takesRight ? other : one);
        if (takesRight) right += 1;
        else left += 1;
        if (pace.isTurnDue()) yield TURN;
      }
    }
    [sorted, starts] = [merged, next];
  }
  return sorted;
}
