/** Sequences that move a cursor or colour text; a terminal, a page and an agent read them differently. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
/** All that is no visible letter, space, tab or end of a line. */
const HIDDEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;

/** Text of programs, with nothing in it but letters, tabs and ends of lines. A line that was overwritten is as it was last. */
export function toPlainLog(text: string): string {
  return overwritten(text.replace(ESCAPES, '')).replace(HIDDEN, '');
}

/** Line by line: of a log that is all carriage returns an expression would try each of them with all that follow. */
function overwritten(text: string): string {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return [...lines.map(withoutReturns), last]
    .map((line) => line.slice(line.lastIndexOf('\r') + 1))
    .join('\n');
}

/** A return right before the end of a line overwrites nothing. */
function withoutReturns(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === '\r') end -= 1;
  return line.slice(0, end);
}

export const MASK = '[masked]';

/** Headers and addresses that carry a credential, of the bot or of any account. */
const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  [/(authorization["']?\s*[:=]\s*["']?(?:bearer|token|basic)\s+)[^\s"']+/gi, `$1${MASK}`],
  [/(:\/\/)[^\s/@:]*:[^\s/@]+@/g, `$1${MASK}@`],
  // A token may stand in the place of the name, without a password.
  [/(https?:\/\/)[^\s/@]+@/gi, `$1${MASK}@`],
];

/** Without this secret in any spelling in which a program prints one, and without credentials of headers and addresses. */
export function maskSecret(text: string, secret: string): string {
  const spellings = [secret, encodeURIComponent(secret), btoa(secret), btoa(secret).replace(/=+$/, '')];
  let masked = text;
  for (const spelling of new Set(spellings))
    masked = masked.replace(new RegExp(spelling.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'gi'), MASK);
  for (const [pattern, by] of CREDENTIALS) masked = masked.replace(pattern, by);
  return masked;
}

/** A text that begins in the middle of a line, from its first whole line on: what stands before may be the rest of a secret. */
export function fromFirstLine(text: string): string {
  return text.slice(text.indexOf('\n') + 1 || text.length);
}
