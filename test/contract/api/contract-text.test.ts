import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type * as z from 'zod';
import { ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import { HaltEvidenceView } from '#core/contracts/evidence/halt-evidence.ts';
import { ReceiptView } from '#core/contracts/evidence/receipt.ts';
import { AuthorNoticesView } from '#core/contracts/notices/author-notices.ts';
import { DeliveryList } from '#core/contracts/notices/notice-webhook.ts';
import { MaskedNotification } from '#core/contracts/notices/notification.ts';
import { GateLogView } from '#core/contracts/pulls/gate-log.ts';
import { PullStoryView } from '#core/contracts/pulls/pull-story.ts';
import { Activity } from '#core/contracts/queue/activity.ts';
import { FanoutAdviceView } from '#core/contracts/queue/fanout-advice.ts';
import { QueueHealth } from '#core/contracts/queue/health.ts';
import { FiguresView } from '#core/contracts/queue/queue-figures.ts';
import {
  EnrolledRepo,
  GateVerification,
  ManagedRepoView,
  PatchRepoBody,
  QueueStatus,
} from '#core/contracts/repos/managed-repo.ts';
import { toShownSettings } from '#core/contracts/repos/repo-settings.ts';
import { SessionList, TenantExport } from '#core/contracts/tenants/account.ts';
import { AdminStats } from '#core/contracts/tenants/admin.ts';
import { BillingSummary, PlanList } from '#core/contracts/tenants/billing.ts';
import { CreatedConnection, PatchedConnection } from '#core/contracts/tenants/connection.ts';
import { RATE_LIMITS } from '#core/domain/api-limits.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';
import { API_TOKEN_SCOPES } from '#core/domain/tenants/api-token.ts';

const text = readFileSync(join(__dirname, '../../../docs/contract.md'), 'utf8');

/** A section without its subsections. */
function section(heading: string): string {
  const at = text.search(new RegExp(`^#+ ${heading}$`, 'm'));
  return at < 0 ? '' : (text.slice(at).split('\n').slice(1).join('\n').split(/^#+ /m)[0] ?? '');
}
const line = (heading: string, begin: string): string =>
  section(heading)
    .split('\n')
    .find((each) => each.startsWith(begin)) ?? '';
const row = (heading: string, cell: string): string => line(heading, `| \`${cell}\``);
/** The second cell of a row. */
const cell = (heading: string, first: string): string => row(heading, first).split('|')[2] ?? '';
const names = (told: string): readonly string[] =>
  [...told.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
/** The text behind `from`, up to `to` where there is such. */
const between = (told: string, from: string, to: string): string =>
  told.slice(told.indexOf(from) + from.length).split(to)[0] ?? '';

interface Def {
  readonly innerType?: z.ZodType;
  readonly element?: z.ZodType;
  readonly shape?: Readonly<Record<string, z.ZodType>>;
  readonly entries?: Readonly<Record<string, string>>;
}
const defOf = (schema: z.ZodType): Def => schema._zod.def as unknown as Def;

/** The schema at a path of fields, within lists and beneath null. */
function within(schema: z.ZodType, ...path: readonly string[]): z.ZodType {
  const { innerType, element, shape } = defOf(schema);
  const inner = innerType ?? element;
  if (inner !== undefined) return within(inner, ...path);
  const [name, ...rest] = path;
  if (name === undefined) return schema;
  const field = shape?.[name];
  if (field === undefined) throw new Error(`no field ${name}`);
  return within(field, ...rest);
}
const fieldsOf = (schema: z.ZodType, ...path: readonly string[]): readonly string[] =>
  Object.keys(defOf(within(schema, ...path)).shape ?? {});
const wordsOf = (schema: z.ZodType, ...path: readonly string[]): readonly string[] =>
  Object.values(defOf(within(schema, ...path)).entries ?? {});

const REPO = ['repos'] as const;

describe('the contract names every field where it tells of an answer (A62)', () => {
  const LISTS: readonly (readonly [what: string, told: string, fields: readonly string[]])[] = [
    ['a connection', section('Forge connection'), fieldsOf(CreatedConnection)],
    ['a changed connection', line('Endpoints', '| PATCH `/api/v1/connections'), fieldsOf(PatchedConnection)],
    ['a managed repository', section('Managed repos'), fieldsOf(ManagedRepoView)],
    ['an enrolled repository', line('Endpoints', '| GET, POST `/api/v1/user/repos'), fieldsOf(EnrolledRepo)],
    ['what a PATCH refuses and takes', text, fieldsOf(PatchRepoBody)],
    ['the settings file in force', section('Managed repos'), fieldsOf(ManagedRepoView, 'file_settings')],
    ['the set-up', section('Provisioning'), fieldsOf(ManagedRepoView, 'provisioning', 'protection')],
    ['a check of the set-up', section('CI gate'), fieldsOf(GateVerification, 'checks')],
    ['the activity', section('Queue status and activity'), fieldsOf(Activity)],
    ['the activity of a repository', section('Queue status and activity'), fieldsOf(Activity, ...REPO)],
    ['a place', row('Queue status and activity', 'queue.line'), fieldsOf(Activity, ...REPO, 'queue', 'line')],
    [
      'the block',
      row('Queue status and activity', 'queue.block'),
      fieldsOf(Activity, ...REPO, 'queue', 'block'),
    ],
    [
      'the evidence of a stop',
      row('Queue status and activity', 'queue.block.evidence'),
      fieldsOf(HaltEvidenceView),
    ],
    ['the chosen fan-out', section('The fan-out'), fieldsOf(Activity, ...REPO, 'queue', 'fanout')],
    [
      'a standstill',
      row('Queue status and activity', 'standstill'),
      fieldsOf(Activity, ...REPO, 'standstill'),
    ],
    ['a freeze', section('Freeze windows'), fieldsOf(Activity, ...REPO, 'freeze')],
    ['a drift', section('Queue status and activity'), fieldsOf(Activity, ...REPO, 'drifts')],
    ['a repair', section('Queue status and activity'), fieldsOf(Activity, ...REPO, 'repairs')],
    ['an event', row('Queue status and activity', 'recent_activity'), fieldsOf(Activity, 'recent_activity')],
    ['a queue batch', section('Queue batch'), fieldsOf(Activity, 'queue_batches')],
    ['an action', row('Queue batch', 'actions'), fieldsOf(Activity, 'queue_batches', 'actions')],
    ['a receipt', section('Queue batch'), fieldsOf(ReceiptView)],
    ['the statistics', section('Activity stats'), fieldsOf(Activity, 'stats')],
    ['a day', section('Activity stats'), fieldsOf(Activity, 'stats', 'days')],
    ['a week', section('Statistics of a branch'), fieldsOf(FiguresView, 'weeks')],
    ['a flaky window', section('Statistics of a branch'), fieldsOf(FiguresView, 'flaky_windows')],
    ['the advice', section('Statistics of a branch'), fieldsOf(FanoutAdviceView)],
    ['a replay', section('Statistics of a branch'), fieldsOf(FanoutAdviceView, 'replays', 'wait')],
    [
      'where a pull request stands',
      row('The story of one pull request', 'now'),
      fieldsOf(PullStoryView, 'now'),
    ],
    ['its batch', row('The story of one pull request', 'batch'), fieldsOf(PullStoryView, 'batch')],
    ['its estimate', row('The story of one pull request', 'estimate'), fieldsOf(PullStoryView, 'estimate')],
    ['a backport', row('The story of one pull request', 'backports'), fieldsOf(PullStoryView, 'backports')],
    ['a gate log', section('The log of a gate run'), fieldsOf(GateLogView)],
    ['a job', section('The log of a gate run'), fieldsOf(GateLogView, 'jobs')],
    ['a delivery', section('Notification object'), fieldsOf(DeliveryList, 'deliveries')],
    ['the places of notices', section('Notification object'), fieldsOf(MaskedNotification)],
    ['the mails to an author', section('Mails to an author'), fieldsOf(AuthorNoticesView, 'logins')],
    ['a sign-in', section('Account'), fieldsOf(SessionList, 'sessions')],
    ['a note of the audit log', section('Account'), fieldsOf(TenantExport, 'audit_log')],
    ['the plan', section('Billing summary'), fieldsOf(BillingSummary)],
    ['the price of a plan', section('Billing'), fieldsOf(PlanList, 'plans', 'price')],
    ['the figures of an operator', section('Admin'), fieldsOf(AdminStats)],
    ['the health', line('Service endpoints', '| GET `/api/queue-health`'), fieldsOf(QueueHealth)],
  ];

  test.each(LISTS)('%s', (_what, told, fields) => {
    expect(fields.length).toBeGreaterThan(0);
    const spans = names(told).join();
    expect(fields.filter((name) => !new RegExp(`\\b${name}\\b`).test(spans))).toEqual([]);
  });
});

describe('a closed list of the contract is that of the code', () => {
  const activity = section('Queue status and activity');
  const drifts = line('Queue status and activity', '`drifts` lists');
  const rowsOf = (told: string): string =>
    told
      .split('\n')
      .map((each) => /^\| (`[^|]+)\|/.exec(each)?.[1] ?? '')
      .join();
  const provisioning = (...path: readonly string[]) =>
    wordsOf(ManagedRepoView, 'provisioning', ...path, 'status');
  const LISTS: readonly (readonly [what: string, told: string, words: readonly string[]])[] = [
    [
      'merge styles',
      between(cell('Managed repos', 'merge_style'), ' ', ';'),
      wordsOf(ManagedRepoView, 'merge_style'),
    ],
    ['states of the webhook', cell('Provisioning', 'webhook.status'), provisioning('webhook')],
    ['states of the rule', cell('Provisioning', 'protection.status'), provisioning('protection')],
    ['states of the gate', cell('Provisioning', 'ci_gate.status'), provisioning('ci_gate')],
    [
      'states of the file',
      cell('Managed repos', 'state'),
      wordsOf(ManagedRepoView, 'file_settings', 'state'),
    ],
    [
      'states of a lease',
      between(activity, '`lease_state`: ', '.'),
      wordsOf(QueueStatus, 'repos', 'lease_state'),
    ],
    [
      'checks of a set-up',
      between(section('CI gate'), 'says, fix}`: ', '. '),
      wordsOf(GateVerification, 'checks', 'check'),
    ],
    [
      'causes of a standstill',
      rowsOf(between(activity, '| cause ', '\n\n')),
      wordsOf(Activity, ...REPO, 'standstill', 'cause'),
    ],
    [
      'states of a place',
      between(cell('Queue status and activity', 'queue.line'), '`state` is ', '. '),
      wordsOf(Activity, ...REPO, 'queue', 'line', 'state'),
    ],
    [
      'kinds of a block',
      between(cell('Queue status and activity', 'queue.block'), '`kind` is ', '|').replace(
        ' (the queue rests by itself, until `until`)',
        '',
      ),
      wordsOf(Activity, ...REPO, 'queue', 'block', 'kind'),
    ],
    [
      'states of a repository',
      between(cell('Queue status and activity', 'state'), '`state` is ', ';'),
      wordsOf(Activity, ...REPO, 'state'),
    ],
    [
      'states of its CI',
      between(cell('Queue status and activity', 'state'), '`ci_status` ', '|'),
      wordsOf(Activity, ...REPO, 'ci_status'),
    ],
    [
      'kinds of drift',
      between(drifts, '`kind` is ', '`since` is'),
      wordsOf(Activity, ...REPO, 'drifts', 'kind'),
    ],
    [
      'repairs',
      between(drifts, '`repair` is ', '`repairs`'),
      [...wordsOf(Activity, ...REPO, 'drifts', 'repair'), 'repair_setup'],
    ],
    [
      'results of a repair',
      between(drifts, '`result` is ', ' ('),
      wordsOf(Activity, ...REPO, 'repairs', 'result'),
    ],
    [
      'reasons of the fan-out',
      between(section('The fan-out'), 'the number, ', ', and one'),
      wordsOf(Activity, ...REPO, 'queue', 'fanout', 'reason'),
    ],
    [
      'names of events',
      between(section('History of a repository'), 'names of events', ')'),
      wordsOf(Activity, 'recent_activity', 'event'),
    ],
    [
      'verdicts',
      between(cell('Queue batch', 'gate_verdict'), ' ', ';'),
      wordsOf(Activity, 'queue_batches', 'gate_verdict'),
    ],
    ['outcomes', rowsOf(section('Queue batch outcomes')), wordsOf(Activity, 'queue_batches', 'outcome')],
    [
      'reasons of no advice',
      between(section('Statistics of a branch'), '`reason` is ', '.'),
      wordsOf(FanoutAdviceView, 'reason'),
    ],
    [
      'reasons of no log',
      between(section('The log of a gate run'), '`reason` is ', '. '),
      wordsOf(GateLogView, 'reason'),
    ],
    [
      'results of a backport',
      between(row('The story of one pull request', 'backports'), '`result` is ', ';'),
      wordsOf(PullStoryView, 'backports', 'result'),
    ],
    [
      'states of a delivery',
      between(section('Notification object'), '`state` is ', ', and `status`'),
      wordsOf(DeliveryList, 'deliveries', 'state'),
    ],
    [
      'topics of an author',
      between(section('Mails to an author'), '`topics` of ', ', none'),
      wordsOf(AuthorNoticesView, 'logins', 'topics'),
    ],
    [
      'states of a plan',
      between(section('Billing summary'), '`status` is ', '. '),
      wordsOf(BillingSummary, 'status'),
    ],
    [
      'intervals of a price',
      between(section('Billing'), '`interval` is ', '. '),
      wordsOf(PlanList, 'plans', 'price', 'interval'),
    ],
    [
      'causes of bad health',
      between(line('Service endpoints', '| GET `/api/queue-health`'), '`degraded_by` (', ')'),
      wordsOf(QueueHealth, 'degraded_by'),
    ],
    [
      'scopes',
      [...section('Authentication').matchAll(/(`[a-z]+(?::write)?`): (?:repositories|pause|PATCH)/g)]
        .map(([, scope]) => scope)
        .join(),
      API_TOKEN_SCOPES,
    ],
  ];

  test.each(LISTS)('%s', (_what, told, words) => {
    expect(words.length).toBeGreaterThan(1);
    expect([...new Set(names(told))].sort()).toEqual([...words].sort());
  });
});

describe('codes and statuses of errors', () => {
  const named: readonly (readonly [code: string, status: string])[] = [
    ...[...text.matchAll(/\b([45]\d\d) `([a-z_]+)`/g)].map(
      ([, status = '', code = '']) => [code, status] as const,
    ),
    ...[...text.matchAll(/`([a-z_]+)` \(([45]\d\d)\)/g)].map(
      ([, code = '', status = '']) => [code, status] as const,
    ),
    ...[...text.matchAll(/^\| `([a-z_]+)` +\| ([45]\d\d) /gm)].map(
      ([, code = '', status = '']) => [code, status] as const,
    ),
  ];

  test.each([...new Map(named.map((pair) => [pair.join(), pair])).values()])('%s is %s', (code, status) => {
    expect(ERROR_TABLE[code as ErrorCode]?.status).toBe(Number(status));
  });
});

describe('defaults of the settings', () => {
  const stored: Readonly<Record<string, unknown>> = toShownSettings(DEFAULT_SETTINGS);
  const told = section('Managed repos')
    .split('\n')
    .filter((each) => /^\| `/.test(each))
    .flatMap((each) => {
      const [cell = '', meaning = ''] = each.split('|').slice(1);
      const [, said] = /\bdefault (`[^`]+`|false|true|none|\d+)/.exec(meaning) ?? [];
      const value = meaning.includes('0, the default') ? '0' : said;
      return value === undefined ? [] : names(cell).map((name) => [name, value.replaceAll('`', '')] as const);
    })
    .filter(([name]) => Object.hasOwn(stored, name) && name !== 'notice_topics');

  test.each(told)('%s is %s', (name, value) => {
    const is = stored[name];
    expect(Array.isArray(is) && is.length === 0 ? 'none' : String(is)).toBe(value);
  });

  test('are told', () => {
    expect(told.length).toBeGreaterThan(15);
  });
});

test.each([
  ['Statistics of a branch', 'Its rate is ten calls a minute', 'advice', 10],
  ['The log of a gate run', '20 calls a minute', 'gate_log', 20],
] as const)('%s: %s', (heading, words, rate, perMinute) => {
  expect(section(heading)).toContain(words);
  expect(RATE_LIMITS[rate].perMinute).toBe(perMinute);
});
