import type { HoldSettings } from './pause.ts';
import type { ManagedRepo } from './repo.ts';

/** The settings by which a person stops a queue at once, also while the engine looks. */
export interface StoredHolds extends HoldSettings {
  /** False where the repo is being deleted. */
  readonly queueEnabled: boolean;
}

export function holdsOf({
  pause,
  freezeWindows,
  freezeTimeZone,
  freezeExemptLabels,
  queueEnabled,
  tombstone,
}: Pick<ManagedRepo, keyof HoldSettings | 'queueEnabled' | 'tombstone'>): StoredHolds {
  return {
    pause,
    freezeWindows,
    freezeTimeZone,
    freezeExemptLabels,
    queueEnabled: queueEnabled && !tombstone,
  };
}
