import { type Comparison, compare, FANOUTS } from './compare.ts';
import { describeWorkload, drawSeeds, drawWorkload } from './draw.ts';
import { tellFamily, tellWorkload } from './table.ts';

const PLANS = 2;

/** `--family N --seed S [--fanout K,L] [--plans P] [--tune|--report]`: N random workloads, all queues side by side. */
export function runFamily(argv: readonly string[]): void {
  const option = (name: string): string | undefined => {
    const at = argv.indexOf(`--${name}`);
    return at < 0 ? undefined : argv[at + 1];
  };
  const count = Number(option('family'));
  const fanouts = option('fanout')?.split(',').map(Number) ?? FANOUTS;
  const plans = Number(option('plans') ?? PLANS);
  const isReport = argv.includes('--report');
  if (isReport && argv.includes('--tune')) throw new Error('--tune and --report are two runs');
  const seeds = drawSeeds(count, Number(option('seed') ?? 1), isReport);
  const started = performance.now();
  const comparisons: Comparison[] = [];
  for (const seed of seeds) {
    const scenario = drawWorkload(seed);
    const comparison = compare(scenario, fanouts, { seed, plans });
    comparisons.push(comparison);
    if (argv.includes('--json')) {
      const { ours, references, peers } = comparison;
      const lines = [ours, references, peers].map((each) => Object.fromEntries<unknown>([...each]));
      console.log(JSON.stringify({ seed, scenario, ours: lines[0], references: lines[1], peers: lines[2] }));
    } else if (!argv.includes('--short')) {
      console.log(`${seed}: ${describeWorkload(scenario)}\n  ${tellWorkload(comparison)}`);
    }
  }
  if (argv.includes('--json')) return;
  console.log(
    `\n${count} workloads for ${isReport ? 'reports' : 'tuning'}, seeds ${seeds[0]} to ${seeds.at(-1)}, ${plans} plans each; ratio to the reference with as many slots: median / 90th percentile / worst\n`,
  );
  console.log(tellFamily(comparisons, fanouts));
  console.log(`\n${((performance.now() - started) / 1000).toFixed(0)} s`);
  const lines = comparisons.flatMap(({ ours }) => [...ours.values()]);
  if (lines.some((line) => line.unproven + line.red > 0)) process.exitCode = 1;
}
