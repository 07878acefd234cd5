import { useState } from 'react';
import { useSearch } from 'wouter';
import { CONNECTIONS_PER_TENANT_MAX, REPOS_PER_TENANT_MAX } from '#core/domain/api-limits.ts';
import { KEYS, useBilling, useChange, usePlans } from '../data/hooks.ts';
import { Button, Confirm, Loading, PageHead, useTitle } from '../parts/frame/basics.tsx';
import { Problem, ProblemPage } from '../parts/frame/errors.tsx';
import { Tag } from '../parts/frame/signal.tsx';
import {
  adviseBilling,
  type Billing,
  type Offer,
  planOf,
  sayCharge,
  sayIncluded,
  sayPrice,
} from '../view/billing.ts';
import { safeUrl, showNumber } from '../view/format.ts';
import type { Tone } from '../view/tone.ts';

type PaidTier = 'pro' | 'team';

const STATUS_WORDS: Readonly<Record<string, readonly [Tone, string]>> = {
  active: ['clear', 'Active'],
  trialing: ['clear', 'On trial'],
  past_due: ['stop', 'Payment is late'],
  incomplete: ['stop', 'First payment is open'],
  paused: ['stop', 'Paused'],
  canceled: ['stop', 'Cancelled'],
  unknown: ['unknown', 'Unknown'],
};
const PLANS: readonly { readonly tier: PaidTier; readonly name: string; readonly words: string }[] = [
  { tier: 'pro', name: 'Pro', words: 'For a team with more than one repository.' },
  { tier: 'team', name: 'Team', words: 'For many teams: the largest allowance.' },
];

export function BillingPage() {
  useTitle('Billing');
  const billing = useBilling();
  const outcome = new URLSearchParams(useSearch()).get('checkout');
  if (billing.data === undefined) {
    return billing.error === null ? (
      <Loading what="your plan" />
    ) : (
      <ProblemPage error={billing.error} onRetry={() => void billing.refetch()} />
    );
  }
  return (
    <>
      <PageHead title="Billing" />
      {outcome === 'success' && (
        <p className="notice" role="status">
          Thank you. The new plan shows here as soon as the payment provider has confirmed it.
        </p>
      )}
      {outcome === 'cancel' && (
        <p className="notice" role="status">
          The checkout was left; nothing was charged.
        </p>
      )}
      <Current billing={billing.data} />
      <Plans billing={billing.data} />
    </>
  );
}

/** Only to the payment provider, and only to a web address. */
function leaveTo(url: string): void {
  const safe = safeUrl(url);
  if (safe !== null) location.assign(safe);
}

function Current({ billing }: { readonly billing: Billing }) {
  const [tone, name] = STATUS_WORDS[billing.status] ?? ['unknown', 'Unknown'];
  const { offer, problem } = adviseBilling(billing);
  const portal = useChange(
    async (api, _: null) => leaveTo((await api.openPortal()).portal_url),
    [KEYS.billing],
  );
  return (
    <section className="panel" aria-labelledby="plan-title">
      <div className="panel-head">
        <h2 id="plan-title">
          Your plan: <span className="plan-name">{billing.tier}</span>
        </h2>
        <Tag tone={tone}>{name}</Tag>
      </div>
      {problem !== null && (
        <div className="problem" role="alert">
          <p>{problem}</p>
        </div>
      )}
      <div className="usage">
        <Usage
          name="Repositories"
          used={billing.repos}
          included={billing.limits.included.repos}
          ceiling={billing.limits.ceiling.repos}
          most={REPOS_PER_TENANT_MAX}
          isOpen={offer === 'settle'}
        />
        <Usage
          name="Connections"
          used={billing.connections}
          included={billing.limits.included.connections}
          ceiling={billing.limits.ceiling.connections}
          most={CONNECTIONS_PER_TENANT_MAX}
          isOpen={offer === 'settle'}
        />
      </div>
      {billing.tier !== 'free' && (
        <Button
          kind={offer === 'settle' ? 'main' : 'quiet'}
          busy={portal.isPending}
          onClick={() => portal.mutate(null)}
        >
          {offer === 'settle' ? 'Settle the payment' : 'Payment method, invoices, cancellation'}
        </Button>
      )}
      <Problem error={portal.error} />
    </section>
  );
}

