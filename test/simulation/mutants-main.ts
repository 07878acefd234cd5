import { readFileSync } from 'node:fs';
import { checkCall, endWithUsage, type Usage } from '../support/usage.ts';
import { bundleProgram, replaceOnce } from './bundle.ts';
import { MUTANTS, type Mutant } from './mutants.ts';
import { countOption, option } from './options.ts';
import { playScene } from './play-scene.ts';
import { type Order, runLives } from './pool.ts';
import type { Verdict } from './simulate.ts';

const USAGE: Usage = {
  script: 'sim:mutants',
  does: 'Plays the engine without each of its guards in turn, until a promise breaks.',
  options: {
    '--seeds N': 'seeds that a mutant may live through (3000)',
    '--only TEXT': 'mutants whose guard has this text',
    '--jobs J': 'processes (2)',
  },
};
checkCall(USAGE);

/**
 * The engine without each of its guards in turn, where it
 * was seen to die before, then lived until a promise breaks. A mutant that lives through N seeds of its families is a
 * guard that nothing tests.
 */
const SEEDS_MAX = countOption('seeds', 3_000);

interface Killing {
  readonly where: string;
  /** Lives lived until then, besides the one that was tried first. */
  readonly lived: number;
  readonly what: string;
}

function* chooseOrders({ families, dies }: Mutant): Generator<Order> {
  if (typeof dies !== 'string') yield dies;
  for (let count = 0; count < SEEDS_MAX; count += 1) {
    const family = families[count % families.length];
    if (family !== undefined) yield { family, seed: Math.floor(count / families.length) };
  }
}

async function kill(mutant: Mutant): Promise<Killing | null> {
  const { dies } = mutant;
  if (typeof dies === 'string') {
    const [what] = await playScene([mutant], dies);
    if (what !== undefined) return { where: `scene "${dies}"`, lived: 0, what };
  }
  const program = await bundleProgram('test/simulation/lives.worker.ts', [mutant]);
  let killer: Verdict | null = null;
  let lived = 0;
  await runLives(program, chooseOrders(mutant), countOption('jobs', 2), ({ verdict }) => {
    lived += 1;
    if (verdict.violations.length > 0) killer = verdict;
    return killer === null;
  });
  // The compiler does not see that a callback has run.
  const verdict = killer as Verdict | null;
  if (verdict === null) return null;
  const [what = ''] = verdict.violations;
  return { where: `${verdict.family} ${verdict.seed}`, lived, what };
}

/** Why it is no change of the source; null: it is one. */
function tellMisfit(mutant: Mutant): string | null {
  try {
    replaceOnce(readFileSync(mutant.file, 'utf8'), mutant);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : 'it does not apply';
  }
}

const only = option('only') ?? '';
const chosen = MUTANTS.filter(({ guard }) => guard.includes(only));
if (chosen.length === 0) endWithUsage(USAGE, `No guard of a mutant has the text "${only}".`);
const survivors: string[] = [];
const misfits: string[] = [];
const started = performance.now();
for (const mutant of chosen) {
  const misfit = tellMisfit(mutant);
  if (misfit !== null) {
    misfits.push(mutant.guard);
    console.log(`MISFIT   ${mutant.guard}: ${misfit}`);
    continue;
  }
  const killing = await kill(mutant);
  if (killing === null) {
    survivors.push(mutant.guard);
    console.log(`SURVIVED ${mutant.guard}: ${SEEDS_MAX} seeds of ${mutant.families.join(', ')}`);
    continue;
  }
  const [line = ''] = killing.what.split('\n');
  console.log(`killed   ${mutant.guard}: ${killing.where} (${killing.lived}): ${line.slice(0, 100)}`);
}
console.log(
  JSON.stringify({
    mutants: chosen.length,
    killed: chosen.length - survivors.length - misfits.length,
    survived: survivors,
    not_applied: misfits,
    seconds: Math.round((performance.now() - started) / 1000),
  }),
);
if (survivors.length + misfits.length > 0) process.exitCode = 1;
