import type { TenantId } from '../../domain/ids.ts';
import {
  type NotificationTargets,
  SECRET_WAYS,
  secretOf,
  withSecret,
} from '../../domain/notices/notice-ways.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { chatOwner, webhookSecretOwner } from '../../domain/sealed-text.ts';
import type { AdminStore } from '../../ports/account-store.ts';
import type { TextRewrapper } from '../../ports/rewrapper.ts';
import { type EnrollmentStore, StoreError } from '../../ports/store.ts';
import { VaultError } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';
import { type RepoStore, saveRepo } from '../repos/save-repo.ts';

export interface RewrapSecretsDeps {
  readonly store: Pick<AdminStore, 'listAllConnections'> & Pick<EnrollmentStore, 'listRepos'> & RepoStore;
  readonly rewrapper: TextRewrapper;
}

/**
 * The outcome for the secrets of one repository. `current`: nothing of it is under another key. `failed`: no answer, or its row does not open. `unlisted`: of a
 * tenant whose repositories the store does not list, as where a later release wrote one of them; none of them is re-wrapped.
 */
const SECRET_OUTCOMES = ['rewrapped', 'current', 'failed', 'unlisted'] as const;
export type SecretCounts = Readonly<Record<(typeof SECRET_OUTCOMES)[number], number>>;

/** Puts webhook secrets and chat addresses of all repositories under the rewrapper's key; may be started again. */
export async function rewrapSecrets(deps: RewrapSecretsDeps): Promise<SecretCounts> {
  const heads = await deps.store.listAllConnections(Number.MAX_SAFE_INTEGER);
  const counts = { rewrapped: 0, current: 0, failed: 0, unlisted: 0 };
  for (const tenantId of new Set(heads.map((head) => head.tenantId))) {
    const repos = await listRepos(deps, tenantId);
    if (repos === null) counts.unlisted += 1;
    for (const repo of repos ?? []) counts[await rewrapRepo(deps, repo)] += 1;
  }
  return counts;
}

async function listRepos(
  { store }: RewrapSecretsDeps,
  tenantId: TenantId,
): Promise<readonly ManagedRepo[] | null> {
  try {
    return await store.listRepos(tenantId);
  } catch (error) {
    if (error instanceof StoreError) return null;
    throw error;
  }
}

async function rewrapRepo(deps: RewrapSecretsDeps, repo: ManagedRepo): Promise<keyof SecretCounts> {
  try {
    const secret = await rewrapSecret(deps, repo);
    const targets = await rewrapTargets(deps, repo);
    if (secret === null && targets === null) return 'current';
    const saved = await saveRepo(deps.store, repo, (current) => ({
      // A secret that its owner has replaced meanwhile is under the new key already.
      ...(secret !== null && current.webhookSecret?.reveal() === repo.webhookSecret?.reveal()
        ? { webhookSecret: secret }
        : {}),
      ...(targets !== null && JSON.stringify(current.notification) === JSON.stringify(repo.notification)
        ? { notification: targets }
        : {}),
    }));
    return typeof saved === 'string' && saved !== 'gone' ? 'failed' : 'rewrapped';
  } catch (error) {
    if (error instanceof VaultError) return 'failed';
    throw error;
  }
}

async function rewrapSecret(
  { rewrapper }: RewrapSecretsDeps,
  repo: ManagedRepo,
): Promise<Secret<string> | null> {
  if (repo.webhookSecret === null) return null;
  const text = await rewrapper.rewrapText(webhookSecretOwner(repo), repo.webhookSecret.reveal());
  return text === null ? null : new Secret(text);
}

async function rewrapTargets(
  { rewrapper }: RewrapSecretsDeps,
  repo: ManagedRepo,
): Promise<NotificationTargets | null> {
  const { notification } = repo;
  if (notification === null) return null;
  const owner = chatOwner(repo);
  const changed: Record<string, string> = {};
  for (const way of SECRET_WAYS) {
    const target = notification[way];
    const text = target === null ? null : await rewrapper.rewrapText(owner, secretOf(way, target));
    if (target !== null && text !== null) changed[way] = withSecret(way, target, text);
  }
  return Object.keys(changed).length === 0 ? null : { ...notification, ...changed };
}
