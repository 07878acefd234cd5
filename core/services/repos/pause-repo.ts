import { AppError } from '../../contracts/errors.ts';
import { PAUSE_MS_MAX } from '../../domain/api-limits.ts';
import type { EpochMs, TenantId } from '../../domain/ids.ts';
import type { PauseKind } from '../../domain/repos/pause.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { WakeQueue } from '../../ports/system.ts';
import { type AuditDeps, recordChange } from '../tenants/audit.ts';
import { tryWake, type WakeDeps } from '../wakes/send-wakes.ts';
import { loadOwnRepo } from './owned.ts';
import { type RepoStore, saveRepo } from './save-repo.ts';

export interface PauseDeps extends AuditDeps, Pick<WakeDeps, 'clock'> {
  readonly store: RepoStore & AuditDeps['store'] & WakeDeps['store'];
  readonly queue: Pick<WakeQueue, 'sendWake'>;
  readonly clock: WakeDeps['clock'];
}

export interface WantedPause {
  readonly kind: PauseKind;
  readonly reason: string | null;
  readonly until: EpochMs | null;
}

/** Null resumes. The engine is woken at once; what it has begun of a step when the change is stored, it ends. */
export async function pauseRepo(
  deps: PauseDeps,
  tenantId: TenantId,
  id: string,
  wanted: WantedPause | null,
): Promise<ManagedRepo> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  const now = deps.clock.now();
  const until = wanted?.until ?? null;
  if (until !== null && (until <= now || until > now + PAUSE_MS_MAX))
    throw new AppError('invalid_field', { field: 'until' });
  const pause = wanted === null ? null : { ...wanted, since: now };
  const saved = await saveRepo(deps.store, repo, () => ({ pause, updatedAt: now }));
  if (typeof saved === 'string') throw new AppError(saved === 'gone' ? 'not_found' : 'db_error');
  await recordChange(deps, tenantId, wanted === null ? 'repo.resume' : `repo.${wanted.kind}`, repo.id);
  await tryWake(deps, repo.id);
  return saved;
}
