import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { isWorkingHook } from '../../domain/set-up/hook-seen.ts';
import type { WebhookObservation } from '../../domain/set-up/provisioning.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { ForgeAdmin, ForgeHook } from '../../ports/forge-admin.ts';
import type { SecretBox } from '../../ports/secret-box.ts';
import { type DispatchStore, StoreError } from '../../ports/store.ts';
import { type Ids, type Log, VaultError } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';
import { type RepoStore, saveRepo } from '../repos/save-repo.ts';
import { sealWebhookSecret } from '../secrets/repo-secrets.ts';

/**
 * The events that deliveries are asked for. Forges leave out names they do not know: `status` and `workflow_run` are Gitea's,
 * `action_run_*` Forgejo's. No event tells of a schedule; the tick finds those (forge facts, 9).
 */
export const HOOK_EVENTS: readonly string[] = [
  'push',
  'pull_request',
  'issue_comment',
  'release',
  'status',
  'workflow_run',
  'action_run_success',
  'action_run_failure',
  'action_run_recover',
];

export interface WebhookRegistrationDeps {
  readonly store: RepoStore & Pick<DispatchStore, 'listReposAt'>;
  readonly secrets: Pick<SecretBox, 'seal'>;
  readonly ids: Ids;
  readonly log: Log;
  /** Public address of the webhook route, without query. */
  readonly webhookUrl: string;
}

export interface Registration {
  readonly seen: WebhookObservation;
  readonly repo: ManagedRepo;
  /** False: the forge has a hook that the store does not know; the next attempt replaces it. */
  readonly stored: boolean;
}

/**
 * Sees to exactly one hook of ours on the forge, with a secret that the store has; it serves every managed branch of the
 * repository, so that of another branch will do. A hook is ours by its address.
 * One that is missing or not as we made it is replaced: the new one is made and stored before the old one goes, because
 * the forge ignores a new secret for an old hook, and nothing may be lost in between.
 */
export async function registerWebhook(
  deps: WebhookRegistrationDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
): Promise<Registration> {
  try {
    const others = (await deps.store.listReposAt(repo)).filter(({ id }) => id !== repo.id);
    const ours = (await forge.listHooks()).filter((hook) => isOurs(deps.webhookUrl, hook));
    const serves = (hook: ForgeHook) =>
      [repo, ...others].some((each) => isCurrent(deps.webhookUrl, each, hook));
    const current = ours.find(serves);
    if (current !== undefined) {
      await removeHooks(
        deps,
        forge,
        ours.filter((hook) => hook.id !== current.id),
      );
      return { seen: 'registered', repo, stored: true };
    }
    const registration = await replaceHooks(deps, forge, repo, ours);
    if (registration.stored && registration.seen === 'registered') await forgetHooks(deps, others);
    return registration;
  } catch (error) {
    if (error instanceof VaultError || error instanceof StoreError)
      return { seen: 'failed', repo, stored: true };
    if (!(error instanceof ForgeError)) throw error;
    return { seen: error.kind === 'denied' ? 'denied' : 'failed', repo, stored: true };
  }
}

async function replaceHooks(
  deps: WebhookRegistrationDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
  old: readonly ForgeHook[],
): Promise<Registration> {
  const hookId = deps.ids.uuid();
  // Two random UUIDs: 244 bits, which cannot be guessed.
  const secret = new Secret(`${deps.ids.uuid()}${deps.ids.uuid()}`.replaceAll('-', ''));
  const webhookSecret = await sealWebhookSecret(
    deps.secrets,
    { id: repo.id, tenantId: repo.tenantId },
    secret,
  );
  const url = addressOf(deps.webhookUrl, hookId);
  const made = await createOnce(forge, { url, secret, events: HOOK_EVENTS });
  const saved = await saveRepo(deps.store, repo, () => ({ hookId, webhookSecret, webhookSecretOf: repo.id }));
  if (typeof saved === 'string') {
    // Its secret is not known to the service: it must not stay. The old one is still in place.
    await removeHooks(deps, forge, [made]);
    return { seen: 'failed', repo, stored: false };
  }
  await removeHooks(deps, forge, old);
  return { seen: 'registered', repo: saved, stored: true };
}

/** Forgets the hooks of the other branches of the repository, which are off the forge. Best effort: it only helps a later deletion. */
async function forgetHooks(deps: WebhookRegistrationDeps, others: readonly ManagedRepo[]): Promise<void> {
  for (const other of others)
    if (other.hookId !== null)
      await saveRepo(deps.store, other, ({ hookId }) =>
        // One that another call made for it meanwhile is on the forge.
        hookId === other.hookId ? { hookId: null, webhookSecret: null } : {},
      );
}

/** An answer that was lost may stand for a hook that was made: its address, which no other hook has, tells. */
async function createOnce(
  forge: ForgeAdmin,
  spec: { readonly url: string; readonly secret: Secret<string>; readonly events: readonly string[] },
): Promise<ForgeHook> {
  try {
    return await forge.createHook(spec);
  } catch (error) {
    if (!(error instanceof ForgeError) || !error.effectUnknown) throw error;
    const found = (await forge.listHooks()).find((hook) => hook.url === spec.url);
    if (found === undefined) throw error;
    return found;
  }
}

/** A hook that stays by accident only causes deliveries that are refused; the next attempt removes it. */
async function removeHooks(
  deps: WebhookRegistrationDeps,
  forge: ForgeAdmin,
  hooks: readonly ForgeHook[],
): Promise<void> {
  for (const hook of hooks) {
    try {
      await forge.deleteHook(hook.id);
    } catch (error) {
      if (!(error instanceof ForgeError)) throw error;
      deps.log.warn('an old webhook could not be deleted', { hook: hook.id, outcome: error.kind });
    }
  }
}

function addressOf(webhookUrl: string, hookId: string): string {
  return `${webhookUrl}?r=${hookId}`;
}

/** Ours is what points to our route, whatever its query: leftovers of earlier attempts and enrollments included. */
function isOurs(webhookUrl: string, hook: ForgeHook): boolean {
  return hook.url === webhookUrl || hook.url.startsWith(`${webhookUrl}?`);
}

function isCurrent(webhookUrl: string, repo: ManagedRepo, hook: ForgeHook): boolean {
  return (
    repo.hookId !== null &&
    repo.webhookSecret !== null &&
    hook.url === addressOf(webhookUrl, repo.hookId) &&
    isWorkingHook(hook)
  );
}
