import { measure, percentile } from '../measure.ts';
import type { Scenario } from '../workload.ts';
import { drawSeeds, drawWorkload } from './draw.ts';
import { spread } from './table.ts';

const FIXED = [1, 2, 4, 8, 16] as const;
const BUDGETS = [50, 80, 125, 200] as const;
const SEEDS_OF_ONE = 100;

/** Waits in gate durations. */
interface Spent {
  readonly runs: number;
  readonly mean: number;
  readonly p95: number;
}

/**
 * `--auto N --seed S [--budgets 80,125] [--tune|--report] [--json]`: N random workloads with each fixed number of gate runs at
 * once and with `auto` at each budget; the wait of `auto` as a ratio to the best fixed number that takes no more gate runs.
 */
export function runAuto(argv: readonly string[]): void {
  const option = (name: string): string | undefined => {
    const at = argv.indexOf(`--${name}`);
    return at < 0 ? undefined : argv[at + 1];
  };
  const isReport = argv.includes('--report');
  const budgets = option('budgets')?.split(',').map(Number) ?? BUDGETS;
  const seeds = drawSeeds(Number(option('auto')), Number(option('seed') ?? 1), isReport);
  const ratios = new Map(budgets.map((budget) => [budget, [] as ReturnType<typeof compareTo>[]]));
  for (const seed of seeds) {
    const scenario = drawWorkload(seed);
    const fixed = FIXED.map((fanout) => spend(scenario, seed, fanout));
    for (const budget of budgets) {
      const auto = spend(scenario, seed, { runsPer100Landed: budget });
      ratios.get(budget)?.push(compareTo(fixed, auto, budget / 100));
      if (argv.includes('--json')) console.log(JSON.stringify({ seed, budget, auto, fixed }));
    }
  }
  const kind = isReport ? 'reports' : 'tuning';
  console.log(
    `\n${seeds.length} workloads for ${kind}, seeds ${seeds[0]} to ${seeds.at(-1)}; median / 90th percentile / worst\n`,
  );
  console.log('| budget | mean wait | p95 | gate runs to the budget |');
  console.log('| ---: | ---: | ---: | ---: |');
  for (const [budget, each] of ratios)
    console.log(
      `| ${[budget, ...(['mean', 'p95', 'runs'] as const).map((key) => spread(each.map((ratio) => ratio[key])))].join(' | ')} |`,
    );
}

function spend(scenario: Scenario, seed: number, fanout: Parameters<typeof measure>[0]['fanout']): Spent {
  const { begun, landed, landTimes } = measure({ scenario, fanout, seed: seed * SEEDS_OF_ONE, cold: false });
  const mean = landTimes.reduce((sum, each) => sum + each, 0) / Math.max(1, landTimes.length);
  return { runs: begun / Math.max(1, landed), mean, p95: percentile(landTimes, 0.95) ?? 0 };
}

/** To the best fixed number with no more gate runs, or the one with the fewest; gate runs to a budget that some number from four on meets. */
function compareTo(fixed: readonly Spent[], auto: Spent, budget: number) {
  const fewest = Math.min(...fixed.map(({ runs }) => runs));
  const open = fixed.filter(({ runs }) => runs <= Math.max(auto.runs, fewest) * 1.001);
  const best = (key: 'mean' | 'p95'): number => Math.min(...open.map((each) => each[key]));
  const least = Math.min(...fixed.slice(FIXED.indexOf(4)).map(({ runs }) => runs));
  return {
    mean: auto.mean / best('mean'),
    p95: auto.p95 / best('p95'),
    runs: auto.runs / Math.max(budget, least),
  };
}
