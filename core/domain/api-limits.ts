/** Limits of the public API and of notices: each name ends in its unit, then `_MIN` or `_MAX`. */

// Sizes (D-88): together with their key names the six strings of the internal request stay below its 1 KiB.
export const JSON_BODY_BYTES_MAX = 64 * 1024;
export const INSTANCE_URL_CHARS_MAX = 160;
export const TOKEN_CHARS_MAX = 255;
export const BOT_LOGIN_CHARS_MAX = 64;
export const BASE_BRANCH_CHARS_MAX = 160;
export const STATUS_CONTEXT_CHARS_MAX = 100;
export const EMAIL_CHARS_MAX = 254;
export const CHAT_URL_CHARS_MAX = 512;
export const MATRIX_ROOM_CHARS_MAX = 255;

// Tuning of a repo
/** A day: an owner who waits longer wants the queue off. */
export const BATCH_LINGER_SECONDS_MAX = 86_400;
/** A pull request waits so many times `batch_linger_seconds` at most while others keep coming. */
export const LINGERS_MAX = 5;
export const BATCH_TARGET_MAX = 100;
/** Budget of `bisect_fanout: auto`. */
export const AUTO_RUNS_PER_100_LANDED_MIN = 20;
export const AUTO_RUNS_PER_100_LANDED_MAX = 1_000;
/** A day: a gate that takes longer is no gate of a queue. */
export const GATE_TIMEOUT_MINUTES_MAX = 1_440;
/** A gate by statuses: its contexts, the letters of each, and the accounts that may answer for it. */
export const GATE_CONTEXTS_MAX = 20;
export const GATE_CONTEXT_CHARS_MAX = 255;
export const GATE_AUTHORS_MAX = 5;

// Listings (contract, Limits)
/** Whatever the plan says: lists of a tenant are whole (D-51). */
export const CONNECTIONS_PER_TENANT_MAX = 50;
export const REPOS_PER_TENANT_MAX = 500;
export const ADMIN_PAGE_SIZE_MAX = 100;
export const ADMIN_PAGE_SIZE_DEFAULT = 50;
export const ADMIN_QUERY_CHARS_MAX = 200;
/** So many repositories are sorted by trouble over all pages; more are in the order of their names. */
export const ADMIN_SORTED_REPOS_MAX = 500;
export const ADMIN_CONNECTIONS_MAX = 200;
/** Rows that one operator listing reads at most; beyond it the answer says that it is cut. */
export const ADMIN_SCAN_ROWS_MAX = 20_000;
export const EXPORT_OUTCOMES_MAX = 1000;
export const EXPORT_AUDIT_MAX = 500;
/** Sessions that began longer ago are not listed. */
export const SESSIONS_LISTED_MS = 30 * 24 * 60 * 60_000;
export const SESSIONS_LISTED_MAX = 50;
/** Newest notes of a tenant that are looked through for the sign-ins of one person. */
export const SESSIONS_SCANNED_ROWS_MAX = 20_000;
/** Notes of a tenant that leaves: those that are not older than this stay for as long again (decision 0178). */
export const AUDIT_KEPT_MS = 90 * 24 * 60 * 60_000;
/** The newest ones; the rest goes with the tenant. */
export const AUDIT_KEPT_ROWS_MAX = 10_000;
export const RECENT_ACTIVITY_MAX = 20;
/** Rows of one repository that the story of one of its pull requests is looked for in. */
export const STORY_EVENTS_MAX = 1_000;
export const STORY_BATCHES_MAX = 300;
/** Rows of its tenant that are read for them, of each kind: a page that refreshes itself must stay cheap. */
export const STORY_SCANNED_ROWS_MAX = 2_000;
/** Rows that the landing of a statement is looked for in, of its repository and of its tenant. */
export const EVIDENCE_BATCHES_MAX = 5_000;
export const EVIDENCE_SCANNED_ROWS_MAX = 20_000;
/** Events of one page of the history of a repository. */
export const EVENTS_PAGE_MAX = 50;
/** Rows of its tenant that one page is looked for in: a tenant of many busy repositories turns more pages. */
export const EVENTS_SCANNED_ROWS_MAX = 2_000;
export const EVENT_QUERY_CHARS_MAX = 200;
/** Time in ms, version of the queue record and index of an event, each in a fixed width. */
export const EVENT_CURSOR_DIGITS = 26;
export const QUEUE_BATCHES_MAX = 200;
/** Rows of its tenant that one page of them is looked for in, for a token of some repositories. */
export const BATCHES_SCANNED_ROWS_MAX = 1_000;
/** Weeks of the figures of one branch, the one under way included. */
export const FIGURE_WEEKS = 4;
/** Rows of each kind that they are read of; of more, fewer weeks are told. */
export const FIGURE_ROWS_MAX = 5_000;
/** Advice on the fan-out rests on so many pull requests at least, and on the newest ones of more. */
export const ADVICE_PULLS_MIN = 30;
export const ADVICE_PULLS_MAX = 100;
/** Gate runs whose time is known, of which the times of a replay are taken. */
export const ADVICE_RUNS_MIN = 10;
/** Decisions of one replay, for each pull request in it; measured were 3 to 6. */
export const ADVICE_DECISIONS_MAX = 30;
/** Decisions between two chances for what else waits in the process: some 15 ms. */
export const ADVICE_SLICE_DECISIONS = 20;
/** All replays of one advice; measured were 1 to 2 s on one processor. */
export const ADVICE_MS_MAX = 10_000;
/** A tenant with more events or batches in a week than this gets "unknown", not a wrong count (A73). */
export const STATS_ROWS_MAX = 20_000;

