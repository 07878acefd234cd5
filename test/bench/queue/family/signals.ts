import { policyOf } from '../../../../engine-container/src/queue/policy/policy.ts';
import { takeAway } from '../cell.ts';
import { type Measurement, measure, percentile } from '../measure.ts';
import type { Scenario } from '../workload.ts';
import { drawSeeds, drawWorkload } from './draw.ts';
import { spread } from './table.ts';

/** Shares of the bad and of the good ones whose own CI fails, by the area under the curve. */
const SIGNALS = {
  '0.60': { bad: 0.25, good: 0.05 },
  '0.75': { bad: 0.55, good: 0.05 },
  '0.90': { bad: 0.85, good: 0.05 },
} as const;
const FANOUTS = [4, 8, 16] as const;
const PLANS = 2;
const SEEDS_OF_ONE = 100;

/**
 * `--signals N --seed S [--plans P] [--tune|--report]`: N random workloads whose own CI knows this much of what is bad; with
 * what is known before gate runs to without it, after 200 outcomes.
 */
export function runSignals(argv: readonly string[]): void {
  const option = (name: string): string | undefined => {
    const at = argv.indexOf(`--${name}`);
    return at < 0 ? undefined : argv[at + 1];
  };
  const isReport = argv.includes('--report');
  const plans = Number(option('plans') ?? PLANS);
  const seeds = drawSeeds(Number(option('signals')), Number(option('seed') ?? 1), isReport);
  console.log(
    '| signal | fan-out | runs: geometric mean | spread | mean wait | spread | p95 | spread | wrong |',
  );
  console.log('| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
  for (const [area, signal] of Object.entries(SIGNALS))
    for (const fanout of FANOUTS) {
      const pairs = seeds.flatMap((seed) =>
        Array.from({ length: plans }, (_, plan) => {
          const scenario = { ...drawWorkload(seed), signal };
          const play = (forecasts: boolean) => spend(scenario, fanout, seed * SEEDS_OF_ONE + plan, forecasts);
          return { with: play(true), without: play(false) };
        }),
      );
      const cells = (['runs', 'mean', 'p95'] as const).flatMap((key) => {
        const ratios = pairs.map((pair) => pair.with[key] / pair.without[key]);
        const log = ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length;
        return [Math.exp(log).toFixed(3), spread(ratios)];
      });
      const wrong = (['with', 'without'] as const).map((kind) =>
        pairs.reduce((sum, pair) => sum + pair[kind].wrong, 0),
      );
      console.log(`| ${[area, fanout, ...cells, wrong.join(' for ')].join(' | ')} |`);
    }
}

function spend(scenario: Scenario, fanout: number, seed: number, forecasts: boolean) {
  const policy = forecasts ? policyOf(fanout) : takeAway(policyOf(fanout), 'forecasts');
  const { begun, landed, landTimes, wrongBounces }: Measurement = measure({
    scenario,
    fanout,
    seed,
    policy,
    cold: false,
  });
  const mean = landTimes.reduce((sum, each) => sum + each, 0) / Math.max(1, landTimes.length);
  const p95 = percentile(landTimes, 0.95) ?? 0;
  return { runs: begun / Math.max(1, landed), mean, p95, wrong: wrongBounces };
}
