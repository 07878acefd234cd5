import type { EpochMs } from '../ids.ts';
import type { HoldSettings } from './pause.ts';
import type { ManagedRepo } from './repo.ts';

/** The settings by which a person stops a queue at once, also while the engine looks. */
export interface StoredHolds extends HoldSettings {
  /** False also where the repo is being deleted, or a switch-off waits for the engine. */
  readonly queueEnabled: boolean;
}

type HeldBy = Pick<ManagedRepo, keyof HoldSettings | 'queueEnabled' | 'tombstone' | 'stopUntil'>;

export function holdsOf(
  { pause, freezeWindows, freezeTimeZone, freezeExemptLabels, ...repo }: HeldBy,
  now: EpochMs,
): StoredHolds {
  return {
    pause,
    freezeWindows,
    freezeTimeZone,
    freezeExemptLabels,
    queueEnabled: repo.queueEnabled && !repo.tombstone && !isStopAsked(repo, now),
  };
}

/** A switch-off waits for what this engine has in flight (D-24). */
export function isStopAsked({ stopUntil = 0 }: Pick<ManagedRepo, 'stopUntil'>, now: EpochMs): boolean {
  return stopUntil > now;
}
