import type { Row } from './queue/cell.ts';
import { type Anchors, checkRow } from './queue/targets.ts';

export const DOCUMENT = 'docs/bench.md';

/** Three digits are what twenty seeds can tell. */
function round(value: number | null): string {
  if (value === null) return '-';
  if (value >= 100) return value.toFixed(0);
  return value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function parseRows(lines: string): readonly Row[] {
  return lines
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Row);
}

const uniqueOf = <T>(values: readonly T[]): readonly T[] => [...new Set(values)];
const cells = (values: readonly string[]): string => `| ${values.join(' | ')} |`;

function figuresTable(rows: readonly Row[], anchors: Anchors): string {
  const fanouts = uniqueOf(rows.map(({ fanout }) => fanout));
  const lines = uniqueOf(rows.map(({ scenario }) => scenario)).map((scenario) => {
    const figures = fanouts.map((fanout) => {
      const row = rows.find((each) => each.scenario === scenario && each.fanout === fanout);
      if (row === undefined) return '-';
      const { checks } = checkRow(anchors, row);
      const bold = (name: string, value: number | null): string =>
        checks.some((check) => check.name === name && !check.met) ? `**${round(value)}**` : round(value);
      const p50 = bold('land_p50', row.land_p50);
      return `${bold('runs_per_landed', row.runs_per_landed)} · ${p50} / ${bold('land_p95', row.land_p95)}`;
    });
    return cells([scenario, ...figures]);
  });
  const head = [
    'workload',
    ...fanouts.map((fanout, index) => (index === 0 ? `fan-out ${fanout}` : `${fanout}`)),
  ];
  return [cells(head), cells(head.map((_, index) => (index === 0 ? '---' : '---:'))), ...lines].join('\n');
}

function missedTable(rows: readonly Row[], anchors: Anchors): string {
  const lines = rows.flatMap((row) =>
    checkRow(anchors, row)
      .checks.filter((check) => !check.met)
      .map(({ name, value, limit }) =>
        cells([String(row.fanout), row.scenario, name, String(value), String(limit)]),
      ),
  );
  return [
    cells(['fan-out', 'workload', 'figure', 'reached', 'target']),
    '| ---: | --- | --- | ---: | ---: |',
    ...lines,
  ].join('\n');
}

/** `docs/bench.md`, made of `queue/results.jsonl` (`lines`) and `queue/anchors.json` alone. */
export function renderDocument(lines: string, anchors: Anchors): string {
  const rows = parseRows(lines);
  const targets = rows.flatMap((row) =>
    checkRow(anchors, row).checks.filter(
      ({ name }) => anchors.targets[row.scenario]?.[String(row.fanout)]?.[name as 'land_p50'] !== undefined,
    ),
  );
  const most = (name: 'superseded_pct' | 'wrong_bounce_pct'): string =>
    `${round(Math.max(...rows.map((row) => row[name] ?? 0)))} %`;
  const sum = (name: 'unproven' | 'red' | 'lost'): number =>
    rows.reduce((total, row) => total + row[name], 0);
  return `# Cost and speed

Generated from \`test/bench/queue/results.jsonl\` by \`npm run bench:document\`; a test holds it to that file. What was tried, what each piece is worth and what a reconcile takes: [notes](bench/notes.md).

![Gate runs per landed pull request against the median wait](bench/runs-and-wait-p50.svg)

![Gate runs per landed pull request against the 95th percentile of the wait](bench/runs-and-wait-p95.svg)

\`bisect_fanout\` sets how many gate runs may be out at once: few runs at 1, short waits at 16. \`npm run bench:queue\` plays the real decisions and bookkeeping in virtual time on a modelled forge. Other queues are modelled from their published sources (\`test/bench/queue/anchors.json\`); nothing of theirs was run.

Cells: gate runs per landed pull request · median / 95th percentile of the time to land, in gate durations; ${uniqueOf(rows.map(({ seeds }) => seeds)).join(', ')} seeds. Bold misses its target.

${figuresTable(rows, anchors)}

Unproven landings ${sum('unproven')}, merges of failing trees ${sum('red')}, lost pull requests ${sum('lost')}, over all cells. Superseded runs: at most ${most('superseded_pct')}. Good pull requests bounced: at most ${most('wrong_bounce_pct')}.

## Targets that are missed

${targets.filter(({ met }) => met).length} of ${targets.length} targets are met. The others:

${missedTable(rows, anchors)}
`;
}
