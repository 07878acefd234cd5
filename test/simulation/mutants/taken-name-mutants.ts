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
    guard: 'the base of another repository is not told as moved past the queue',
    file: 'engine-container/src/reading/repo-identity.ts',
    find: 'if (pulls.length === 0 && !this.#isConfirmed) await this.#ask(forge);',
    replace: '',
    families: ['calm'],
    dies: 'a repository without a pull request takes the name',
  },
];
