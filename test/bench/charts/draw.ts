export interface Point {
  readonly label: string;
  readonly x: number;
  readonly y: number;
}

/** One workload: ours is a line over the dial, the others are points. */
export interface Panel {
  readonly title: string;
  /** Fewest runs per landed pull request that any policy can do with; null where unknown. */
  readonly bound: number | null;
  readonly ours: readonly Point[];
  readonly peers: readonly Point[];
}

const PER_LINE = 4;
const BOX = { width: 230, height: 180, left: 34, top: 26, right: 12, bottom: 24 } as const;
const MARGIN = { left: 12, top: 64, bottom: 34 } as const;
/** Powers of ten that the axes show; what lies beyond is drawn on the edge. */
const X = { from: 0.08, to: 5, ticks: [0.1, 0.3, 1, 3] } as const;
const Y = { from: 0.8, to: 400, ticks: [1, 3, 10, 30, 100, 300] } as const;

const STYLE = `
  svg { color-scheme: light dark; }
  text { font: 11px system-ui, sans-serif; fill: #1f2937; }
  .title { font-size: 13px; font-weight: 600; }
  .name { font-weight: 600; }
  .soft { fill: #6b7280; font-size: 9.5px; }
  .grid { stroke: #d1d5db; stroke-width: 0.6; }
  .bound { stroke: #9ca3af; stroke-width: 1; stroke-dasharray: 2 3; }
  .ours { stroke: #1d4ed8; stroke-width: 1.8; fill: none; }
  .dot { fill: #1d4ed8; }
  .dial { fill: #1d4ed8; font-size: 9.5px; font-weight: 600; }
  .peer { fill: #b45309; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e5e7eb; }
    .soft { fill: #9ca3af; }
    .grid { stroke: #374151; }
    .bound { stroke: #6b7280; }
    .ours { stroke: #7aa2ff; }
    .dot, .dial { fill: #7aa2ff; }
    .peer { fill: #f0b35a; }
  }`;

/** A grid of panels with logarithmic axes: further left is cheaper, further down is faster. */
export function drawChart(title: string, panels: readonly Panel[]): string {
  const lines = Math.ceil(panels.length / PER_LINE);
  const width = 2 * MARGIN.left + PER_LINE * BOX.width;
  const height = MARGIN.top + lines * BOX.height + MARGIN.bottom;
  const boxes = panels.map((panel, index) => {
    const left = MARGIN.left + (index % PER_LINE) * BOX.width;
    const top = MARGIN.top + Math.floor(index / PER_LINE) * BOX.height;
    return `<g transform="translate(${left} ${top})">${drawPanel(panel)}</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">
<style>${STYLE}
</style>
<text class="title" x="${MARGIN.left}" y="20">${escapeXml(title)}</text>
<text class="soft" x="${MARGIN.left}" y="38">Across: runs per landed pull request. Up: wait. Line: Mergeyard at fan-out 1, 4, 8, 16. Diamonds: other queues, modelled. Dotted: fewest runs possible.</text>
${boxes.join('\n')}
</svg>
`;
}

function drawPanel({ title, bound, ours, peers }: Panel): string {
  const grid = [
    ...X.ticks.map((tick) => {
      const x = atX(tick);
      return `<line class="grid" x1="${x}" x2="${x}" y1="${BOX.top}" y2="${BOX.height - BOX.bottom}"/><text class="soft" x="${x}" y="${BOX.height - BOX.bottom + 11}" text-anchor="middle">${tick}</text>`;
    }),
    ...Y.ticks.map((tick) => {
      const y = atY(tick);
      return `<line class="grid" x1="${BOX.left}" x2="${BOX.width - BOX.right}" y1="${y}" y2="${y}"/><text class="soft" x="${BOX.left - 4}" y="${y + 3}" text-anchor="end">${tick}</text>`;
    }),
  ];
  const limit =
    bound === null
      ? ''
      : `<line class="bound" x1="${atX(bound)}" x2="${atX(bound)}" y1="${BOX.top}" y2="${BOX.height - BOX.bottom}"/>`;
  const others = peers.map((point) => {
    const [x, y] = [atX(point.x), atY(point.y)];
    return `<path class="peer" d="M${x} ${y - 3.5}l3.5 3.5l-3.5 3.5l-3.5 -3.5z"><title>${escapeXml(point.label)}: ${point.x} runs, ${point.y}</title></path><text class="soft" x="${x + 5}" y="${y - 3}">${escapeXml(point.label)}</text>`;
  });
  const path = ours
    .map((point, index) => `${index === 0 ? 'M' : 'L'}${atX(point.x)} ${atY(point.y)}`)
    .join('');
  const dots = ours.map((point) => {
    const [x, y] = [atX(point.x), atY(point.y)];
    return `<circle class="dot" cx="${x}" cy="${y}" r="3"><title>fan-out ${escapeXml(point.label)}: ${point.x} runs, ${point.y}</title></circle><text class="dial" x="${x - 4}" y="${y + 12}" text-anchor="end">${escapeXml(point.label)}</text>`;
  });
  return [
    `<text class="name" x="${BOX.left}" y="${BOX.top - 8}">${escapeXml(title)}</text>`,
    ...grid,
    limit,
    ...others,
    `<path class="ours" d="${path}"/>`,
    ...dots,
  ].join('');
}

function atX(value: number): number {
  return rounded(BOX.left + share(value, X.from, X.to) * (BOX.width - BOX.left - BOX.right));
}

function atY(value: number): number {
  return rounded(BOX.top + (1 - share(value, Y.from, Y.to)) * (BOX.height - BOX.top - BOX.bottom));
}

/** Place on a logarithmic axis, from 0 to 1. */
function share(value: number, from: number, to: number): number {
  const place = Math.log(value / from) / Math.log(to / from);
  return Math.min(1, Math.max(0, place));
}

function rounded(pixels: number): number {
  return Math.round(pixels * 10) / 10;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
