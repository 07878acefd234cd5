import { OPEN_OUTCOMES } from '#core/domain/queue/batch.ts';
import type { ActivityDoc } from './blocker.ts';

export type BatchNode = ActivityDoc['queue_batches'][number];

/** One batch: its root and all nodes that came of it. */
export interface BatchTree {
  readonly batchId: string;
  readonly root: BatchNode;
  /** Depth first, children from left to right. */
  readonly nodes: readonly TreeNode[];
}

export interface TreeNode {
  readonly row: BatchNode;
  readonly depth: number;
  /** Its parent's row is not among those that were sent. */
  readonly orphan: boolean;
}

/** Flat rows as trees, newest first. Whatever the rows say, every row is in exactly one tree, once. */
export function groupTrees(rows: readonly BatchNode[]): readonly BatchTree[] {
  const ids = new Set(rows.map((row) => row.id));
  const children = new Map<string, BatchNode[]>();
  const tops: BatchNode[] = [];
  for (const row of rows) {
    if (row.parent_id === null || row.parent_id === row.id || !ids.has(row.parent_id)) tops.push(row);
    else children.set(row.parent_id, [...(children.get(row.parent_id) ?? []), row]);
  }
  const seen = new Set<string>();
  const byBatch = new Map<string, { root: BatchNode; nodes: TreeNode[] }>();
  const visit = (row: BatchNode, depth: number): void => {
    if (seen.has(row.id)) return;
    seen.add(row.id);
    const tree = byBatch.get(row.run_id) ?? { root: row, nodes: [] };
    if (row.parent_id === null && tree.root.parent_id !== null) tree.root = row;
    tree.nodes.push({ row, depth, orphan: depth === 0 && row.parent_id !== null });
    byBatch.set(row.run_id, tree);
    for (const child of (children.get(row.id) ?? []).toSorted(compareNodes)) visit(child, depth + 1);
  };
  for (const top of tops.toSorted((a, b) => Number(a.parent_id !== null) - Number(b.parent_id !== null)))
    visit(top, 0);
  // Rows in a ring have no top: shown all the same, as orphans.
  for (const row of rows) visit(row, 0);
  return [...byBatch]
    .map(([batchId, { root, nodes }]) => ({ batchId, root, nodes }))
    .toSorted(
      (a, b) => b.root.created_at.localeCompare(a.root.created_at) || (a.batchId < b.batchId ? -1 : 1),
    );
}

/** `r.2` before `r.10`; the probe of the base comes first. */
function compareNodes(a: BatchNode, b: BatchNode): number {
  return (
    a.node_id.localeCompare(b.node_id, 'en', { numeric: true }) || a.created_at.localeCompare(b.created_at)
  );
}

/** A node's place in the drawing, in columns and rows: columns are the batch's pull requests in order. */
export interface PlacedNode extends TreeNode {
  readonly column: number;
  readonly span: number;
  readonly lane: number;
  /** Index of the parent among the placed nodes; null for the top. */
  readonly parent: number | null;
}

export interface TreeLayout {
  readonly columns: readonly (number | null)[];
  readonly lanes: number;
  readonly nodes: readonly PlacedNode[];
}

/**
 * Every node covers the columns of its pull requests, below its parent. The first column belongs to the base, whose
 * probe has no pull request. A lane holds what does not overlap, so that nodes of one depth may take several.
 */
export function layOutTree(tree: BatchTree): TreeLayout {
  const columns = columnsOf(tree);
  const at = new Map(columns.map((pr, index) => [pr, index]));
  const lanes: [from: number, to: number][][] = [];
  const placed: PlacedNode[] = [];
  const index = new Map<string, number>();
  for (const node of tree.nodes) {
    const cells = node.row.prs.map((pr) => at.get(pr) ?? 0);
    const column = cells.length === 0 ? 0 : Math.min(...cells);
    const span = cells.length === 0 ? 1 : Math.max(...cells) - column + 1;
    const parent = node.row.parent_id === null ? null : (index.get(node.row.parent_id) ?? null);
    const above = parent === null ? -1 : (placed[parent]?.lane ?? -1);
    const lane = findLane(lanes, above + 1, column, column + span);
    index.set(node.row.id, placed.length);
    placed.push({ ...node, column, span, lane, parent });
  }
  return { columns, lanes: lanes.length, nodes: placed };
}

function columnsOf(tree: BatchTree): readonly (number | null)[] {
  const columns: (number | null)[] = tree.nodes.some(({ row }) => row.prs.length === 0) ? [null] : [];
  const known = new Set<number>();
  for (const row of [tree.root, ...tree.nodes.map((node) => node.row)]) {
    for (const pr of row.prs) {
      if (known.has(pr)) continue;
      known.add(pr);
      columns.push(pr);
    }
  }
  return columns;
}

