import type { EpochMs } from '../ids.ts';
import type { HoldSettings } from './pause.ts';
import type { ManagedRepo } from './repo.ts';
import { DEFAULT_SETTINGS, type QueueSettings } from './repo-settings.ts';

/** The settings as they are stored; a person may change them while the engine looks. */
export interface StoredHolds extends HoldSettings {
  /** False also where the repo is being deleted, or a switch-off waits for the engine. */
  readonly queueEnabled: boolean;
  readonly settings: SteadySettings;
}

const HOLDS = ['queueEnabled', 'freezeWindows', 'freezeTimeZone', 'freezeExemptLabels'] as const;
type HoldName = (typeof HOLDS)[number];

/** The settings under which a reconcile begins and ends. The holds are obeyed as they are stored at each look. */
export type SteadySettings = Omit<QueueSettings, HoldName> & Pick<ManagedRepo, 'statusContext'>;

const STEADY = [...Object.keys(DEFAULT_SETTINGS), 'statusContext'].filter(
  (name): name is keyof SteadySettings => !HOLDS.some((hold) => hold === name),
);

type HeldBy = Pick<ManagedRepo, keyof HoldSettings | 'queueEnabled' | 'tombstone' | 'stopUntil'> &
  SteadySettings;

export function holdsOf(repo: HeldBy, now: EpochMs): StoredHolds {
  const { pause, freezeWindows, freezeTimeZone, freezeExemptLabels } = repo;
  return {
    pause,
    freezeWindows,
    freezeTimeZone,
    freezeExemptLabels,
    queueEnabled: repo.queueEnabled && !repo.tombstone && !isStopAsked(repo, now),
    settings: steadySettingsOf(repo),
  };
}

export function steadySettingsOf(repo: SteadySettings): SteadySettings {
  return Object.fromEntries(STEADY.map((name) => [name, repo[name]])) as unknown as SteadySettings;
}

/** A switch-off waits for what this engine has in flight (D-24). */
export function isStopAsked({ stopUntil = 0 }: Pick<ManagedRepo, 'stopUntil'>, now: EpochMs): boolean {
  return stopUntil > now;
}
