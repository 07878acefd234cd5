import { HOUR_MS, MINUTE_MS } from '../api-limits.ts';
import type { EpochMs, RepoId, TenantId } from '../ids.ts';
import type { ActivityEvent } from '../queue/batch.ts';
import type { NoticeTopic } from './notice-topics.ts';

export const DELIVERY_KINDS = ['bounced', 'refused', 'landed', 'stuck', 'drift', 'test'] as const;
export type DeliveryKind = NoticeTopic | 'test';

export const DELIVERY_STATES = ['waiting', 'delivered', 'given_up'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** Names one delivery to the store. */
export interface DeliveryName {
  readonly repoId: RepoId;
  /** Time of what it tells. */
  readonly at: EpochMs;
  /** The same for the same news: the receiver drops one that it has had. Letters, digits, `_` and `-`. */
  readonly id: string;
}

/** A delivery whose next attempt is due. */
export interface DueDelivery extends DeliveryName {
  readonly tenantId: TenantId;
}

/** Takes one delivery of each tenant in turn, until there are `limit` of them. */
export function shareByTenant(
  tenants: readonly (readonly DueDelivery[])[],
  limit: number,
): readonly DueDelivery[] {
  const shared: DueDelivery[] = [];
  for (let turn = 0; shared.length < limit; turn += 1) {
    const had = shared.length;
    for (const due of tenants) {
      const next = due[turn];
      if (next !== undefined && shared.length < limit) shared.push(next);
    }
    if (shared.length === had) break;
  }
  return shared;
}

/** One signed request to the webhook of a repository, until its receiver has taken it. */
export interface Delivery extends DeliveryName {
  readonly tenantId: TenantId;
  readonly kind: DeliveryKind;
  readonly body: string;
  readonly state: DeliveryState;
  readonly attempts: number;
  /** Answer to the last attempt; null: none came, or nothing was tried yet. */
  readonly status: number | null;
  readonly triedAt: EpochMs | null;
  /** Null exactly when it is not waiting. */
  readonly nextAt: EpochMs | null;
}

/** After each attempt, as the Standard Webhooks specification proposes; the tick finds what is due, so none is shorter. */
export const RETRY_DELAYS_MS: readonly number[] = [
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  ...[2, 5, 10, 14, 20, 24].map((hours) => hours * HOUR_MS),
];

const GONE = 410;

/** The name of a delivery about an event of a pull request. */
export function nameOfTelling(
  topic: NoticeTopic,
  { repoId, pr, at }: Pick<ActivityEvent, 'repoId' | 'pr' | 'at'>,
): DeliveryName {
  return { repoId, at, id: `${topic}_${repoId}_${pr}_${at}` };
}

/** Before the first attempt: a crash in between leaves it to the tick. */
export function newDelivery(
  name: DeliveryName,
  told: Pick<Delivery, 'tenantId' | 'kind' | 'body'>,
  now: EpochMs,
): Delivery {
  const nextAt = now + (RETRY_DELAYS_MS[0] ?? 0);
  return { ...name, ...told, state: 'waiting', attempts: 0, status: null, triedAt: null, nextAt };
}

export function afterAttempt(delivery: Delivery, status: number | null, now: EpochMs): Delivery {
  const attempts = delivery.attempts + 1;
  const tried = { ...delivery, attempts, status, triedAt: now };
  if (status !== null && status >= 200 && status < 300) return { ...tried, state: 'delivered', nextAt: null };
  const delayMs = RETRY_DELAYS_MS[attempts - 1];
  if (status === GONE || delayMs === undefined) return { ...tried, state: 'given_up', nextAt: null };
  return { ...tried, nextAt: now + delayMs };
}
