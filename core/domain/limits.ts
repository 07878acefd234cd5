/** Limits of the queue: each name ends in its unit, then `_MIN` or `_MAX`. Those of the API are in `api-limits.ts`; a bar or weight of one module is in that module. */

// Queue tuning (contract, Limits)
export const BISECT_FANOUT_MIN = 1;
export const BISECT_FANOUT_MAX = 16;
/** Hard cap of one batch (D-20). */
export const BATCH_PULL_REQUESTS_MAX = 50;

// Landing (D-11)
/** Native merge waited for at most this long after `success` was posted. */
export const LANDING_TIMEOUT_MS = 10 * 60_000;
/** How long a batch has been on its turn is told anew after this, so that a landing seldom writes its row. */
export const TURN_RENEWED_AFTER_MS = 10 * 60_000;
/** Ages of a posted `success` at which it is posted again, because a forge can lose the trigger for ever. */
export const LANDING_NUDGE_AGES_MS: readonly number[] = [15_000, 60_000, 180_000, 360_000];
/** After a success was taken back, the forge may still be executing a merge it began: wait this long, then read again. */
export const TAKE_BACK_GRACE_MS = 20_000;
/** How long the next pull request may stay "checking" before it counts as not mergeable: a busy forge checks dozens before it (forge facts, 2). */
export const MERGEABLE_WAIT_MS = 3 * 60_000;
/** Not mergeable this long on a base that does not move, while the forge has ended checks of others: it means it. */
export const UNMERGEABLE_STEADY_MS = 5 * 60_000;
/** Not mergeable this long on one head, whatever is known of other checks: no check takes that long, the forge means it. */
export const UNMERGEABLE_REFUSED_AFTER_MS = 60 * 60_000;
/**
 * Called not mergeable for so long while its `success` stands: the forge ended its check after the success, and means it.
 * As long as before a success: the merge that was asked for may still come at the end of a slow check.
 */
export const UNMERGEABLE_LANDING_MS = 3 * 60_000;
/** How long it is asked what blocks a merge that did not come, where the forge gives no clear answer. */
export const BLOCKERS_WAIT_MS = 60_000;
/** Questions after a dropped schedule that the forge fails on before it counts as unknown. */
export const SCHEDULE_PROBES_MAX = 3;
/** A refusal of ours that the forge contradicts is looked at again after this. */
export const CONTRADICTED_REFUSAL_MS = 30 * 60_000;
/** Native merge time-outs on one head that remove a pull request (A21). */
export const MERGE_TIMEOUTS_MAX = 2;

/** How long a reading may still show the tip that a landing of ours has replaced. Later it was pushed back. */
export const STALE_READING_MS = 60_000;
/** Landings are remembered this long, so that a list which is late makes no news of them. */
export const LANDED_KEPT_MS = 10 * 60_000;
export const LANDED_MAX = 500;
/** Numbers of pull requests that the queue landed: more than the forge lists and than the commits of one search tell of. */
export const LANDED_NUMBERS_MAX = 1_000;
/** A merge that the forge began may end so long after its `success` was taken back and still counts as a landing. */
export const GIVEN_UP_KEPT_MS = 60 * 60_000;
export const GIVEN_UP_MAX = 100;
/** Who was merged outside the queue is looked for so long, while the forge does not tell. */
export const OUTSIDE_SEARCH_MS = 60 * 60_000;
/** Remembered as merged outside the queue, for one event each. */
export const OUTSIDERS_MAX = 100;
/**
 * A lost record may have owed the last word to what landed this long before: the record after it may come late, and
 * a success on a commit that has landed opens the next pull request with that head.
 */
export const LANDED_RECALL_MS = 60 * 60_000;
/** A `success` that was never answered may be carried out this late: longer than proxies and forges keep a request. */
export const UNHEARD_WATCH_MS = 15 * 60_000;
export const UNHEARD_LOOK_MS_MIN = 10_000;
export const UNHEARD_LOOK_MS_MAX = 60_000;

