import type { Mutant } from '../mutants.ts';

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
  {
    guard: 'a rule over the branches of the queue is told to the owner',
    file: `${QUEUE}/batches/ruled-branch.ts`,
    find: "if (!told.includes('staging_protected'))",
    replace: 'if (told.length > 99)',
    families: ['rules'],
    dies: 'a rule covers the branches of the queue',
  },
  {
    guard: 'nothing is staged while a rule covers the branches of the queue',
    file: `${QUEUE}/line/holds.ts`,
    find: 'return nameInTheWay !== undefined || ruledBranch !== undefined;',
    replace: "return nameInTheWay !== undefined || ruledBranch === '';",
    families: ['rules'],
    dies: 'a rule covers the branches of the queue',
  },
  {
    guard: 'staging goes on once no rule covers the branches of the queue',
    file: `${QUEUE}/batches/ruled-branch.ts`,
    find: 'if (s.isOwnBranchRuled?.known === true && !s.isOwnBranchRuled.value) delete',
    replace: 'if (s.isOwnBranchRuled?.known === false) delete',
    families: ['rules'],
    dies: 'a rule covers the branches of the queue',
  },
  {
    guard: 'a rule over the branches of the queue keeps no words from the authors (A145)',
    file: `${QUEUE}/words/progress.ts`,
    find: "if (errorCode !== 'protection_conflict') return false;",
    replace: "return errorCode === 'protection_conflict';",
    families: ['rules'],
    dies: 'a rule covers the branches of the queue',
  },
  {
    guard: 'authors are told that the queue has stopped where it can stage nothing (A145)',
    file: `${QUEUE}/words/progress.ts`,
    find: 'isStopped: awaitsPerson(record)',
    replace: 'isStopped: awaitsPerson({ ...record, ruledBranch: undefined as never })',
    families: ['rules'],
    dies: 'a rule covers the branches of the queue',
  },
  {
    guard: 'the page says as the heads that the queue has stopped where it can stage nothing (A146)',
    file: `${QUEUE}/told/view.ts`,
    find: "if (awaitsPerson(record)) return situation('waiting', 'queue_stopped');",
    replace:
      "if (record.halted !== null && awaitsPerson(record)) return situation('waiting', 'queue_stopped');",
    families: ['rules'],
    dies: 'a rule covers the branches of the queue',
  },
  {
    guard: 'a rule over the branches of the queue is told until it is gone',
    file: `${QUEUE}/record/adopt-snapshot.ts`,
    find: 'const isRuled = record.ruledBranch !== undefined;',
    replace: 'const isRuled = false;',
    families: ['rules'],
    dies: 'a rule covers the branches of the queue',
  },
  {
    guard: 'a base that is not on the forge is told',
    file: `${QUEUE}/record/adopt-snapshot.ts`,
    find: "if (pass.s.isBaseMissing === true) raiseStandstill(pass, 'base_missing');",
    replace: '',
    families: ['rules'],
    dies: 'a person renames the base',
  },
  {
    guard: 'the rule of a base that is gone is not told to be missing',
    file: `${QUEUE}/record/adopt-snapshot.ts`,
    find: 'if (s.isBaseMissing === true) return;',
    replace: '',
    families: ['rules'],
    dies: 'a person renames the base',
  },
  {
    guard: 'a rule that asks for another check in place of ours is told, and that check is not waited for',
    file: `${QUEUE}/batches/fill.ts`,
    find: 'if (isAnyReady || record.entries.some(isUnadmitted))',
    replace: 'if (isAnyReady)',
    families: ['rules'],
    dies: 'the rule asks for a former context of the queue',
  },
];
