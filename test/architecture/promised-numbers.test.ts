import * as pace from '#core/adapters/forge-http/wire/forge-pace-limits.ts';
import * as api from '#core/domain/api-limits.ts';
import { GLOB_STEPS_MAX } from '#core/domain/globs/glob.ts';
import * as queue from '#core/domain/limits.ts';
import * as backport from '#core/domain/pulls/backport.ts';
import { ESTIMATE_LANDINGS_MIN } from '#core/domain/pulls/pull-story.ts';
import * as heard from '#core/domain/wakes/heard-events.ts';
import { LOG_EVENTS_DEFAULT } from '../../cli/log.ts';
import { POLL_EVERY_MS } from '../../dashboard/data/live.ts';
import { MERGE_LINES_MAX } from '../../engine-container/src/staging/text/merge-text.ts';
import { readSource } from './sources.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 86_400_000;
const KIB = 1_024;
const MIB = 1_048_576;

const constants = {
  ...api,
  ...queue,
  ...pace,
  ...backport,
  ...heard,
  POLL_EVERY_MS,
  LOG_EVENTS_DEFAULT,
  ESTIMATE_LANDINGS_MIN,
  GLOB_STEPS_MAX,
  MERGE_LINES_MAX,
};
type Name = keyof typeof constants;

/** Promise, its words, the constant that the code goes by, and its value as a number of this file: other tests import the constant. */
const PROMISES: readonly (readonly [where: string, words: string, name: Name, value: number])[] = [
  ['A15', 'timed out twice', 'MERGE_TIMEOUTS_MAX', 2],
  ['A20', 'within five minutes', 'CHANGED_GATE_START_MS', 5 * MINUTE],
  ['A20', 'within half an hour', 'CHANGED_GATE_END_MS', HOUR / 2],
  ['A20', 'three times as long', 'CHANGED_GATE_END_FACTOR', 3],
  ['A21', 'a second time-out', 'MERGE_TIMEOUTS_MAX', 2],
  ['A28', '(1 to 16)', 'BISECT_FANOUT_MIN', 1],
  ['A28', '(1 to 16)', 'BISECT_FANOUT_MAX', 16],
  ['A33', 'or five times as long since the oldest', 'LINGERS_MAX', 5],
  ['A38', 'at most 140 characters', 'STATUS_DESCRIPTION_CHARS_MAX', 140],
  ['A46', 'two ticks (10 minutes)', 'TICK_INTERVAL_MS', (10 * MINUTE) / 2],
  ['A60', 'every five minutes', 'TICK_INTERVAL_MS', 5 * MINUTE],
  ['A69', '20 newest events', 'RECENT_ACTIVITY_MAX', 20],
  ['A69', '200 newest batches', 'QUEUE_BATCHES_MAX', 200],
  ['A70', '1,000 outcomes', 'EXPORT_OUTCOMES_MAX', 1_000],
  ['A70', '500 audit entries', 'EXPORT_AUDIT_MAX', 500],
  ['A71', 'at most 200 characters', 'ADMIN_QUERY_CHARS_MAX', 200],
  ['A71', '100 rows a page', 'ADMIN_PAGE_SIZE_MAX', 100],
  ['A71', '200 connections', 'ADMIN_CONNECTIONS_MAX', 200],
  ['A83', 'within three seconds', 'NOTICE_TIMEOUT_MS', 3 * SECOND],
  ['A83', 'over SMTP within fifteen', 'SMTP_TIMEOUT_MS', 15 * SECOND],
  ['A92', 'five minutes old', 'FORGE_RIGHTS_MS', 5 * MINUTE],
  ['A93', 'for 30 seconds', 'TICKET_TTL_MS', 30 * SECOND],
  ['A100', 'for 90 days', 'AUDIT_KEPT_MS', 90 * DAY],
  ['A104', 'older than five minutes', 'PAYMENT_EVENT_WINDOW_MS', 5 * MINUTE],
  ['A113', 'above 30 percent', 'HEALTH_SUPERSEDE_RATE_MAX', 0.3],
  ['A115', 'at most 1,024 bytes', 'RECONCILE_BODY_BYTES_MAX', 1_024],
  ['A116', 'every 30 seconds', 'POLL_EVERY_MS', 30 * SECOND],
  ['A121', '24 seconds', 'RECONCILE_BUDGET_MS', 24 * SECOND],
  ['A121', '5,000 calls', 'FORGE_READS_MAX', 5_000],
  ['A121', '256 MiB', 'FORGE_BYTES_MAX', 256 * MIB],
  ['A121', 'a million rows', 'FORGE_READ_ROWS_MAX', 1_000_000],
  ['A121', 'more than five seconds', 'FORGE_PACE_WAIT_MS_MAX', 5 * SECOND],
  ['A121', 'more than 96 MiB at once', 'FORGE_PACE_BYTES_AT_ONCE', 96 * MIB],
  ['A121', '8 MiB in each second', 'FORGE_PACE_BYTES_PER_SECOND', 8 * MIB],
  ['A122', 'of the 20 workers', 'WORKERS_MAX', 20],
  ['A122', 'at most 5 of', 'TENANT_RECONCILES_MAX', 5],
  ['A122', 'a forge host 10', 'HOST_RECONCILES_MAX', 10],
  ['A122', 'have 10 together', 'UNPROVEN_RECONCILES_MAX', 10],
  ['A122', 'the former 5 at most', 'SLOW_RECONCILES_MAX', 5],
  ['A123', 'At most ten mails a day ask', 'MAIL_CONFIRMS_PER_DAY_MAX', 10],
  ['A131', 'within 180 days', 'AUTHOR_PROOF_MS', 180 * DAY],
  ['A140', 'less than a minute', 'RUNNER_TAKES_RUN_MS', MINUTE],
  ['A147', 'not before an hour', 'UNMERGEABLE_REFUSED_AFTER_MS', HOUR],
  ['`bisect_fanout`', '1 to 16', 'BISECT_FANOUT_MAX', 16],
  ['`batch_linger_seconds`', '86,400', 'BATCH_LINGER_SECONDS_MAX', 86_400],
  ['`batch_target`', '0 to 100', 'BATCH_TARGET_MAX', 100],
  ['`gate_contexts`, `gate_authors`', '20, 5', 'GATE_CONTEXTS_MAX', 20],
  ['`gate_contexts`, `gate_authors`', '20, 5', 'GATE_AUTHORS_MAX', 5],
  ['labels of a priority, accounts', '5 of 50 characters each, 20', 'PRIORITY_LABELS_MAX', 5],
  ['labels of a priority, accounts', '5 of 50 characters each, 20', 'LABEL_CHARS_MAX', 50],
  ['labels of a priority, accounts', '5 of 50 characters each, 20', 'PRIORITY_PEOPLE_MAX', 20],
  ['freeze windows', '12;', 'FREEZE_WINDOWS_MAX', 12],
  ['freeze windows', '366 days', 'FREEZE_DAYS_MAX', 366],
  ['freeze windows', 'to year 9000', 'FREEZE_LAST_YEAR_MAX', 9_000],
  ['accounts that may schedule, teams', '50, 10', 'SCHEDULE_PEOPLE_MAX', 50],
  ['accounts that may schedule, teams', '50, 10', 'SCHEDULE_TEAMS_MAX', 10],
  ['accounts that are programs', '20', 'BOTS_MAX', 20],
  ['connections, repositories', '50, 500', 'CONNECTIONS_PER_TENANT_MAX', 50],
  ['connections, repositories', '50, 500', 'REPOS_PER_TENANT_MAX', 500],
  ['repositories of a token’s scope', '100', 'API_TOKEN_REPOS_MAX', 100],
  ['`gate_timeout_minutes`', '1,440', 'GATE_TIMEOUT_MINUTES_MAX', 1_440],
  ['members of a batch', '50', 'BATCH_PULL_REQUESTS_MAX', 50],
  ['a file that both sides changed', '4 MiB', 'MERGE_FILE_BYTES_MAX', 4 * MIB],
  ['admin `limit`, `q`, connections', '100 rows, 200 characters, 200 rows', 'ADMIN_PAGE_SIZE_MAX', 100],
  ['admin `limit`, `q`, connections', '100 rows, 200 characters, 200 rows', 'ADMIN_QUERY_CHARS_MAX', 200],
  ['admin `limit`, `q`, connections', '100 rows, 200 characters, 200 rows', 'ADMIN_CONNECTIONS_MAX', 200],
  ['export', '1,000 outcomes', 'EXPORT_OUTCOMES_MAX', 1_000],
  ['export', '500 audit entries', 'EXPORT_AUDIT_MAX', 500],
  ['sign-ins in `sessions`', '50 of 30 days', 'SESSIONS_LISTED_MAX', 50],
  ['sign-ins in `sessions`', '50 of 30 days', 'SESSIONS_LISTED_MS', 30 * DAY],
  ['sign-ins in `sessions`', 'newest 20,000 notes', 'SESSIONS_SCANNED_ROWS_MAX', 20_000],
  ['`recent_activity`, `queue_batches`', '20, 200', 'RECENT_ACTIVITY_MAX', 20],
  ['`recent_activity`, `queue_batches`', '20, 200', 'QUEUE_BATCHES_MAX', 200],
  ['socket ticket', '30 seconds', 'TICKET_TTL_MS', 30 * SECOND],
  ['payment webhook', '5 minutes either way', 'PAYMENT_EVENT_WINDOW_MS', 5 * MINUTE],
  ['internal request', '1 KiB', 'RECONCILE_BODY_BYTES_MAX', KIB],
  ['tick', 'every 5 minutes', 'TICK_INTERVAL_MS', 5 * MINUTE],
  ['tick', '20,000 repositories', 'TICK_REPOS_MAX', 20_000],
  ['bodies', '64 KiB', 'JSON_BODY_BYTES_MAX', 64 * KIB],
  ['bodies', '1 MiB', 'WEBHOOK_BODY_BYTES_MAX', MIB],
  ['open sockets', '200 for each tenant', 'SOCKETS_PER_TENANT_MAX', 200],
  ['docs/contract.md', 'glanced at every 30 seconds', 'GLANCE_EVERY_MS', 30 * SECOND],
  ['docs/contract.md', 'each four hours of waiting lift it by one', 'PRIORITY_AGING_MS', 4 * HOUR],
  ['docs/contract.md', 'at most 60 characters of printable ASCII', 'PAUSE_REASON_CHARS_MAX', 60],
  ['docs/contract.md', 'in the future, at most 366 days', 'PAUSE_MS_MAX', 366 * DAY],
  ['docs/contract.md', 'by a link that counts for seven days', 'MAIL_CONFIRM_MS', 7 * DAY],
  ['docs/contract.md', 'after three mails 429', 'MAIL_CONFIRMS_AT_ONCE_MAX', 3],
  ['docs/contract.md', 'gives the last 30 as', 'DELIVERIES_SHOWN_MAX', 30],
  ['docs/contract.md', 'after five in a row', 'NOTICE_TESTS_AT_ONCE_MAX', 5],
  ['docs/contract.md', 'It counts for 180 days', 'AUTHOR_PROOF_MS', 180 * DAY],
  ['docs/contract.md', 'may prove ten logins', 'AUTHOR_LOGINS_MAX', 10],
  ['docs/contract.md', '1 to 50; more is 50', 'EVENTS_PAGE_MAX', 50],
  ['docs/contract.md', 'at most 2,000 rows of the account', 'EVENTS_SCANNED_ROWS_MAX', 2_000],
  ['docs/contract.md', 'The newest 1,000 events and 300 batches', 'STORY_EVENTS_MAX', 1_000],
  ['docs/contract.md', 'The newest 1,000 events and 300 batches', 'STORY_BATCHES_MAX', 300],
  ['docs/contract.md', 'among the newest 2,000 rows of the account', 'STORY_SCANNED_ROWS_MAX', 2_000],
  ['docs/contract.md', 'before five landings', 'ESTIMATE_LANDINGS_MIN', 5],
  ['docs/contract.md', 'among the newest 5,000 batches of the repository', 'EVIDENCE_BATCHES_MAX', 5_000],
  ['docs/cli.md', 'at most 60 characters', 'PAUSE_REASON_CHARS_MAX', 60],
  ['docs/cli.md', 'at most 366 days', 'PAUSE_MS_MAX', 366 * DAY],
  ['docs/evidence.md', 'the newest 5,000 batches of the repository', 'EVIDENCE_BATCHES_MAX', 5_000],
  ['docs/evidence.md', 'the newest 20,000 rows of the account', 'EVIDENCE_SCANNED_ROWS_MAX', 20_000],
  ['docs/contract.md', 'and 20,000 rows of the account', 'EVIDENCE_SCANNED_ROWS_MAX', 20_000],
  ['docs/contract.md', 'else all, three at most', 'GATE_LOG_JOBS_MAX', 3],
  ['docs/contract.md', 'the last 64 KiB as plain text', 'GATE_LOG_BYTES_MAX', 64 * KIB],
  ['docs/contract.md', 'began no gate run within 5 minutes', 'CHANGED_GATE_START_MS', 5 * MINUTE],
  ['docs/contract.md', 'skipped after five minutes', 'DELETED_AFTER_MS', 5 * MINUTE],
  ['docs/contract.md', 'set aside for 30 min, then twice as long', 'STAGING_PAUSE_MS', HOUR / 2],
  ['docs/contract.md', 'twice as long, up to 6 h', 'STAGING_PAUSE_MS_MAX', 6 * HOUR],
  ['docs/contract.md', 'told after 20 minutes; asked again', 'UNCLEAR_TOLD_AFTER_MS', 20 * MINUTE],
  ['docs/contract.md', 'After five tries, within a few minutes', 'TAKING_BACK_TRIES_MAX', 5],
  ['docs/contract.md', 'after eight where the statuses of the head', 'STANDING_TOLD_AFTER_TRIES', 8],
  ['docs/contract.md', 'alarmed after 30 minutes', 'GATE_PHASE_ALARM_AGE_MS', HOUR / 2],
  ['docs/contract.md', 'or, of more than 500, `name`', 'ADMIN_SORTED_REPOS_MAX', 500],
  ['docs/contract.md', 'asked at most once in 15 seconds', 'IDENTITY_HEALTH_CACHED_MS', 15 * SECOND],
  ['docs/contract.md', 'an end within 365 days', 'API_TOKEN_DAYS_MAX', 365],
  ['docs/contract.md', '`name` is 1 to 60 characters', 'API_TOKEN_NAME_CHARS_MAX', 60],
  ['docs/contract.md', 'At most 50 that have not ended', 'API_TOKENS_MAX', 50],
  ['docs/contract.md', 'which is written once an hour', 'API_TOKEN_USE_NOTED_MS', HOUR],
  ['patterns of one question', '20,000,000 steps', 'GLOB_STEPS_MAX', 20_000_000],
  ['a file that both sides changed', '250,000 lines', 'MERGE_LINES_MAX', 250_000],
  ['docs/operate.md', 'every 30 seconds for an hour', 'GLANCE_EVERY_MS', 30 * SECOND],
  ['docs/operate.md', 'then after a 120th of the time', 'GLANCE_AGE_SHARE', 1 / 120],
  ['docs/operate.md', 'An hour after the engine was last needed', 'ENGINE_REST_AFTER_MS', HOUR],
  ['docs/runbook.md', 'It is probed again every half hour', 'BASE_FAILING_RECHECK_MS', HOUR / 2],
  ['docs/runbook.md', 'tried again every half minute', 'WAKE_DELAY_MS_MAX', MINUTE / 2],
  ['docs/cli.md', '20 events, or up to 1,000', 'LOG_EVENTS_DEFAULT', 20],
  ['README.md', 'contents above 4 MiB', 'MERGE_FILE_BYTES_MAX', 4 * MIB],
  ['copies of its audit notes', '90 days', 'AUDIT_KEPT_MS', 90 * DAY],
  ['API tokens, as hashes', '30 days after their end', 'API_TOKEN_KEPT_MS', 30 * DAY],
  ['records set aside as unreadable, heads left', '30 days', 'QUARANTINE_KEPT_MS', 30 * DAY],
  ['records set aside as unreadable, heads left', '30 days', 'LEFT_HEADS_KEPT_MS', 30 * DAY],
  ['payment events, as hashes', '30 days', 'PAYMENT_EVENT_KEPT_MS', 30 * DAY],
  ['deliveries of a forge, as hashes', '24 hours', 'DELIVERY_ID_KEPT_MS', DAY],
  ['deliveries of a forge, as hashes', '24 hours', 'NOTICE_KEPT_MS', DAY],
  ['notices for a webhook', '14 days', 'DELIVERY_KEPT_MS', 14 * DAY],
  ['that a place was told', '30 days', 'NOTICE_CLAIM_KEPT_MS', 30 * DAY],
  ['socket tickets, as hashes', '30 seconds', 'TICKET_TTL_MS', 30 * SECOND],
  ['docs/forges.md', 'by itself every two minutes instead', 'HEARD_GATE_LOOK_MS', 2 * MINUTE],
  ['docs/forges.md', 'then five times a second', 'FORGE_PACE_START_PER_SECOND', 5],
  ['docs/forges.md', 'nothing has come to it for 30 seconds', 'GATE_CONTEXTS_SETTLE_MS', 30 * SECOND],
  ['docs/forges.md', 'once that has stood for ten seconds', 'GATE_JOBS_SETTLE_MS', 10 * SECOND],
  ['docs/forges.md', 'at least ten seconds', 'FORGE_TIMEOUT_MS', 10 * SECOND],
  ['docs/forges.md', 'ten such labels count', 'BACKPORTS_PER_PULL_MAX', 10],
  ['docs/forges.md', 'for five hours', 'BACKPORT_TRIES_MS', 5 * HOUR],
  ['docs/webhook.md', 'within three seconds is taken', 'NOTICE_TIMEOUT_MS', 3 * SECOND],
  ['docs/webhook.md', 'loses nothing in a day', 'SWEEP_UNTIL_MS', DAY],
  ['docs/onebox.md', 'read from the forge again every five minutes', 'FORGE_RIGHTS_MS', 5 * MINUTE],
  ['docs/onebox.md', 'has not got through for eleven', 'HEALTH_TICK_AGE_MS_MAX', 11 * MINUTE],
  ['docs/billing.md', '50 connections and 500 repositories', 'REPOS_PER_TENANT_MAX', 500],
];

/** The sentence of an invariant, a document, or what the contract's Limits or the threat model's table of data say of something. */
function readPromise(where: string): string {
  if (where.endsWith('.md')) return readSource(where);
  if (/^A\d+$/.test(where)) {
    return new RegExp(`^- \\*\\*${where}\\*\\* (.+)$`, 'm').exec(readSource('docs/invariants.md'))?.[1] ?? '';
  }
  const cellsOf = (document: string, heading: string): readonly (readonly string[])[] =>
    (readSource(document).split(`\n## ${heading}\n`)[1] ?? '').split('\n').map((line) => line.split('|'));
  const limit = cellsOf('docs/contract.md', 'Limits').find(
    ([, name]) => name?.trim() === where.replace('’', "'"),
  );
  const kept = cellsOf('docs/security.md', 'Data, and for how long').find(([, name]) =>
    name?.trim().startsWith(where),
  );
  return (limit ?? kept)?.[2] ?? '';
}

describe('a number that a promise names is the number that the code goes by', () => {
  test.each(PROMISES)('%s, "%s": %s is %d', (where, words, name, value) => {
    expect(readPromise(where)).toContain(words);
    expect(constants[name]).toBe(value);
  });
});
