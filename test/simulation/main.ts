import { readFileSync } from 'node:fs';
import { FAMILIES, type Family } from './odds.ts';
import { shrink } from './shrink.ts';
import { simulate } from './simulate.ts';
import { parseSeeds, Tally } from './tally.ts';

/**
 * `npm run sim -- --seeds N [--from S] [--seed S --trace --shrink] [--family F]`: N seeds spread over the families, old failures
 * first. The last line is one JSON object.
 */
function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}
const has = (flag: string): boolean => process.argv.includes(`--${flag}`);

const FAILURES_SHOWN = 30;
const families = FAMILIES.filter((family) => (option('family') ?? family) === family);
if (families.length === 0) throw new Error(`families are ${FAMILIES.join(', ')}`);
const tally = new Tally();
const started = performance.now();

async function run(seed: number, family: Family): Promise<void> {
  const verdict = await simulate(seed, family, {}, has('trace'));
  tally.add(verdict);
  if (has('trace')) console.log(verdict.trace.join('\n'));
  if (verdict.violations.length === 0) return;
  if (tally.failed.length <= FAILURES_SHOWN)
    console.log(`${family} ${seed}: ${verdict.violations.slice(0, 3).join('; ')}`);
  if (has('shrink')) console.log(`smallest: ${JSON.stringify(await shrink(seed, family))}`);
}

const only = option('seed');
if (only !== undefined) for (const family of families) await run(Number(only), family);
else {
  const old = parseSeeds(readFileSync('test/simulation/seeds.txt', 'utf8'));
  for (const { seed, family } of old) {
    const known = families.find((candidate) => candidate === family);
    if (known !== undefined) await run(seed, known);
  }
  const from = Number(option('from') ?? 0);
  const seeds = Number(option('seeds') ?? 1_000);
  for (let count = 0; count < seeds; count += 1) {
    const family = families[count % families.length];
    if (family !== undefined) await run(from + Math.floor(count / families.length), family);
  }
}

console.log(
  JSON.stringify({
    seeds: tally.seeds,
    steps: tally.steps,
    violations: tally.failed.length,
    steps_per_second: Math.round((tally.steps * 1000) / (performance.now() - started)),
    sometimes_missing: tally.missing,
    io_labels: tally.labels.size,
    io_labels_crashed: tally.labelsCrashed.size,
    ...(has('list') ? { sometimes: [...tally.sometimes].sort(), labels: [...tally.labels].sort() } : {}),
  }),
);
if (tally.failed.length > 0) process.exitCode = 1;
