import type { RunId } from '#core/domain/ids.ts';
import { LINE_PLACES_MAX, LINE_TITLE_CHARS_MAX } from '#core/domain/line.ts';
import type { LineEntry, Node, QueueRecord, Root } from '../../../../engine-container/src/queue/record.ts';
import { emptyRecord } from '../../../../engine-container/src/queue/record.ts';
import { toQueueView } from '../../../../engine-container/src/queue/view.ts';
import { givenRepo } from '../../../builders/store-rows.ts';

const AT = 1_000_000;
const EVIDENCE = { mergeCommit: 'm', landedTree: 'landed', provenTree: 'proven', baseBefore: 'base' };
const repo = givenRepo({ batchLingerSeconds: 0 });

function entry(pr: number, changes: Partial<LineEntry> = {}): LineEntry {
  return {
    ...{ pr, title: `Change ${pr}`, head: `head-${pr}`, scheduleId: pr, queuedAt: pr, readyAt: pr },
    ...{ refusedFor: null, movedAt: null, staleScheduleId: null, retestAfter: null, cleared: false },
    doubt: null,
    ...changes,
  };
}

function node(changes: Partial<Node> = {}): Node {
  return {
    ...{ id: 'node', nodeId: 'r', parentNodeId: null, parentId: null, from: 0, to: 2, attempt: 1 },
    ...{ state: 'gating', branch: null, sha: null, tree: null, verdict: 'none', gateSource: null },
    ...{ runKey: null, runUrl: 'https://forge.example.org/run', outcome: 'running', terminalReason: null },
    ...{ actions: [], createdAt: 1, stagedAt: 5, resolvedAt: null, retryAt: null, faults: 0, load: 1 },
    ...changes,
  };
}

function root(changes: Partial<Root> = {}): Root {
  return {
    runId: 'run' as RunId,
    ...{ place: 'lane', onto: null, released: 0 },
    members: [1, 2].map((pr) => ({ pr, head: `head-${pr}`, scheduleId: pr, title: '' })),
    ...{ baseSha: 'b', baseTree: 't', builds: 1, chain: [], gateKey: null, baseGateKey: null },
    ...{ gateFile: null, landed: 0, receipts: [], fates: [], tip: 'b', limit: 2, nodes: [node()] },
    ...{ landing: null, unmergeableSince: null, teardown: null, createdAt: 1 },
    ...changes,
  };
}

const record = (changes: Partial<QueueRecord>): QueueRecord => ({ ...emptyRecord('mq'), ...changes });
const placesOf = (changes: Partial<QueueRecord>) =>
  toQueueView(repo, record(changes), AT).line.map((place) => [place.pr, place.state, place.reason]);
const blockOf = (changes: Partial<QueueRecord>, of = repo) => toQueueView(of, record(changes), AT).block;

test('every place of the line says where it stands and why', () => {
  const parked = { pr: 5, head: 'head-5', reason: 'conflict' as const, baseTree: 't', until: null };
  const line = [
    ...[entry(1), entry(2), entry(3), entry(4, { refusedFor: 'approvals_missing', readyAt: null })],
    ...[entry(5), entry(6), entry(7, { scheduleId: 0 }), entry(8, { readyAt: null })],
  ];
  expect(
    placesOf({
      line,
      roots: [root()],
      parked: [parked],
      bounced: [{ pr: 6, head: 'head-6', scheduleId: 6 }],
    }),
  ).toEqual([
    [1, 'staged', null],
    [2, 'staged', null],
    [3, 'ready', 'next_batch'],
    [4, 'refused', 'approvals_missing'],
    [5, 'waiting', 'conflict'],
    [6, 'bounced', 'bounced'],
    [7, 'waiting', 'head_changed'],
    [8, 'waiting', 'not_admitted'],
  ]);
});

test('a member behind the limit waits for the next batch; a bounce of another head says nothing', () => {
  const bounced = [{ pr: 2, head: 'older', scheduleId: 2 }];
  expect(placesOf({ line: [entry(1), entry(2)], roots: [root({ limit: 1 })], bounced })).toEqual([
    [1, 'staged', null],
    [2, 'ready', 'next_batch'],
  ]);
});