function findLane(lanes: [number, number][][], first: number, from: number, to: number): number {
  for (let lane = first; ; lane += 1) {
    const taken = lanes[lane] ?? [];
    while (lanes.length <= lane) lanes.push([]);
    if (taken.every(([start, end]) => to <= start || from >= end)) {
      lanes[lane]?.push([from, to]);
      return lane;
    }
  }
}

/** Which node an arrow key leads to: up the parent, down the first child, left and right the neighbour of the same parent. */
export function stepInTree(layout: TreeLayout, from: number, key: string): number {
  const node = layout.nodes[from];
  if (node === undefined) return from;
  const siblings = layout.nodes.flatMap((each, index) => (each.parent === node.parent ? [index] : []));
  const place = siblings.indexOf(from);
  switch (key) {
    case 'ArrowUp':
      return node.parent ?? from;
    case 'ArrowDown': {
      const child = layout.nodes.findIndex((each) => each.parent === from);
      return child === -1 ? from : child;
    }
    case 'ArrowLeft':
      return siblings[place - 1] ?? from;
    case 'ArrowRight':
      return siblings[place + 1] ?? from;
    case 'Home':
      return 0;
    case 'End':
      return layout.nodes.length - 1;
    default:
      return from;
  }
}

export interface MemberStory {
  readonly pr: number;
  /** The action of the batch that counts for it; null while it is not decided. */
  readonly action: BatchNode['actions'][number] | null;
  /** The node that decided it. */
  readonly node: BatchNode | null;
  /** Landed or bounced after the batch was made, by the history; null = no evidence, which is unknown. */
  readonly later: 'landed' | 'bounced' | null;
  /** The batch still works on it; else a missing action is unknown. */
  readonly open: boolean;
}

const FINAL_FIRST: readonly string[] = ['landed', 'bounced', 'refused', 'skipped', 'requeued'];

/** The end of each pull request of a batch. A final action wins over one that sent it back. */
export function tellMembers(tree: BatchTree): readonly MemberStory[] {
  const prs = columnsOf(tree).filter((pr) => pr !== null);
  const searching = tree.nodes.some(({ row }) => OPEN_OUTCOMES.includes(row.outcome));
  return prs.map((pr) => {
    const found = tree.nodes.flatMap(({ row }) =>
      row.actions.filter((action) => action.pr === pr).map((action) => ({ action, row })),
    );
    const rank = (action: string): number => {
      const at = FINAL_FIRST.indexOf(action);
      // A newer service may know more actions.
      return at === -1 ? FINAL_FIRST.length : at;
    };
    const best = found.toSorted((a, b) => rank(a.action.action) - rank(b.action.action))[0];
    // Sent back by a node that was split or made needless: not the last word while the search goes on.
    const undecided = best?.action.action === 'requeued' && searching;
    const later = tree.root.historical_terminals.find((each) => each.pr === pr)?.event ?? null;
    return {
      pr,
      later,
      open: searching,
      action: best === undefined || undecided ? null : best.action,
      node: best === undefined || undecided ? null : best.row,
    };
  });
}

/** How many parts the search of a batch has made. A further attempt at one is no part, and the probe of the base is of none. */
export function countParts(tree: BatchTree): number {
  const ids = tree.nodes.filter(({ row }) => row.prs.length > 0).map(({ row }) => row.node_id);
  return new Set(ids.filter((id) => id !== tree.root.node_id)).size;
}

/** How many gate runs a batch took; null when one of its nodes has no count. */
export function countGateRuns(tree: BatchTree): number | null {
  return tree.nodes.reduce<number | null>(
    (sum, { row }) => (sum === null || row.gate_runs === null ? null : sum + row.gate_runs),
    0,
  );
}

/** `, 34 calls of the forge (120 kB)`; empty while the batch is in flight and where the figures are not known. */
export function describeForgeCosts({
  forge_calls: calls,
  forge_bytes: bytes,
}: Pick<BatchNode, 'forge_calls' | 'forge_bytes'>): string {
  if (calls === null || bytes === null) return '';
  return `, ${calls} ${calls === 1 ? 'call' : 'calls'} of the forge (${Math.ceil(bytes / 1_000)} kB)`;
}

/** Batches of one repository: its name alone may stand on two forges. */
export function treesOf({
  repo,
  feed,
}: {
  readonly repo: { readonly name: string; readonly instance_url: string };
  readonly feed: { readonly queue_batches: readonly BatchNode[] };
}): readonly BatchTree[] {
  return groupTrees(
    feed.queue_batches.filter((row) => row.repo_slug === repo.name && row.instance_url === repo.instance_url),
  );
}
