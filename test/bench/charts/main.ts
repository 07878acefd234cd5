import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../queue/cell.ts';
import type { Anchors } from '../queue/targets.ts';
import { drawChart, type Panel } from './draw.ts';

/**
 * `npm run bench:charts -- FILE`: two pictures for the README from the lines that `npm run bench:queue -- --json` prints:
 * gate runs per landed pull request against the median wait, and against the 95th percentile.
 */
const PEERS: Readonly<Record<string, string>> = {
  'github-mq-100': 'GitHub',
  gitlab: 'GitLab',
  zuul: 'Zuul',
  'bors-ng': 'bors-ng',
  tide: 'Tide',
  'marge-batch': 'marge',
  serial: 'serial',
};
const FOLDER = 'docs/bench';

const file = process.argv[2];
if (file === undefined) throw new Error('which file? lines of npm run bench:queue -- --json');
const rows = readFileSync(file, 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line) as Row);
const anchors = JSON.parse(
  readFileSync(join(import.meta.dirname, '..', 'queue', 'anchors.json'), 'utf8'),
) as Anchors;

function panelsOf(wait: 'p50' | 'p95'): readonly Panel[] {
  return [...new Set(rows.map((row) => row.scenario))].map((scenario) => ({
    title: scenario,
    bound: anchors.bound[scenario] ?? null,
    ours: rows
      .filter((row) => row.scenario === scenario)
      .flatMap((row) => {
        const y = wait === 'p50' ? row.land_p50 : row.land_p95;
        return row.runs_per_landed === null || y === null
          ? []
          : [{ label: String(row.fanout), x: row.runs_per_landed, y }];
      }),
    peers: Object.entries(PEERS).flatMap(([policy, label]) => {
      const figures = anchors.policies[policy]?.[scenario];
      return figures === undefined ? [] : [{ label, x: figures.runs, y: figures[wait] }];
    }),
  }));
}

mkdirSync(FOLDER, { recursive: true });
for (const [wait, words] of [
  ['p50', 'median wait'],
  ['p95', '95th percentile of the wait'],
] as const) {
  writeFileSync(
    join(FOLDER, `runs-and-wait-${wait}.svg`),
    drawChart(`Gate runs per landed pull request against the ${words}, in gate durations`, panelsOf(wait)),
  );
}
