import * as z from 'zod';
import {
  AUTO_RUNS_PER_100_LANDED_MAX,
  AUTO_RUNS_PER_100_LANDED_MIN,
  BATCH_LINGER_SECONDS_MAX,
  BATCH_TARGET_MAX,
  BOTS_MAX,
  GATE_AUTHORS_MAX,
  GATE_CONTEXTS_MAX,
  GATE_TIMEOUT_MINUTES_MAX,
  HEAD_ATTEMPTS_MAX,
  PRIORITY_LABELS_MAX,
  PRIORITY_PEOPLE_MAX,
  QUEUED_PER_ACCOUNT_MAX,
  SCHEDULE_PEOPLE_MAX,
  SCHEDULE_TEAMS_MAX,
} from '../../domain/api-limits.ts';
import { GATE_KINDS } from '../../domain/forge/status-gate.ts';
import { BISECT_FANOUT_MAX, BISECT_FANOUT_MIN } from '../../domain/limits.ts';
import type { QueueSettings } from '../../domain/repos/repo-settings.ts';
import { WAKEUP_MODES } from '../../domain/set-up/provisioning.ts';
import { GateAuthor, GateContext, LabelName } from '../fields.ts';
import { GivenTopics, ShownTopics } from '../notices/notice-topics.ts';
import { GivenWindows, ShownWindows, TimeZone } from './freeze.ts';

/** The value of a setting that the engine chooses by itself. */
const AUTO = 'auto';

interface Row {
  readonly field: keyof QueueSettings;
  /** The flag that stands for the value `auto`: with it `field` keeps the value of before. */
  readonly auto?: 'fanoutAuto';
  /** The values that a PATCH may set. */
  readonly given: z.ZodType;
  /** The values that views and the export show: as stored, also from before a range was narrowed. */
  readonly shown: z.ZodType;
  /** True: `.mergeyard.yml` may set it. Else why not: a landed change could weaken a rule of landing (decision 0236). */
  readonly inFile: true | FileRefusal;
}

/** Why a setting is never taken from the file, as the end of a sentence. */
export const FILE_REFUSALS = {
  proof: 'it decides what is proven',
  permission: 'it decides who may land what, and when',
  notices: 'it decides who is told',
  service: 'it decides what the service does on the forge',
} as const;
export type FileRefusal = keyof typeof FILE_REFUSALS;

const LABELS = {
  given: z.array(LabelName).max(PRIORITY_LABELS_MAX).readonly(),
  shown: z.array(z.string()).readonly(),
} as const;

function logins(max: number) {
  return { given: z.array(GateAuthor).max(max).readonly(), shown: z.array(z.string()).readonly() };
}

function count(max: number) {
  return { given: z.int().min(0).max(max), shown: z.int() };
}

const FLAG = { given: z.boolean(), shown: z.boolean() } as const;
const PERMISSION = { inFile: 'permission' } as const;

