import fc from 'fast-check';
import { SubscriptionAnswer } from '#core/adapters/payments-http/schema.ts';
import { signPaymentEvent } from '#core/contracts/webhooks/payment-signature.ts';
import { entitledTier, PLAN_LIMITS, repoIdsOnHold, type Tier } from '#core/domain/tenants/billing.ts';
import { PaymentsError } from '#core/ports/payments.ts';
import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import { acceptPaymentEvent, type PaymentEventDeps } from '#core/services/billing/accept-payment-event.ts';
import type { ProviderEvent } from '../../../../../local/payments/model.ts';
import { CARDS, PaymentsWorld } from '../../../../../local/payments/world.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const TENANT = 'aaaaaaaa-0000-4000-8000-000000000001';
const SECRET = new Secret('whsec_property');
const BOOK = { pro: { flat: 'price_pro' }, team: { flat: 'price_team' } } as const;
/** More of them by hand: `BILLING_RUNS=5000`. */
const RUNS = Number(process.env.BILLING_RUNS ?? 60);
const silent = { info: () => {}, warn: () => {}, error: () => {} };

/** Events at the provider, to the newest subscription of the tenant. */
const DEEDS = [
  'buy pro',
  'buy team',
  'to pro',
  'to team',
  'fail',
  'pay',
  'pause',
  'cancel',
  'lapse',
] as const;
type Deed = (typeof DEEDS)[number];

/** A provider's history and our service beside it. `pause` is called at every await of ours that leaves the process. */
async function givenStory(deeds: readonly Deed[], pause: (what: string) => Promise<void>) {
  const clock = new VirtualClock();
  const store = createMemoryStore({ clock });
  const events: ProviderEvent[] = [];
  const provider = new PaymentsWorld({
    prices: { price_pro: { nickname: 'Pro', amount: 1 }, price_team: { nickname: 'Team', amount: 2 } },
    now: () => clock.now(),
    baseUrl: () => 'https://pay.example',
    onEvent: (event) => events.push(event),
  });
  const customerId = provider.createCustomer({ tenant_id: TENANT }).id;
  await store.createTenant(TENANT, clock.now());
  const account = { tier: 'free', status: 'active', customerId, subscriptionId: null } as const;
  await store.saveBilling(TENANT, account, null, null);
  const notices: string[] = [];
  const deps: PaymentEventDeps = {
    store: {
      loadBilling: (id) => store.loadBilling(id),
      findCustomerTenant: (id) => store.findCustomerTenant(id),
      saveBilling: (...given) => store.saveBilling(...given),
      isEventTaken: (id) => store.isEventTaken(id),
      requestNotice: async ({ subject }) => {
        notices.push(subject);
        return true;
      },
    },
    readSigningSecret: async () => SECRET,
    openReader: async () => ({
      listSubscriptions: async (customer) => {
        const listed = structuredClone(provider.listSubscriptions(customer, null));
        // The answer is on its way: the world goes on meanwhile.
        await pause('listed');
        return listed.map((each) => SubscriptionAnswer.parse(each));
      },
    }),
    prices: BOOK,
    clock,
    log: silent,
  };
  store.beforeCall = (label) => pause(label);
  const act = (deed: Deed): void => perform(provider, customerId, deed);
  const deliver = async (event: ProviderEvent): Promise<string> => {
    const body = Buffer.from(JSON.stringify(event));
    const signature = signPaymentEvent(SECRET, body, clock.now());
    return acceptPaymentEvent(deps, { body, signature });
  };
  for (const deed of deeds) act(deed);
  return { clock, store, events, notices, provider, customerId, deps, act, deliver };
}

function perform(provider: PaymentsWorld, customer: string, deed: Deed): void {
  const [newest] = provider.listSubscriptions(customer, null);
  if (deed === 'buy pro' || deed === 'buy team') {
    const price = deed === 'buy pro' ? 'price_pro' : 'price_team';
    const session = provider.createCheckout({
      customer,
      mode: 'subscription',
      lines: [{ price, quantity: 1 }],
      reference: TENANT,
      successUrl: 'https://x.example',
      cancelUrl: '',
      subscriptionMetadata: { tenant_id: TENANT, tier: deed.slice(4) },
    });
    provider.pay(session.id, CARDS.good);
    return;
  }
  if (newest === undefined) return;
  const [item] = newest.items.data;
  switch (deed) {
    case 'to pro':
    case 'to team':
      if (item === undefined || newest.status !== 'active') return;
      provider.changeItems(
        newest.id,
        [{ id: item.id, price: `price_${deed.slice(3)}` }],
        {},
        'always_invoice',
      );
      return;
    case 'fail':
      provider.setStatus(newest.id, 'past_due');
      return;
    case 'pay':
      provider.setStatus(newest.id, 'active');
      return;
    case 'pause':
      provider.setStatus(newest.id, 'paused');
      return;
    case 'lapse':
      provider.setStatus(newest.id, 'incomplete_expired');
      return;
    case 'cancel':
      provider.cancel(newest.id);
      return;
  }
}