// Time windows of the statistics (D-80)
export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;
export const WEEK_MS = 7 * DAY_MS;

// Identity (D-40)
export const IDENTITY_TIMEOUT_MS = 2_000;
/** Keys of the identity provider: after this they are read again, so that one that it took back ends. */
export const PUBLISHED_KEYS_KEPT_MS = 10 * 60_000;
/** A key that is not known is looked for at most this often. */
export const PUBLISHED_KEYS_RETRY_MS = 30_000;
export const SESSION_TOKEN_CHARS_MAX = 8_192;

// Realtime (contract, Limits; D-71)
export const TICKET_TTL_MS = 30_000;
/** The gateway ends a socket after two hours; its row may not outlive that by much. */
export const SOCKET_TTL_MS = 130 * 60_000;
/** Open at once: a page has one in each tab. */
export const SOCKETS_PER_TENANT_MAX = 200;
/** A page that was refused one for that reason asks again after this. */
export const SOCKETS_RETRY_SECONDS = 60;
/** A socket younger than this may still be in its handshake, during which the gateway calls it gone. */
export const SOCKET_SETTLING_MS = 10_000;
/** Posts to sockets under way at once while one ping goes out. */
export const SOCKET_POSTS_AT_ONCE = 25;

// Notifications (A83): all ways of one notice go out side by side, each within this.
export const NOTICE_TIMEOUT_MS = 3_000;
/** A mail server may greet late on purpose; each step of a mail, and the mail. */
export const SMTP_TIMEOUT_MS = 15_000;
/** A server that takes nothing for now is asked again after these, one after the other. */
export const MAIL_RETRY_WAITS_MS = [60_000, 5 * 60_000, 20 * 60_000, 60 * 60_000] as const;
/** Mails that wait for another try at once. */
export const MAILS_WAITING_MAX = 500;
/** A request that was not taken for this long is no news any more. */
export const NOTICE_KEPT_MS = 24 * 60 * 60_000;
/** A telling is not repeated within this time; a bounce is never repeated. */
export const NOTICE_CLAIM_KEPT_MS = 30 * DAY_MS;
/** Repositories whose places want to be told of standstills and drift, looked at by one tick; the next ones begin elsewhere. */
export const WATCHED_REPOS_MAX = 2_000;
/** The tick ends this look before its function is ended; what was not looked at comes with the next one. */
export const WATCH_MS = 10_000;
/** Deliveries to a webhook, waiting or done, are kept for so long after what they tell. */
export const DELIVERY_KEPT_MS = 14 * DAY_MS;
/** Deliveries that the page shows. */
export const DELIVERIES_SHOWN_MAX = 30;
/** Events of a tenant among which the tick looks for news that a webhook was not told. */
export const SWEPT_EVENTS_MAX = 500;
/** Younger ones may be on their way; older ones are let be, and are announced nowhere. */
export const SWEEP_AFTER_MS = 2 * MINUTE_MS;
export const SWEEP_UNTIL_MS = DAY_MS;
/** Attempts that one tick asks for, shared out among the tenants. */
export const RETRIES_OF_TICK_MAX = 500;
/** A proof of a login on a forge counts for so long: accounts of a forge are renamed, and people leave. */
export const AUTHOR_PROOF_MS = 180 * DAY_MS;
/** Logins on forges that one person may have proven. */
export const AUTHOR_LOGINS_MAX = 10;
/** Tests of notices that a tenant may ask for: so many at once, then one in so many ms. */
export const NOTICE_TESTS_AT_ONCE_MAX = 5;
export const NOTICE_TEST_EVERY_MS = 60_000;
/** Batches of a tenant of which the usual time of a gate is learned. */
export const WATCH_BATCHES_MAX = 200;
/** Batches of a tenant in which the gate run of a bounce is looked for. */
export const NOTICE_BATCHES_MAX = 50;
/**
 * Mails for one tenant: half of a day's at once, the other half over the day. The mailbox may be a stranger's, and a sender
 * whose mails are complained of is cut off for all tenants.
 */
