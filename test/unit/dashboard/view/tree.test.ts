import {
  type BatchNode,
  countGateRuns,
  countParts,
  describeForgeCosts,
  groupTrees,
  layOutTree,
  stepInTree,
  tellMembers,
  treesOf,
} from '../../../../dashboard/view/tree.ts';
import { givenAction, givenNode } from '../rows.ts';

const child = (
  id: string,
  nodeId: string,
  parent: string,
  prs: number[],
  changes: Partial<BatchNode> = {},
): BatchNode => givenNode({ id, node_id: nodeId, parent_id: parent, prs, ...changes });

const SPLIT: readonly BatchNode[] = [
  child('b', 'r.2', 'root', [3, 4]),
  child('a', 'r.1', 'root', [1, 2]),
  child('a1', 'r.1.1', 'a', [1]),
  child('a2', 'r.1.2', 'a', [2]),
  givenNode({ id: 'root', prs: [1, 2, 3, 4], outcome: 'bisected' }),
];

test('flat rows become one tree, children from left to right, whatever their order', () => {
  const [tree] = groupTrees(SPLIT);
  expect(tree?.nodes.map(({ row, depth }) => [row.id, depth])).toEqual([
    ['root', 0],
    ['a', 1],
    ['a1', 2],
    ['a2', 2],
    ['b', 1],
  ]);
  expect(tree?.root.id).toBe('root');
});

test('ten children stand in the order of their numbers', () => {
  const children = Array.from({ length: 11 }, (_, index) =>
    child(`c${index}`, `r.${index + 1}`, 'root', [index + 1]),
  );
  const [tree] = groupTrees([...children.toReversed(), givenNode({ prs: [1] })]);
  expect(tree?.nodes.slice(1).map(({ row }) => row.node_id)).toEqual(children.map((row) => row.node_id));
});

test('every row is somewhere exactly once: orphans, rings and rows of their own parent', () => {
  const rows = [
    child('lost', 'r.1', 'not-sent', [1], { run_id: 'x' }),
    child('ring-a', 'r.1', 'ring-b', [1], { run_id: 'y' }),
    child('ring-b', 'r.2', 'ring-a', [2], { run_id: 'y' }),
    child('self', 'r', 'self', [1], { run_id: 'z' }),
  ];
  const trees = groupTrees(rows);
  const ids = trees.flatMap((tree) => tree.nodes.map(({ row }) => row.id));
  expect(ids.toSorted()).toEqual(rows.map((row) => row.id).toSorted());
  expect(trees.find((tree) => tree.batchId === 'x')?.nodes[0]?.orphan).toBe(true);
});

test('newest run first', () => {
  const runs = groupTrees([
    givenNode({ id: '1', run_id: 'old', created_at: '2026-11-20T00:00:00.000Z' }),
    givenNode({ id: '2', run_id: 'new', created_at: '2026-11-21T00:00:00.000Z' }),
  ]);
  expect(runs.map((tree) => tree.batchId)).toEqual(['new', 'old']);
});

test('a node covers the columns of its pull requests, below its parent', () => {
  const [tree] = groupTrees(SPLIT);
  const layout = layOutTree(tree ?? { batchId: '', root: givenNode(), nodes: [] });
  expect(layout.columns).toEqual([1, 2, 3, 4]);
  expect(layout.nodes.map(({ row, column, span, lane }) => [row.node_id, column, span, lane])).toEqual([
    ['r', 0, 4, 0],
    ['r.1', 0, 2, 1],
    ['r.1.1', 0, 1, 2],
    ['r.1.2', 1, 1, 2],
    ['r.2', 2, 2, 1],
  ]);
  expect(layout.lanes).toBe(3);
});

test('nodes of one depth that overlap take a lane each; the probe of the base has a column of its own', () => {
  const rows = [
    givenNode({ prs: [1, 2] }),
    child('x', 'r.1', 'root', [1, 2]),
    child('y', 'r.2', 'root', [1, 2]),
    child('p', 'b', 'root', []),
  ];
  const [tree] = groupTrees(rows);
  const layout = layOutTree(tree ?? { batchId: '', root: givenNode(), nodes: [] });
  expect(layout.columns).toEqual([null, 1, 2]);
  const at = Object.fromEntries(layout.nodes.map(({ row, column, lane }) => [row.id, [column, lane]]));
  expect(at).toEqual({ root: [1, 0], p: [0, 1], x: [1, 1], y: [1, 2] });
});

test('200 nodes without any overlap, in milliseconds', () => {
  const rows: BatchNode[] = [givenNode({ prs: Array.from({ length: 50 }, (_, index) => index + 1) })];
  for (let at = 0; rows.length < 200; at += 1) {
    const parent = rows[at];
    if (parent === undefined) break;
    const half = Math.ceil(parent.prs.length / 2);
    rows.push(child(`${parent.id}1`, `${parent.node_id}.1`, parent.id, parent.prs.slice(0, half)));
    if (half < parent.prs.length)
      rows.push(child(`${parent.id}2`, `${parent.node_id}.2`, parent.id, parent.prs.slice(half)));
  }
  const [tree] = groupTrees(rows);
  const layout = layOutTree(tree ?? { batchId: '', root: givenNode(), nodes: [] });
  expect(layout.nodes.length).toBeGreaterThanOrEqual(200);
  for (const a of layout.nodes) {
    for (const b of layout.nodes) {
      if (a === b || a.lane !== b.lane) continue;
      expect(a.column + a.span <= b.column || b.column + b.span <= a.column).toBe(true);
    }
  }
});

