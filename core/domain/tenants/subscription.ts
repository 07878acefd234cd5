import type { EpochMs, TenantId } from '../ids.ts';
import {
  BILLING_STATUSES,
  type BillingStatus,
  isEntitling,
  PAID_TIERS,
  type PaidTier,
  type Plan,
  type Tier,
} from './billing.ts';

/** The name of the flat charge of a tier in its price set. All other kinds are charged by usage. */
export const FLAT_KIND = 'flat';

/** Price ids of one tier by what they charge for; `flat` is in every set. */
export type PriceSet = Readonly<Record<string, string>>;

/** Both sets have the same kinds, and no price id stands twice. */
export type PriceBook = Readonly<Record<PaidTier, PriceSet>>;

export interface SubscriptionItem {
  readonly id: string;
  readonly priceId: string;
}

/** A subscription as the payment provider reports it. */
export interface Subscription {
  readonly id: string;
  readonly customerId: string;
  /** `unknown`: a status of the provider that the contract does not list (D-56). `ended`: it will never pay again. */
  readonly status: BillingStatus | 'ended';
  readonly items: readonly SubscriptionItem[];
  /** From the metadata that we wrote when it began: may be stale (D-59). Null: none, or no tier. */
  readonly tierNoted: PaidTier | null;
  readonly tenantNoted: TenantId | null;
  readonly createdAt: EpochMs;
}

/** Lines of the log that raise an alarm: a customer is charged for nothing. An operator cancels and refunds that. */
export const PAID_FOR_NOTHING = {
  second: 'a customer has two living subscriptions',
  gone: 'a subscription outlives its tenant',
} as const;

const ENDED_STATUSES: readonly string[] = ['canceled', 'incomplete_expired'];

export function readStatus(text: string): Subscription['status'] {
  if (ENDED_STATUSES.includes(text)) return 'ended';
  return BILLING_STATUSES.find((status) => status === text) ?? 'unknown';
}

/**
 * The one subscription of a customer that counts: one that entitles before one that does not, then the newest. Ended ones
 * never. A pure function of what the provider lists, so that no order of events can matter (A105).
 */
export function chooseSubscription(listed: readonly Subscription[]): Subscription | null {
  const alive = listed.filter((each) => each.status !== 'ended');
  const rank = (each: Subscription): number => (each.status !== 'ended' && isEntitling(each.status) ? 0 : 1);
  const [best] = alive.sort(
    (a, b) => rank(a) - rank(b) || b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1),
  );
  return best ?? null;
}

export interface ItemMove {
  readonly id: string;
  readonly priceId: string;
}

/** The tier whose price set the items are: every kind once and nothing else. Null: no tier's. */
export function matchTier(book: PriceBook, items: readonly SubscriptionItem[]): PaidTier | null {
  return PAID_TIERS.find((tier) => matchKinds(book[tier], items) !== null) ?? null;
}

function matchKinds(
  set: PriceSet,
  items: readonly SubscriptionItem[],
): ReadonlyMap<string, SubscriptionItem> | null {
  const found = new Map<string, SubscriptionItem>();
  for (const item of items) {
    const kind = Object.keys(set).find((each) => set[each] === item.priceId);
    if (kind === undefined || found.has(kind)) return null;
    found.set(kind, item);
  }
  return found.size === Object.keys(set).length ? found : null;
}

/** Every item moved to its own kind's price on the target tier; null when the items are no tier's price set. */
export function moveItems(
  book: PriceBook,
  items: readonly SubscriptionItem[],
  target: PaidTier,
): readonly ItemMove[] | null {
  const current = matchTier(book, items);
  const kinds = current === null ? null : matchKinds(book[current], items);
  if (kinds === null) return null;
  return [...kinds].map(([kind, item]) => ({ id: item.id, priceId: book[target][kind] ?? '' }));
}

export interface SeenPlan extends Plan {
  /** Null: there is no living subscription. */
  readonly subscriptionId: string | null;
  /** Where the tier came from; anything but `prices` is worth a line in the log (D-59). */
  readonly source: 'prices' | 'prices_against_metadata' | 'metadata' | 'stored' | 'none';
}

/** The plan of a tenant, by the list of its customer at the provider. `stored` is the tier that was known until now. */
export function seePlan(book: PriceBook, listed: readonly Subscription[], stored: Tier): SeenPlan {
  const chosen = chooseSubscription(listed);
  // Downgraded, and not as if nothing had ever been bought: repos beyond the free allowance are held from here on.
  if (chosen === null || chosen.status === 'ended') {
    return { tier: 'free', status: 'canceled', subscriptionId: null, source: 'none' };
  }
  const { id: subscriptionId, status, tierNoted } = chosen;
  const flat = PAID_TIERS.filter((tier) =>
    chosen.items.some(({ priceId }) => priceId === book[tier][FLAT_KIND]),
  );
  // Two flat charges at once are no tier of ours.
  const [priced] = flat.length === 1 ? flat : [];
  if (priced !== undefined) {
    const agrees = tierNoted === null || tierNoted === priced;
    return { tier: priced, status, subscriptionId, source: agrees ? 'prices' : 'prices_against_metadata' };
  }
  if (tierNoted !== null) return { tier: tierNoted, status, subscriptionId, source: 'metadata' };
  return { tier: stored, status, subscriptionId, source: 'stored' };
}