function Usage({
  name,
  used,
  included,
  ceiling,
  most,
  isOpen,
}: {
  readonly name: string;
  readonly used: number;
  readonly included: number | null;
  readonly ceiling: number | null;
  /** The limit of any tenant, whatever its plan. */
  readonly most: number;
  /** A payment is open: the limits are not those of the plan that was bought. */
  readonly isOpen: boolean;
}) {
  const share = included === null ? null : Math.min(100, (used / Math.max(1, included)) * 100);
  return (
    <div>
      <p className="usage-name">
        {name}: <strong>{showNumber(used)}</strong>
        {included !== null && ` of ${showNumber(included)} included`}
      </p>
      <svg
        className="share"
        viewBox="0 0 100 6"
        preserveAspectRatio="none"
        aria-hidden="true"
        focusable="false"
      >
        <rect className="share-all" width="100" height="6" />
        {share !== null && <rect className="share-part" width={share} height="6" />}
      </svg>
      <p className="hint">
        {ceiling === null
          ? `At most ${showNumber(most)}, whatever the plan.`
          : `At most ${showNumber(ceiling)} ${isOpen ? 'until the payment is settled' : 'on this plan'}.`}
      </p>
    </div>
  );
}

/** Marks the plan whose limits hold; while a payment is open that is not the plan that was bought. */
function Entitled({ offer }: { readonly offer: Offer }) {
  return offer === 'settle' ? <Tag tone="busy">Its limits hold now</Tag> : <Tag tone="clear">Your plan</Tag>;
}

function Plans({ billing }: { readonly billing: Billing }) {
  const { offer } = adviseBilling(billing);
  const plans = usePlans();
  const checkout = useChange(
    async (api, tier: PaidTier) => leaveTo((await api.startCheckout({ body: { tier } })).checkout_url),
    [KEYS.billing],
  );
  const change = useChange(
    (api, tier: PaidTier) => api.changePlan({ body: { tier } }),
    [KEYS.billing, ['queue']],
  );
  const [asked, setAsked] = useState<PaidTier | null>(null);
  const leave = () => setAsked(null);
  const askedName = PLANS.find(({ tier }) => tier === asked)?.name ?? '';
  const priceOf = (tier: PaidTier) =>
    plans.isPending ? 'Reading the price …' : sayPrice(planOf(plans.data, tier)?.price ?? null, offer);
  return (
    <section aria-labelledby="plans-title">
      <h2 id="plans-title">Plans</h2>
      <ul className="plans">
        <li className="panel">
          <h3>Free</h3>
          <p className="plan-price">Costs nothing</p>
          <p>To try it on one repository. Everything that makes it safe is in it.</p>
          {billing.entitled_tier === 'free' && <Entitled offer={offer} />}
        </li>
        {PLANS.map(({ tier, name, words }) => (
          <li key={tier} className="panel">
            <h3>{name}</h3>
            <p className="plan-price">{priceOf(tier)}</p>
            <p>{words}</p>
            <p className="hint">{sayIncluded(planOf(plans.data, tier))}</p>
            {billing.entitled_tier === tier && <Entitled offer={offer} />}
            {offer === 'settle' && <p className="hint">Can be chosen once the payment is settled.</p>}
            {billing.entitled_tier !== tier && offer !== 'settle' && (
              <Button
                kind="main"
                busy={
                  (checkout.isPending && checkout.variables === tier) ||
                  (change.isPending && change.variables === tier)
                }
                onClick={() => (offer === 'change' ? setAsked(tier) : checkout.mutate(tier))}
              >
                {offer === 'change' ? `Change to ${name}` : `Choose ${name}`}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <Confirm open={asked !== null} title={`Change to ${askedName}?`} onClose={leave}>
        {asked !== null && (
          <>
            <p>
              {askedName}: {priceOf(asked)}
            </p>
            <p>{sayCharge(asked)}</p>
            <div className="row">
              <Button
                kind="main"
                busy={change.isPending}
                onClick={() => change.mutate(asked, { onSettled: leave })}
              >
                Change the plan
              </Button>
              <Button onClick={leave}>Stay on the plan</Button>
            </div>
          </>
        )}
      </Confirm>
      <p role="status" className="hint">
        {change.data !== undefined && `You are on ${change.data.tier} now.`}
      </p>
      <Problem error={checkout.error ?? change.error} />
    </section>
  );
}
