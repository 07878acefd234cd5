import { AppError } from '../../contracts/errors.ts';
import { NOTICE_TEST_EVERY_MS, NOTICE_TESTS_AT_ONCE_MAX } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import {
  formatWebhook,
  originOf,
  secretOf,
  withSecret,
  withWebhook,
} from '../../domain/notices/notice-ways.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { chatOwner } from '../../domain/sealed-text.ts';
import type { AccountStore, RateStore } from '../../ports/account-store.ts';
import type { NoticeRequestStore } from '../../ports/notifier.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import type { DispatchStore } from '../../ports/store.ts';
import type { Clock, Ids, Log } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { loadOwnRepo } from '../repos/owned.ts';
import { type RepoStore, saveRepo } from '../repos/save-repo.ts';
import { orDecryptionError } from '../secrets/repo-secrets.ts';
import { recordChange } from '../tenants/audit.ts';
import { type NoticeTargetDeps, refuseForbiddenTarget } from './check-notice-targets.ts';

export interface NoticeWebhookDeps extends NoticeTargetDeps {
  readonly store: RepoStore & Pick<AccountStore, 'appendAudit'>;
  readonly secrets: Pick<SecretBox, 'seal'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** A new key that cannot be guessed, as the specification spells it. */
  readonly makeWebhookKey: () => Secret<string>;
}

/** Sets or replaces the webhook of notices; each call makes a new secret, which no other call shows. */
export async function setNoticeWebhook(
  deps: NoticeWebhookDeps,
  tenantId: TenantId,
  id: string,
  url: string,
): Promise<{ readonly host: string; readonly secret: Secret<string> }> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  await refuseForbiddenTarget(deps, url, 'url');
  const secret = deps.makeWebhookKey();
  const target = formatWebhook({ url, secret: secret.reveal() });
  const sealed = await orDecryptionError(deps.secrets.seal(chatOwner(repo), secretOf('webhook', target)));
  await store(deps, repo, withSecret('webhook', target, sealed));
  return { host: originOf('webhook', target), secret };
}

/** News that waits for the webhook is told no more. */
export async function removeNoticeWebhook(
  deps: NoticeWebhookDeps,
  tenantId: TenantId,
  id: string,
): Promise<void> {
  await store(deps, await loadOwnRepo(deps.store, tenantId, id), null);
}

async function store(deps: NoticeWebhookDeps, repo: ManagedRepo, webhook: string | null): Promise<void> {
  const saved = await saveRepo(deps.store, repo, ({ notification }) => ({
    notification: withWebhook(notification, webhook),
    updatedAt: deps.clock.now(),
  }));
  if (typeof saved === 'string') throw new AppError(saved === 'gone' ? 'not_found' : 'db_error');
  await recordChange(deps, repo.tenantId, 'repo.notice_webhook', repo.id);
}

export interface TestDeps {
  readonly store: NoticeRequestStore & Pick<RateStore, 'takeToken'> & Pick<DispatchStore, 'getRepo'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** Asks for a test to every place of a repository. False: one that was asked for is on its way. */
export async function testNotices(
  { store, clock }: TestDeps,
  tenantId: TenantId,
  id: string,
): Promise<boolean> {
  const repo = await loadOwnRepo(store, tenantId, id);
  if (repo.notification === null) {
    throw new AppError('not_found', { message: 'This repository has no place for notices.' });
  }
  const bucket = `notice-test:${tenantId}`;
  const token = await store.takeToken(bucket, NOTICE_TEST_EVERY_MS, NOTICE_TESTS_AT_ONCE_MAX);
  if (!token.allowed) {
    throw new AppError('rate_limited', { retryAfterSeconds: Math.ceil(token.retryAfterMs / 1000) });
  }
  const at = clock.now();
  return store.requestNotice({ kind: 'test', tenantId, subject: repo.id, email: null, repoId: repo.id, at });
}
