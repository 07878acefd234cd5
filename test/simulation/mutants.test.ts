import { readFileSync } from 'node:fs';
import { replaceOnce } from './bundle.ts';
import { MUTANTS } from './mutants.ts';

/** `npm run sim:mutants` shows that each is caught, `scenes.ci.test.ts` a few of them; here that each is still a change of what is delivered. */
test.each(MUTANTS.map((mutant) => [mutant.guard, mutant] as const))(
  'there is a guard: %s',
  (_guard, mutant) => {
    const text = readFileSync(mutant.file, 'utf8');
    expect(replaceOnce(text, mutant)).not.toBe(text);
  },
);
