import { FAMILIES, type Family, simulate } from './simulate.ts';

/** `tsx test/simulation/main.ts --seeds N [--seed S --trace] [--family F]`: one JSON line at the end. */
function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

const seeds = Number(option('seeds') ?? 200);
const only = option('seed');
const families = FAMILIES.filter((family) => (option('family') ?? family) === family) as Family[];
const started = performance.now();
let steps = 0;
let violations = 0;
const sometimes = new Set<string>();
for (const family of families) {
  const first = only === undefined ? 0 : Number(only);
  const last = only === undefined ? seeds : first + 1;
  for (let seed = first; seed < last; seed += 1) {
    const verdict = await simulate(seed, family, process.argv.includes('--trace'));
    steps += verdict.steps;
    for (const label of verdict.sometimes) sometimes.add(label);
    if (verdict.violations.length > 0) {
      violations += 1;
      if (violations <= 20)
        console.log(`${family} seed ${seed}: ${verdict.violations.slice(0, 3).join('; ')}`);
    }
    if (process.argv.includes('--trace')) console.log(verdict.trace.join('\n'));
  }
}
const seconds = (performance.now() - started) / 1000;
console.log(
  JSON.stringify({
    seeds: families.length * (only === undefined ? seeds : 1),
    steps,
    violations,
    steps_per_second: Math.round(steps / seconds),
    sometimes: [...sometimes].sort(),
  }),
);
