import { CARDS } from '../../../../local/payments/world.ts';
import { TENANT_A } from '../../../support/api-world.ts';
import { BillingWorld } from '../../../support/billing-world.ts';

let world: BillingWorld;
beforeEach(async () => {
  world = await BillingWorld.open();
});
afterEach(() => world.close());

describe('change of plan', () => {
  test('every item moves to its price on the target, and the tier is stored at once (A110)', async () => {
    const id = await world.buy('pro');
    const answer = await world.ask('change-plan', { tier: 'team' });
    expect([answer.status, answer.json]).toEqual([200, { tier: 'team' }]);
    expect(await world.summary()).toMatchObject({ tier: 'team', status: 'active' });
    const moved = world.provider.world.subscription(id);
    expect(moved.items.data.map((item) => item.price.id)).toEqual(['price_local_team']);
    expect(moved.metadata).toEqual({ tenant_id: TENANT_A, tier: 'team' });
    const before = await world.stored();
    await world.deliverAll();
    expect(await world.stored()).toMatchObject({ tier: 'team', status: 'active' });
    expect((await world.stored())?.version).toBeGreaterThan(before?.version ?? 0);
    expect((await world.ask('change-plan', { tier: 'pro' })).json).toEqual({ tier: 'pro' });
    expect(world.provider.world.subscription(id).items.data[0]?.price.id).toBe('price_local_pro');
  });

  test('to the tier it is on: 400', async () => {
    await world.buy('team');
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('already_on_tier');
  });

  test.each(['never bought', 'given by hand', 'cancelled', 'cancelled and not told'])(
    '%s: 409 with the way to checkout',
    async (story) => {
      if (story === 'given by hand') {
        await world.api.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
      } else if (story !== 'never bought') world.provider.world.cancel(await world.buy('pro'));
      if (story === 'cancelled') await world.deliverAll();
      const answer = await world.ask('change-plan', { tier: 'team' });
      expect([answer.status, answer.code, answer.json.error.checkout]).toEqual([
        409,
        'no_active_subscription',
        '/api/v1/billing/checkout',
      ]);
    },
  );

  test('one whose first payment is open cannot be changed', async () => {
    world.provider.world.setStatus(await world.buy('pro'), 'incomplete');
    await world.deliverAll();
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('no_active_subscription');
  });

  test('items that are no tier’s: 409 with the way to the portal, and nothing is moved', async () => {
    const id = await world.buy('pro');
    world.provider.world.addItem(id, 'price_local_pro');
    const before = structuredClone(world.provider.world.subscription(id));
    const answer = await world.ask('change-plan', { tier: 'team' });
    expect([answer.status, answer.code, answer.json.error.portal]).toEqual([
      409,
      'subscription_state_mismatch',
      '/api/v1/billing/portal',
    ]);
    expect(world.provider.world.subscription(id)).toEqual(before);
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
  });

  test('a declined charge: 502, and both sides stay as they were', async () => {
    const id = await world.buy('pro', CARDS.failsLater);
    const answer = await world.ask('change-plan', { tier: 'team' });
    expect([answer.status, answer.code]).toEqual([502, 'payments_error']);
    expect(await world.summary()).toMatchObject({ tier: 'pro', status: 'active' });
    expect(world.provider.world.subscription(id).items.data[0]?.price.id).toBe('price_local_pro');
    expect(world.api.lines.join()).toContain('declined');
  });

  test.each(['silent', 'failing', 'garbage', 'refusing'] as const)('provider %s: 502', async (behaviour) => {
    await world.buy('pro');
    world.beSilent(behaviour);
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('payments_error');
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
  });

  test('accepted but not stored: 500, and the next request stores it without another move', async () => {
    await world.buy('pro');
    world.failStore('saveBilling');
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('db_error');
    world.healStore();
    expect(await world.summary()).toMatchObject({ tier: 'pro' });
    const moves = () => world.provider.calls.filter((call) => call.startsWith('POST /v1/subscriptions/'));
    expect(moves()).toHaveLength(1);
    expect((await world.ask('change-plan', { tier: 'team' })).json).toEqual({ tier: 'team' });
    expect(moves()).toHaveLength(1);
    expect(await world.summary()).toMatchObject({ tier: 'team' });
  });

  test('an event that is stored in between does not win over what came after it', async () => {
    const id = await world.buy('pro');
    world.provider.world.setMetadata(id, { tenant_id: TENANT_A, tier: 'pro' });
    const [event] = world.pending();
    let done = false;
    world.api.store.beforeCall = async (label) => {
      if (label !== 'saveBilling' || done || event === undefined) return;
      done = true;
      // Between the provider's yes and our write: the event is followed, and the row's version moves on.
      await world.deliver(event);
    };
    expect((await world.ask('change-plan', { tier: 'team' })).status).toBe(200);
    expect(done).toBe(true);
    expect(await world.summary()).toMatchObject({ tier: 'team' });
  });

  test('unreadable: 503, and the provider is not asked', async () => {
    await world.buy('pro');
    const calls = world.provider.calls.length;
    world.failStore('loadBilling');
    expect((await world.ask('change-plan', { tier: 'team' })).code).toBe('billing_unavailable');
    expect(world.provider.calls.length).toBe(calls);
  });

  test('is noted in the audit log', async () => {
    await world.buy('pro');
    await world.ask('change-plan', { tier: 'team' });
    expect(await world.api.store.listAudit(TENANT_A, 5)).toMatchObject([
      { action: 'billing.change_plan', target: 'team', actor: TENANT_A },
    ]);
  });
});
