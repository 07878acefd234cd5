const TEXT_CHARS_MAX = 300;

/** How values are written for people. Null is "Unknown", never zero (A73). */
export const UNKNOWN = 'Unknown';

const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 2 });
const CLOCK = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const DATE = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' });
const FULL = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });

const MINUTE_S = 60;
const HOUR_S = 3600;
const DAY_S = 86_400;

export function showNumber(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : NUMBER.format(value);
}

export function showPercent(value: number | null | undefined): string {
  return value === null || value === undefined ? UNKNOWN : `${NUMBER.format(value)} %`;
}

/** Two units at most: `45 s`, `3 min`, `2 h 5 min`, `4 d 3 h`. */
export function showDuration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return UNKNOWN;
  const whole = Math.max(0, Math.round(seconds));
  if (whole < MINUTE_S) return `${whole} s`;
  if (whole < HOUR_S) return `${Math.floor(whole / MINUTE_S)} min`;
  const [big, bigName, small, smallName] =
    whole < DAY_S ? [HOUR_S, 'h', MINUTE_S, 'min'] : [DAY_S, 'd', HOUR_S, 'h'];
  const rest = Math.floor((whole % big) / small);
  return `${Math.floor(whole / big)} ${bigName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

export function secondsBetween(from: string | null, to: number): number | null {
  if (from === null) return null;
  const at = Date.parse(from);
  return Number.isNaN(at) ? null : (to - at) / 1000;
}

/** `just now`, `3 min ago`. */
export function showAgo(iso: string | null, now: number): string {
  const seconds = secondsBetween(iso, now);
  if (seconds === null) return UNKNOWN;
  return seconds < 5 ? 'just now' : `${showDuration(seconds)} ago`;
}

/** `14:05`, with the day when it is another one. */
export function showClock(iso: string | null, now: number): string {
  const at = iso === null ? Number.NaN : Date.parse(iso);
  if (Number.isNaN(at)) return UNKNOWN;
  const time = CLOCK.format(at);
  return new Date(at).toDateString() === new Date(now).toDateString() ? time : `${DATE.format(at)}, ${time}`;
}

export function showFullTime(iso: string | null): string {
  const at = iso === null ? Number.NaN : Date.parse(iso);
  return Number.isNaN(at) ? UNKNOWN : FULL.format(at);
}

export function shortSha(sha: string | null): string {
  return sha === null ? UNKNOWN : sha.slice(0, 10);
}

/** Direction marks and controls: they would reorder or hide what stands around them (A117). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const TRICKS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** Text of another person, as one line of plain text: a hidden character becomes a visible mark, the length is bounded. */
export function showText(text: string, most = TEXT_CHARS_MAX): string {
  const plain = text
    .slice(0, TEXT_CHARS_MAX * 4)
    .replace(TRICKS, '\ufffd')
    .trim();
  const letters = [...plain];
  return letters.length <= most ? plain : `${letters.slice(0, most - 1).join('')}…`;
}

/** An address of a forge or a payment page; null for any other scheme. */
export function safeUrl(text: string | null | undefined): string | null {
  if (text === null || text === undefined) return null;
  try {
    const url = new URL(text);
    return url.protocol === 'https:' || url.protocol === 'http:' ? url.href : null;
  } catch {
    return null;
  }
}

export function pullUrl(instanceUrl: string | null, slug: string | null, pr: number): string | null {
  if (instanceUrl === null || slug === null) return null;
  return safeUrl(`${instanceUrl.replace(/\/+$/, '')}/${slug}/pulls/${pr}`);
}

export function commitUrl(
  instanceUrl: string | null,
  slug: string | null,
  sha: string | null,
): string | null {
  if (instanceUrl === null || slug === null || sha === null) return null;
  return safeUrl(`${instanceUrl.replace(/\/+$/, '')}/${slug}/commit/${sha}`);
}

/** `#3`, `#3 and #4`, `#3, #4 and 5 more`. */
export function showPulls(prs: readonly number[], most = 4): string {
  if (prs.length === 0) return 'no pull request';
  const shown = prs.length > most ? prs.slice(0, most - 1) : prs;
  const names = shown.map((pr) => `#${pr}`);
  const rest = prs.length - shown.length;
  const all = rest > 0 ? [...names, `${rest} more`] : names;
  return all.length === 1 ? (all[0] ?? '') : `${all.slice(0, -1).join(', ')} and ${all.at(-1)}`;
}

/** `r`: the batch as a whole; `r.2.1`: a part of it, which a search made. */
export function showPart(nodeId: string): string {
  return nodeId === 'r' ? 'Whole batch' : `Part ${nodeId.replace(/^r\./, '')}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${NUMBER.format(count)} ${count === 1 ? one : many}`;
}
