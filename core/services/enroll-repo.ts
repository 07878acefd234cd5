import { AppError } from '../contracts/errors.ts';
import type { TenantId } from '../domain/ids.ts';
import type { NotificationTargets } from '../domain/notification.ts';
import { UNPROVISIONED } from '../domain/provisioning.ts';
import type { ManagedRepo, MergeStyle, WakeupMode } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';
import type { DispatchStore, EnrollmentStore } from '../ports/store.ts';
import type { Clock, WakeQueue } from '../ports/system.ts';
import { recordChange } from './audit.ts';
import { loadOwnConnection } from './owned.ts';
import { type PlanDeps, readCeiling } from './plans.ts';
import { type ProvisioningDeps, provisionRepo } from './provisioning.ts';
import { tryWake } from './wake.ts';

export interface EnrollDeps extends ProvisioningDeps, PlanDeps {
  readonly store: EnrollmentStore &
    Pick<DispatchStore, 'getConnection' | 'getRepo' | 'markDue'> &
    Pick<AccountStore, 'loadPlan' | 'appendAudit'>;
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: Clock;
  /** Default of the status context (D-91). */
  readonly serviceName: string;
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

/** One run at a time until the owner allows more: each costs the forge a runner. */
const DEFAULT_FANOUT = 1;

/** Takes a repository under management. Order of refusals: not yours, taken, over the ceiling. */
export async function enrollRepo(
  deps: EnrollDeps,
  tenantId: TenantId,
  wanted: Enrollment,
): Promise<ManagedRepo> {
  const connection = await loadOwnConnection(deps.store, tenantId, wanted.connectionId);
  const { repos: reposMax } = await readCeiling(deps, tenantId);
  const now = deps.clock.now();
  const repo: ManagedRepo = {
    ...{ id: deps.ids.uuid(), tenantId, connectionId: connection.id, instanceUrl: connection.instanceUrl },
    slug: wanted.slug,
    // Contract, managed repos, rule 1 (A66).
    baseBranch: wanted.baseBranch ?? 'main',
    statusContext: wanted.statusContext ?? deps.serviceName,
    mergeStyle: wanted.mergeStyle ?? 'squash',
    automerge: wanted.automerge ?? false,
    wakeupMode: wanted.wakeupMode ?? 'poll',
    ...{ queueEnabled: true, enabledAt: now, batchLingerSeconds: 0, batchTarget: 0 },
    bisectFanout: DEFAULT_FANOUT,
    ...{ webhookSecret: null, hookId: null, ...UNPROVISIONED, notification: wanted.notification },
    ...{ wakeSeq: 0, dueAt: now, createdAt: now, updatedAt: now, version: 1, tombstone: false },
  };
  const result = await deps.store.createRepo(repo, reposMax);
  if (result === 'connection_gone') throw new AppError('not_found');
  if (result === 'limit_reached') {
    throw new AppError('repo_limit_exceeded', { portal: '/api/v1/billing/portal' });
  }
  if (result !== 'created') {
    throw new AppError('repo_already_managed', {
      more: { existing_tenant_id: result.managedBy, existing_managed_repo_id: result.id },
    });
  }
  await recordChange(deps, tenantId, 'repo.enroll', repo.id);
  await tryWake(deps, repo.id);
  if (repo.wakeupMode !== 'webhook') return repo;
  // Best effort: how it went is in the answer's provisioning (contract, Other rules 2).
  return (await provisionRepo(deps, repo)).repo;
}
