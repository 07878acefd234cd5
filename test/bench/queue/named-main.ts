import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Cell, PIECE_NAMES, type Piece, type Row } from './cell.ts';
import { runCells } from './pool.ts';
import { type Anchors, checkRow, describeAnchor } from './targets.ts';
import { chooseScenarios, readScenarios } from './workload.ts';

/** The workloads of `scenarios.json`, with the options that `main.ts` lists. */
function option(name: string): string | undefined {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? undefined : process.argv[at + 1];
}
const has = (flag: string): boolean => process.argv.includes(`--${flag}`);
const listOf = (name: string): readonly string[] | undefined => option(name)?.split(',');

const POLICIES = [1, 4, 8, 16];
const ABLATION = ['busy-monorepo', 'bad-day', 'flaky', 'burst-64-4', 'runner-cap-4'];

function pieces(names: readonly string[]): readonly Piece[] {
  return names.map((name) => {
    const piece = PIECE_NAMES.find((known) => known === name);
    if (piece === undefined) throw new Error(`pieces are ${PIECE_NAMES.join(', ')}`);
    return piece;
  });
}

const anchors = JSON.parse(readFileSync(join(import.meta.dirname, 'anchors.json'), 'utf8')) as Anchors;
const all = readScenarios(option('scenarios') ?? join(import.meta.dirname, 'scenarios.json'));
const names = listOf('scenario') ?? (has('ablation') ? ABLATION : undefined);
const scenarios = chooseScenarios(all, names);
const fanouts = listOf('fanout')?.map(Number) ?? (has('ablation') ? [8, 16] : POLICIES);
const shared = {
  seeds: Number(option('seeds') ?? 20),
  firstSeed: Number(option('from') ?? 1),
  cold: has('cold'),
};
const variants: readonly (readonly Piece[])[] = has('ablation')
  ? [[], ...PIECE_NAMES.map((piece) => [piece])]
  : [pieces(listOf('without') ?? [])];
const settings = JSON.parse(option('policy') ?? '{}') as Cell['settings'];
const cells: Cell[] = scenarios.flatMap((scenario) =>
  fanouts.flatMap((fanout) =>
    variants.map((without) => ({ ...shared, scenario, fanout, without, settings })),
  ),
);

const started = performance.now();
const width = { name: 18, fanout: 8, cell: 13 };
const columns = [
  'runs/landed',
  'land p50',
  'land p95',
  'bounce p95',
  'wrong %',
  'superseded %',
  'unproven',
  'red',
];
function tellRow(row: Row, index: number): void {
  if (has('json')) return console.log(JSON.stringify(row));
  const values = [
    row.runs_per_landed,
    row.land_p50,
    row.land_p95,
    row.bounce_p95,
    row.wrong_bounce_pct,
    row.superseded_pct,
    row.unproven,
    row.red,
  ];
  const figures = values.map((value) => (value === null ? '-' : String(value)).padStart(width.cell)).join('');
  const removed = cells[index]?.without.map((piece) => `-${piece}`).join(' ') ?? '';
  const beside = has('check')
    ? checkRow(anchors, row).text
    : has('ablation')
      ? removed
      : describeAnchor(anchors, row);
  console.log(
    `${row.scenario.padEnd(width.name)}${String(row.fanout).padStart(width.fanout)}${figures}   ${beside}`,
  );
}
if (!has('json')) {
  const head = columns.map((column) => column.padStart(width.cell)).join('');
  const [name, fanout] = ['scenario'.padEnd(width.name), 'fan-out'.padStart(width.fanout)];
  console.log(`${name}${fanout}${head}   ${has('check') ? 'targets' : 'reference'}`);
}
let index = 0;
const rows = await runCells(cells, (row) => {
  tellRow(row, index);
  index += 1;
});
if (!has('json')) console.log(`${((performance.now() - started) / 1000).toFixed(1)} s`);
if (has('check')) {
  const checks = rows.flatMap((row) => checkRow(anchors, row).checks);
  const missed = checks.filter((check) => !check.met);
  console.log(`${checks.length - missed.length} of ${checks.length} targets met`);
  const unsafe = rows.filter((row) => row.unproven + row.red + row.lost > 0);
  if (unsafe.length > 0) process.exitCode = 1;
}