// Gate (D-06, D-07)
/** A gate run that is cancelled, errored or lost is retried after these waits, then `operational_error`. */
export const GATE_RETRY_BACKOFF_MS: readonly number[] = [60_000, 5 * 60_000, 15 * 60_000];
/** A gate run of a changed workflow that has not begun by then is given up: the file may start none. */
export const CHANGED_GATE_START_MS = 5 * 60_000;
/** A gate run of a changed workflow that has not ended by then, or in so many times what gate runs take here, is given up: its runner may not exist. */
export const CHANGED_GATE_END_MS = 30 * 60_000;
export const CHANGED_GATE_END_FACTOR = 3;
/** How long a reconcile that staged something stays to see its gate run end. */
export const GATE_QUICK_LOOK_MS = 8_000;
/** A pass counts once nothing has come to it for so long: contexts that a pattern names, and jobs that statuses alone tell of. */
export const GATE_CONTEXTS_SETTLE_MS = 30_000;
export const GATE_JOBS_SETTLE_MS = 10_000;
/** A deadline that is learned: so many times the 95th percentile of so many gate runs, at least so long. */
export const GATE_DEADLINE_FACTOR = 3;
/** A gate run may wait for a runner for so many deadlines. */
export const GATE_RUNNER_WAIT_FACTOR = 4;
/** A free runner takes a gate run within this time. */
export const RUNNER_TAKES_RUN_MS = 60_000;
export const GATE_DEADLINE_MS_MIN = 15 * 60_000;
export const GATE_TIMES_LEARNED_MIN = 5;
export const GATE_TIMES_KEPT_MAX = 40;
/** Attempts past the deadline before a batch is split. */
export const GATE_DEADLINE_ATTEMPTS_MAX = 2;
export const GATE_PHASE_ALARM_AGE_MS = 30 * 60_000;
/** After the last retry the repo waits this long, one tick, before anything is staged again. */
export const RETEST_PAUSE_MS = 5 * 60_000;
/** A failing base that does not move is probed again after this: two flakes must not stop a repo for ever. */
export const BASE_FAILING_RECHECK_MS = 30 * 60_000;
/** Failing gate runs of one tree that are needed before blame (D-08): the first and a confirming one. */
export const CONFIRMED_FAILURES_MIN = 2;

// Staging
/** Failures of one batch, while the forge is otherwise well, after which half of it is tried. */
export const STAGING_TRIES_OF_BATCH_MAX = 2;
/** Failures of one pull request alone, while the forge is otherwise well, after which it is set aside. */
export const STAGING_TRIES_ALONE_MAX = 3;
/** Reconciles that one batch may read for before it can be staged. */
export const STAGING_RECONCILES_MAX = 40;
/** A pull request that is to land next and cannot be read, while everything else can, is set aside after this. */
export const UNREADABLE_WAIT_MS = 2 * 60_000;
/** A reading of one pull request that failed is made again after this, before others are staged without it. */
export const READ_AGAIN_AFTER_MS = 2_000;
/** Two readings of one pull request that contradict each other are read again after this time; it is not staged before. */
export const READINGS_AGREE_AFTER_MS = 10_000;
/** The forge answers the list, and for so long not the requests about one pull request: its author is told. */
export const UNCLEAR_TOLD_AFTER_MS = 20 * 60_000;
/** In no list, and each reading of it is a 404, for this long: it was deleted on the forge. */
export const DELETED_AFTER_MS = 5 * 60_000;
/** A pull request that was set aside because staging failed is tried again after this, then after twice as long each time. */
export const STAGING_PAUSE_MS = 30 * 60_000;
export const STAGING_PAUSE_MS_MAX = 6 * 60 * 60_000;
/** So many set aside in a row are no accident: then the forge is the cause, and further pull requests are left alone. */
export const STAGING_ASIDES_MAX = 3;

// Position in the queue (D-22)
export const HEAD_CHANGE_KEEPS_POSITION_MS = 24 * 60 * 60_000;

// Waking (D-95)
export const WAKE_DELAY_MS_MIN = 10_000;
export const WAKE_DELAY_MS_MAX = 30_000;
/**
 * A wake that a worker took and never answered for comes back after this, and hides all others of its repo until then:
 * longer than any worker is at work, and than its lease and the grace after it.
 */
export const WAKE_HIDDEN_MS = 90_000;
/** A wake that failed so often is given up; the tick finds its repository by the due mark. */
export const WAKE_DELIVERIES_MAX = 5;
/** The longest delay that the queue service takes. */
export const WAKE_QUEUE_DELAY_S_MAX = 900;
/** Events of one repo mark it due at most once in each such window (E10). */
export const EVENT_WAKE_WINDOW_MS = 5_000;
/** Two clocks may differ: a repo that is due this soon counts as due. */
export const DUE_TOLERANCE_MS = 5_000;
/**
 * After a quiet reconcile: long enough that a second delivery of the same wake finds the repo not due, short enough that
 * the next tick finds it due whatever the jitter of both (E9).
 */