/** Every setting that a PATCH changes and every view shows, by its name in the API. */
const ROWS = {
  wakeup_mode: {
    field: 'wakeupMode',
    given: z.enum(WAKEUP_MODES),
    shown: z.enum(WAKEUP_MODES),
    inFile: 'service',
  },
  queue_enabled: { field: 'queueEnabled', given: z.boolean(), shown: z.boolean(), inFile: 'service' },
  batch_linger_seconds: {
    field: 'batchLingerSeconds',
    given: z.int().min(0).max(BATCH_LINGER_SECONDS_MAX),
    shown: z.int(),
    inFile: true,
  },
  batch_target: {
    field: 'batchTarget',
    given: z.int().min(0).max(BATCH_TARGET_MAX),
    shown: z.int(),
    inFile: true,
  },
  bisect_fanout: {
    field: 'bisectFanout',
    auto: 'fanoutAuto',
    given: z.union([z.literal(AUTO), z.int().min(BISECT_FANOUT_MIN).max(BISECT_FANOUT_MAX)], {
      error: `expected "auto" or a whole number >=${BISECT_FANOUT_MIN} and <=${BISECT_FANOUT_MAX}`,
    }),
    shown: z.union([z.literal(AUTO), z.int()]),
    inFile: true,
  },
  auto_runs_per_100_landed: {
    field: 'autoRunsPer100Landed',
    given: z.int().min(AUTO_RUNS_PER_100_LANDED_MIN).max(AUTO_RUNS_PER_100_LANDED_MAX),
    shown: z.int(),
    inFile: true,
  },
  gate_timeout_minutes: {
    field: 'gateTimeoutMinutes',
    given: z.int().min(0).max(GATE_TIMEOUT_MINUTES_MAX).nullable(),
    shown: z.int().nullable(),
    inFile: true,
  },
  reuse_ci: { field: 'reuseCi', given: z.boolean(), shown: z.boolean(), inFile: 'proof' },
  repair_setup: { field: 'repairSetup', given: z.boolean(), shown: z.boolean(), inFile: 'service' },
  backports: { field: 'backports', given: z.boolean(), shown: z.boolean(), inFile: 'service' },
  settings_file: { field: 'settingsFile', ...FLAG, inFile: 'service' },
  gate: { field: 'gate', given: z.enum(GATE_KINDS), shown: z.enum(GATE_KINDS), inFile: 'proof' },
  gate_contexts: {
    field: 'gateContexts',
    given: z.array(GateContext).max(GATE_CONTEXTS_MAX).readonly(),
    shown: z.array(z.string()).readonly(),
    inFile: 'proof',
  },
  gate_authors: {
    field: 'gateAuthors',
    given: z.array(GateAuthor).max(GATE_AUTHORS_MAX).readonly(),
    shown: z.array(z.string()).readonly(),
    inFile: 'proof',
  },
  incident_labels: { field: 'incidentLabels', ...LABELS, inFile: true },
  high_labels: { field: 'highLabels', ...LABELS, inFile: true },
  low_labels: { field: 'lowLabels', ...LABELS, inFile: true },
  priority_people: { field: 'priorityPeople', ...logins(PRIORITY_PEOPLE_MAX), ...PERMISSION },
  freeze_windows: { field: 'freezeWindows', given: GivenWindows, shown: ShownWindows, ...PERMISSION },
  freeze_time_zone: { field: 'freezeTimeZone', given: TimeZone, shown: z.string(), ...PERMISSION },
  freeze_exempt_labels: { field: 'freezeExemptLabels', ...LABELS, ...PERMISSION },
  schedule_people: { field: 'schedulePeople', ...logins(SCHEDULE_PEOPLE_MAX), ...PERMISSION },
  schedule_teams: { field: 'scheduleTeams', ...logins(SCHEDULE_TEAMS_MAX), ...PERMISSION },
  schedule_own: { field: 'scheduleOwn', ...FLAG, ...PERMISSION },
  bots: { field: 'bots', ...logins(BOTS_MAX), ...PERMISSION },
  bot_approval: { field: 'botApproval', ...FLAG, ...PERMISSION },
  author_queued_max: { field: 'authorQueuedMax', ...count(QUEUED_PER_ACCOUNT_MAX), ...PERMISSION },
  bot_queued_max: { field: 'botQueuedMax', ...count(QUEUED_PER_ACCOUNT_MAX), ...PERMISSION },
  head_attempts_max: { field: 'headAttemptsMax', ...count(HEAD_ATTEMPTS_MAX), ...PERMISSION },
  notice_topics: { field: 'noticeTopics', given: GivenTopics, shown: ShownTopics, inFile: 'notices' },
} as const satisfies Readonly<Record<string, Row>>;

type Rows = typeof ROWS;
type Name = keyof Rows;
const names = Object.keys(ROWS) as Name[];

/** One value for each setting, by its name in the API. */
function mapRows<T>(toValue: (row: Rows[Name], name: Name) => unknown): T {
  return Object.fromEntries(names.map((name) => [name, toValue(ROWS[name], name)])) as T;
}

export const GIVEN_SETTINGS = mapRows<{ readonly [K in Name]: z.ZodOptional<Rows[K]['given']> }>((row) =>
  row.given.optional(),
);
export const SHOWN_SETTINGS = mapRows<{ readonly [K in Name]: Rows[K]['shown'] }>((row) => row.shown);

export type FileName = { [K in Name]: Rows[K]['inFile'] extends true ? K : never }[Name];

/** The settings that `.mergeyard.yml` may hold, each optional. */
export const FILE_SETTINGS = Object.fromEntries(
  names.filter((name) => ROWS[name].inFile === true).map((name) => [name, ROWS[name].given.optional()]),
) as { readonly [K in FileName]: z.ZodOptional<Rows[K]['given']> };

/** Why the file may not set it; undefined: it may, or it is no setting. */
export function refusalOf(name: string): FileRefusal | undefined {
  const inFile = Object.hasOwn(ROWS, name) ? ROWS[name as Name].inFile : true;
  return inFile === true ? undefined : inFile;
}

export type ShownSettings = { [K in Name]: z.infer<Rows[K]['shown']> };
type GivenSettings = { readonly [K in Name]?: z.infer<Rows[K]['given']> | undefined };

export function toShownSettings(settings: QueueSettings): ShownSettings {
  return mapRows((row: Row) => (row.auto !== undefined && settings[row.auto] ? AUTO : settings[row.field]));
}

/** The settings that a PATCH names; one that it does not name stays as it is. */
export function toSettings(given: GivenSettings): Partial<QueueSettings> {
  const named = names.filter((name) => given[name] !== undefined);
  return Object.assign({}, ...named.map((name) => fieldsOf(ROWS[name], given[name])));
}

function fieldsOf({ field, auto }: Row, value: unknown): Readonly<Record<string, unknown>> {
  if (auto === undefined) return { [field]: value };
  return value === AUTO ? { [auto]: true } : { [field]: value, [auto]: false };
}
