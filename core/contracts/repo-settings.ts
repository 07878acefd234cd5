import * as z from 'zod';
import {
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
} from '../domain/api-limits.ts';
import { BISECT_FANOUT_MAX, BISECT_FANOUT_MIN } from '../domain/limits.ts';
import { WAKEUP_MODES } from '../domain/provisioning.ts';
import type { QueueSettings } from '../domain/repo-settings.ts';
import { GATE_KINDS } from '../domain/status-gate.ts';
import { GateAuthor, GateContext, LabelName } from './fields.ts';
import { GivenWindows, ShownWindows, TimeZone } from './freeze.ts';
import { GivenTopics, ShownTopics } from './notice-topics.ts';

interface Row {
  readonly field: keyof QueueSettings;
  /** The values that a PATCH may set. */
  readonly given: z.ZodType;
  /** The values that views and the export show: as stored, also from before a range was narrowed. */
  readonly shown: z.ZodType;
}

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

/** Every setting that a PATCH changes and every view shows, by its name in the API. */
const ROWS = {
  wakeup_mode: { field: 'wakeupMode', given: z.enum(WAKEUP_MODES), shown: z.enum(WAKEUP_MODES) },
  queue_enabled: { field: 'queueEnabled', given: z.boolean(), shown: z.boolean() },
  batch_linger_seconds: {
    field: 'batchLingerSeconds',
    given: z.int().min(0).max(BATCH_LINGER_SECONDS_MAX),
    shown: z.int(),
  },
  batch_target: {
    field: 'batchTarget',
    given: z.int().min(0).max(BATCH_TARGET_MAX),
    shown: z.int(),
  },
  bisect_fanout: {
    field: 'bisectFanout',
    given: z.int().min(BISECT_FANOUT_MIN).max(BISECT_FANOUT_MAX),
    shown: z.int(),
  },
  gate_timeout_minutes: {
    field: 'gateTimeoutMinutes',
    given: z.int().min(0).max(GATE_TIMEOUT_MINUTES_MAX).nullable(),
    shown: z.int().nullable(),
  },
  reuse_ci: { field: 'reuseCi', given: z.boolean(), shown: z.boolean() },
  repair_setup: { field: 'repairSetup', given: z.boolean(), shown: z.boolean() },
  backports: { field: 'backports', given: z.boolean(), shown: z.boolean() },
  gate: { field: 'gate', given: z.enum(GATE_KINDS), shown: z.enum(GATE_KINDS) },
  gate_contexts: {
    field: 'gateContexts',
    given: z.array(GateContext).max(GATE_CONTEXTS_MAX).readonly(),
    shown: z.array(z.string()).readonly(),
  },
  gate_authors: {
    field: 'gateAuthors',
    given: z.array(GateAuthor).max(GATE_AUTHORS_MAX).readonly(),
    shown: z.array(z.string()).readonly(),
  },
  incident_labels: { field: 'incidentLabels', ...LABELS },
  high_labels: { field: 'highLabels', ...LABELS },
  low_labels: { field: 'lowLabels', ...LABELS },
  priority_people: { field: 'priorityPeople', ...logins(PRIORITY_PEOPLE_MAX) },
  freeze_windows: { field: 'freezeWindows', given: GivenWindows, shown: ShownWindows },
  freeze_time_zone: { field: 'freezeTimeZone', given: TimeZone, shown: z.string() },
  freeze_exempt_labels: { field: 'freezeExemptLabels', ...LABELS },
  schedule_people: { field: 'schedulePeople', ...logins(SCHEDULE_PEOPLE_MAX) },
  schedule_teams: { field: 'scheduleTeams', ...logins(SCHEDULE_TEAMS_MAX) },
  schedule_own: { field: 'scheduleOwn', ...FLAG },
  bots: { field: 'bots', ...logins(BOTS_MAX) },
  bot_approval: { field: 'botApproval', ...FLAG },
  author_queued_max: { field: 'authorQueuedMax', ...count(QUEUED_PER_ACCOUNT_MAX) },
  bot_queued_max: { field: 'botQueuedMax', ...count(QUEUED_PER_ACCOUNT_MAX) },
  head_attempts_max: { field: 'headAttemptsMax', ...count(HEAD_ATTEMPTS_MAX) },
  notice_topics: { field: 'noticeTopics', given: GivenTopics, shown: ShownTopics },
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

export type ShownSettings = { [K in Name]: z.infer<Rows[K]['shown']> };
type GivenSettings = { readonly [K in Name]?: z.infer<Rows[K]['given']> | undefined };

export function toShownSettings(settings: QueueSettings): ShownSettings {
  return mapRows((row) => settings[row.field]);
}

/** The settings that a PATCH names; one that it does not name stays as it is. */
export function toSettings(given: GivenSettings): Partial<QueueSettings> {
  const named = names.filter((name) => given[name] !== undefined);
  return Object.fromEntries(named.map((name) => [ROWS[name].field, given[name]]));
}
