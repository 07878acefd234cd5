import { AppError } from '#core/contracts/errors.ts';
import { toMailboxLink } from '#core/contracts/notices/mailbox.ts';
import { formatAnalyticsConfig } from '#core/contracts/queue/health.ts';
import { IDENTITY_HEALTH_CACHED_MS, QUEUE_HEALTH_CACHED_MS } from '#core/domain/api-limits.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import type { IdentityPort } from '#core/ports/identity.ts';
import type { MailboxStore } from '#core/ports/mailbox-store.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCached } from '#core/services/operation/cached.ts';
import { type HealthDeps, readQueueHealth } from '#core/services/operation/health.ts';
import {
  CONFIRM_PAGE,
  CONFIRMED_PAGE,
  MAIL_PAGE_HEADERS,
  unsubscribedPage,
  unsubscribePage,
} from './mail-pages.ts';

export interface PublicDeps extends HealthDeps {
  readonly identity: Pick<IdentityPort, 'isReachable' | 'name'>;
  readonly mailboxes: Pick<MailboxStore, 'leaveMailbox' | 'returnToMailbox' | 'confirmMailbox'>;
  readonly clock: Clock;
  readonly analyticsKey: string;
  /** @default QUEUE_HEALTH_CACHED_MS */
  readonly queueHealthCachedMs?: number;
}

export function createPublicRoutes(deps: PublicDeps): ApiHandlers<'public'> {
  const keptMs = deps.queueHealthCachedMs ?? QUEUE_HEALTH_CACHED_MS;
  const queueHealth = createCached(() => readQueueHealth(deps), keptMs, deps.clock);
  // Strangers may call this from many addresses, and the provider counts its calls for all sessions together.
  const isReachable = createCached(() => deps.identity.isReachable(), IDENTITY_HEALTH_CACHED_MS, deps.clock);
  return {
    ...mailRoutes(deps.mailboxes),
    checkIdentity: async () =>
      (await isReachable())
        ? { status: 200, body: { ok: true } }
        : { status: 503, body: { ok: false, dependency: deps.identity.name } },
    refuseReadyz: () => Promise.reject(new AppError('gone')),
    checkQueue: async () => ({ status: 200, body: await queueHealth() }),
    readAnalyticsConfig: async () => ({ status: 200, text: formatAnalyticsConfig(deps.analyticsKey) }),
  };
}

function mailRoutes(mailboxes: PublicDeps['mailboxes']) {
  const show = (text: string) => ({ status: 200, text, headers: MAIL_PAGE_HEADERS }) as const;
  const orNotFound = async (done: Promise<boolean>): Promise<void> => {
    if (!(await done)) throw new AppError('not_found');
  };
  return {
    showUnsubscribe: async ({ query }) => show(unsubscribePage(toMailboxLink(query))),
    unsubscribe: async ({ query }) => {
      const link = toMailboxLink(query);
      await orNotFound(mailboxes.leaveMailbox(link));
      return show(unsubscribedPage(link));
    },
    subscribeAgain: async ({ query }) => {
      await orNotFound(mailboxes.returnToMailbox(toMailboxLink(query)));
      return show(CONFIRMED_PAGE);
    },
    showConfirm: async () => show(CONFIRM_PAGE),
    confirmMailbox: async ({ query }) => {
      await orNotFound(mailboxes.confirmMailbox(toMailboxLink(query)));
      return show(CONFIRMED_PAGE);
    },
  } satisfies Partial<ApiHandlers<'public'>>;
}