test('arrow keys lead up, down and along, and stay where there is nothing', () => {
  const [tree] = groupTrees(SPLIT);
  const layout = layOutTree(tree ?? { batchId: '', root: givenNode(), nodes: [] });
  const walk = (...keys: string[]) => keys.reduce((at, key) => stepInTree(layout, at, key), 0);
  const idAt = (index: number) => layout.nodes[index]?.row.id;
  expect(idAt(walk('ArrowDown'))).toBe('a');
  expect(idAt(walk('ArrowDown', 'ArrowRight'))).toBe('b');
  expect(idAt(walk('ArrowDown', 'ArrowDown', 'ArrowRight'))).toBe('a2');
  expect(idAt(walk('ArrowDown', 'ArrowUp'))).toBe('root');
  expect(idAt(walk('ArrowUp'))).toBe('root');
  expect(idAt(walk('End'))).toBe('b');
  expect(idAt(walk('x'))).toBe('root');
});

test('the outcome of each member: final beats sent back, running beats both, no evidence is unknown', () => {
  const rows = [
    givenNode({
      prs: [1, 2, 3, 4],
      outcome: 'bisected',
      phase: null,
      actions: [1, 2, 3, 4].map((pr) => givenAction(pr, 'requeued')),
      historical_terminals: [{ pr: 4, event: 'landed' }],
    }),
    child('a', 'r.1', 'root', [1], { outcome: 'success', actions: [givenAction(1, 'landed')] }),
    child('b', 'r.2', 'root', [2], {
      outcome: 'bounced',
      actions: [givenAction(2, 'bounced', { reason: 'gate_failed' })],
    }),
    child('c', 'r.3', 'root', [3], { outcome: 'running' }),
  ];
  const [tree] = groupTrees(rows);
  const told = tellMembers(tree ?? { batchId: '', root: givenNode(), nodes: [] });
  expect(told.map(({ pr, action, later }) => [pr, action?.action ?? null, later])).toEqual([
    [1, 'landed', null],
    [2, 'bounced', null],
    [3, null, null],
    [4, null, 'landed'],
  ]);
  const over = rows.map((row) =>
    row.outcome === 'running' ? { ...row, outcome: 'superseded' as const } : row,
  );
  const [ended] = groupTrees(over);
  expect(told.every(({ open }) => open)).toBe(true);
  const silent = groupTrees([givenNode({ outcome: 'bisected', phase: null })])[0];
  expect(tellMembers(silent ?? { batchId: '', root: givenNode(), nodes: [] })[0]).toMatchObject({
    action: null,
    later: null,
    open: false,
  });
  expect(tellMembers(ended ?? { batchId: '', root: givenNode(), nodes: [] })[3]?.action?.action).toBe(
    'requeued',
  );
});

test('a final action wins over one that this page does not know', () => {
  const strange = givenNode({ actions: [givenAction(1, 'teleported' as never)], outcome: 'bisected' });
  const part = givenNode({
    id: 'part',
    parent_id: 'root',
    node_id: 'r.1',
    outcome: 'success',
    actions: [givenAction(1, 'landed')],
  });
  const [tree] = groupTrees([strange, part]);
  expect(tree && tellMembers(tree)[0]?.action?.action).toBe('landed');
});

test('a further attempt is no part of a batch, nor is the probe of the base', () => {
  const node = (id: string, changes: Parameters<typeof givenNode>[0]) =>
    givenNode({ id, parent_id: id === '0' ? null : '0', ...changes });
  const tree = (...nodes: readonly ReturnType<typeof givenNode>[]) =>
    groupTrees([node('0', {}), ...nodes])[0] ?? { batchId: '', root: givenNode(), nodes: [] };
  expect(countParts(tree())).toBe(0);
  expect(countParts(tree(node('1', { attempt: 2 })))).toBe(0);
  expect(countParts(tree(node('1', { node_id: 'base', prs: [] })))).toBe(0);
  const halves = [node('1', { node_id: 'r.1', prs: [1] }), node('2', { node_id: 'r.2', prs: [2] })];
  expect(countParts(tree(...halves, node('3', { node_id: 'r.2', prs: [2], attempt: 2 })))).toBe(2);
});

test('one node without a count makes the runs of the batch unknown', () => {
  const tree = (runs: (number | null)[]) =>
    groupTrees(
      runs.map((gate_runs, index) =>
        givenNode({ id: String(index), parent_id: index === 0 ? null : '0', gate_runs }),
      ),
    )[0];
  expect(countGateRuns(tree([1, 2]) ?? { batchId: '', root: givenNode(), nodes: [] })).toBe(3);
  expect(countGateRuns(tree([1, null]) ?? { batchId: '', root: givenNode(), nodes: [] })).toBeNull();
});

test('the costs of a batch on the forge are said once they are known', () => {
  expect(describeForgeCosts({ forge_calls: 34, forge_bytes: 119_500 })).toBe(
    ', 34 calls of the forge (120 kB)',
  );
  expect(describeForgeCosts({ forge_calls: 1, forge_bytes: 0 })).toBe(', 1 call of the forge (0 kB)');
  expect(describeForgeCosts({ forge_calls: null, forge_bytes: null })).toBe('');
});

test('of two repositories with one name on two forges each has its own batches', () => {
  const here = 'https://forge.example.org';
  const rows = [
    givenNode({ id: 'a', run_id: 'a' }),
    givenNode({ id: 'b', run_id: 'b', instance_url: 'https://other.example' }),
  ];
  const view = { repo: { name: 'acme/app', instance_url: here }, feed: { queue_batches: rows } };
  expect(treesOf(view).map(({ batchId }) => batchId)).toEqual(['a']);
});
