import { type OpenPayments, PaymentsError } from '#core/ports/payments.ts';
import { deleteCustomer } from '../../../../local/payments/delete-customer.ts';
import { CARDS } from '../../../../local/payments/world.ts';
import { TENANT_A, TOKEN_A } from '../../../support/api-world.ts';
import { BillingWorld, pageOf } from '../../../support/billing-world.ts';

let world: BillingWorld;
beforeEach(async () => {
  world = await BillingWorld.open();
});
afterEach(() => world.close());

describe('offboarding ends what is paid for, first (contract, Account)', () => {
  const offboard = () => world.api.as(TOKEN_A)('POST', '/api/v1/tenant/offboard', { confirm: TENANT_A });
  const statusOf = (id: string) => world.provider.world.subscription(id).status;

  test('the subscription is cancelled at the provider, then everything goes', async () => {
    const { repo } = await world.api.enroll(TENANT_A);
    const id = await world.buy('pro');
    let atDeletion: string | null = null;
    world.api.store.beforeCall = (label) => {
      if (label === 'markTenantDeleting') atDeletion = statusOf(id);
    };
    expect(await offboard()).toMatchObject({ status: 200, json: { deleted: { billing: 1 } } });
    world.api.store.beforeCall = null;
    expect([atDeletion, statusOf(id)]).toEqual(['canceled', 'canceled']);
    expect(await world.api.store.getRepo(repo.id)).toBeNull();
    // Later events about it find no tenant.
    await world.deliverAll();
    expect(await world.stored()).toBeNull();
  });

  /** https://docs.stripe.com/api/customers/delete: what it paid for ended with it. */
  test('a customer that was deleted at the provider holds nothing up', async () => {
    const id = await world.buy('pro');
    deleteCustomer(world.provider.world, (await world.stored())?.customerId ?? '');
    expect((await offboard()).status).toBe(200);
    expect([statusOf(id), await world.stored()]).toEqual(['canceled', null]);
  });

  test('one that is unpaid as well', async () => {
    const id = await world.buy('team');
    world.provider.world.setStatus(id, 'past_due');
    expect((await offboard()).status).toBe(200);
    expect(statusOf(id)).toBe('canceled');
  });

  test.each(['silent', 'failing', 'garbage', 'refusing'] as const)(
    'a provider that is %s leaves everything as it was, with its error',
    async (behaviour) => {
      const { repo, connection } = await world.api.enroll(TENANT_A);
      const id = await world.buy('pro');
      const before = await world.stored();
      world.beSilent(behaviour);
      const answer = await offboard();
      expect([answer.status, answer.code]).toEqual([502, 'payments_error']);
      world.timeoutMs = 10_000;
      world.provider.behave('normal');
      expect(statusOf(id)).toBe('active');
      expect(await world.stored()).toEqual(before);
      expect(await world.api.store.getRepo(repo.id)).toEqual(repo);
      expect(await world.api.store.getConnection(TENANT_A, connection.id)).toEqual(connection);
      expect(await world.api.store.loadTenant(TENANT_A)).toMatchObject({ deleting: false });
      expect((await offboard()).status).toBe(200);
      expect(statusOf(id)).toBe('canceled');
    },
  );

  test('an answer that is lost is asked for again, and finds it done', async () => {
    const id = await world.buy('pro');
    let cancelled = 0;
    const open = world.api.payments?.openPayments;
    if (world.api.payments === null || open === undefined) throw new Error('nothing is sold');
    (world.api.payments as { openPayments: OpenPayments }).openPayments = async () => {
      const payments = await open();
      return payments === null
        ? null
        : {
            ...payments,
            cancelSubscription: async (...given) => {
              cancelled += 1;
              await payments.cancelSubscription(...given);
              if (cancelled === 1) throw new PaymentsError('unreachable', 'cancelSubscription', null);
            },
          };
    };
    expect((await offboard()).code).toBe('payments_error');
    expect(statusOf(id)).toBe('canceled');
    expect(await world.stored()).not.toBeNull();
    expect((await offboard()).status).toBe(200);
  });

  test('a deployment that has switched payments off does not forget a tenant that is still charged', async () => {
    await world.buy('pro');
    if (world.api.payments === null) throw new Error('nothing is sold');
    (world.api.payments as { openPayments: OpenPayments }).openPayments = async () => null;
    expect(await offboard()).toMatchObject({ status: 503, code: 'payments_not_configured' });
    expect(await world.stored()).not.toBeNull();
  });

  test('a page of the provider that was opened before takes no money afterwards', async () => {
    const opened = [
      await world.ask('checkout', { tier: 'pro' }),
      await world.ask('checkout', { tier: 'team' }),
    ];
    expect((await offboard()).status).toBe(200);
    for (const each of opened) {
      expect(world.provider.world.pay(pageOf(each), CARDS.good)).toBe('expired');
    }
    expect(world.provider.world.state.subscriptions).toEqual({});
  });

  test('one that is paid while it is being closed: what was bought is cancelled', async () => {
    const page = pageOf(await world.ask('checkout', { tier: 'pro' }));
    world.provider.world.onExpire = () => world.provider.world.pay(page, CARDS.good);
    expect((await offboard()).status).toBe(200);
    expect(Object.values(world.provider.world.state.subscriptions).map(({ status }) => status)).toEqual([
      'canceled',
    ]);
  });

  test('one that is opened while the account goes is not handed out', async () => {
    await world.ask('checkout', { tier: 'pro' });
    const { payments } = world.api;
    if (payments === null) throw new Error('nothing is sold');
    const { openPayments } = payments;
    let left: Promise<unknown> | null = null;
    (payments as { openPayments: OpenPayments }).openPayments = async () => {
      const provider = await openPayments();
      return provider === null
        ? null
        : {
            ...provider,
            openCheckout: async (...given) => {
              left = offboard();
              await left;
              return provider.openCheckout(...given);
            },
          };
    };
    const answer = await world.ask('checkout', { tier: 'pro' });
    expect(await left).toMatchObject({ status: 200 });
    expect([answer.status, answer.code]).toEqual([503, 'billing_unavailable']);
    expect(answer.text).not.toContain('/c/pay/');
  });

  test('a tenant that never bought anything needs no provider', async () => {
    await world.api.enroll(TENANT_A);
    world.provider.behave('failing');
    const { calls } = world.provider;
    expect((await offboard()).status).toBe(200);
    expect(calls).toEqual([]);
  });
});
