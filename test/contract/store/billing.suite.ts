import { randomUUID } from 'node:crypto';
import type { BillingAccount } from '#core/ports/billing-store.ts';
import { kindOf, times, type World } from './subject.ts';

export function describeBilling(world: World): void {
  const givenTenant = async () => {
    const tenantId = randomUUID();
    await world.store().createTenant(tenantId, 1);
    return { tenantId, customerId: `cus_${randomUUID()}` };
  };
  const account = (customerId: string, changes: Partial<BillingAccount> = {}): BillingAccount => ({
    tier: 'pro',
    status: 'active',
    customerId,
    subscriptionId: 'sub_1',
    ...changes,
  });

  describe('billing', () => {
    test('a purchase and its tenant are read back, whole and as a plan', async () => {
      const { tenantId, customerId } = await givenTenant();
      expect(await world.store().loadBilling(tenantId)).toBeNull();
      expect(await world.store().findCustomerTenant(customerId)).toBeNull();
      expect(await world.store().saveBilling(tenantId, account(customerId), null, null)).toBe('saved');
      expect(await world.store().loadBilling(tenantId)).toEqual({ ...account(customerId), version: 1 });
      expect(await world.store().loadPlan(tenantId)).toEqual({ tier: 'pro', status: 'active' });
      expect(await world.store().findCustomerTenant(customerId)).toBe(tenantId);
    });

    test('a customer that is forgotten is no tenant’s; its purchase stays', async () => {
      const { tenantId, customerId } = await givenTenant();
      await world.store().saveBilling(tenantId, account(customerId), null, null);
      for (let times = 0; times < 2; times += 1) await world.store().forgetCustomer(customerId);
      expect(await world.store().findCustomerTenant(customerId)).toBeNull();
      expect(await world.store().loadBilling(tenantId)).toMatchObject({ tier: 'pro', customerId });
    });

    test('a write under an old version stores nothing, its event neither', async () => {
      const { tenantId, customerId } = await givenTenant();
      const eventId = randomUUID();
      await world.store().saveBilling(tenantId, account(customerId), null, null);
      const late = account(customerId, { tier: 'team' });
      for (const version of [null, 0, 2]) {
        expect(await world.store().saveBilling(tenantId, late, version, eventId)).toBe('lost_race');
      }
      expect(await world.store().isEventTaken(eventId)).toBe(false);
      expect(await world.store().saveBilling(tenantId, late, 1, eventId)).toBe('saved');
      expect(await world.store().loadBilling(tenantId)).toMatchObject({ tier: 'team', version: 2 });
    });

    test('an event id has its effect once, also when ten arrive at the same time (A104)', async () => {
      const { tenantId, customerId } = await givenTenant();
      const eventId = randomUUID();
      const results = await Promise.all(
        times(10, () => world.store().saveBilling(tenantId, account(customerId), null, eventId)),
      );
      expect(results.filter((result) => result === 'saved')).toHaveLength(1);
      expect(results.filter((result) => result === 'seen' || result === 'lost_race')).toHaveLength(9);
      expect(await world.store().isEventTaken(eventId)).toBe(true);
      expect(await world.store().saveBilling(tenantId, account(customerId), 1, eventId)).toBe('seen');
      expect(await world.store().loadBilling(tenantId)).toMatchObject({ version: 1 });
    });

    test('a plan that is set by hand keeps the customer; one from before is version 0 or more', async () => {
      const { tenantId, customerId } = await givenTenant();
      await world.store().savePlan(tenantId, { tier: 'team', status: 'trialing' });
      const stored = await world.store().loadBilling(tenantId);
      expect(stored).toMatchObject({ tier: 'team', customerId: null, subscriptionId: null });
      const version = stored?.version ?? -1;
      expect(await world.store().saveBilling(tenantId, account(customerId), version, null)).toBe('saved');
      await world.store().savePlan(tenantId, { tier: 'pro', status: 'past_due' });
      expect(await world.store().loadBilling(tenantId)).toMatchObject({ customerId, status: 'past_due' });
      expect(await world.store().saveBilling(tenantId, account(customerId), version + 1, null)).toBe(
        'lost_race',
      );
    });

    test('a customer belongs to one tenant for ever', async () => {
      const one = await givenTenant();
      const two = await givenTenant();
      await world.store().saveBilling(one.tenantId, account(one.customerId), null, null);
      expect(
        await kindOf(world.store().saveBilling(two.tenantId, account(one.customerId), null, randomUUID())),
      ).toBe('lost_race');
      expect(await world.store().loadBilling(two.tenantId)).toBeNull();
      expect(await world.store().findCustomerTenant(one.customerId)).toBe(one.tenantId);
    });

    test('nothing is stored for a tenant that is gone or going, and its end takes the look-up along (A100)', async () => {
      const { tenantId, customerId } = await givenTenant();
      await world.store().saveBilling(tenantId, account(customerId), null, null);
      await world.store().markTenantDeleting(tenantId);
      const eventId = randomUUID();
      expect(await world.store().saveBilling(tenantId, account(customerId), 1, eventId)).toBe('tenant_gone');
      expect(await world.store().deletePlan(tenantId)).toBe(true);
      expect(await world.store().deletePlan(tenantId)).toBe(false);
      await world.store().deleteTenant(tenantId);
      expect(await world.store().saveBilling(tenantId, account(customerId), null, eventId)).toBe(
        'tenant_gone',
      );
      expect(await world.store().findCustomerTenant(customerId)).toBeNull();
      expect(await world.store().isEventTaken(eventId)).toBe(false);
    });
  });
}
