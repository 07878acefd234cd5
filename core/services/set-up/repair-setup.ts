import type { EpochMs, RepoId } from '../../domain/ids.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { findDrifts } from '../../domain/set-up/drift.ts';
import type { ProvisioningRecord } from '../../domain/set-up/provisioning.ts';
import { noteBegun, noteEnded, planRepairs } from '../../domain/set-up/repair.ts';
import type { RepairKind } from '../../domain/set-up/repair-note.ts';
import { type AccountStore, BY_SERVICE } from '../../ports/account-store.ts';
import type { ForgeAdmin } from '../../ports/forge-admin.ts';
import type { RepairAsker } from '../../ports/repair.ts';
import { type DispatchStore, StoreError } from '../../ports/store.ts';
import type { Clock, Log } from '../../ports/system.ts';
import { saveRepo } from '../repos/save-repo.ts';
import { recordChange } from '../tenants/audit.ts';
import { tryWake, type WakeDeps } from '../wakes/send-wakes.ts';
import { requireContext } from './branch-protection.ts';
import type { ProvisioningDeps } from './provisioning.ts';
import { registerWebhook } from './webhook-registration.ts';

export interface RepairDeps extends ProvisioningDeps {
  readonly store: ProvisioningDeps['store'] &
    WakeDeps['store'] &
    Pick<DispatchStore, 'loadReconcileOutcome'> &
    Pick<AccountStore, 'appendAudit'>;
  readonly queue: WakeDeps['queue'];
  readonly clock: Clock;
}

/**
 * Puts back what drifted from the set-up, where the owner allowed it. Each try is stored before the forge is touched, so
 * that one which dies counts; another writer of the row in between makes this do nothing, and the next look asks again.
 */
export async function repairSetup(deps: RepairDeps, repoId: RepoId): Promise<readonly RepairKind[]> {
  const repo = await deps.store.getRepo(repoId);
  if (repo === null) return [];
  const outcome = (await deps.store.loadReconcileOutcome(repo)) ?? undefined;
  const now = deps.clock.now();
  const kinds = planRepairs(repo, findDrifts({ repo, outcome, view: undefined }), now);
  if (kinds.length === 0) return [];
  const begun = await begin(deps, { ...repo, repairs: noteBegun(repo, kinds, now) });
  if (begun === null) return [];
  const opened = await deps.openForge(begun);
  let current = begun;
  for (const kind of kinds) {
    const repaired = opened.kind === 'open' ? await putBack(deps, opened.forge, current, kind) : null;
    current = await end(deps, repaired?.repo ?? current, { kind, at: now, seen: repaired?.seen ?? null });
  }
  await tryWake(deps, repoId);
  return kinds;
}

async function begin(deps: RepairDeps, repo: ManagedRepo): Promise<ManagedRepo | null> {
  try {
    return await deps.store.updateRepo(repo);
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'lost_race') return null;
    throw error;
  }
}

interface PutBack {
  readonly repo: ManagedRepo;
  readonly seen: Partial<ProvisioningRecord>;
}

/** Null: it could not be put back; what the set-up had observed stays, so that the drift goes on being told. */
async function putBack(
  deps: RepairDeps,
  forge: ForgeAdmin,
  repo: ManagedRepo,
  kind: RepairKind,
): Promise<PutBack | null> {
  if (kind === 'webhook') {
    const { seen, repo: saved, stored } = await registerWebhook(deps, forge, repo);
    return stored && seen === 'registered' ? { repo: saved, seen: { webhook: seen } } : null;
  }
  const protection = await requireContext(forge, repo, {
    queueName: deps.queueName,
    context: repo.statusContext,
    strayContexts: repo.provisioning.strayContexts.filter((context) => context !== repo.statusContext),
    mayWrite: repo.ciGate.status === 'verified',
  });
  return protection.kind === 'required' ? { repo, seen: { protection } } : null;
}

interface Ended {
  readonly kind: RepairKind;
  readonly at: EpochMs;
  /** Null: it failed. */
  readonly seen: Partial<ProvisioningRecord> | null;
}

async function end(deps: RepairDeps, repo: ManagedRepo, { kind, at, seen }: Ended): Promise<ManagedRepo> {
  const result = seen === null ? 'failed' : 'done';
  const now = deps.clock.now();
  const saved = await saveRepo(deps.store, repo, (current) => ({
    repairs: noteEnded(current.repairs, { kind, at, result }),
    ...(seen === null ? {} : { provisioning: { ...current.provisioning, ...seen, lastProvisionedAt: now } }),
  }));
  deps.log.info('a repair of a drift ended', { repo_id: repo.id, part: kind, result });
  const note = result === 'done' ? 'ok' : 'failed';
  await recordChange(deps, repo.tenantId, `repo.repair_${kind}`, repo.id, note, BY_SERVICE);
  return typeof saved === 'string' ? repo : saved;
}

export interface RepairWishDeps {
  readonly store: Pick<DispatchStore, 'loadReconcileOutcome'>;
  readonly repairs: RepairAsker;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Pick<Log, 'warn'>;
}

/** After a look: asks for what is to be put back. A wish that is lost is made again by the next look. */
export async function wishRepairs(deps: RepairWishDeps, repo: ManagedRepo): Promise<void> {
  if (!repo.repairSetup) return;
  try {
    const outcome = (await deps.store.loadReconcileOutcome(repo)) ?? undefined;
    const drifts = findDrifts({ repo, outcome, view: undefined });
    if (planRepairs(repo, drifts, deps.clock.now()).length > 0) await deps.repairs.ask(repo.id);
  } catch (error) {
    deps.log.warn('a repair could not be asked for', { repo_id: repo.id, error });
  }
}
