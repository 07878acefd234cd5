import type { EpochMs, RepoId } from '../domain/ids.ts';
import type { Delivery, DeliveryName, DueDelivery } from '../domain/notices/webhook-delivery.ts';

export interface DeliveryStore {
  /** False: it is there already, or the repo is gone. */
  addDelivery(delivery: Delivery): Promise<boolean>;
  loadDelivery(name: DeliveryName): Promise<Delivery | null>;
  /** False: another attempt was noted since `seen` was read. */
  noteAttempt(seen: Delivery, next: Delivery): Promise<boolean>;
  /** Of one repo, newest first. */
  listDeliveries(repoId: RepoId, limit: number): Promise<readonly Delivery[]>;
  /**
   * Waiting ones whose next attempt is due, shared out among the tenants that have any, those of a tenant oldest first. An
   * index: a hint, never the truth (E8).
   */
  listDueDeliveries(now: EpochMs, limit: number): Promise<readonly DueDelivery[]>;
}
