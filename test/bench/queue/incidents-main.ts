import { join } from 'node:path';
import { option } from '../../simulation/options.ts';
import { checkCall } from '../../support/usage.ts';
import { INCIDENT_SHARE, measureIncidents } from './incidents.ts';
import { chooseScenarios, readScenarios } from './workload.ts';

checkCall({
  script: 'bench:incidents',
  does: 'Measures what incidents wait, and what they cost the others, on each workload. Waits in gate durations.',
  options: {
    '--scenario S,T': 'workloads of scenarios.json by name (all)',
    '--fanout K,L': 'gate runs at once (1,4,8,16)',
    '--seeds N': 'seeds of each workload (20)',
    '--from S': 'first seed (1)',
    '--share X': 'share of pull requests that are incidents',
  },
});

const INCIDENT_P95_MAX = 2;
const OTHERS_WORSE_PCT_MAX = 10;

const from = Number(option('from') ?? 1);
const seeds = Array.from({ length: Number(option('seeds') ?? 20) }, (_, index) => from + index);
const named = option('scenario')?.split(',');
const fanouts = option('fanout')?.split(',').map(Number) ?? [1, 4, 8, 16];
const show = (value: number | null) => (value === null ? '-' : value.toFixed(2)).padStart(14);
const columns = ['incidents', 'p50', 'p95', 'others p95', 'before', 'worse %', 'more runs %'];
console.log(
  `${'scenario'.padEnd(18)}${'slots'.padStart(6)}${columns.map((column) => column.padStart(14)).join('')}`,
);
let met = 0;
let rows = 0;
const all = readScenarios(join(import.meta.dirname, 'scenarios.json'));
for (const scenario of chooseScenarios(all, named)) {
  for (const fanout of fanouts) {
    const row = measureIncidents(scenario, fanout, seeds, Number(option('share') ?? INCIDENT_SHARE));
    const worsePct = 100 * ((row.others_p95 ?? 0) / (row.others_p95_before ?? 1) - 1);
    const isMet = (row.incident_p95 ?? 0) <= INCIDENT_P95_MAX && worsePct <= OTHERS_WORSE_PCT_MAX;
    rows += 1;
    if (isMet) met += 1;
    const figures = [
      row.incidents,
      row.incident_p50,
      row.incident_p95,
      row.others_p95,
      row.others_p95_before,
    ];
    const told = [...figures, worsePct, row.runs_more_pct].map(show).join('');
    const verdict = row.unproven + row.lost > 0 ? 'UNSAFE' : isMet ? 'met' : 'MISSED';
    console.log(`${row.scenario.padEnd(18)}${String(fanout).padStart(6)}${told}   ${verdict}`);
    if (verdict === 'UNSAFE') process.exitCode = 1;
  }
}
console.log(
  `${met} of ${rows} met: incidents p95 ${INCIDENT_P95_MAX}, others ${OTHERS_WORSE_PCT_MAX} % worse`,
);
