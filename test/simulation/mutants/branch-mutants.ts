import type { Mutant } from '../mutants.ts';

const BRANCHES = 'core/domain/repos/managed-branch.ts';

/** Guards of decision 0192: several branches of one repository, each with a record of its own. */
export const BRANCH_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a success under one context opens no branch that asks for another',
    file: 'engine-container/src/queue/admission/admission.ts',
    find: 'new GlobSet(requiredContexts, null).mayMatch(context)',
    replace: 'requiredContexts.length > 0',
    families: ['two_branches'],
    dies: { family: 'two_branches', seed: 1 },
  },
  {
    guard: 'a staging branch has the name of its base',
    file: 'core/domain/queue/queue-names.ts',
    find: '{base}/staging`;',
    replace: "{base === '' ? base : 'main'}/staging`;",
    families: ['two_branches'],
    dies: { family: 'two_branches', seed: 2 },
  },
  {
    guard: 'a record queues the pull requests to its own branch',
    file: 'engine-container/src/reading/read-snapshot.ts',
    find: 'all.filter((pull) => pull.baseRef === this.#repo.baseBranch)',
    replace: "all.filter((pull) => pull.baseRef !== '')",
    families: ['two_branches'],
    dies: { family: 'two_branches', seed: 1 },
  },
  {
    guard: 'no two branches have one context, in any case of letters',
    file: BRANCHES,
    find: 'return one.toLowerCase() === other.toLowerCase();',
    replace: 'return one === other;',
    families: ['two_branches'],
    dies: 'a branch takes the context of another',
  },
  {
    guard: 'a branch does not wait for the end of another one',
    file: BRANCHES,
    find: 'return left.baseBranch === repo.baseBranch || isSameContext(left.statusContext, repo.statusContext);',
    replace: 'return left.baseBranch !== null;',
    families: ['two_branches'],
    dies: 'a branch lands while the record of another is wound down',
  },
  {
    guard: 'two records of one branch never act at once',
    file: BRANCHES,
    find: 'return left.baseBranch === repo.baseBranch || isSameContext',
    replace: 'return isSameContext',
    families: ['two_branches'],
    dies: 'a branch is enrolled again under another context',
  },
  {
    guard: 'two records of one context never act at once',
    file: BRANCHES,
    find: 'return left.baseBranch === repo.baseBranch || isSameContext(left.statusContext, repo.statusContext);',
    replace: 'return left.baseBranch === repo.baseBranch;',
    families: ['two_branches'],
    dies: 'another branch is enrolled under the context of one that is wound down',
  },
  {
    guard: 'one hook serves every managed branch',
    file: 'core/services/webhooks/accept-forge-webhook.ts',
    find: 'return managed.some(({ id }) => id === repo.id) ? managed : [repo, ...managed];',
    replace: 'return managed.length < 0 ? managed : [repo];',
    families: ['two_branches'],
    dies: 'an event tells of the second branch',
  },
  {
    guard: 'a hook outlives the branch whose it was',
    file: 'core/domain/sealed-text.ts',
    find: 'repoId: webhookSecretOf ?? id, purpose',
    replace: 'repoId: webhookSecretOf === undefined ? id : id, purpose',
    families: ['two_branches'],
    dies: 'an event tells of the second branch when the first is gone',
  },
  {
    guard: 'a pull request that merged along with a landing is not merged by a later one',
    file: 'engine-container/src/queue/admission/entries.ts',
    find: 'noteMerged(pass.record, entry.pr);',
    replace: 'pass.actions.push();',
    families: ['two_branches'],
    dies: 'a third one with a head that has merged twice waits for its merge',
  },
];
