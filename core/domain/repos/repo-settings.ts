import type { GateSettings } from '../forge/status-gate.ts';
import { DEFAULT_CHOICE, type NoticeSettings } from '../notices/notice-topics.ts';
import type { WakeupMode } from '../set-up/provisioning.ts';
import type { FreezeSettings } from './freeze.ts';
import type { PrioritySettings } from './priority.ts';
import { NO_RULES, type ScheduleRules } from './schedule-rules.ts';

/**
 * The settings that the owner of a queue may change at any time. A setting is a field and a default here, a row in
 * `core/contracts/repos/repo-settings.ts`, a column in the store, and a control on the page.
 */
export interface QueueSettings
  extends GateSettings,
    PrioritySettings,
    FreezeSettings,
    NoticeSettings,
    ScheduleRules {
  readonly wakeupMode: WakeupMode;
  readonly queueEnabled: boolean;
  readonly batchLingerSeconds: number;
  /** Ends lingering once this many are ready; 0 = no target (D-20). */
  readonly batchTarget: number;
  /** Gate runs that may burn at once, 1..16; with `fanoutAuto` the number that a release of before takes. */
  readonly bisectFanout: number;
  /** The engine chooses how many, within `autoRunsPer100Landed`. */
  readonly fanoutAuto: boolean;
  /** Gate runs that the engine may spend for each 100 landed pull requests where it chooses. */
  readonly autoRunsPer100Landed: number;
  /** An attempt at the gate that takes longer is given up; 0: none is, null: the queue learns how long. */
  readonly gateTimeoutMinutes: number | null;
  /** A pass of the gate on a head that has exactly the staged tree counts, and no gate run is started for it. */
  readonly reuseCi: boolean;
  /** A webhook or a required status that was set up and is gone from the forge is put back by the service. */
  readonly repairSetup: boolean;
  /** A landed pull request with a label such as `backport v15` gets one of its own into that branch. */
  readonly backports: boolean;
  /** Values of `.mergeyard.yml` on the base hold before the stored ones. */
  readonly settingsFile: boolean;
}

/** One gate run at a time until the owner allows more: each costs the forge a runner. */
export const DEFAULT_SETTINGS: QueueSettings = {
  wakeupMode: 'poll',
  queueEnabled: true,
  batchLingerSeconds: 0,
  batchTarget: 0,
  bisectFanout: 1,
  fanoutAuto: false,
  autoRunsPer100Landed: 125,
  gateTimeoutMinutes: 0,
  reuseCi: false,
  repairSetup: false,
  backports: false,
  settingsFile: false,
  gate: 'workflow',
  gateContexts: [],
  gateAuthors: [],
  incidentLabels: [],
  highLabels: [],
  lowLabels: [],
  priorityPeople: [],
  freezeWindows: [],
  freezeTimeZone: 'UTC',
  freezeExemptLabels: [],
  noticeTopics: DEFAULT_CHOICE,
  ...NO_RULES,
};
