import type { ResultOf } from '#core/contracts/routes/client.ts';
import { plural } from './format.ts';

export type Billing = ResultOf<'readBilling'>;
export type Plan = ResultOf<'readPlans'>['plans'][number];

/**
 * The offers of now. `first`: a subscription. `change`: another tier on the one there is. `settle`: nothing, until
 * what is open on the one there is has been paid; a second one would be paid beside it.
 */
export type Offer = 'first' | 'change' | 'settle';

export interface BillingAdvice {
  readonly offer: Offer;
  /** Why less is granted than was bought, and what to do; null where nothing is wrong. */
  readonly problem: string | null;
}

/** Repositories beyond what the free plan includes wait while nothing entitles to more. */
function sayHeld(billing: Billing): string {
  const { repos: included } = billing.limits.included;
  const held = included === null ? 0 : Math.max(0, billing.repos - included);
  return held === 0
    ? ''
    : ` ${plural(held, 'repository is', 'repositories are')} held: only your oldest ${included === 1 ? 'one goes' : `${included} go`} on.`;
}

const OPEN: Readonly<Record<string, string>> = {
  past_due:
    'The last payment failed: give a working payment method, then pay the open invoice in the list of the payment provider.',
  incomplete: 'The first payment is still open.',
  paused: 'The subscription is paused.',
};

export function adviseBilling(billing: Billing): BillingAdvice {
  const entitles = billing.status === 'active' || billing.status === 'trialing';
  if (billing.tier !== 'free') {
    if (entitles) return { offer: 'change', problem: null };
    const why = OPEN[billing.status] ?? 'The payment provider did not confirm the subscription.';
    return {
      offer: 'settle',
      problem: `${why} Until it is settled the plan counts as ${billing.entitled_tier}.${sayHeld(billing)} Settle it with the button below; everything goes on by itself then.`,
    };
  }
  // Never bought anything: nothing is held, whatever there is.
  if (entitles) return { offer: 'first', problem: null };
  const held = sayHeld(billing);
  return {
    offer: 'first',
    problem:
      held === ''
        ? null
        : `Your subscription has ended.${held} Choose a plan below to pay for them again, or delete those that you do not need.`,
  };
}

export function planOf(list: ResultOf<'readPlans'> | undefined, tier: Plan['tier']): Plan | undefined {
  return list?.plans.find((plan) => plan.tier === tier);
}

/** `€29.00 a month`; in words where it is not known, never as free. A change of plan goes through no payment page. */
export function sayPrice(price: Plan['price'], offer: Offer): string {
  if (price === null)
    return offer === 'change'
      ? 'The price is not known here; the invoice names it.'
      : 'The price is not known here; the payment page shows it before anything is charged.';
  const { amount, currency, interval, interval_count: count } = price;
  const money = new Intl.NumberFormat('en', { style: 'currency', currency }).format(Number(amount));
  return count === 1 ? `${money} a ${interval}` : `${money} every ${count} ${interval}s`;
}

export function sayIncluded(plan: Plan | undefined): string | null {
  if (plan === undefined) return null;
  const { repos, connections } = plan.limits.included;
  const of = (count: number | null, one: string, many: string) =>
    count === null ? `any number of ${many}` : plural(count, one, many);
  return `Includes ${of(repos, 'repository', 'repositories')} and ${of(connections, 'connection', 'connections')}.`;
}

/**
 * For the question before a change between the two paid plans: what it costs, and when. As `core/adapters/payments-http` asks for it:
 * prorated, and charged at once. https://docs.stripe.com/billing/subscriptions/prorations: a credit is not paid back.
 */
export function sayCharge(to: Plan['tier']): string {
  const more =
    'What it costs more for the rest of the period that you have paid is charged at once, by your payment method. Where that payment fails, nothing changes.';
  return to === 'team'
    ? more
    : `The smaller plan includes less from now on. What it costs less for the rest of the period that you have paid counts towards the next invoices, and is not paid back. ${more}`;
}
