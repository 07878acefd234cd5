import type { Mutant } from '../mutants.ts';

/** Guards of decision 0355: another repository takes the name of one that is enrolled. */
export const TAKEN_NAME_MUTANTS: readonly Mutant[] = [
  {
    guard: 'the queue does not go on in another repository of the same name',
    file: 'engine-container/src/reading/repo-identity.ts',
    find: 'if (this.#id !== null && this.#id !== id) throw new AnotherRepo();',
    replace: '',
    families: ['calm'],
    dies: 'another repository takes the name',
  },
  {
    guard: 'nothing is gone because another repository does not have it',
    file: 'engine-container/src/reading/repo-identity.ts',
    find: "if (error instanceof ForgeError && error.kind === 'missing') await this.#ask(forge);",
    replace: '',
    families: ['calm'],
    dies: 'another repository takes the name amid a look while a success stands',
  },
  {
    guard: 'an empty list is not taken for that of the repository',
    file: 'engine-container/src/reading/repo-identity.ts',
    find: 'if (pulls.length === 0 && !this.#isConfirmed) await this.#ask(forge);',
    replace: '',
    families: ['calm'],
    dies: 'a copy takes the name of a repository at rest',
  },
  {
    guard: 'nothing is told of a repository before it is known to be the one',
    file: 'engine-container/src/reading/repo-identity.ts',
    find: 'return isSettled ? call() : this.#askUnlessLate(forge).then(call);',
    replace: 'return isSettled ? call() : call();',
    families: ['calm'],
    dies: 'a repository whose list is not read takes the name',
  },
  {
    guard: 'an idle look does not call another repository well',
    file: 'engine-container/src/idle/idle-look.ts',
    find: 'await new RepoIdentity(repoId).guard(forge).listOpenPullRequests()',
    replace: 'await forge.listOpenPullRequests()',
    families: ['calm'],
    dies: 'a copy takes the name of a repository at rest',
  },
  {
    guard: 'a landing is carried in the repository in which it landed',
    file: 'core/services/connections/same-repo.ts',
    find: "return seen === null || seen === known ? forge : 'replaced';",
    replace: 'return forge;',
    families: ['calm'],
    dies: 'another repository has the name when a landing is carried',
  },
];
