import { useEffect, useMemo, useRef } from 'react';
import { showPart, showPulls } from '../../view/format.ts';
import { type BatchTree, layOutTree, type PlacedNode, stepInTree, type TreeLayout } from '../../view/tree.ts';
import { originOf, sayOrigin, sayPhase, wordOfOutcome } from '../../view/words.ts';
import { Mark } from '../frame/signal.tsx';

/** Pixels. A column holds "#1234" or "Superseded" and its mark; a small batch gets room for more words. */
const COLUMN_SMALL = 112;
const COLUMN_LARGE = 132;
const SMALL_BATCH_MAX = 6;
const LANE = 70;
const BAR = 46;
const GAP = 6;
/** Above the first lane stand the numbers of the columns. */
const HEAD = 28;

/**
 * The bisection as a yard seen from above: a column for each pull request in order, each node a stretch of track over
 * the columns it speaks for, below the one that was split. Arrow keys walk it.
 */
export function TreeDrawing({
  tree,
  selected,
  onSelect,
}: {
  readonly tree: BatchTree;
  readonly selected: string | null;
  readonly onSelect: (nodeId: string) => void;
}) {
  const layout = useMemo(() => layOutTree(tree), [tree]);
  const place = useRef<HTMLDivElement>(null);
  const current = Math.max(
    0,
    layout.nodes.findIndex((node) => node.row.node_id === selected),
  );
  const column = layout.columns.length > SMALL_BATCH_MAX ? COLUMN_SMALL : COLUMN_LARGE;
  const width = Math.max(1, layout.columns.length) * column;
  const height = HEAD + layout.lanes * LANE;
  // Sideways only: the page itself stays where it is.
  useEffect(() => {
    const node = layout.nodes[current];
    const scroller = place.current?.parentElement;
    if (node === undefined || scroller === null || scroller === undefined || selected === null) return;
    scroller.scrollLeft = middleOf(node, column) - scroller.clientWidth / 2;
  }, [layout, current, column, selected]);
  return (
    <div className="tree-scroll">
      <svg className="tree-lines" width={width} height={height} aria-hidden="true" focusable="false">
        {layout.columns.map((pr, index) => (
          <g key={pr ?? 'base'}>
            <text x={(index + 0.5) * column} y="15" textAnchor="middle">
              {pr === null ? 'base' : `#${pr}`}
            </text>
            <path className="tree-sleeper" d={`M${(index + 0.5) * column} ${HEAD}V${height}`} />
          </g>
        ))}
        {layout.nodes.map((node) => (
          <Track key={node.row.id} node={node} layout={layout} column={column} />
        ))}
      </svg>
      {/* The bars are drawn over the lines, in the same coordinates. */}
      <div
        ref={(element) => {
          place.current = element;
          if (element === null) return;
          element.style.width = `${width}px`;
          element.style.height = `${height}px`;
        }}
        className="tree"
        role="tree"
        aria-label="Parts of the batch"
        onKeyDown={(event) => {
          const next = stepInTree(layout, current, event.key);
          const row = layout.nodes[next]?.row;
          if (next === current || row === undefined) return;
          event.preventDefault();
          onSelect(row.node_id);
          place.current?.querySelectorAll<HTMLElement>('[role=treeitem]')[next]?.focus();
        }}
      >
        {layout.nodes.map((node, index) => (
          <Bar
            key={node.row.id}
            node={node}
            column={column}
            isCurrent={index === current}
            isSelected={node.row.node_id === selected}
            onSelect={onSelect}
          />
        ))}
      </div>
    </div>
  );
}

const middleOf = (node: PlacedNode, column: number): number => (node.column + node.span / 2) * column;

function Track({
  node,
  layout,
  column,
}: {
  readonly node: PlacedNode;
  readonly layout: TreeLayout;
  readonly column: number;
}) {
  const parent = node.parent === null ? undefined : layout.nodes[node.parent];
  if (parent === undefined) return null;
  const from = clampInto(middleOf(node, column), parent, column);
  const top = HEAD + parent.lane * LANE + BAR;
  const bottom = HEAD + node.lane * LANE;
  const bend = (top + bottom) / 2;
  const quiet = wordOfOutcome(node.row.outcome).tone === 'quiet';
  return (
    <path
      className={`tree-track ${quiet ? 'tree-track-quiet' : ''}`}
      d={`M${from} ${top}C${from} ${bend} ${middleOf(node, column)} ${bend} ${middleOf(node, column)} ${bottom}`}
    />
  );
}

/** A child hangs from above itself where its parent reaches that far. */
function clampInto(x: number, parent: PlacedNode, column: number): number {
  const from = (parent.column + 0.5) * column;
  const to = (parent.column + parent.span - 0.5) * column;
  return Math.min(Math.max(x, from), to);
}

function Bar({
  node,
  column,
  isCurrent,
  isSelected,
  onSelect,
}: {
  readonly node: PlacedNode;
  readonly column: number;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (nodeId: string) => void;
}) {
  const { row } = node;
  const word = wordOfOutcome(row.outcome);
  const origin = originOf(row);
  const name = row.prs.length === 0 ? 'Base' : showPulls(row.prs, node.span > 2 ? 4 : 2);
  const phase = sayPhase(row.phase);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the tree around it
    <div
      role="treeitem"
      tabIndex={isCurrent ? 0 : -1}
      aria-level={node.depth + 1}
      aria-selected={isSelected}
      aria-label={`${showPart(row.node_id)}, ${showPulls(row.prs, 60)}: ${word.name}${phase === null ? '' : `, ${phase}`}. ${sayOrigin(origin)}`}
      className={`bar tone-${word.tone} bar-${row.outcome} origin-${origin}`}
      ref={(element) => {
        // By the object model, not by an attribute: the policy allows no inline style.
        if (element === null) return;
        element.style.left = `${node.column * column + GAP / 2}px`;
        element.style.top = `${HEAD + node.lane * LANE}px`;
        element.style.width = `${node.span * column - GAP}px`;
        element.style.height = `${BAR}px`;
      }}
      onClick={() => onSelect(row.node_id)}
    >
      <Mark tone={word.tone} shape={word.shape} />
      <span className="bar-words">
        <span className="bar-name">{name}</span>
        <span className="bar-word">
          {word.name}
          {origin === 'cached' && ', cached'}
        </span>
      </span>
    </div>
  );
}
