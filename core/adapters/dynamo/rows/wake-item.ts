import type { EpochMs, RepoId, TenantId } from '../../../domain/ids.ts';
import { flag, nullable, optional, record, text, whole } from './codec.ts';

/** Wake state of a repository. It is a row of its own, so that a wake never conflicts with a PATCH. */
export interface WakeState {
  readonly repoId: RepoId;
  readonly tenantId: TenantId;
  /** Whether it is looked at: the queue is on and the repository is not being deleted, or a last look is to come. */
  readonly enabled: boolean;
  readonly wakeSeq: number;
  readonly dueAt: EpochMs | null;
  readonly stopUntil: EpochMs | undefined;
  readonly deliveryHeardAt: EpochMs | undefined;
  readonly statusHeardAt: EpochMs | undefined;
  readonly runHeardAt: EpochMs | undefined;
}

export const wakeState = record<WakeState>({
  repoId: ['repo_id', text],
  tenantId: ['tenant_id', text],
  enabled: ['enabled', flag],
  wakeSeq: ['wake_seq', whole],
  dueAt: ['due_at', nullable(whole)],
  stopUntil: ['stop_until', optional(whole)],
  deliveryHeardAt: ['delivery_heard_at', optional(whole)],
  statusHeardAt: ['status_heard_at', optional(whole)],
  runHeardAt: ['run_heard_at', optional(whole)],
});
