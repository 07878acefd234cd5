import { AppError } from '../../contracts/errors.ts';
import { StatusContext } from '../../contracts/fields.ts';
import { WHO_AM_I_TIMEOUT_MS } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import type { NotificationTargets } from '../../domain/notices/notice-ways.ts';
import { baseCharsMax, contextForBase, isTakenByQueue } from '../../domain/queue/queue-names.ts';
import { isBranchBelow, isSameContext } from '../../domain/repos/managed-branch.ts';
import type { MergeStyle } from '../../domain/repos/merge-style.ts';
import type { Connection, ManagedRepo } from '../../domain/repos/repo.ts';
import { DEFAULT_SETTINGS } from '../../domain/repos/repo-settings.ts';
import type { WakeupMode } from '../../domain/set-up/provisioning.ts';
import { UNPROVISIONED } from '../../domain/set-up/provisioning.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { OpenForgeAccount } from '../../ports/forge-account.ts';
import type { NoticeRequestStore } from '../../ports/notifier.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../../ports/store.ts';
import { type Clock, type Vault, VaultError, type WakeQueue } from '../../ports/system.ts';
import { type PlanDeps, readCeiling } from '../billing/plans.ts';
import { accessDenied } from '../connections/denied.ts';
import { askNewMailbox } from '../notices/ask-confirmation.ts';
import { type NoticeTargetDeps, refuseForbiddenTargets } from '../notices/check-notice-targets.ts';
import { orDecryptionError, sealTargets } from '../secrets/repo-secrets.ts';
import { seeGate } from '../set-up/ci-gate.ts';
import { type ProvisioningDeps, provisionRepo } from '../set-up/provisioning.ts';
import { recordChange } from '../tenants/audit.ts';
import { orLeaving } from '../tenants/or-leaving.ts';
import { tryWake } from '../wakes/send-wakes.ts';
import { loadOwnConnection } from './owned.ts';
import { saveRepo } from './save-repo.ts';
import { type CheckedClaim, checkClaim, UNFOUNDED } from './verify-claim.ts';

/** An account that could never write there does not keep the name from one that can; a context may be taken meanwhile. */
const RETRIES_MAX = 2;

export interface EnrollDeps extends ProvisioningDeps, PlanDeps, NoticeTargetDeps {
  readonly store: EnrollmentStore &
    NoticeRequestStore &
    Pick<DispatchStore, 'getConnection' | 'getRepo' | 'listReposAt' | 'markDue'> &
    Pick<AccountStore, 'loadPlan' | 'loadTenant' | 'appendAudit'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly openAccount: OpenForgeAccount;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
}

export interface Enrollment {
  readonly connectionId: string;
  readonly slug: string;
  readonly baseBranch: string | undefined;
  readonly statusContext: string | undefined;
  readonly mergeStyle: MergeStyle | undefined;
  readonly automerge: boolean | undefined;
  readonly wakeupMode: WakeupMode | undefined;
  readonly notification: NotificationTargets | null;
}

/**
 * Takes a repository under management. Order of refusals: not yours, not what the forge says, taken, over the ceiling. The
 * forge is asked first, so that only who can write to a repository learns who has it, and a name cannot be held by a
 * tenant that never could.
 */
