import { AppError } from '../../contracts/errors.ts';
import { isSameGate, statusGateOf } from '../../domain/forge/status-gate.ts';
import type { TenantId } from '../../domain/ids.ts';
import { keepWebhook, type NotificationTargets } from '../../domain/notices/notice-ways.ts';
import { findBranchConflict } from '../../domain/repos/managed-branch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { QueueSettings } from '../../domain/repos/repo-settings.ts';
import { isStopAsked } from '../../domain/repos/stored-holds.ts';
import type { CiGate } from '../../domain/set-up/provisioning.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { NoticeRequestStore } from '../../ports/notifier.ts';
import type { DispatchStore, EnrollmentStore } from '../../ports/store.ts';
import type { Clock } from '../../ports/system.ts';
import { failedAs } from '../connections/denied.ts';
import { askNewMailbox } from '../notices/ask-confirmation.ts';
import { type NoticeTargetDeps, refuseForbiddenTargets } from '../notices/check-notice-targets.ts';
import { orDecryptionError, sealOldSecrets, sealTargets } from '../secrets/repo-secrets.ts';
import { changeStatusContext, type ProvisioningDeps, provisionRepo } from '../set-up/provisioning.ts';
import { recordChange } from '../tenants/audit.ts';
import { tryWake } from '../wakes/send-wakes.ts';
import { type StopDeps, stopQueue } from '../wind-down/stop-queue.ts';
import { loadOwnRepo } from './owned.ts';
import { saveRepo } from './save-repo.ts';

export interface UpdateDeps extends ProvisioningDeps, StopDeps, NoticeTargetDeps {
  readonly store: EnrollmentStore &
    StopDeps['store'] &
    NoticeRequestStore &
    Pick<DispatchStore, 'getRepo' | 'listReposAt' | 'listWindDowns'> &
    Pick<AccountStore, 'appendAudit'>;
  readonly clock: Clock;
}

export interface RepoChanges extends Partial<QueueSettings> {
  readonly statusContext?: string | undefined;
  readonly notification?: NotificationTargets | null | undefined;
}

/**
 * The engine looks at once after a change of any other setting, and of the switch where that is switched on. Freeze windows
 * hold from then on like a pause, a pull request may wait for another gate, and other settings may let something be staged
 * sooner. A reconcile under way ends at its next look.
 */
const QUIET_FIELDS: readonly string[] = ['notification', 'noticeTopics', 'queueEnabled'];

/** Settings of one repo, already validated as a whole (A65). Nothing to change is a success. */
export async function updateRepo(
  deps: UpdateDeps,
  tenantId: TenantId,
  id: string,
  changes: RepoChanges,
): Promise<ManagedRepo> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  const asked = definedOnly(changes);
  if (Object.keys(asked).length === 0) return repo;
  await refuseForbiddenTargets(deps, asked.notification ?? null);
  if (asked.statusContext !== undefined) await refuseTakenContext(deps, repo, asked.statusContext);
  const targets = asked.notification ?? null;
  const wanted =
    targets === null
      ? asked
      : { ...asked, notification: await orDecryptionError(sealTargets(deps.secrets, repo, targets)) };
  const stops = wanted.queueEnabled === false && repo.queueEnabled;
  const saved = await noteFailure(deps, repo, () =>
    stops ? stopQueue(deps, repo, () => store(deps, repo, wanted)) : store(deps, repo, wanted),
  );
  await recordChange(deps, tenantId, 'repo.update', repo.id);
  if (targets !== null) await askNewMailbox(deps, saved, repo);
  const mayGoOn = Object.keys(wanted).some((field) => !QUIET_FIELDS.includes(field));
  const isKeptOn = wanted.queueEnabled === true && isStopAsked(repo, deps.clock.now());
  if (isKeptOn) await deps.store.askStop(repo.id, deps.clock.now());
  if (saved.queueEnabled && (!repo.queueEnabled || mayGoOn || isKeptOn)) await tryWake(deps, repo.id);
  const hooks = saved.wakeupMode === 'webhook' && repo.wakeupMode !== 'webhook';
  return hooks ? (await provisionRepo(deps, saved)).repo : saved;
}

/** Before the forge is touched; the store refuses what is taken in between (A124). */
async function refuseTakenContext(deps: UpdateDeps, repo: ManagedRepo, statusContext: string): Promise<void> {
  if (statusContext === repo.statusContext) return;
  const wanted = { ...repo, statusContext };
  const conflict = findBranchConflict(await deps.store.listReposAt(repo), wanted);
  // A deleted branch may still have a success to take back under it.
  const left = (await deps.store.listWindDowns(repo)).find((each) => each.statusContext === statusContext);
  const id = conflict?.id ?? left?.id;
  if (id !== undefined) {
    throw new AppError('status_context_taken', { more: { existing_managed_repo_id: id } });
  }
}

/** Something may have been changed on the forge by then: a merge taken back, a rule edited. */
async function noteFailure<T>(deps: UpdateDeps, repo: ManagedRepo, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    await recordChange(deps, repo.tenantId, 'repo.update', repo.id, 'failed');
    throw error;
  }
}

function definedOnly(changes: RepoChanges): Partial<ManagedRepo> {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

/** A verdict on another gate proves nothing of this one; its probe may still do. */
function unverified(gate: CiGate): CiGate {
  return gate.status === 'verified' || gate.status === 'failed'
    ? { ...gate, status: 'awaiting_validation', url: null }
    : gate;
}

async function store(
  deps: UpdateDeps,
  repo: ManagedRepo,
  wanted: Partial<ManagedRepo>,
): Promise<ManagedRepo> {
  const now = deps.clock.now();
  const { statusContext, notification, ...rest } = wanted;
  const reseal = await orDecryptionError(sealOldSecrets(deps.secrets, repo));
  // Of the row as it is by then: a webhook that was set, or a gate that was verified, since `repo` was read stays.
  const change = (current: ManagedRepo): Partial<ManagedRepo> => ({
    ...reseal(current),
    ...rest,
    ...(notification === undefined ? {} : { notification: keepWebhook(notification, current.notification) }),
    // Switching on also lifts a stop that is older (tree_mismatch).
    ...(wanted.queueEnabled === true && !current.queueEnabled ? { enabledAt: now, dueAt: now } : {}),
    ...(isSameGate(statusGateOf(current), statusGateOf({ ...current, ...rest }))
      ? {}
      : { ciGate: unverified(current.ciGate) }),
    updatedAt: now,
  });
  if (statusContext !== undefined) {
    const changed = await changeStatusContext(deps, repo, statusContext, change);
    if (changed.kind !== 'done') throw failedAs(changed.kind);
    return changed.repo;
  }
  const saved = await saveRepo(deps.store, repo, change);
  if (typeof saved === 'string') throw new AppError(saved === 'gone' ? 'not_found' : 'db_error');
  return saved;
}
