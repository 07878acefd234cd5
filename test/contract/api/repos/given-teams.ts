import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A } from '../../../support/api-world.ts';

export const REPOS = '/api/v1/user/repos';

/** The API, where two tenants have a plan for many repositories; `a` asks as the first of them. */
export async function givenTeams() {
  const world = new ApiWorld();
  for (const id of [TENANT_A, TENANT_B]) await world.store.savePlan(id, { tier: 'team', status: 'active' });
  return { world, a: world.as(TOKEN_A) };
}