export const MAILS_PER_DAY_MAX = 100;
/** How long the link of a confirmation mail counts. */
export const MAIL_CONFIRM_MS = WEEK_MS;
/** Confirmation mails that a tenant may ask for by hand, for one mailbox: so many at once, then one a week. */
export const MAIL_CONFIRMS_AT_ONCE_MAX = 3;
/** Confirmation mails to one mailbox in a day, whichever tenants ask, half of them at once: many accounts must not flood one reader. */
export const MAIL_CONFIRMS_PER_DAY_MAX = 10;
/** Different places that one tenant-wide notice goes to. */
export const NOTICE_PLACES_MAX = 20;

// Forge calls of the API
/** "Who am I" while a connection is stored (D-45). */
export const WHO_AM_I_TIMEOUT_MS = 5_000;

// Manual reconcile (D-25): the gateway gives up after 30 s.
export const MANUAL_RECONCILE_WAIT_MS = 25_000;
export const MANUAL_RECONCILE_POLL_MS = 250;
/** A sleeping engine answers after this: its image is fetched, its task is started and found to be healthy. */
export const ENGINE_START_MS = 60_000;
export const LOG_TAIL_LINES_MAX = 50;
/** A lease that is only needed to switch a queue off: the forge calls of one batch. */
export const DISABLE_LEASE_TTL_MS = 60_000;
/** A queue that its owner asked to stop begins nothing for so long, also when its owner waits for it no more. */
export const STOP_ASKED_MS = 60_000;
/** The engine is waited for this long; the rest of the gateway's time is for taking back schedules. */
export const STOP_WAIT_MS = 15_000;
export const STOP_POLL_MS = 250;
/** To take back a success and see that it is gone takes 22 s; the rest of the gateway's time is for deleting rows. */
export const OFFBOARD_WAIT_MS = 24_000;
export const OFFBOARD_POLL_MS = 500;
/** Scheduled merges that are taken back side by side. */
export const CANCEL_CONCURRENCY_MAX = 5;

// Queue health (D-72)
export const HEALTH_TICK_AGE_MS_MAX = 11 * 60_000;
export const HEALTH_OVERDUE_MS_MAX = 15 * 60_000;
/** One tenant alone trips no public signal, unless it is the only one there is. */
export const HEALTH_TENANTS_MIN = 2;
/** Overdue repos that are looked at per shard of the due index. */
export const HEALTH_OVERDUE_MAX = 500;
export const HEALTH_SUPERSEDE_RATE_MAX = 0.3;
export const HEALTH_GATE_AGE_MS_MAX = 6 * 60 * 60_000;
export const HEALTH_MERGE_AGE_MS_MAX = 30 * 60_000;
/** Waiting batches of the whole service that are looked at; with more of them the oldest ones decide. */
export const HEALTH_BATCHES_MAX = 500;
/** The public probe of the engine asks at most this often per instance. */
export const CONTAINER_HEALTH_CACHED_MS = 15_000;
export const QUEUE_HEALTH_CACHED_MS = 15_000;
/** As often at most one instance asks whether the identity provider answers. */
export const IDENTITY_HEALTH_CACHED_MS = 15_000;

