import type { Mutant } from '../mutants.ts';

/** Guards of a queue that ends: it takes back what it posted. */
export const WIND_DOWN_MUTANTS: readonly Mutant[] = [
  {
    guard: 'what is held for payment takes back what it posted (A24, A107)',
    file: 'core/services/wind-down/wind-down.ts',
    find: 'if (obligations?.open !== true) return false;',
    replace: 'if (obligations?.open !== true || obligations.open) return false;',
    families: ['interrupted'],
    dies: 'a hold in a landing',
  },
  {
    guard: 'a tenant that leaves takes back what its queues posted (A24, A100)',
    file: 'core/services/tenants/offboard.ts',
    find: 'await windDownAll(deps, tenantId, end);',
    replace:
      'for (const repo of await deps.store.listRepos(tenantId)) await deps.store.deleteRepo(repo); void end;',
    families: ['interrupted'],
    dies: 'a tenant leaves in a landing',
  },
  {
    guard: 'the last look of a queue that is off (A24)',
    file: 'core/services/wakes/dispatch-reconcile.ts',
    find: '  if (off && repo.dueAt === null) {',
    replace: "  if (off) {\n    if (repo.queueEnabled === false) return { kind: 'disabled' };",
    families: ['settings', 'everything'],
    dies: { family: 'everything', seed: 4 },
  },
];
