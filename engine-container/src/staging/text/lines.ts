import type { PacedEffort } from '#core/domain/effort.ts';
import { type Computation, TURN } from '../objects.ts';

/** Steps of one line that is cut off or copied, and of one that is looked up among those before it, however short it is. */
export const LINE_STEPS = 2;
const LOOKUP_STEPS = 10;

/** A text cut behind every line feed. Each character is one byte, so nothing is lost whatever the encoding is. */
export function* splitLines(bytes: Buffer, effort: PacedEffort): Computation<readonly string[]> {
  const text = bytes.toString('latin1');
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed + 1;
    lines.push(text.slice(start, end));
    start = end;
    effort.walk(LINE_STEPS);
    if (effort.isTurnDue()) yield TURN;
  }
  return lines;
}

const FEED = 0x0a;

/** Counted before anything is made of them: each line costs some hundred bytes. */
export function hasMoreLines(bytes: Buffer, most: number): boolean {
  let feeds = 0;
  for (const byte of bytes) if (byte === FEED) feeds += 1;
  return feeds > most;
}

export function joinLines(lines: readonly string[]): Buffer {
  return Buffer.from(lines.join(''), 'latin1');
}

/** Two texts as numbers: equal lines have equal numbers, counted up from 0 in the order of their first appearance. */
export interface LinePair {
  readonly before: Int32Array;
  readonly after: Int32Array;
}

export function* pairLines(
  before: readonly string[],
  after: readonly string[],
  effort: PacedEffort,
): Computation<LinePair> {
  const numbers = new Map<string, number>();
  const toNumber = (line: string): number => {
    const known = numbers.get(line);
    if (known !== undefined) return known;
    numbers.set(line, numbers.size);
    return numbers.size - 1;
  };
  const numberAll = function* (lines: readonly string[]): Computation<Int32Array> {
    const all = new Int32Array(lines.length);
    for (const [at, line] of lines.entries()) {
      all[at] = toNumber(line);
      effort.walk(LOOKUP_STEPS);
      if (effort.isTurnDue()) yield TURN;
    }
    return all;
  };
  return { before: yield* numberAll(before), after: yield* numberAll(after) };
}

/** Raised where git itself fails, because its table of lines overflows. */
export class DiffGivenUp extends Error {
  override readonly name = 'DiffGivenUp';
}

/** Which lines of two texts are not in the other one: 1 = changed. */
export interface Marks {
  readonly removed: Uint8Array;
  readonly added: Uint8Array;
}

export function emptyMarks({ before, after }: LinePair): Marks {
  return { removed: new Uint8Array(before.length), added: new Uint8Array(after.length) };
}
