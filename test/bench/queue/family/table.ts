import { percentile } from '../measure.ts';
import type { Comparison, Line } from './compare.ts';

const FIGURES = ['runs', 'p50', 'p95'] as const;
/** Figures that differ by less are the same: their third decimal is noise of the draw. */
const EQUAL = 1.005;

const isAsGood = (mine: Line, other: Line): boolean =>
  FIGURES.every((figure) => mine[figure] <= other[figure] * EQUAL);

/** How many (workload, peer) cells have a fan-out that is at least as good in all three figures, and how many there are. */
export function countDominated(comparisons: readonly Comparison[], peer: string): readonly [number, number] {
  const cells = comparisons.flatMap(({ ours, peers }) => {
    const other = peers.get(peer);
    return other === undefined ? [] : [[...ours.values()].some((mine) => isAsGood(mine, other))];
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
  for (const fanout of fanouts) {
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
  const names = [...(comparisons[0]?.peers.keys() ?? [])];
  const counts = names.map((name) => countDominated(comparisons, name));
  const sum = (at: 0 | 1) => counts.reduce((total, count) => total + count[at], 0);
  lines.push('', '| peer | cells at least as good |', '| --- | ---: |');
  for (const [index, name] of names.entries())
    lines.push(`| ${name} | ${counts[index]?.[0]} of ${counts[index]?.[1]} |`);
  lines.push(`| all | ${sum(0)} of ${sum(1)} |`);
  return lines.join('\n');
}

/** One workload on one line: ours and the reference at each fan-out. */
export function tellWorkload({ ours, references }: Comparison): string {
  const figures = (line: Line | undefined) =>
    line === undefined ? '-' : `${shown(line.runs)} ${shown(line.p50)}/${shown(line.p95)}`;
  return [...ours]
    .map(([fanout, line]) => `${fanout}: ${figures(line)} (${figures(references.get(fanout))})`)
    .join('  ');
}
