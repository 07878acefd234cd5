import type { Mutant } from '../mutants.ts';

/** Guards of decision 0352: the forge checks a large repository out for each patch. */
export const SLOW_PATCH_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a patch that was given up is not sent again where files can say the same',
    file: 'engine-container/src/staging/change-writer.ts',
    find: "(end === 'given_up' ? GIVEN_UP_PATCH_KEPT_MS : SLOW_KEPT_MS)",
    replace: "(end === 'given_up' ? 0 : SLOW_KEPT_MS)",
    families: ['gitea'],
    dies: 'each patch outlasts the time of a call',
  },
  {
    guard: 'an engine that has just begun goes by the pace of the record',
    file: 'engine-container/src/reconcile/keep-patch-pace.ts',
    find: 'pace.slowUntil = slowPatches.until;',
    replace: '',
    families: ['gitea'],
    dies: 'an engine begins anew where each patch is slow',
  },
  {
    guard: 'a change that only a slow patch can say takes no others along',
    file: 'engine-container/src/staging/stage-batch.ts',
    find: "files === null && writer.isPatchGivenUp && !isAlone ? 'slow_patch' : { ...plan, files }",
    replace: '{ ...plan, files }',
    families: ['gitea'],
    dies: 'one of a batch needs a patch that outlasts the time of a call',
  },
  {
    guard: 'a forge that answers all but one request is not told as away',
    file: 'engine-container/src/reconcile/reconcile.ts',
    find: "const told = isOfCall ? 'forge_call_failed' : code;",
    replace: 'const told = code;',
    families: ['gitea'],
    dies: 'one of a batch needs a patch that outlasts the time of a call',
  },
  {
    guard: 'files that are refused on a base that has moved are no failure',
    file: 'engine-container/src/staging/change-writer.ts',
    find: 'if (tip !== parent) throw new BranchMoved();',
    replace: '',
    families: ['gitea'],
    dies: 'the base moves as files are sent in the place of a slow patch',
  },
];
