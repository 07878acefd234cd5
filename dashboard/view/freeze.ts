import type { ResultOf } from '#core/contracts/routes/client.ts';
import { showClock } from './format.ts';

type Freeze = NonNullable<ResultOf<'readActivity'>['repos'][number]['freeze']>;

/** The one that holds now; null: none, or one that is to come. A service of an earlier version tells of none: undefined. */
export function heldFreeze(freeze: Freeze | null | undefined, now: number): Freeze | null {
  if (freeze == null || Date.parse(freeze.since) > now || Date.parse(freeze.until) <= now) return null;
  return freeze;
}

/** One sentence about the window that holds or comes next. */
export function sayFreeze(freeze: Freeze | null, now: number): string {
  if (freeze === null) return 'No window is to come.';
  const until = `until ${showClock(freeze.until, now)}`;
  return heldFreeze(freeze, now) === null
    ? `The next one is from ${showClock(freeze.since, now)} ${until}: ${freeze.reason}.`
    : `Frozen now, ${until}: ${freeze.reason}.`;
}
