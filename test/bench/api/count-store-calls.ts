import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';

/** Calls of the store port that one request of each route makes, rate buckets included, for a tenant with three repos. */
export async function countStoreCalls(routes: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const world = new ApiWorld();
  await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
  const made = await world.enroll(TENANT_A);
  for (const slug of ['acme/two', 'acme/three']) await world.enroll(TENANT_A, { slug });
  let calls = 0;
  world.store.beforeCall = () => {
    calls += 1;
  };
  const counted = new Map<string, number>();
  for (const route of routes) {
    const [method = 'GET', path = ''] = route.split(' ');
    calls = 0;
    const answer = await world.call(method, path.replace('{id}', made.repo.id), { token: TOKEN_A });
    if (answer.status !== 200) throw new Error(`${route} answered ${answer.status}`);
    counted.set(route, calls);
  }
  return counted;
}
