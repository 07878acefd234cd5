import type { EpochMs } from '../ids.ts';
import { type FreezeSettings, freezeAt } from './freeze.ts';
import { ARCHIVED, PAUSED_PREFIX } from './pause-words.ts';

/**
 * `pause`: nothing is staged and nothing lands; what is in flight is taken back. `drain`: what is in flight goes on to its end,
 * and nothing new is staged.
 */
export const PAUSE_KINDS = ['pause', 'drain'] as const;
export type PauseKind = (typeof PAUSE_KINDS)[number];

/** The owner of a queue holds it up for a while. No pull request loses its place or its schedule. */
export interface Pause {
  readonly kind: PauseKind;
  /** The owner's words, at most `PAUSE_REASON_CHARS_MAX`; null: none were given. */
  readonly reason: string | null;
  readonly since: EpochMs;
  /** When it ends by itself; null: when the owner resumes the queue. */
  readonly until: EpochMs | null;
}

/** A pause of the owner, or a freeze window. */
export interface Hold extends Pause {
  /** Pull requests with a label that exempts are staged and land all the same. */
  readonly isFreeze: boolean;
  /** The owner's drain beside a freeze window: nothing new is staged, exempt or not. Absent: there is none. */
  readonly drain?: Pause;
  /** Not of the owner: the repository is archived on the forge. Absent: it is not. */
  readonly isArchived?: true;
}

export interface HoldSettings extends FreezeSettings {
  readonly pause: Pause | null;
}

/** The hold of this time; null: none. A pause is stronger than a freeze window, and that than a drain. */
export function pauseAt(repo: HoldSettings, now: EpochMs): Hold | null {
  const { pause } = repo;
  const held = pause === null || (pause.until !== null && pause.until <= now) ? null : pause;
  const freeze = held?.kind === 'pause' ? null : freezeAt(repo, now);
  if (freeze !== null)
    return { ...freeze, kind: 'pause', isFreeze: true, ...(held === null ? {} : { drain: held }) };
  return held === null ? null : { ...held, isFreeze: false };
}

/** The hold that one pull request is told of: where it is exempt from a freeze window, the drain beside that. */
export function holdToTell(hold: Hold, { isExempt }: { readonly isExempt?: true }): Hold {
  const { isFreeze, drain } = hold;
  return isFreeze && isExempt === true && drain !== undefined ? { ...drain, isFreeze: false } : hold;
}

/** The words of the commit status, at most 140 characters. */
export function sayPause({
  kind,
  reason,
  until,
  isFreeze,
  isArchived,
}: Pick<Hold, 'kind' | 'reason' | 'until' | 'isFreeze' | 'isArchived'>): string {
  if (isArchived === true) return ARCHIVED;
  if (isFreeze && until !== null)
    return `${PAUSED_PREFIX}${reason} (freeze window of this queue, until ${sayTime(until)})`;
  const what = reason ?? (kind === 'drain' ? 'nothing new is staged' : 'nothing lands');
  return `${PAUSED_PREFIX}${what} (by the owner of this queue, until ${until === null ? 'resumed' : sayTime(until)})`;
}

/** `2026-11-24 08:00 UTC` */
export function sayTime(at: EpochMs): string {
  return `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
