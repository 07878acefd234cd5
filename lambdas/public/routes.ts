import { AppError } from '#core/contracts/errors.ts';
import { formatAnalyticsConfig } from '#core/contracts/health.ts';
import { toMailboxLink } from '#core/contracts/mailbox.ts';
import { QUEUE_HEALTH_CACHED_MS } from '#core/domain/api-limits.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import type { IdentityPort } from '#core/ports/identity.ts';
import type { MailboxStore } from '#core/ports/mailbox-store.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCached, type HealthDeps, readQueueHealth } from '#core/services/health.ts';
import { MAIL_PAGE_HEADERS, UNSUBSCRIBE_PAGE, UNSUBSCRIBED_PAGE } from './mail-pages.ts';

export interface PublicDeps extends HealthDeps {
  readonly identity: Pick<IdentityPort, 'isReachable' | 'name'>;
  readonly mailboxes: Pick<MailboxStore, 'leaveMailbox'>;
  readonly clock: Clock;
  readonly analyticsKey: string;
  /** @default QUEUE_HEALTH_CACHED_MS */
  readonly queueHealthCachedMs?: number;
}

export function createPublicRoutes(deps: PublicDeps): ApiHandlers<'public'> {
  const keptMs = deps.queueHealthCachedMs ?? QUEUE_HEALTH_CACHED_MS;
  const queueHealth = createCached(() => readQueueHealth(deps), keptMs, deps.clock);
  return {
    checkIdentity: async () =>
      (await deps.identity.isReachable())
        ? { status: 200, body: { ok: true } }
        : { status: 503, body: { ok: false, dependency: deps.identity.name } },
    refuseReadyz: () => Promise.reject(new AppError('gone')),
    checkQueue: async () => ({ status: 200, body: await queueHealth() }),
    readAnalyticsConfig: async () => ({ status: 200, text: formatAnalyticsConfig(deps.analyticsKey) }),
    showUnsubscribe: async () => ({ status: 200, text: UNSUBSCRIBE_PAGE, headers: MAIL_PAGE_HEADERS }),
    unsubscribe: async ({ query }) => {
      if (!(await deps.mailboxes.leaveMailbox(toMailboxLink(query)))) throw new AppError('not_found');
      return { status: 200, text: UNSUBSCRIBED_PAGE, headers: MAIL_PAGE_HEADERS };
    },
  };
}
