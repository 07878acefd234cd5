import { AppError } from '../../contracts/errors.ts';
import {
  BILLING_CHECKOUT_PATH,
  BILLING_PORTAL_PATH,
  toBillingSummary,
} from '../../contracts/tenants/billing.ts';
import type { TenantId } from '../../domain/ids.ts';
import { BILLING_WRITE_TRIES_MAX } from '../../domain/limits.ts';
import { FREE_PLAN, isEntitling, type PaidTier } from '../../domain/tenants/billing.ts';
import {
  chooseSubscription,
  matchTier,
  moveItems,
  PAID_FOR_NOTHING,
  type PriceBook,
  type Subscription,
  seePlan,
} from '../../domain/tenants/subscription.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { BillingAccount, BillingStore, StoredBilling } from '../../ports/billing-store.ts';
import { type OpenPayments, type Payments, PaymentsError } from '../../ports/payments.ts';
import { type EnrollmentStore, StoreError } from '../../ports/store.ts';
import type { Clock, Ids, Log } from '../../ports/system.ts';
import { recordChange } from '../tenants/audit.ts';
import { type PlanDeps, readPlan } from './plans.ts';

export interface BillingDeps extends PlanDeps {
  readonly store: BillingStore &
    Pick<AccountStore, 'loadTenant' | 'loadPlan' | 'appendAudit'> &
    Pick<EnrollmentStore, 'createTenant'>;
  readonly openPayments: OpenPayments;
  /** Null: nothing is sold. */
  readonly prices: PriceBook | null;
  /** Where people come back to from the provider's pages; never from a request (D-57). */
  readonly billingPageUrl: string;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly log: Log;
}

interface Provider {
  readonly payments: Payments;
  readonly prices: PriceBook;
}

/** The billing summary. Numbers that cannot be read are `billing_unavailable`, never zero or free (A108). */
export async function readBillingSummary(
  deps: BillingDeps,
  tenantId: TenantId,
): Promise<ReturnType<typeof toBillingSummary>> {
  const plan = await readPlan(deps.store, tenantId);
  const tenant = await askStore('billing_unavailable', () => deps.store.loadTenant(tenantId));
  const used = { connections: tenant?.connections ?? 0, repos: tenant?.repos ?? 0 };
  return toBillingSummary(plan, used, deps.planLimits);
}

/**
 * Address of the page on which a person buys a tier. The provider knows nothing of one subscription for each customer, so
 * pages that are open are closed before it is asked what the customer has: what was paid on one of them is listed then.
 */
export async function startCheckout(deps: BillingDeps, tenantId: TenantId, tier: PaidTier): Promise<string> {
  const { payments, prices } = await openProvider(deps);
  const account = await loadAccount(deps, tenantId);
  if (account !== null && account.tier !== 'free' && isEntitling(account.status)) {
    throw new AppError('subscription_exists');
  }
  const customerId = await openCustomer(deps, payments, tenantId, account?.customerId ?? null);
  await askProvider(deps, () => payments.closeCheckouts(customerId, deps.ids.uuid()));
  if (isPaid(await askProvider(deps, () => payments.listSubscriptions(customerId)))) {
    await followNow(deps, { payments, prices }, tenantId, customerId, 'billing_unavailable');
    throw new AppError('subscription_exists');
  }
  const order = {
    tenantId,
    customerId,
    tier,
    prices: prices[tier],
    successUrl: `${deps.billingPageUrl}?checkout=success`,
    cancelUrl: `${deps.billingPageUrl}?checkout=cancel`,
  };
  const url = await askProvider(deps, () => payments.openCheckout(order, deps.ids.uuid()));
  // Not handed out to a tenant that left meanwhile: its other pages are closed already.
  const tenant = await askStore('billing_unavailable', () => deps.store.loadTenant(tenantId));
  if (tenant === null || tenant.deleting) throw new AppError('billing_unavailable');
  if (url === null) throw new AppError('billing_unavailable', { message: REPLACED });
  return url;
}

const REPLACED = 'Another payment page of this account was opened at the same time, and that one counts.';

/** A subscription that was paid is listed before its event arrives. One that does not entitle refuses nothing (the contract's error table). */
function isPaid(listed: readonly Subscription[]): boolean {
  const living = chooseSubscription(listed);
  return living !== null && living.status !== 'ended' && isEntitling(living.status);
}

/**
 * Makes up for an event that was lost: the provider tries for three days, and sends none of the time in which its endpoint is
 * disabled (https://docs.stripe.com/webhooks/process-undelivered-events). Who is asked for here wants to pay, or has paid.
 */
