import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';
const HOURS_MS = '10_800_000';

/** Guards against what machines, queues and the store do to the service, and of what is asked before an engine is. */
export const MACHINE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'an idle look that sees a schedule asks for the engine',
    file: 'engine-container/src/idle/idle-look.ts',
    find: 'const mayBeScheduled = seen.length < looked.length;',
    replace: 'const mayBeScheduled = seen.length < 0;',
    families: ['at_rest'],
    dies: { family: 'at_rest', seed: 9 },
  },
  {
    guard: 'the wake of a worker that died comes back soon',
    file: 'core/domain/limits.ts',
    find: 'export const WAKE_HIDDEN_MS = 90_000;',
    replace: `export const WAKE_HIDDEN_MS = ${HOURS_MS};`,
    families: ['crashes', 'workers', 'outages'],
    dies: 'a worker dies with its wake',
  },
  {
    guard: 'reconciles that died with their engine end by themselves',
    file: 'core/services/wakes/concurrent-reconciles.ts',
    find: '    LEASE_TTL_MS,',
    replace: `    ${HOURS_MS},`,
    families: ['outages'],
    dies: 'an engine dies with all its reconciles',
  },
  {
    guard: 'a wake that the store refused comes back soon',
    file: 'core/domain/wakes/wake-rule.ts',
    find: 'Math.min(WAKE_DELAY_MS_MAX, Math.max(1, receives)',
    replace: `Math.max(${HOURS_MS}, Math.max(1, receives)`,
    families: ['outages'],
    dies: 'the store throttles',
  },
  {
    guard: 'the head right before a success (a list that is behind, A3)',
    file: `${QUEUE}/landing/landing.ts`,
    find: ' || pull.headSha !== head',
    replace: '',
    families: ['lagging'],
    dies: 'a list shows an older head',
  },
];
