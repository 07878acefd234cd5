import { eraseTenant } from '#core/services/tenants/erase-tenant.ts';
import { MemoryStore } from '../../../../fakes/memory-store.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const TENANT = '00000000-0000-4000-8000-0000000000a1';

test('a tenant that is erased already gets no second note about its end', async () => {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  await store.createTenant(TENANT, clock.now());
  await store.markTenantDeleting(TENANT);
  expect(await eraseTenant(store, TENANT)).toBe(true);
  await clock.advance(1);
  expect(await eraseTenant(store, TENANT)).toBe(true);
  const kept = await store.listKeptAudit(TENANT);
  expect(kept.map(({ action }) => action)).toEqual(['tenant.erased']);
});