/**
 * Time that passes only between steps: each step takes as long as was drawn for it, so that one delivery can stand still
 * while another runs from end to end.
 */
class StepTime {
  readonly #waits: readonly number[];
  readonly #sleepers: { readonly at: number; readonly order: number; readonly wake: () => void }[] = [];
  #now = 0;
  #drawn = 0;
  #ended = false;

  constructor(waits: readonly number[]) {
    this.#waits = waits;
  }

  pass(_what: string): Promise<void> {
    if (this.#ended) return Promise.resolve();
    const order = this.#drawn++;
    const at = this.#now + (this.#waits[order % this.#waits.length] ?? 0);
    return new Promise((wake) => this.#sleepers.push({ at, order, wake }));
  }

  /** Later steps take no time. */
  end(): void {
    this.#ended = true;
  }

  async runUntil<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const finished = work.finally(() => {
      done = true;
    });
    while (!done) {
      await new Promise((tick) => setImmediate(tick));
      this.#sleepers.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = this.#sleepers.shift();
      if (next === undefined) continue;
      this.#now = Math.max(this.#now, next.at);
      next.wake();
    }
    return finished;
  }
}

/** The provider's present report, worked out without the code under test. */
function reported(provider: PaymentsWorld, customerId: string): { tier: Tier; status: string } {
  const alive = provider
    .listSubscriptions(customerId, null)
    .filter((each) => each.status !== 'incomplete_expired');
  const entitling = alive.find((each) => each.status === 'active' || each.status === 'trialing');
  const counted = entitling ?? alive[0];
  if (counted === undefined) return { tier: 'free', status: 'canceled' };
  const price = counted.items.data[0]?.price.id;
  return { tier: price === 'price_team' ? 'team' : 'pro', status: counted.status };
}

const moves = (events: readonly ProviderEvent[]): readonly ProviderEvent[] =>
  events.filter((event) => event.type.startsWith('customer.subscription.'));

/** Which events arrive, in which order and how often: a list of positions, with gaps and repeats. */
const arrivals = fc.array(fc.nat(60), { maxLength: 40 });
const histories = fc.array(fc.constantFrom(...DEEDS), { minLength: 1, maxLength: 14 });

describe('events of the payment provider (A105)', () => {
  test('in any order, any number of times, some never: the plan is what the provider reports', async () => {
    await fc.assert(
      fc.asyncProperty(histories, arrivals, fc.nat(60), async (deeds, order, last) => {
        const story = await givenStory(deeds, async () => {});
        const all = moves(story.events);
        const arriving = order.flatMap((at) => all[at % Math.max(1, all.length)] ?? []);
        // One that was not taken yet is enough, whichever it is: all others may be lost.
        const fresh = all.filter((event) => !arriving.includes(event));
        const closing = fresh[last % Math.max(1, fresh.length)] ?? arriving[0];
        for (const event of arriving) await story.deliver(event);
        if (closing !== undefined) await story.deliver(closing);
        const stored = await story.store.loadPlan(TENANT);
        if (all.length > 0) expect(stored).toEqual(reported(story.provider, story.customerId));
        else expect(stored).toEqual({ tier: 'free', status: 'active' });
      }),
      { numRuns: RUNS },
    );
  });

  test('while the provider goes on and deliveries overlap, answers come late and writers meet', async () => {
    const waits = fc.array(fc.constantFrom(0, 0, 0, 0, 0, 1, 7, 200), { minLength: 1, maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(histories, waits, async (deeds, given) => {
        const time = new StepTime(given);
        const story = await givenStory([], (what) => time.pass(what));
        const running: Promise<string>[] = [];
        const deliver = (event: ProviderEvent): Promise<string> =>
          // Not taken, so the provider sends it again; here: at the end.
          time.pass('on its way').then(() => story.deliver(event).catch(() => 'again'));
        const goOn = async (): Promise<void> => {
          for (const deed of deeds) {
            await time.pass(deed);
            const seen = story.events.length;
            story.act(deed);
            running.push(...moves(story.events.slice(seen)).map(deliver));
          }
        };
        const outcomes = await time.runUntil(goOn().then(() => Promise.all(running)));
        time.end();
        const all = moves(story.events);
        for (const event of all.filter((_event, index) => outcomes[index] === 'again'))
          await story.deliver(event);
        if (all.length === 0) return;
        expect(await story.store.loadPlan(TENANT)).toEqual(reported(story.provider, story.customerId));
      }),
      { numRuns: RUNS * 3 },
    );
  });

  test('an answer that is older than what is stored by now is not stored: the provider is asked again', async () => {
    const gate: { open: () => void } = { open: () => {} };
    let held = false;
    const story = await givenStory(['buy pro'], async (what) => {
      if (what !== 'listed' || held) return;
      held = true;
      await new Promise<void>((open) => {
        gate.open = open;
      });
    });
    const [bought] = moves(story.events);
    if (bought === undefined) throw new Error('nothing happened');
    const slow = story.deliver(bought);
    await new Promise((tick) => setImmediate(tick));
    expect(held).toBe(true);
    story.act('cancel');
    const [cancelled] = moves(story.events).slice(-1);
    if (cancelled === undefined) throw new Error('nothing was cancelled');
    expect(await story.deliver(cancelled)).toBe('applied');
    gate.open();
    expect(await slow).toBe('applied');
    expect(await story.store.loadPlan(TENANT)).toEqual({ tier: 'free', status: 'canceled' });
  });

  test('a stored event is taken exactly once, also when it arrives ten times at once', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const story = await givenStory(['buy pro'], async () => {});
        story.store.beforeCall = (label) => scheduler.schedule(Promise.resolve(), label);
        const [event] = moves(story.events);
        if (event === undefined) throw new Error('nothing happened');
        const running = Array.from({ length: 10 }, () => story.deliver(event));
        await scheduler.waitFor(Promise.allSettled(running));
        const outcomes = await Promise.all(running);
        expect(outcomes.filter((outcome) => outcome === 'applied')).toHaveLength(1);
        expect(outcomes.filter((outcome) => outcome === 'seen')).toHaveLength(9);
        story.store.beforeCall = null;
        expect((await story.store.loadBilling(TENANT))?.version).toBe(2);
      }),
      { numRuns: Math.ceil(RUNS / 6) },
    );
  });

  test('store and provider fail at any step: nothing half, and the repeat settles it', async () => {
    await fc.assert(
      fc.asyncProperty(histories, fc.array(fc.boolean(), { maxLength: 40 }), async (deeds, faults) => {
        const left = [...faults];
        const story = await givenStory(deeds, async () => {});
        const fail = (what: string): void => {
          if (left.shift() !== true) return;
          throw what === 'provider'
            ? new PaymentsError('unreachable', 'x', null)
            : new StoreError('unavailable', what);
        };
        story.store.beforeCall = fail;
        const deps: PaymentEventDeps = {
          ...story.deps,
          openReader: async () => {
            fail('provider');
            return story.deps.openReader();
          },
        };
        const all = moves(story.events);
        for (const event of all) {
          const body = Buffer.from(JSON.stringify(event));
          for (let tried = 0; ; tried += 1) {
            const signature = signPaymentEvent(SECRET, body, story.clock.now());
            const outcome = await acceptPaymentEvent(deps, { body, signature }).catch(
              (error: unknown) => error,
            );
            if (typeof outcome === 'string') break;
            expect(outcome).toMatchObject({ code: 'db_error' });
            if (tried > 60) throw new Error('it never settles');
          }
        }
        story.store.beforeCall = null;
        if (all.length === 0) return;
        expect(await story.store.loadPlan(TENANT)).toEqual(reported(story.provider, story.customerId));
        expect(story.store.takenEvents.size).toBe(all.length);
      }),
      { numRuns: RUNS },
    );
  });

  test('holds follow at every step: none while it entitles, all but the oldest while it does not (A107)', async () => {
    const repos = Array.from({ length: 5 }, (_, index) => ({ id: `repo-${index}`, createdAt: index }));
    await fc.assert(
      fc.asyncProperty(histories, async (deeds) => {
        const story = await givenStory([], async () => {});
        for (const deed of deeds) {
          const seen = story.events.length;
          story.act(deed);
          for (const event of moves(story.events.slice(seen))) await story.deliver(event);
          const plan = await story.store.loadPlan(TENANT);
          if (plan === null) throw new Error('the plan is gone');
          const entitles = plan.status === 'active' || plan.status === 'trialing';
          expect(repoIdsOnHold(plan, repos, PLAN_LIMITS).size).toBe(entitles ? 0 : 4);
          expect(entitledTier(plan)).toBe(entitles ? plan.tier : 'free');
        }
      }),
      { numRuns: RUNS },
    );
  });
});