/**
 * Deliveries with a wrong signature for one repository from one address: after so many in this time they are refused
 * without a look at the table or a key, for the rest of it.
 */
export const REFUSED_DELIVERIES_MAX = 20;
export const REFUSED_DELIVERIES_WINDOW_MS = 60_000;
/** Pairs of address and repository that one instance remembers. */
export const REFUSED_DELIVERIES_REMEMBERED_MAX = 10_000;

/** One token bucket: `perMinute` tokens flow in, `burst` fit in. */
export interface RateLimit {
  readonly perMinute: number;
  readonly burst: number;
}

/** D-52. The tight ones guard calls that cost a forge, a mail or money. */
export const RATE_LIMITS = {
  user: { perMinute: 600, burst: 120 },
  ip: { perMinute: 120, burst: 120 },
  legacy_listing: { perMinute: 5, burst: 5 },
  create_connection: { perMinute: 20, burst: 20 },
  enroll: { perMinute: 20, burst: 20 },
  discover: { perMinute: 30, burst: 30 },
  reconcile: { perMinute: 6, burst: 6 },
  ci_gate: { perMinute: 10, burst: 10 },
  provision: { perMinute: 10, burst: 10 },
  update_connection: { perMinute: 20, burst: 20 },
  /** Some of them ask the forge, which may keep the function waiting. */
  settings: { perMinute: 60, burst: 60 },
  enqueue: { perMinute: 60, burst: 60 },
  /** Up to five calls of the forge each. */
  gate_log: { perMinute: 20, burst: 20 },
  /** A second of computing each. */
  advice: { perMinute: 10, burst: 10 },
  ticket: { perMinute: 60, burst: 60 },
  billing: { perMinute: 10, burst: 10 },
  /** Signed deliveries of one repo; a forge sends a day's worth at once after an outage. */
  webhook: { perMinute: 600, burst: 600 },
} as const satisfies Readonly<Record<string, RateLimit>>;
export type RateClass = keyof typeof RATE_LIMITS;
/** A pause with an end ends within a year. */
export const PAUSE_MS_MAX = 366 * DAY_MS;
/** The words of a pause are one commit status, with room for the reason. */
export const PAUSE_REASON_CHARS_MAX = 60;
/** Labels that mean one priority, and accounts whose labels count. */
export const PRIORITY_LABELS_MAX = 5;
export const PRIORITY_PEOPLE_MAX = 20;
export const LABEL_CHARS_MAX = 50;
/** Accounts that may schedule, and accounts that are programs. */
export const SCHEDULE_PEOPLE_MAX = 50;
export const SCHEDULE_TEAMS_MAX = 10;
export const BOTS_MAX = 20;
/** More is no limit: a queue has no room for as many. */
export const QUEUED_PER_ACCOUNT_MAX = 1_000;
export const HEAD_ATTEMPTS_MAX = 100;
export const FREEZE_WINDOWS_MAX = 12;
/** From the first day of a window with dates to its last one. */
export const FREEZE_DAYS_MAX = 366;
/** Year of the last day of a freeze window: a time behind year 9999 has no form in the contract. */
export const FREEZE_LAST_YEAR_MAX = 9000;
export const TIME_ZONE_CHARS_MAX = 50;

/** Tokens of one tenant that have not ended. */
export const API_TOKENS_MAX = 50;
export const API_TOKEN_DAYS_MAX = 365;
export const API_TOKEN_NAME_CHARS_MAX = 60;
/** Repositories that one scope of a token names; more are all of them. */
export const API_TOKEN_REPOS_MAX = 100;
/** A token that is used all day is written once in this time. */
export const API_TOKEN_USE_NOTED_MS = 60 * 60_000;
/** A token that ended is shown for so long. */
export const API_TOKEN_KEPT_MS = 30 * DAY_MS;

/** The end of the log of one job of a gate run, and jobs of one run of which it is read. */
export const GATE_LOG_BYTES_MAX = 64 * 1024;
export const GATE_LOG_JOBS_MAX = 3;

/** Rights that a forge told are read again after this; one that is gone closes within it. */
export const FORGE_RIGHTS_MS = 5 * 60_000;