export const IDLE_DUE_DELAY_MS = 10_000;
/** A repo whose lease is held is looked at again after this. */
export const LEASE_HELD_DELAY_MS = 15_000;
/** A queue that was switched off is still woken this long to take back what it posted: a forge may be away meanwhile. */
export const WIND_DOWN_MS = 60 * 60_000;
/** A deleted repo is looked after this long; one whose forge address is enrolled again only `WIND_DOWN_MS`. */
export const BURIED_WIND_DOWN_MS = 24 * 60 * 60_000;
/** A status that a deleted repo could not take back is remembered this long for the next enrollment of its forge address. */
export const LEFT_HEADS_KEPT_MS = 30 * 24 * 60 * 60_000;
/** Shortest and longest wait between two looks of one reconcile at a native merge or a conflict check. */
export const LANDING_POLL_MS_MIN = 200;
export const LANDING_POLL_MS_MAX = 4_000;

// Lease and reconcile budget
/** A lease that is not renewed ends after this. */
export const LEASE_TTL_MS = 60_000;
/** Time between the last forge call of a holder and the end of its lease: HTTP time-out plus clock skew (A41). */
export const LEASE_SAFETY_MARGIN_MS = 15_000;
/** After expiry a new owner waits this long: a call that the old one sent may still arrive (E7). */
export const LEASE_TAKEOVER_GRACE_MS = 12_000;
export const FORGE_TIMEOUT_MS = 10_000;
/** One reconcile works at most this long, then wakes itself again. */
export const RECONCILE_BUDGET_MS = 24_000;
export const RECONCILE_PASSES_MAX = 200;

/** The worker waits this long for the engine: its budget, one forge call after it, and slack. */
export const ENGINE_TIMEOUT_MS = 45_000;
/** An engine that was needed by no repository for so long is put to sleep: as long as a repository counts as active. */
export const ENGINE_REST_AFTER_MS = 60 * 60_000;
/** An engine that was started or changed within three ticks is waited for. */
export const ENGINE_SETTLE_MS = 15 * 60_000;
/** That it is needed is written down at most this often. */
export const ENGINE_NEED_RENEWED_AFTER_MS = 2 * 60_000;

// Idle look: whether the engine is needed, found out without it
/** The worker waits this long for a look; then the engine is asked. */
export const LOOK_TIMEOUT_MS = 10_000;
/** Repositories with more open pull requests are always looked at by the engine. */
export const LOOK_PULLS_MAX = 200;
/** Timelines that one look reads. */
export const LOOK_TIMELINES_MAX = 20;
/** The settings of a repository have to be this much older than its last outcome: clocks differ. */
export const LOOK_SETTLED_MS = 60_000;
/** A forge that only the engine reaches is looked at by the engine for so long; its failure is believed for as long. */
export const LOOK_BLIND_MS = 60 * 60_000;
// Glance: whether the forge is as the last look saw it
/** At a repository in which something happened within the last hour. */
export const GLANCE_EVERY_MS = 30_000;
/** Later, this share of the time for which nothing has happened: 30 seconds of an hour, a tick of ten. */
export const GLANCE_AGE_SHARE = 1 / 120;
/** The worker waits this long for a glance; then the tick goes on alone. */
export const GLANCE_TIMEOUT_MS = 2_000;
/** The next glance comes after so many times what the last one took. */
export const GLANCE_REST_FACTOR = 20;
/** Ticks replace a chain of glances long before. */
export const GLANCE_STEPS_MAX = 1_000;
/** A pull request that was read so long after it was first seen as it is shows its next change by its time stamp. */
export const READING_SETTLE_MS = 2_000;
/** For so long after the first of them, failures that pass are tried again within seconds; then at each tick. */
export const RETRY_SOON_MS = 15 * 60_000;

