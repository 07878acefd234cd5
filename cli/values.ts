import { Misuse } from './context.ts';

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function readNumber(text: string): number {
  if (!/^#?[1-9]\d{0,9}$/.test(text)) throw new Misuse('Give the number of the pull request.');
  return Number(text.replace('#', ''));
}

/** Of `30m`, in milliseconds. */
export function readTime(text: string): number {
  const [, count, unit] = /^(\d{1,5})([smhd])$/.exec(text) ?? [];
  if (count === undefined || unit === undefined)
    throw new Misuse('A time is a number with s, m, h or d: 30m.');
  return Number(count) * (UNIT_MS[unit] ?? 0);
}

/** Text of other people on a terminal: no control character and no change of direction gets there. */
export const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
