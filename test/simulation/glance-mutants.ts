import type { Mutant } from './mutants.ts';

/** Guards of the glances, which find what no event tells of. */
export const GLANCE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a look is followed by a glance',
    file: 'core/services/next-look.ts',
    find: '    if (!isOff(repo) && ended.seen !== null)\n',
    replace: '    if (isOff(repo) && ended.seen !== null)\n',
    families: ['at_rest'],
    dies: 'the button is pressed, and no event comes',
  },
  {
    guard: 'a glance is followed by the next',
    file: 'core/services/glance.ts',
    find: '  if (step > GLANCE_STEPS_MAX) return;\n',
    replace: '  if (step > 1) return;\n',
    families: ['at_rest'],
    dies: 'the button is pressed, and no event comes',
  },
  {
    guard: 'a glance that sees news wakes',
    file: 'core/domain/glance.ts',
    find: '  return glance.newest !== null && !isSamePull(known.newest, glance.newest);',
    replace: '  return glance.newest === null && !isSamePull(known.newest, glance.newest);',
    families: ['at_rest'],
    dies: 'the button is pressed, and no event comes',
  },
  {
    guard: 'a sight within the second of a change proves nothing',
    file: 'core/services/glance.ts',
    find: '  if (!sight.isSettled) return true;\n',
    replace: '  if (!sight.isSettled) sight = { ...sight, isSettled: true };\n',
    families: ['at_rest'],
    dies: 'the button is pressed within the second of another change',
  },
  {
    guard: 'a glance that sees no news wakes nothing',
    file: 'core/domain/glance.ts',
    find: '  if (!known.isSettled || known.tip !== glance.tip) return true;',
    replace: '  if (known.tip === known.tip) return true;',
    families: ['at_rest'],
    dies: 'a repository is glanced at for an hour',
  },
  {
    guard: 'chains of glances replace each other',
    file: 'core/services/glance.ts',
    find: "  if (repo.wakeSeq !== glance.wakeSeq) return 'replaced';\n",
    replace: '',
    families: ['at_rest'],
    dies: 'a repository is glanced at for an hour',
  },
  {
    guard: 'a glance that is delivered twice goes on once',
    file: 'core/services/glance.ts',
    find: 'sendDelayedGlance({ repoId: id, wakeSeq, step }, delayMs)',
    replace:
      'sendDelayedGlance({ repoId: id, wakeSeq, step: 1 + Math.floor(deps.clock.now()) % 997 }, delayMs)',
    families: ['at_rest'],
    dies: 'a repository is glanced at for an hour',
  },
  {
    guard: 'a repository that is quiet for long is glanced at no more',
    file: 'core/domain/glance.ts',
    find: '  return delayMs < TICK_INTERVAL_MS ? Math.round(delayMs) : null;',
    replace: '  return Math.min(Math.round(delayMs), 30_000);',
    families: ['at_rest'],
    dies: 'a quiet repository is glanced at no more',
  },
];
