import { Misuse } from './context.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function readNumber(text: string): number {
  if (!/^#?[1-9]\d{0,9}$/.test(text)) throw new Misuse('Give the number of the pull request.');
  return Number(text.replace('#', ''));
}

/** Reads a duration such as `30m`. Returns milliseconds; throws `Misuse`. */
export function readTime(text: string): number {
  const [, count, unit] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new Misuse('A time is a number with s, m, h or d: 30m.');
  return Number(count) * (UNIT_MS[unit] ?? 0);
}

/** Sequences that a terminal obeys, of seven and of eight bits, with the text that belongs to a title or a link. */
const SEQUENCES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0080-\u009f]*(?:\u0007|\u001b\\|\u009c)|\u001b[ -/]*[0-~]/gu;
const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Text of other people on a terminal: one line, in which no control character and no change of direction is left. */
export const plain = (text: string): string => text.replaceAll(SEQUENCES, '').replaceAll(HIDDEN, '');

/** A value as one line of JSON, with every character escaped that a terminal obeys. */
export const toJsonLine = (value: unknown): string =>
  JSON.stringify(value).replaceAll(HIDDEN, (hidden) =>
    Array.from(
      { length: hidden.length },
      (_, at) => `\\u${hidden.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