async function followNow(
  deps: BillingDeps,
  provider: Provider,
  tenantId: TenantId,
  customerId: string,
  code: 'billing_unavailable' | 'payments_error',
): Promise<void> {
  // Where other writers were always faster, they have stored it.
  await askStore(code, () =>
    askProvider(deps, () => followProvider(deps, provider, tenantId, customerId, null)),
  );
}

/** One that was deleted at the provider buys nothing any more (https://docs.stripe.com/api/customers/delete). */
async function openCustomer(
  deps: BillingDeps,
  payments: Payments,
  tenantId: TenantId,
  stored: string | null,
): Promise<string> {
  if (stored !== null && !(await askProvider(deps, () => payments.isCustomerDeleted(stored)))) return stored;
  return becomeCustomer(deps, payments, tenantId, stored);
}

/**
 * The customer is stored before a payment is possible: whatever the provider says of it later finds its tenant, also when this
 * function dies right after.
 */
async function becomeCustomer(
  deps: BillingDeps,
  payments: Payments,
  tenantId: TenantId,
  instead: string | null,
): Promise<string> {
  const customerId = await askProvider(deps, () => payments.createCustomer(tenantId, instead));
  return askStore('billing_unavailable', async () => {
    await deps.store.createTenant(tenantId, deps.clock.now());
    if (instead !== null) await deps.store.forgetCustomer(instead);
    for (let tried = 0; tried < BILLING_WRITE_TRIES_MAX; tried += 1) {
      const stored = await deps.store.loadBilling(tenantId);
      // Two first checkouts at once: the provider gave both the same customer, or the first one stored counts.
      if (stored?.customerId != null && stored.customerId !== instead) return stored.customerId;
      const account: BillingAccount = {
        tier: stored?.tier ?? FREE_PLAN.tier,
        status: stored?.status ?? FREE_PLAN.status,
        customerId,
        subscriptionId: stored?.subscriptionId ?? null,
      };
      const saved = await deps.store.saveBilling(tenantId, account, stored?.version ?? null, null);
      if (saved === 'saved') return customerId;
      if (saved === 'tenant_gone') break;
    }
    throw new AppError('billing_unavailable');
  });
}

/** Moves the subscription to another tier; the stored tier follows only what the provider accepted (A110). */
export async function changePlan(deps: BillingDeps, tenantId: TenantId, tier: PaidTier): Promise<PaidTier> {
  const account = await loadAccount(deps, tenantId);
  const noSubscription = new AppError('no_active_subscription', {
    more: { checkout: BILLING_CHECKOUT_PATH },
  });
  if (account?.tier === tier) throw new AppError('already_on_tier');
  if (account === null || account.tier === 'free') throw noSubscription;
  const { payments, prices } = await openProvider(deps);
  const { customerId } = account;
  // A plan that was given by hand, without a payment for it.
  if (customerId === null) throw noSubscription;
  const listed = await askProvider(deps, () => payments.listSubscriptions(customerId));
  const subscription = chooseSubscription(listed);
  // One whose first payment is still open cannot be changed, only paid or abandoned.
  if (subscription === null || subscription.status === 'incomplete') throw noSubscription;
  const moves = moveItems(prices, subscription.items, tier);
  if (moves === null) {
    throw new AppError('subscription_state_mismatch', { portal: BILLING_PORTAL_PATH });
  }
  // Accepted by an earlier request that could not store it: nothing is left to ask for.
  const isThere = matchTier(prices, subscription.items) === tier;
  const moved = isThere
    ? subscription
    : await askProvider(deps, () =>
        payments.moveSubscription(
          { tenantId, subscriptionId: subscription.id, tier, moves },
          deps.ids.uuid(),
        ),
      );
  const others = listed.filter((each) => each.id !== moved.id);
  await storeMovedPlan(deps, { payments, prices }, tenantId, account, [moved, ...others]);
  await recordChange(deps, tenantId, 'billing.change_plan', tier);
  return tier;
}

/**
 * The provider's answer was true after `account` was read; if no call wrote since, it is the newest there is. Else an
 * event was faster, and the provider is asked again.
 */
async function storeMovedPlan(
  deps: BillingDeps,
  provider: Provider,
  tenantId: TenantId,
  account: StoredBilling,
  seen: readonly Parameters<typeof seePlan>[1][number][],
): Promise<void> {
  const { customerId, version } = account;
  const { tier, status, subscriptionId } = seePlan(provider.prices, seen, account.tier);
  const next: BillingAccount = { tier, status, subscriptionId, customerId };
  const saved = await askStore('db_error', () => deps.store.saveBilling(tenantId, next, version, null));
  if (saved === 'saved' || saved === 'tenant_gone') return;
  const settled = await askStore('db_error', () =>
    followProvider(deps, provider, tenantId, customerId ?? '', null),
  ).catch((error: unknown) => {
    throw error instanceof PaymentsError ? new AppError('db_error') : error;
  });
  if (settled === 'lost_race') throw new AppError('db_error');
}