// Fairness between tenants
/** Reconciles that run at the same time. */
export const WORKERS_MAX = 20;
export const TENANT_RECONCILES_MAX = 5;
export const HOST_RECONCILES_MAX = WORKERS_MAX / 2;
/** Reconciles at once of repositories whose last one was a slow failure, or that had none yet, of all tenants together. */
export const UNPROVEN_RECONCILES_MAX = WORKERS_MAX / 2;
/** Of these reconciles, those of repositories whose last one was a slow failure, or long: new repositories do not wait for them. */
export const SLOW_RECONCILES_MAX = WORKERS_MAX / 4;
/**
 * A repository whose last reconcile held its worker for so long, and which has held one for more than this share of the
 * time since, counts with those: its forge is right but slow.
 */
export const LONG_RECONCILE_MS = 4_000;
export const LONG_RECONCILE_SHARE = 0.03;
/** Workers that share one picture of ongoing reconciles, a row of 12 KB: 20 and 100 were worse in `npm run scale`. */
export const SECTION_WORKERS_MIN = 50;
/** After a slow failure, then twice as long after each further one; the tick ends each pause. */
export const SLOW_RETRY_MS = 30_000;

// Internal endpoint (contract, Internal reconcile endpoint)
export const RECONCILE_BODY_BYTES_MAX = 1024;
/** Window in which an `X-Container-Auth` stamp is accepted (D-75). */
export const CONTAINER_AUTH_WINDOW_MS = 60_000;

// Tick (contract, Limits; D-84)
/** Twice what one stack is made for. */
export const TICK_REPOS_MAX = 20_000;
/** A tick ends before its function is ended: what it has not sent is still due at the next one. */
export const TICK_SENDS_MS = 100_000;
export const TICK_INTERVAL_MS = 5 * 60_000;
/** Wakes that the tick sends side by side. */
export const TICK_CONCURRENCY_MAX = 16;

// Forge webhook (D-88)
export const WEBHOOK_BODY_BYTES_MAX = 1024 * 1024;

// Statuses (A38)
export const STATUS_DESCRIPTION_CHARS_MAX = 140;

// Forge answers
/** Values in one answer: the fullest page that was seen, of 50 pull requests, has some 30,000. */
export const FORGE_ANSWER_VALUES_MAX = 200_000;
/** Nesting of one answer; the deepest that was seen has 7. */
export const FORGE_ANSWER_DEPTH_MAX = 32;
/** All that one client reads, which lives for one reconcile or one request: calls, bytes, and rows of listings. */
export const FORGE_READS_MAX = 5_000;
export const FORGE_BYTES_MAX = 256 * 1024 * 1024;
export const FORGE_READ_ROWS_MAX = 1_000_000;
/** As much as forges keep of a title; a longer one is cut. */
export const FORGE_TITLE_CHARS_MAX = 255;
export const FORGE_LABEL_CHARS_MAX = 255;
export const FORGE_LOGIN_CHARS_MAX = 255;
export const FORGE_PAGE_SIZE_MAX = 50;
export const FORGE_PAGES_MAX = 200;
/** Rows that one listing may come to, whatever the forge puts on a page. */
export const FORGE_ROWS_MAX = FORGE_PAGE_SIZE_MAX * FORGE_PAGES_MAX;
/** Pull requests that can be opened or pushed between a look at all of them and the next landing, generously. */
export const FORGE_TOUCHED_PULLS_MAX = 20;
export const FORGE_TREE_PAGE_SIZE_MAX = 1000;

/** A forge is asked for its version again after this: it may have been upgraded. */
export const FORGE_VERSION_KEPT_MS = 60 * 60_000;

// Merging on the engine's side
/** A file that both sides changed is merged up to this size. */
export const MERGE_FILE_BYTES_MAX = 4 * 1024 * 1024;
/** All contents read for one merge. */
export const MERGE_BYTES_MAX = 24 * 1024 * 1024;
/** Steps of comparing that the merge of one file may take: about a second. */
export const MERGE_STEPS_MAX = 60_000_000;
/** Contents that one reconcile has merged and not yet handed over in its one call; above this the rest waits for the next batch. */
export const MERGED_BYTES_MAX = 16 * 1024 * 1024;
/** Names, modes and ids that an engine remembers of all repositories: some 150 bytes each. */
export const DIRECTORY_MEMORY_ENTRIES_MAX = 300_000;
/** Ends of a head's own history that are compared one by one for the best merge base; more are told from one listing. */
export const FORK_POINTS_ASKED_MAX = 4;
/** Reads of one reconcile that are out side by side. */
export const FORGE_READS_AT_ONCE_MAX = 4;
/** Files whose contents are read to tell what was renamed; each is a call. */
export const RENAME_BLOBS_MAX = 60;
/** Pairs of a moved and a new file that are compared by size. */
export const RENAME_PAIRS_MAX = 1_000_000;

