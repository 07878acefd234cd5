import type { Row } from './cell.ts';

interface Figures {
  readonly runs: number;
  readonly p50: number;
  readonly p95: number;
  readonly overloaded?: true;
}
type Limits = Readonly<Partial<Record<'runs_per_landed' | 'land_p50' | 'land_p95', number>>>;

/** `anchors.json`: what others reach, and what this queue is to reach. */
export interface Anchors {
  readonly bound: Readonly<Record<string, number>>;
  readonly targets: Readonly<Record<string, Readonly<Record<string, Limits>>>>;
  readonly policies: Readonly<Record<string, Readonly<Record<string, Figures>>>>;
}

export interface Check {
  readonly name: string;
  readonly value: number;
  readonly limit: number;
  readonly met: boolean;
}

const SUPERSEDED_PCT_MAX = 25;
/** Good pull requests bounced, where runs fail by themselves, where two good ones may clash, and elsewhere. */
const WRONG_PCT_MAX = { flaky: 0.1, 'conflict-heavy': 0.2, other: 0 } as const;
/** Figures of the targets have two decimals or fewer; a mean that rounds to the target meets it. */
const ROUNDING = 0.005;

export function checkRow(
  anchors: Anchors,
  row: Row,
): { readonly checks: readonly Check[]; readonly text: string } {
  const limits = Object.entries(anchors.targets[row.scenario]?.[String(row.fanout)] ?? {});
  const wrongMax =
    row.scenario === 'flaky' || row.scenario === 'conflict-heavy'
      ? WRONG_PCT_MAX[row.scenario]
      : WRONG_PCT_MAX.other;
  const entries: readonly (readonly [string, number, number | null])[] = [
    ...limits.map(([name, limit]) => [name, limit ?? 0, row[name as keyof Limits]] as const),
    ['superseded_pct', SUPERSEDED_PCT_MAX, row.superseded_pct],
    ['wrong_bounce_pct', wrongMax, row.wrong_bounce_pct],
    ['unproven', 0, row.unproven],
    ['red', 0, row.red],
    ['lost', 0, row.lost],
  ];
  const checks = entries.map(([name, limit, value]) => {
    const found = value ?? Number.POSITIVE_INFINITY;
    const slack = limits.some(([limited]) => limited === name) ? ROUNDING : 0;
    return { name, value: found, limit, met: found <= limit + slack };
  });
  const missed = checks.filter((check) => !check.met);
  const text =
    missed.length === 0
      ? 'met'
      : `MISSED ${missed.map(({ name, value, limit }) => `${name} ${value} > ${limit}`).join(', ')}`;
  return { checks, text };
}

const REFERENCES: Readonly<Record<number, string>> = {
  1: 'ideal-min',
  4: 'ideal-thrifty',
  8: 'ideal',
  16: 'ideal-fast',
};

/** The reference of this speculation policy, for the same scenario. */
export function describeAnchor(anchors: Anchors, row: Row): string {
  const figures = anchors.policies[REFERENCES[row.fanout] ?? '']?.[row.scenario];
  return figures === undefined
    ? '-'
    : `${figures.runs} · ${figures.p50} / ${figures.p95}${figures.overloaded ? ' (overloaded)' : ''}`;
}
