import type { Mutant } from '../mutants.ts';

/** Guards of decision 0352: the forge checks a large repository out for each patch. */
export const SLOW_PATCH_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a patch that was given up is not sent again where files can say the same',
    file: 'engine-container/src/staging/change-writer.ts',
    find: "(end === 'given_up' ? GIVEN_UP_KEPT_MS : SLOW_KEPT_MS)",
    replace: "(end === 'given_up' ? 0 : SLOW_KEPT_MS)",
    families: ['gitea'],
    dies: 'each patch outlasts the time of a call',
  },
];
