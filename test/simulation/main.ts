import { readFileSync } from 'node:fs';
import { IO_LABELS } from '../support/machine.ts';
import { checkCall } from '../support/usage.ts';
import { bundleProgram } from './bundle.ts';
import { FAMILIES } from './families.ts';
import { countOption, hasOption, option } from './options.ts';
import { type Order, runLives } from './pool.ts';
import { shrink } from './shrink.ts';
import { type Limits, simulate } from './simulate.ts';
import { parseSeeds, Tally } from './tally.ts';

checkCall({
  script: 'sim',
  does: 'Plays seeded lives of the queue with faults, crashes and people. The last line is one JSON object.',
  options: {
    '--seeds N': 'seeds, spread over the families (1000)',
    '--from S': 'first seed (0)',
    '--old M': 'of those that once failed, the M newest first (all)',
    '--family F,G': 'families by name (all)',
    '--jobs J': 'processes (2)',
    '--seconds T': 'ends after this time',
    '--list': 'what happened how often, and calls that never came',
    '--seed S': 'this life of each family alone',
    '--trace': 'tells it',
    '--shrink': 'says which limits keep it failing',
    '--limits JSON': 'plays it within these limits',
  },
});

const FAILURES_SHOWN = 30;
/** Of a run of fewer seeds nothing need have been met. */
const OFTEN_SEEDS_MIN = 2_000;
const PROGRESS_EVERY_SEEDS = 10_000;
/** A long run that is asked to end tells what it has seen. */
let stopped = false;
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    stopped = true;
  });
}

const named = option('family')?.split(',');
const families = FAMILIES.filter((family) => named?.includes(family) ?? true);
const unknown = named?.find((name) => !families.some((family) => family === name));
if (unknown !== undefined) throw new Error(`there is no family ${unknown}; they are ${FAMILIES.join(', ')}`);
const tally = new Tally();
const started = performance.now();
const secondsSoFar = (): number => (performance.now() - started) / 1000;

async function tellOne(seed: number): Promise<void> {
  for (const family of families) {
    const limits = JSON.parse(option('limits') ?? '{}') as Limits;
    const verdict = await simulate(seed, family, limits, hasOption('trace'));
    tally.add(verdict);
    if (hasOption('trace')) console.log(verdict.trace.join('\n'));
    if (verdict.violations.length === 0) continue;
    console.log(`${family} ${seed}: ${verdict.violations.join('; ')}`);
    if (hasOption('shrink')) console.log(`smallest: ${JSON.stringify(await shrink(seed, family))}`);
  }
}

function* chooseOrders(): Generator<Order> {
  const failures = parseSeeds(readFileSync('test/simulation/seeds.txt', 'utf8'));
  for (const { seed, family } of failures.slice(
    Math.max(0, failures.length - countOption('old', failures.length)),
  )) {
    if (families.includes(family)) yield { seed, family };
  }
  const from = countOption('from', 0);
  const seeds = countOption('seeds', 1_000);
  for (let count = 0; count < seeds; count += 1) {
    const family = families[count % families.length];
    if (family !== undefined) yield { seed: from + Math.floor(count / families.length), family };
  }
}

async function runMany(): Promise<void> {
  const secondsMax = countOption('seconds', Number.MAX_SAFE_INTEGER);
  const program = await bundleProgram('test/simulation/lives.worker.ts');
  await runLives(program, chooseOrders(), countOption('jobs', 2), ({ verdict }) => {
    tally.add(verdict);
    if (verdict.violations.length > 0 && tally.failed.length <= FAILURES_SHOWN)
      console.log(`${verdict.family} ${verdict.seed}: ${verdict.violations.slice(0, 3).join('; ')}`);
    if (tally.seeds % PROGRESS_EVERY_SEEDS === 0) console.log(JSON.stringify(tally.summary(secondsSoFar())));
    return !stopped && secondsSoFar() < secondsMax;
  });
}

const only = option('seed');
if (only === undefined) await runMany();
else await tellOne(Number(only));

if (hasOption('list')) {
  for (const [what, lives] of [...tally.sometimes].sort()) console.log(`${what}: ${lives}`);
  console.log('never called:', IO_LABELS.filter((label) => !tally.labels.has(label)).join(', '));
  console.log('never crashed:', IO_LABELS.filter((label) => !tally.labelsCrashed.has(label)).join(', '));
}
console.log(JSON.stringify(tally.summary(secondsSoFar())));
const lacks = tally.seeds >= OFTEN_SEEDS_MIN && tally.missing.length > 0;
if (tally.failed.length > 0 || lacks) process.exitCode = 1;
