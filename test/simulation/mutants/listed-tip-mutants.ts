import type { Mutant } from '../mutants.ts';

const ENGINE = 'engine-container/src';
const FOLD = `${ENGINE}/queue/fold-staging.ts`;
const SEARCH = 'the list shows a late tip of the base from within a search on';

/** Guards of a base that the list of the forge shows as it was, for good. */
export const LISTED_TIP_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a listed tip that staging doubts is asked of the branch',
    file: `${ENGINE}/reading/read-base.ts`,
    find: 'shown.size === 1 && only !== doubtedTip',
    replace: "shown.size === 1 && only !== doubtedTip?.concat('0')",
    families: ['people'],
    dies: 'the list shows a tip of the base for good that a push has replaced',
  },
  {
    guard: 'a batch that met another tip doubts the one that it was begun on',
    file: FOLD,
    find: '    pass.record.doubtedTip = action.groundSha;\n    return dissolve(pass, batch);',
    replace: '    return dissolve(pass, batch);',
    families: ['people'],
    dies: 'the list shows a tip of the base for good that a push has replaced',
  },
  {
    guard: 'a prefix that met another tip doubts the one that it was begun on',
    file: FOLD,
    find: '    pass.record.doubtedTip = action.groundSha;\n    node.branch = null;',
    replace: '    node.branch = null;',
    families: ['people'],
    dies: SEARCH,
  },
  {
    guard: 'staging that fails doubts the tip that it was begun on',
    file: `${ENGINE}/queue/batches/staging-failure.ts`,
    find: '  pass.record.doubtedTip = action.groundSha;\n',
    replace: '',
    families: ['people'],
    dies: 'the list shows a tip of the base for good that its heads have left',
  },
];
