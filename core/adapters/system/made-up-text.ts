import { randomInt } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Letters and digits by chance, from a source that cannot be guessed. */
export function makeUpText(length: number): string {
  return Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)] ?? '').join('');
}