// Record bounds
export const EVIDENCE_ENTRIES_MAX = 400;
/** Kept of pull requests that are not open any more: bounces, merge time-outs and those set aside, of each so many. */
export const TOMBSTONES_MAX = 500;
/** With 120 bytes for each, compressed, the queue leaves room in the row for everything else. */
export const QUEUE_ENTRIES_MAX = 2_500;
/** Who enters the queue is told of in the same save. */
export const QUEUE_NEWCOMERS_MAX = 500;
export const PENDING_STATUSES_MAX = 500;
/** A status that the forge cannot write, while it is otherwise well, is tried again after this, then twice as long, ... */
export const STATUS_RETRY_MS = 30_000;
export const STATUS_RETRY_MS_MAX = 30 * 60_000;
/** ... and dropped after so many tries: three hours. */
export const STATUS_TRIES_MAX = 12;
/** Times that taking a success back fails before it is read whether one stands at all. */
export const TAKING_BACK_TRIES_MAX = 5;
/** From then on it is tried after `STATUS_RETRY_MS`, then twice as long, up to this. */
export const TAKING_BACK_RETRY_MS_MAX = 5 * 60_000;
/** Times after which a person is told although no reading shows whether the success stands. */
export const STANDING_TOLD_AFTER_TRIES = 8;
/** Nothing else lands for so long after the last `success` whose answer was lost: the forge may still carry it out. */
export const SUCCESS_LATE_MS = 125_000;
/** Times that `success` is tried on one head before its pull request is set aside. */
export const SUCCESS_TRIES_MAX = 10;
export const GARBAGE_ENTRIES_MAX = 500;

// Store
/** Webhook delivery ids are remembered this long: forges resend within minutes, replays come later. */
export const DELIVERY_ID_KEPT_MS = 24 * 60 * 60_000;
/** A transaction has 100 places: lease, repo and record take three. */
export const QUEUE_WRITE_ROWS_MAX = 97;
/** Above this the engine's document is stored compressed. */
export const QUEUE_DOCUMENT_PLAIN_BYTES_MAX = 100 * 1024;
/** A row may have 400 KB with its names and keys. */
export const QUEUE_DOCUMENT_STORED_BYTES_MAX = 396 * 1024;
/** No honest document unpacks to more; keeps a damaged row from filling the memory. */
export const QUEUE_DOCUMENT_JSON_BYTES_MAX = 32 * 1024 * 1024;
/** Set-aside records and fences of deleted repos are kept this long for a look at them. */
export const QUARANTINE_KEPT_MS = 30 * 24 * 60 * 60_000;
export const DELETED_LEASE_KEPT_MS = 24 * 60 * 60_000;

// CI gate (D-63 to D-65)
/** A probe's branch stays at most this long for its gate run to appear. */
export const PROBE_VISIBLE_WAIT_MS = 10_000;
export const PROBE_LOOK_EVERY_MS = 500;
/** Probe branches older than this were left behind by a verify call that died. */
export const PROBE_LEFTOVER_AGE_MS = 60 * 60_000;
/** Branches looked through for leftovers: they are among the newest. */
export const PROBE_SWEEP_BRANCHES_MAX = 500;

// Payments
/** Age, either way, of a payment event's signature that is still believed (contract, Limits). */
export const PAYMENT_EVENT_WINDOW_MS = 5 * 60_000;
/** The provider sends again for three days, and a person may for fifteen; ids are remembered longer than that. */
export const PAYMENT_EVENT_KEPT_MS = 30 * 24 * 60 * 60_000;
export const PAYMENT_EVENT_BYTES_MAX = 1024 * 1024;
/** One try of one call. A request makes two calls at most, each with one repeat: together below the gateway's 30 s. */
export const PAYMENTS_TIMEOUT_MS = 6_000;
export const PAYMENTS_REPEATS_MAX = 1;
/** Another write of the same row costs one more look at the provider. */
export const BILLING_WRITE_TRIES_MAX = 6;
/** Subscriptions of one customer that are looked at; no customer has a second page of living ones. */
export const SUBSCRIPTIONS_LISTED_MAX = 100;

/** So long a pull request waits until it counts as one of the next higher priority. */
export const PRIORITY_AGING_MS = 4 * 60 * 60_000;