const landing = {
  ...{ index: 0, pr: 1, head: 'head-1', baseBefore: 'b', tree: 't', fence: 1, intentAt: 7, postedAt: 9 },
  ...{ proof: { sha: 's', runUrl: 'https://forge.example.org/proof' }, nudges: 0, revoke: null },
};

test.each<[string, Partial<QueueRecord>, object]>([
  ['empty', {}, { kind: 'empty', since: null, until: null }],
  ['gate', { line: [entry(1)], roots: [root()] }, { kind: 'gate', since: 5, runUrl: expect.any(String) }],
  ['merge', { roots: [root({ landing })] }, { kind: 'merge', pr: 1, since: 9, until: 9 + 600_000 }],
  [
    'revoke',
    { roots: [root({ landing: { ...landing, revoke: { reason: 'merge_timeout', postedAt: 11 } } })] },
    { kind: 'revoke', until: 11 + 20_000 },
  ],
  [
    'gate_retry',
    { roots: [root({ nodes: [node({ state: 'wanted', retryAt: AT + 5 })] })] },
    { kind: 'gate_retry', until: AT + 5 },
  ],
  ['staging', { roots: [root({ nodes: [node({ state: 'wanted' })] })] }, { kind: 'staging', since: 1 }],
  [
    'halted',
    {
      roots: [root()],
      halted: { reason: 'tree_mismatch', pr: 3, mergeCommit: 'm', at: 4, evidence: EVIDENCE },
    },
    { kind: 'tree_mismatch', since: 4, pr: 3, until: null, evidence: EVIDENCE },
  ],
  ['paused', { line: [entry(1)], pausedUntil: AT + 9 }, { kind: 'paused', until: AT + 9 }],
  [
    'base red',
    {
      line: [entry(1)],
      parked: [{ pr: 1, head: 'head-1', reason: 'base_red', baseTree: 't', until: AT + 3 }],
    },
    { kind: 'base_red', until: AT + 3 },
  ],
  ['nobody admitted', { line: [entry(1, { readyAt: null })] }, { kind: 'admission', since: 1 }],
])('what stands before the next landing: %s', (_name, changes, expected) => {
  expect(blockOf(changes)).toMatchObject(expected);
});

test('lingering ends by itself at a time that is told', () => {
  const slow = givenRepo({ batchLingerSeconds: 60 });
  expect(
    blockOf({ line: [entry(1, { readyAt: AT - 10 }), entry(2, { readyAt: AT - 5 })] }, slow),
  ).toMatchObject({
    ...{ kind: 'linger', since: AT - 10, until: AT - 5 + 60_000 },
  });
});

test('long lines and titles are cut, never half a character', () => {
  const line = Array.from({ length: LINE_PLACES_MAX + 3 }, (_, index) =>
    entry(index + 1, { title: '\u{1f600}'.repeat(9_000) }),
  );
  const view = toQueueView(repo, record({ line }), AT);
  expect([view.line.length, view.more]).toEqual([LINE_PLACES_MAX, 3]);
  const title = view.line[0]?.title ?? '';
  expect([...title].length).toBe(LINE_TITLE_CHARS_MAX);
  expect(Buffer.from(title).toString()).toBe(title);
});

test.each<[string, Partial<QueueRecord>, boolean]>([
  ['a pull request in the line', { line: [entry(1)] }, false],
  ['a batch', { roots: [root()] }, true],
  [
    'a status to be written',
    {
      outbox: [{ pr: 1, sha: 'h', context: 'mq', state: 'error', description: '', targetUrl: null }],
    },
    true,
  ],
  ['a branch to be deleted', { garbage: [{ branch: 'mq/main/staging', notBefore: 0, runKey: null }] }, true],
  ['heads of a lost record', { recall: [1] }, true],
])('with %s something is afoot: %#', (_name, changes, afoot) => {
  expect(toQueueView(repo, record(changes), AT).afoot).toBe(afoot);
});
