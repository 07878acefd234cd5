import { join } from 'node:path';
import { type Measurement, measure, percentile } from './measure.ts';
import { readScenarios, type Scenario } from './workload.ts';

/** `npm run bench:queue -- [--scenario S] [--fanout K] [--seeds N] [--json] [--cold] [--scenarios FILE]` */
function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}

const DIALS = [1, 4, 8, 16];

function mean(values: readonly (number | null)[]): number | null {
  const there = values.filter((value) => value !== null);
  return there.length === 0 ? null : there.reduce((sum, value) => sum + value, 0) / there.length;
}

function summarize(scenario: Scenario, fanout: number, results: readonly Measurement[]) {
  const round = (value: number | null) => (value === null ? null : Math.round(value * 1000) / 1000);
  return {
    scenario: scenario.name,
    fanout,
    seeds: results.length,
    runs_per_landed: round(mean(results.map((result) => result.runs / Math.max(1, result.landed)))),
    land_p50: round(mean(results.map((result) => percentile(result.landTimes, 0.5)))),
    land_p95: round(mean(results.map((result) => percentile(result.landTimes, 0.95)))),
    bounce_p95: round(mean(results.map((result) => percentile(result.bounceTimes, 0.95)))),
    wrong_bounce_pct: round(mean(results.map((result) => (100 * result.wrongBounces) / result.good))),
    superseded_pct: round(
      mean(results.map((result) => (100 * result.superseded) / Math.max(1, result.runs))),
    ),
    unproven: results.reduce((sum, result) => sum + result.unproven, 0),
    red: results.reduce((sum, result) => sum + result.red, 0),
  };
}

const file = option('scenarios') ?? join(import.meta.dirname, 'scenarios.json');
const only = option('scenario');
const seeds = Number(option('seeds') ?? 20);
const dials = option('fanout') === undefined ? DIALS : [Number(option('fanout'))];
const json = process.argv.includes('--json');
const started = performance.now();
if (!json)
  console.log(
    'scenario          fan-out   runs/landed   land p50   land p95   bounce p95   wrong %   superseded %   unproven   red',
  );
for (const scenario of readScenarios(file)) {
  if (only !== undefined && scenario.name !== only) continue;
  for (const fanout of dials) {
    const results = Array.from({ length: seeds }, (_, seed) =>
      measure(scenario, fanout, seed + 1, process.argv.includes('--cold')),
    );
    const row = summarize(scenario, fanout, results);
    if (json) console.log(JSON.stringify(row));
    else {
      const cell = (value: number | null, width: number) =>
        (value === null ? '-' : String(value)).padStart(width);
      console.log(
        `${row.scenario.padEnd(18)}${cell(row.fanout, 6)}${cell(row.runs_per_landed, 14)}${cell(row.land_p50, 11)}${cell(row.land_p95, 11)}${cell(row.bounce_p95, 13)}${cell(row.wrong_bounce_pct, 10)}${cell(row.superseded_pct, 14)}${cell(row.unproven, 11)}${cell(row.red, 6)}`,
      );
    }
  }
}
if (!json) console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
