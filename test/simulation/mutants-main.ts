import { bundleProgram } from './bundle.ts';
import { MUTANTS, type Mutant } from './mutants.ts';
import { countOption, option } from './options.ts';
import { type Order, runLives } from './pool.ts';
import type { Verdict } from './simulate.ts';

/**
 * `npm run sim:mutants [-- --seeds N] [--only TEXT] [--jobs J]`: the engine without each of its guards in turn, lived
 * until a promise breaks. A mutant that lives through N seeds of its families is a guard that nothing tests.
 */
const SEEDS_MAX = countOption('seeds', 3_000);

function* chooseOrders({ families }: Mutant): Generator<Order> {
  for (let count = 0; count < SEEDS_MAX; count += 1) {
    const family = families[count % families.length];
    if (family !== undefined) yield { family, seed: Math.floor(count / families.length) };
  }
}

async function findKiller(mutant: Mutant): Promise<{ verdict: Verdict | null; lived: number }> {
  const program = await bundleProgram('test/simulation/lives.worker.ts', [mutant]);
  let killer: Verdict | null = null;
  let lived = 0;
  await runLives(program, chooseOrders(mutant), countOption('jobs', 2), ({ verdict }) => {
    lived += 1;
    if (verdict.violations.length > 0) killer = verdict;
    return killer === null;
  });
  return { verdict: killer, lived };
}

const chosen = MUTANTS.filter(({ guard }) => guard.includes(option('only') ?? ''));
let killed = 0;
for (const mutant of chosen) {
  const { verdict, lived } = await findKiller(mutant);
  if (verdict === null) {
    console.log(`SURVIVED ${mutant.guard}: ${lived} seeds of ${mutant.families.join(', ')}`);
    continue;
  }
  killed += 1;
  const [what = ''] = verdict.violations;
  const [line = ''] = what.split('\n');
  console.log(
    `killed   ${mutant.guard}: ${verdict.family} ${verdict.seed} (${lived}): ${line.slice(0, 100)}`,
  );
}
console.log(JSON.stringify({ mutants: chosen.length, killed, survived: chosen.length - killed }));
if (killed < chosen.length) process.exitCode = 1;
