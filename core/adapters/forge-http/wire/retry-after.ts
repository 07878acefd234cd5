import type { EpochMs } from '#core/domain/ids.ts';

/**
 * Longest wait that a header may ask for, in ms: a delayed wake can wait 15 minutes, and a hostile header must not
 * defer a repository for a year.
 */
const RETRY_AFTER_MS_MAX = 15 * 60_000;

/** `Retry-After` as seconds or as an HTTP date. Ms from `now`, null when absent or unreadable. */
export function parseRetryAfterMs(header: string | undefined, now: EpochMs): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, RETRY_AFTER_MS_MAX);
  // Date.parse reads bare numbers such as `-5` as years; an HTTP date always starts with the name of a day.
  if (!/^[A-Za-z]{3}/.test(text)) return null;
  const at = Date.parse(text);
  if (Number.isNaN(at)) return null;
  return Math.min(Math.max(0, at - now), RETRY_AFTER_MS_MAX);
}
