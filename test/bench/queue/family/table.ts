import { percentile } from '../measure.ts';
import type { Comparison, Line } from './compare.ts';

const FIGURES = ['runs', 'p50', 'p95'] as const;
/** Figures that differ by less are the same: their third decimal is noise of the draw. */
const EQUAL = 1.005;

const isAsGood = (mine: Line, other: Line): boolean =>
  FIGURES.every((figure) => mine[figure] <= other[figure] * EQUAL);

/**
 * How many (workload, peer) cells have a fan-out that is at least as good in all three figures, and how many there are.
 *
 * @param fanouts - Those that count; all that were played where they are not given.
 */
export function countDominated(
  comparisons: readonly Comparison[],
  peer: string,
  fanouts?: readonly number[],
): readonly [number, number] {
  const cells = comparisons.flatMap(({ ours, peers }) => {
    const other = peers.get(peer);
    const counted = [...ours].filter(([fanout]) => fanouts?.includes(fanout) ?? true);
    return other === undefined ? [] : [counted.some(([, mine]) => isAsGood(mine, other))];
  });
  return [cells.filter(Boolean).length, cells.length];
}

const shown = (value: number | null): string => (value === null ? '-' : value.toFixed(2));

/** Median, 90th percentile and worst of a ratio. */
export function spread(ratios: readonly number[]): string {
  return [0.5, 0.9, 1].map((share) => shown(percentile(ratios, share))).join(' / ');
}

/** Lines of a Markdown table, fan-outs and then peers. */
export function tellFamily(comparisons: readonly Comparison[], fanouts: readonly number[]): string {
  const lines = [
    '| fan-out | runs | p50 | p95 | runs to the bound | unproven | red | wrong % | reference wrong % |',
    '| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  ];
  for (const fanout of fanouts.filter((each) => comparisons[0]?.references.has(each))) {
    const pairs = comparisons.flatMap(({ ours, references, bound }) => {
      const mine = ours.get(fanout);
      const reference = references.get(fanout);
      return mine === undefined || reference === undefined ? [] : [{ mine, reference, bound }];
    });
    const ratios = FIGURES.map((figure) =>
      spread(pairs.map(({ mine, reference }) => mine[figure] / reference[figure])),
    );
    const total = (of: (pair: (typeof pairs)[number]) => number) =>
      pairs.reduce((sum, pair) => sum + of(pair), 0);
    const good = total(({ mine }) => mine.good);
    lines.push(
      `| ${[
        fanout,
        ...ratios,
        spread(pairs.map(({ mine, bound }) => mine.runs / bound)),
        total(({ mine }) => mine.unproven),
        total(({ mine }) => mine.red),
        ((100 * total(({ mine }) => mine.wrong)) / good).toFixed(3),
        ((100 * total(({ reference }) => reference.wrong)) / good).toFixed(3),
      ].join(' | ')} |`,
    );
  }
  lines.push('', ...tellCells(comparisons, fanouts));
  return lines.join('\n');
}

/** Cells by peer: with the fan-outs that have a reference, with all that were played, and how often the peer blames a good one. */
function tellCells(comparisons: readonly Comparison[], fanouts: readonly number[]): readonly string[] {
  const compared = fanouts.filter((fanout) => comparisons[0]?.references.has(fanout));
  const names = [...(comparisons[0]?.peers.keys() ?? [])];
  const rows = names.map((name) => {
    const lines = comparisons.flatMap(({ peers }) => peers.get(name) ?? []);
    const sum = (of: 'wrong' | 'good') => lines.reduce((total, line) => total + line[of], 0);
    const [few, cells] = countDominated(comparisons, name, compared);
    const [all] = countDominated(comparisons, name, fanouts);
    return { name, few, all, cells, wrong: (100 * sum('wrong')) / sum('good') };
  });
  const total = (of: 'few' | 'all' | 'cells') => rows.reduce((sum, row) => sum + row[of], 0);
  return [
    `| peer | cells at least as good, fan-outs ${compared.join(', ')} | fan-outs ${fanouts.join(', ')} | wrong % of the peer |`,
    '| --- | ---: | ---: | ---: |',
    ...rows.map(
      ({ name, few, all, cells, wrong }) =>
        `| ${name} | ${few} of ${cells} | ${all} of ${cells} | ${wrong.toFixed(2)} |`,
    ),
    `| all | ${total('few')} of ${total('cells')} | ${total('all')} of ${total('cells')} | |`,
  ];
}

/** One workload on one line: ours and the reference at each fan-out. */
export function tellWorkload({ ours, references }: Comparison): string {
  const figures = (line: Line | undefined) =>
    line === undefined ? '-' : `${shown(line.runs)} ${shown(line.p50)}/${shown(line.p95)}`;
  return [...ours]
    .map(([fanout, line]) => `${fanout}: ${figures(line)} (${figures(references.get(fanout))})`)
    .join('  ');
}