export async function enrollRepo(
  deps: EnrollDeps,
  tenantId: TenantId,
  wanted: Enrollment,
): Promise<ManagedRepo> {
  // Contract, managed repos, rule 1 (A66).
  const baseBranch = wanted.baseBranch ?? 'main';
  if (isTakenByQueue(deps.queueName, baseBranch))
    throw new AppError('invalid_field', { field: 'base_branch' });
  refuseLongBase(deps.queueName, baseBranch);
  const connection = await loadOwnConnection(deps.store, tenantId, wanted.connectionId);
  await refuseForbiddenTargets(deps, wanted.notification);
  const { repos: reposMax } = await readCeiling(deps, tenantId);
  await verifyBot(deps, connection);
  const now = deps.clock.now();
  const id = deps.ids.uuid();
  const { notification } = wanted;
  const { instanceUrl } = connection;
  const others = await listOwnBranches(deps, { tenantId, instanceUrl, slug: wanted.slug });
  if (others.some((other) => isBranchBelow(other.baseBranch, baseBranch)))
    throw new AppError('invalid_field', { field: 'base_branch' });
  const claim: ManagedRepo = {
    id,
    tenantId,
    connectionId: connection.id,
    instanceUrl,
    slug: wanted.slug,
    baseBranch,
    statusContext: wanted.statusContext ?? defaultContext(deps.queueName, baseBranch, others),
    mergeStyle: wanted.mergeStyle ?? 'squash',
    automerge: wanted.automerge ?? false,
    ...DEFAULT_SETTINGS,
    wakeupMode: wanted.wakeupMode ?? DEFAULT_SETTINGS.wakeupMode,
    enabledAt: now,
    webhookSecret: null,
    hookId: null,
    ...UNPROVISIONED,
    notification: null,
    pause: null,
    wakeSeq: 0,
    dueAt: now,
    createdAt: now,
    updatedAt: now,
    version: 1,
    tombstone: false,
    verifiedAt: now,
  };
  refuseClaim(await checkClaim(deps.openForge, claim));
  const ciGate = await seeGate(deps.openForge, claim, deps.queueName);
  if (ciGate === 'base_missing')
    throw new AppError('invalid_field', {
      field: 'base_branch',
      message: 'The repository has no branch of this name on the forge, or no commit yet.',
    });
  const checked = {
    ...claim,
    ciGate,
    notification:
      notification === null ? null : await orDecryptionError(sealTargets(deps.secrets, claim, notification)),
  };
  const repo = await create(deps, checked, { reposMax, isContextGiven: wanted.statusContext !== undefined });
  // Not before: a refusal changes nothing (A65), not even what is known of the connection.
  if (connection.verifiedAt === null) await noteVerified(deps, connection);
  await recordChange(deps, tenantId, 'repo.enroll', repo.id);
  await askNewMailbox(deps, repo, null);
  await tryWake(deps, repo.id);
  if (repo.wakeupMode !== 'webhook') return repo;
  // Best effort: how it went is in the answer's provisioning (contract, Other rules 2).
  return (await provisionRepo(deps, repo)).repo;
}

/** The queue's name, and for a further branch of the repository one that names the branch (A124). */
function defaultContext(queueName: string, baseBranch: string, others: readonly ManagedRepo[]): string {
  const isFree = others.every((other) => !isSameContext(other.statusContext, queueName));
  if (isFree) return queueName;
  const named = StatusContext.safeParse(contextForBase(queueName, baseBranch));
  return named.success ? named.data : queueName;
}

async function listOwnBranches(
  { store }: Pick<EnrollDeps, 'store'>,
  place: Pick<ManagedRepo, 'tenantId' | 'instanceUrl' | 'slug'>,
): Promise<readonly ManagedRepo[]> {
  return (await store.listReposAt(place)).filter(({ tenantId }) => tenantId === place.tenantId);
}

/** A connection that was stored while its forge was away: whose its token is was never asked (D-45). */
async function verifyBot(deps: EnrollDeps, connection: Connection): Promise<void> {
  if (connection.verifiedAt !== null) return;
  const owner = {
    tenantId: connection.tenantId,
    connectionId: connection.id,
    instanceUrl: connection.instanceUrl,
  };
  let login: string;
  try {
    const token = await deps.vault.open(owner, connection.credential);
    login = await deps.openAccount(connection.instanceUrl, token, WHO_AM_I_TIMEOUT_MS).readBotLogin();
  } catch (error) {
    if (error instanceof VaultError) throw new AppError('decryption_error');
    if (!(error instanceof ForgeError)) throw error;
    throw error.kind === 'denied' ? accessDenied(error.missingScopes) : new AppError('forge_unreachable');
  }
  if (login.toLowerCase() !== connection.botUsername.toLowerCase()) {
    throw new AppError('forge_access_denied', { message: 'The stored token belongs to another login.' });
  }
}

async function noteVerified(deps: EnrollDeps, connection: Connection): Promise<void> {
  try {
    await deps.store.updateConnection(connection, { ...connection, verifiedAt: deps.clock.now() });
  } catch (error) {
    // The repo is enrolled; whose the token is, is asked again with the next one.
    if (!(error instanceof StoreError)) throw error;
  }
}