export interface FollowDeps {
  readonly store: Pick<BillingStore, 'loadBilling' | 'saveBilling'>;
  readonly log: Log;
}

/**
 * Stores what the provider reports now. The row's version is read before the provider is asked, and the write needs that
 * version: so of two writers the one who asked later wins, whatever order their events came in (A105). Throws `StoreError`
 * and `PaymentsError`.
 */
export async function followProvider(
  deps: FollowDeps,
  provider: { readonly payments: Pick<Payments, 'listSubscriptions'>; readonly prices: PriceBook },
  tenantId: TenantId,
  customerId: string,
  eventId: string | null,
): Promise<'saved' | 'seen' | 'tenant_gone' | 'lost_race'> {
  for (let tried = 0; tried < BILLING_WRITE_TRIES_MAX; tried += 1) {
    const stored = await deps.store.loadBilling(tenantId);
    const listed = await provider.payments.listSubscriptions(customerId);
    const seen = seePlan(provider.prices, listed, stored?.tier ?? FREE_PLAN.tier);
    noteSecond(deps.log, tenantId, listed);
    if (seen.source !== 'prices' && seen.source !== 'none') {
      deps.log.warn('a subscription is not what the price book says', {
        tenant_id: tenantId,
        tier: seen.tier,
        source: seen.source,
      });
    }
    const { tier, status, subscriptionId } = seen;
    const account: BillingAccount = { tier, status, subscriptionId, customerId };
    const saved = await deps.store.saveBilling(tenantId, account, stored?.version ?? null, eventId);
    // Its own end, which the offboarding asked for, is told as well.
    if (saved === 'tenant_gone' && listed.some(isLiving)) {
      deps.log.warn(PAID_FOR_NOTHING.gone, { tenant_id: tenantId, event_id: eventId });
    }
    if (saved !== 'lost_race') return saved;
  }
  return 'lost_race';
}

const isLiving = ({ status }: Subscription): boolean => status !== 'ended';

/** Which of them is to end is for a person to say: each may be the one that the customer means to keep. */
function noteSecond(log: Log, tenantId: TenantId, listed: readonly Subscription[]): void {
  const living = listed.filter(isLiving);
  if (living.length < 2) return;
  log.error(PAID_FOR_NOTHING.second, { tenant_id: tenantId, subscriptions: living.map(({ id }) => id) });
}

/** Address of the provider's page for payment methods and cancellation. */
export async function openPortal(deps: BillingDeps, tenantId: TenantId): Promise<string> {
  const provider = await openProvider(deps);
  const { payments } = provider;
  // The contract gives this route no code for a store that fails; it is the provider's page that cannot be opened.
  const account = await askStore('payments_error', () => deps.store.loadBilling(tenantId));
  const customerId = account?.customerId ?? null;
  if (account === null || customerId === null) {
    throw new AppError('no_active_subscription', { more: { checkout: BILLING_CHECKOUT_PATH } });
  }
  // One that entitles may have been given by hand: the provider knows nothing of it.
  if (!isEntitling(account.status)) await followNow(deps, provider, tenantId, customerId, 'payments_error');
  return askProvider(deps, () => payments.openPortal(customerId, deps.billingPageUrl, deps.ids.uuid()));
}

async function openProvider(deps: BillingDeps): Promise<Provider> {
  const payments = await askProvider(deps, () => deps.openPayments());
  if (payments === null || deps.prices === null) throw new AppError('payments_not_configured');
  return { payments, prices: deps.prices };
}

async function loadAccount(deps: BillingDeps, tenantId: TenantId): Promise<StoredBilling | null> {
  return askStore('billing_unavailable', () => deps.store.loadBilling(tenantId));
}

/** A store that does not answer, as the one code that callers of this call learn. */
async function askStore<T>(
  code: 'billing_unavailable' | 'db_error' | 'payments_error',
  run: () => Promise<T>,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StoreError) throw new AppError(code);
    throw error;
  }
}

/** The provider's refusal or silence as the one code that callers learn. */
export async function askProvider<T>(deps: Pick<BillingDeps, 'log'>, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error;
    const { kind, operation, status } = error;
    deps.log.warn('the payment provider said no or nothing', { kind, operation, upstream_status: status });
    throw new AppError('payments_error');
  }
}
