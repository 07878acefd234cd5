import type { Mutant } from './mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of how the rule of a base is read. */
export const RULE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a required pattern that is malformed is left out as on the forge',
    file: `${QUEUE}/admission/admission.ts`,
    find: 'if (matcher === null) return true;',
    replace: 'if (matcher === null) return false;',
    families: ['rules'],
    dies: 'a required check is malformed',
  },
  {
    guard: 'a required pattern is read as this forge reads it',
    file: `${QUEUE}/admission/admit-entries.ts`,
    find: 'pass.globs[globDialect(version)]',
    replace: 'pass.globs.gitea',
    families: ['rules'],
    dies: 'a required check is malformed on Forgejo alone',
  },
];