function refuseLongBase(queueName: string, base: string): void {
  const charsMax = baseCharsMax(queueName);
  if (base.length <= charsMax) return;
  throw new AppError('invalid_field', {
    field: 'base_branch',
    message: `The name of the base has more than ${charsMax} characters: the forge takes no branch of the queue then, whose name holds it. Rename the base on the forge.`,
  });
}

function refuseClaim({ check, missingScopes }: CheckedClaim): void {
  switch (check) {
    case 'writes':
      return;
    case 'read_only':
      throw new AppError('forge_access_denied', {
        message: 'The bot of this connection cannot write to that repository.',
      });
    case 'missing':
      throw new AppError('invalid_field', {
        field: 'repo_slug',
        message:
          'The bot of this connection sees no such repository on the forge. Check the name, and give the bot access to the repository there.',
      });
    case 'renamed':
      throw new AppError('invalid_field', {
        field: 'repo_slug',
        message: 'The repository has another name or owner on the forge now. Enroll it under that name.',
      });
    case 'mirror':
      throw new AppError('invalid_field', {
        field: 'repo_slug',
        message:
          'The repository is a mirror of another one, and a mirror takes no pull requests. Enroll the one that it mirrors.',
      });
    case 'denied':
      throw accessDenied(missingScopes);
    case 'unreachable':
      throw new AppError('forge_unreachable');
    case 'connection_not_found':
      throw new AppError('not_found');
    case 'decryption_error':
      throw new AppError('decryption_error');
  }
}

async function create(
  deps: EnrollDeps,
  claim: ManagedRepo,
  { reposMax, isContextGiven }: { readonly reposMax: number | null; readonly isContextGiven: boolean },
): Promise<ManagedRepo> {
  let repo = claim;
  for (let retried = 0; ; retried += 1) {
    const result = await orLeaving(deps.store, repo.tenantId, deps.store.createRepo(repo, reposMax));
    if (result === 'created') return repo;
    if (result === 'connection_gone') throw new AppError('not_found');
    if (result === 'limit_reached') {
      throw new AppError('repo_limit_exceeded', { portal: '/api/v1/billing/portal' });
    }
    if ('contextOf' in result) {
      const others = await listOwnBranches(deps, repo);
      const statusContext = defaultContext(deps.queueName, repo.baseBranch, others);
      // Another branch was enrolled meanwhile, and has the name that was free.
      const isMeanwhile = !isContextGiven && statusContext !== repo.statusContext;
      if (isMeanwhile && retried < RETRIES_MAX) {
        repo = { ...repo, statusContext };
        continue;
      }
      throw new AppError('status_context_taken', { more: { existing_managed_repo_id: result.contextOf } });
    }
    const holder = await deps.store.getRepo(result.id);
    const isFree = holder === null || (await displace(deps, repo, holder));
    if (isFree && retried < RETRIES_MAX) continue;
    throw new AppError('repo_already_managed', {
      more: { existing_tenant_id: result.managedBy, existing_managed_repo_id: result.id },
    });
  }
}

/** A claim that never was verified is verified now, or it gives way and is wound down like a deleted one. */
async function displace(deps: EnrollDeps, repo: ManagedRepo, holder: ManagedRepo): Promise<boolean> {
  if (holder.tombstone || holder.tenantId === repo.tenantId || holder.verifiedAt !== undefined) return false;
  const { check } = await checkClaim(deps.openForge, holder);
  if (check === 'writes') await saveRepo(deps.store, holder, () => ({ verifiedAt: deps.clock.now() }));
  if (!UNFOUNDED.includes(check)) return false;
  try {
    await deps.store.buryRepo(holder);
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'lost_race') return false;
    throw error;
  }
  deps.log.warn('a claim that never was verified gave way', {
    tenant_id: holder.tenantId,
    repo_id: holder.id,
    reason: check,
  });
  await recordChange(deps, holder.tenantId, 'repo.displaced', holder.id);
  await tryWake(deps, holder.id);
  return true;
}
