import { hashText } from '../hash-text.ts';
import type { EpochMs } from '../ids.ts';
import { EVENT_WAKE_WINDOW_MS, RETRY_SOON_MS, WAKE_DELAY_MS_MAX, WAKE_DELAY_MS_MIN } from '../limits.ts';
import { isOwnBranch } from '../queue/queue-names.ts';
import type { ManagedRepo } from '../repos/repo.ts';
import { RUN_EVENT_TYPE } from './heard-events.ts';

/** Kinds of forge events, as far as the queue cares. A webhook only says "look again"; the forge is read at the next reconcile. */
export type ForgeEventKind =
  /** Would change the queue: a pull request was opened, pushed to, reviewed, closed … */
  | 'queue_change'
  /** Says only that there may be news: push, status, check, workflow run. */
  | 'news'
  /** Wakes without being either: comments and releases. */
  | 'hint'
  /** No event that concerns the queue: unknown types, our own pushes and statuses, other base branches. */
  | 'unrelated';

/** One event as far as the wake rule needs it. */
export interface ForgeEvent {
  /** Coarse name from the event header, such as `push` or `pull_request`. */
  readonly type: string;
  readonly action: string | null;
  /** Full ref of a push; null for other types. */
  readonly ref: string | null;
  /** Base branch of the pull request; null for other types. */
  readonly base: string | null;
  readonly sender: string | null;
}

const NEWS_TYPES: ReadonlySet<string> = new Set([
  'push',
  'status',
  'check_run',
  'check_suite',
  'create',
  'delete',
]);
/** Events of these types say nothing new where the bot made them. A run on a staging branch is the bot's too, and the best news there is. */
const OWN_TYPES: ReadonlySet<string> = new Set([
  'push',
  'status',
  'create',
  'delete',
  'issue_comment',
  'release',
]);
const HINT_TYPES: ReadonlySet<string> = new Set(['issue_comment', 'release']);
const LEAVING: ReadonlySet<string> = new Set(['edited', 'closed']);

/** The facts that an event is judged by. */
export interface WakeRule {
  readonly baseBranch: string;
  readonly botUsername: string;
  readonly queueName: string;
}

export function classifyForgeEvent(
  event: ForgeEvent,
  { baseBranch, botUsername, queueName }: WakeRule,
): ForgeEventKind {
  const { type } = event;
  // Staging, work and verify branches are pushed by the queue itself.
  if (event.ref !== null && isOwnBranch(queueName, event.ref.replace(/^refs\/heads\//, '')))
    return 'unrelated';
  if (OWN_TYPES.has(type) && event.sender?.toLowerCase() === botUsername.toLowerCase()) return 'unrelated';
  if (type === 'pull_request' || type.startsWith('pull_request_')) {
    // An edit may be the move away from our base branch; the closed one may have had the head of one that waits for it.
    const isOurs = event.base === null || event.base === baseBranch || LEAVING.has(event.action ?? '');
    return isOurs ? 'queue_change' : 'unrelated';
  }
  if (NEWS_TYPES.has(type) || RUN_EVENT_TYPE.test(type)) return 'news';
  return HINT_TYPES.has(type) ? 'hint' : 'unrelated';
}

/** Webhooks change when a repo is due only where the owner asked for it; the tick wakes every repo (D-34, A60). */
export function obeysWebhooks(repo: Pick<ManagedRepo, 'queueEnabled' | 'tombstone' | 'wakeupMode'>): boolean {
  return repo.queueEnabled && !repo.tombstone && repo.wakeupMode === 'webhook';
}

/** Numbers the windows in which events of one repo are taken together; `endsAt` is when the next one begins. */
export function eventWindow(now: EpochMs): { readonly index: number; readonly endsAt: EpochMs } {
  const index = Math.floor(now / EVENT_WAKE_WINDOW_MS);
  return { index, endsAt: (index + 1) * EVENT_WAKE_WINDOW_MS };
}

/** Share of the time for which a failure has lasted that is waited for until the next try. */
const RETRY_AGE_SHARE = 1 / 6;
/** So much of a wait is drawn by `share`, so that those who failed together do not come back together. */
const RETRY_SPREAD = 1 / 3;

/**
 * Until the next try of what failed and may pass: 10 to 30 s, longer the longer it has lasted; null = at the next tick.
 * `share` is from 0 to 1 and differs from repo to repo.
 */
export function retryDelayMs(failingMs: number, share: number): number | null {
  if (failingMs >= RETRY_SOON_MS) return null;
  const longestMs = WAKE_DELAY_MS_MAX * (1 - RETRY_SPREAD);
  const waitMs = Math.min(longestMs, Math.max(WAKE_DELAY_MS_MIN, failingMs * RETRY_AGE_SHARE));
  return Math.round(waitMs + share * WAKE_DELAY_MS_MAX * RETRY_SPREAD);
}

/** From 0 to 1: the same for the same text, and spread evenly over many. */
export function shareOf(text: string): number {
  return hashText(text) / 2 ** 32;
}

/** Until a wake whose store or queue did not answer is delivered again, by how often it was: most of them within a lease. */
export function redeliverySeconds(receives: number): number {
  return Math.min(WAKE_DELAY_MS_MAX, Math.max(1, receives) * WAKE_DELAY_MS_MIN) / 1000;
}

/** The earlier of two times; null: at no time. */
export function earlier(one: EpochMs | null, other: EpochMs | null): EpochMs | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}
