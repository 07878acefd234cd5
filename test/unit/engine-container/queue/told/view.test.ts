import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { QUEUE_PLACES_MAX, QUEUE_TITLE_CHARS_MAX } from '#core/domain/queue/queue-view.ts';
import { REFUSALS } from '../../../../../engine-container/src/queue/admission/admission-facts.ts';
import { startAutoFanout } from '../../../../../engine-container/src/queue/policy/auto-fanout.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { toQueueView } from '../../../../../engine-container/src/queue/told/view.ts';
import { wordsOfEnd } from '../../../../../engine-container/src/queue/words/last-word.ts';
import { describeEarlierBounce } from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import {
  givenBatch,
  givenEntry,
  givenLanding,
  givenNode,
  givenRecord,
  givenStagedBatch,
} from '../../../../builders/queue-record.ts';

const AT = 1_000_000;
const EVIDENCE = { mergeCommit: 'm', landedTree: 'landed', provenTree: 'proven', baseBefore: 'base' };
const repo = givenRepo({ batchLingerSeconds: 0 });

const placesOf = (changes: Partial<QueueRecord>) =>
  toQueueView(repo, givenRecord(changes), AT).places.map((place) => [place.pr, place.state, place.reason]);
const blockOf = (changes: Partial<QueueRecord>, of = repo) => toQueueView(of, givenRecord(changes), AT).block;

test('of two with one head the second waits for the first, as admission has found', () => {
  const twin = givenEntry(2, { head: 'head-1', readyAt: null });
  const places = (second: object) => placesOf({ entries: [givenEntry(1), { ...twin, ...second }] });
  expect(places({ isBehindTwin: true })).toEqual([
    [1, 'ready', null],
    [2, 'waiting', 'twin_ahead'],
  ]);
  // Of a head whose other checks are missing each waits for these.
  expect(places({})[1]).toEqual([2, 'waiting', 'not_admitted']);
});

test('one about which the forge does not answer waits for the forge, and not for a check', () => {
  const silent = (head: string) =>
    placesOf({ entries: [givenEntry(1, { readyAt: null, unclear: { head, since: AT } })] });
  expect(silent('head-1')).toEqual([[1, 'waiting', 'unclear']]);
  expect(silent('an earlier head')).toEqual([[1, 'waiting', 'not_admitted']]);
});

test('a success that stands is told as one under the context of the queue, and else as a head that takes no status', () => {
  const { context } = givenRecord();
  const standing = (of: string) => ({
    pr: 1,
    sha: 'head-1',
    context: of,
    state: 'error' as const,
    description: 'requeued',
    targetUrl: null,
    takesBack: true as const,
    told: true as const,
  });
  const places = (of: string) => placesOf({ entries: [givenEntry(1)], pendingStatuses: [standing(of)] });
  expect(places(context)).toEqual([[1, 'waiting', 'success_stands']]);
  expect(places('used before')).toEqual([[1, 'waiting', 'staging_failed']]);
});

test('one that waits for another one is told, as on its head, that the queue is held up or has stopped, or that another check keeps it out', () => {
  const deferred = { pr: 2, head: 'head-2', reason: 'conflict_ahead' as const, baseTree: 't', until: null };
  const entries = [givenEntry(1), givenEntry(2)];
  const batches = [givenStagedBatch(1)];
  const halted = { pr: 9, at: AT, mergeCommit: 'm', reason: 'tree_mismatch' as const };
  const second = (changes: Partial<QueueRecord>, of = repo) => {
    const record = givenRecord({ entries, deferred: [deferred], ...changes });
    const { state, reason } = toQueueView(of, record, AT).places[1] ?? {};
    return [state, reason];
  };
  const pause = { kind: 'drain', reason: null, since: AT - 1, until: null } as const;
  expect(second({ batches })).toEqual(['waiting', 'conflict_ahead']);
  expect(second({ batches }, givenRepo({ pause }))).toEqual(['waiting', 'paused']);
  expect(second({ batches, halted })).toEqual(['waiting', 'queue_stopped']);
  const said = { head: 'head-2', state: 'pending' as const, description: PULL_CODES.not_admitted.says };
  const keptOut = [givenEntry(1), givenEntry(2, { readyAt: null, said })];
  expect(second({ entries: keptOut })).toEqual(['waiting', 'not_admitted']);
});

test('every place of the queue says where it stands and why', () => {
  const deferred = { pr: 5, head: 'head-5', reason: 'conflict' as const, baseTree: 't', until: null };
  const entries = [
    givenEntry(1),
    givenEntry(2),
    givenEntry(3),
    givenEntry(4, { refusedFor: 'approvals_missing', readyAt: null }),
    givenEntry(5),
    givenEntry(6),
    givenEntry(7, { scheduleId: 0 }),
    givenEntry(8, { readyAt: null }),
  ];
  expect(
    placesOf({
      entries,
      batches: [givenStagedBatch(2)],
      deferred: [deferred],
      bounced: [{ pr: 6, head: 'head-6', scheduleId: 6 }],
    }),
  ).toEqual([
    [1, 'staged', null],
    [2, 'staged', null],
    [3, 'ready', 'next_batch'],
    [4, 'refused', 'approvals_missing'],
    [5, 'refused', 'conflict'],
    [6, 'bounced', 'bounced'],
    [7, 'waiting', 'head_changed'],
    [8, 'waiting', 'not_admitted'],
  ]);
});

test.each(['conflict', 'gate_not_started', 'forge_conflict', 'base_red', 'not_mergeable'] as const)(
  'one that is set aside is in the state that its status begins with: %s',
  (reason) => {
    const deferred = [{ pr: 1, head: 'head-1', reason, baseTree: 't', until: null }];
    const [place] = placesOf({ entries: [givenEntry(1)], deferred });
    expect(PULL_CODES[reason].says.split(':')[0]).toBe(place?.[1]);
  },
);

test.each(REFUSALS)('one that is not admitted is in the state that its status begins with: %s', (reason) => {
  const [place] = placesOf({ entries: [givenEntry(1, { refusedFor: reason, readyAt: null })] });
  expect(PULL_CODES[reason].says.split(':')[0]).toBe(place?.[1]);
});

test.each(REFUSALS)(
  'one that is refused while its success is taken back is in the state that its status begins with: %s',
  (reason) => {
    const landing = givenLanding({ takeBack: { reason: 'candidate_changed', postedAt: null } });
    const batches = [givenStagedBatch(1, { landing, teardown: 'candidate_changed' })];
    const entries = [givenEntry(1, { refusedFor: reason, readyAt: null })];
    const { description } = wordsOfEnd(givenRecord({ entries }), landing, 'candidate_changed');
    expect(placesOf({ entries, batches })).toEqual([[1, description.split(':')[0], reason]]);
  },
);

test('a member behind the limit waits for the next batch; a bounce of another head says nothing', () => {
  const bounced = [{ pr: 2, head: 'older', scheduleId: 2 }];
  expect(
    placesOf({
      entries: [givenEntry(1), givenEntry(2)],
      batches: [givenStagedBatch(2, { limit: 1 })],
      bounced,
    }),
  ).toEqual([
    [1, 'staged', null],
    [2, 'ready', 'next_batch'],
  ]);
});

test('members of a batch that is not built yet are not told to be staged', () => {
  const batches = [givenBatch({ chain: [] })];
  expect(placesOf({ entries: [givenEntry(1), givenEntry(2)], batches })).toEqual([
    [1, 'ready', null],
    [2, 'ready', null],
  ]);
});

test('one whose gate run waits for a runner says so, until one of its runs goes on', () => {
  const waits = { until: 9, isOver: false };
  const runs = (...nodes: Parameters<typeof givenNode>[0][]) =>
    placesOf({
      entries: [givenEntry(1), givenEntry(2)],
      batches: [givenStagedBatch(2, { nodes: nodes.map(givenNode) })],
    });
  expect(runs({ to: 2, runnerWait: waits })).toEqual([
    [1, 'staged', 'runner_wait'],
    [2, 'staged', 'runner_wait'],
  ]);
  const ofFirst = { nodeId: '0', from: 0, to: 1, runnerWait: { until: 9, isOver: true } };
  const ofBoth = { to: 2, runnerWait: waits };
  expect(runs(ofBoth, ofFirst)).toEqual([
    [1, 'staged', null],
    [2, 'staged', 'runner_wait'],
  ]);
  expect(runs({ to: 2, state: 'done', runnerWait: waits })).toMatchObject([[1, 'staged', null], {}]);
});

const landing = givenLanding();

test.each<[string, Partial<QueueRecord>, object]>([
  ['empty', {}, { kind: 'empty', since: null, until: null }],
  [
    'gate',
    {
      entries: [givenEntry(1)],
      batches: [givenBatch({ nodes: [givenNode({ runUrl: 'https://forge.example/run' })] })],
    },
    { kind: 'gate', since: 5, runUrl: 'https://forge.example/run' },
  ],
  ['merge', { batches: [givenBatch({ landing })] }, { kind: 'merge', pr: 1, since: 9, until: 9 + 600_000 }],
  [
    'revoke',
    {
      batches: [givenBatch({ landing: { ...landing, takeBack: { reason: 'merge_timeout', postedAt: 11 } } })],
    },
    { kind: 'revoke', until: 11 + 20_000 },
  ],
  [
    'gate_retry',
    { batches: [givenBatch({ nodes: [givenNode({ state: 'wanted', retryAt: AT + 5 })] })] },
    { kind: 'gate_retry', until: AT + 5 },
  ],
  [
    'staging',
    { batches: [givenBatch({ nodes: [givenNode({ state: 'wanted' })] })] },
    { kind: 'staging', since: 1 },
  ],
  [
    'halted',
    {
      batches: [givenBatch()],
      halted: { reason: 'tree_mismatch', pr: 3, mergeCommit: 'm', at: 4, evidence: EVIDENCE },
    },
    { kind: 'tree_mismatch', since: 4, pr: 3, until: null, evidence: EVIDENCE },
  ],
  ['paused', { entries: [givenEntry(1)], restsUntil: AT + 9 }, { kind: 'paused', until: AT + 9 }],
  [
    'base red',
    {
      entries: [givenEntry(1)],
      deferred: [{ pr: 1, head: 'head-1', reason: 'base_red', baseTree: 't', until: AT + 3 }],
    },
    { kind: 'base_red', until: AT + 3 },
  ],
  ['no entry admitted', { entries: [givenEntry(1, { readyAt: null })] }, { kind: 'admission', since: 1 }],
])('the next landing waits for: %s', (_name, changes, expected) => {
  expect(blockOf(changes)).toMatchObject(expected);
});

test('lingering ends by itself at a time that is told', () => {
  const slow = givenRepo({ batchLingerSeconds: 60 });
  expect(
    blockOf({ entries: [givenEntry(1, { readyAt: AT - 10 }), givenEntry(2, { readyAt: AT - 5 })] }, slow),
  ).toMatchObject({ kind: 'linger', since: AT - 10, until: AT - 5 + 60_000 });
});

test('where others keep coming, lingering is told to end with the fifth linger of the oldest', () => {
  const slow = givenRepo({ batchLingerSeconds: 60 });
  const entries = [givenEntry(1, { readyAt: AT - 290_000 }), givenEntry(2, { readyAt: AT - 5 })];
  expect(blockOf({ entries }, slow)).toMatchObject({ kind: 'linger', until: AT + 10_000 });
});

test.each<[string, Partial<QueueRecord>]>([
  ['was bounced', { bounced: [{ pr: 1, head: 'head-1', scheduleId: 1 }] }],
  [
    'conflicts with the base',
    { deferred: [{ pr: 1, head: 'head-1', reason: 'conflict', baseTree: 'tree', until: null }] },
  ],
])('one that %s long ago does not make a linger look like a forge that builds no batch', (_, changes) => {
  const slow = givenRepo({ batchLingerSeconds: 60 });
  const entries = [givenEntry(1, { readyAt: AT - 900_000 }), givenEntry(2, { readyAt: AT - 5 })];
  const block = blockOf({ entries, ...changes }, slow);
  expect(block).toMatchObject({ kind: 'linger', since: AT - 5, until: AT - 5 + 60_000 });
});

test.each([
  [null, 'landing', null],
  ['base_advanced', 'waiting', 'base_advanced'],
  ['merge_conflict', 'waiting', 'not_mergeable'],
] as const)('a landing whose success is taken back for %s is shown as %s %s', (reason, state, code) => {
  const takeBack = reason === null ? null : { reason, postedAt: 11 };
  const changes = { entries: [givenEntry(1)], batches: [givenBatch({ landing: { ...landing, takeBack } })] };
  expect(placesOf(changes)).toEqual([[1, state, code]]);
});

test.each([
  ['style_off', PULL_CODES.style_off.says],
  ['merge_unsigned', PULL_CODES.merge_unsigned.says],
  ['merge_blocked', PULL_CODES.merge_blocked.says],
] as const)(
  'a landing whose success is taken back over a block is shown as its head tells it: %s',
  (code, says) => {
    const said = { head: 'head-1', state: 'error' as const, description: says };
    const takeBack = { reason: 'merge_blocked' as const, postedAt: 11 };
    const batches = [givenBatch({ landing: { ...landing, takeBack } })];
    expect(placesOf({ entries: [givenEntry(1, { said })], batches })).toEqual([
      [1, code === 'merge_blocked' ? 'waiting' : 'refused', code],
    ]);
  },
);

test('one whose merge another check kept back names that on the page as on its head, until the head says something else', () => {
  const waits = (says: string) => {
    const said = { head: 'head-1', state: 'pending' as const, description: says };
    return placesOf({ entries: [givenEntry(1, { said, readyAt: null })] });
  };
  expect(waits(PULL_CODES.other_checks.says)).toEqual([[1, 'waiting', 'other_checks']]);
  expect(waits(PULL_CODES.not_admitted.says)).toEqual([[1, 'waiting', 'not_admitted']]);
});

describe('a refusal of staging whose words stand until it is tried again', () => {
  const says = PULL_CODES.conflict.says;
  const said = { head: 'head-1', state: 'error' as const, description: says };
  const refused = { pr: 1, head: 'head-1', reason: 'conflict' as const, baseTree: 'tree', until: AT - 1 };
  const ahead = { ...refused, reason: 'conflict_ahead' as const, until: null };

  test.each<[string, Partial<QueueRecord>]>([
    ['its time is up', { entries: [givenEntry(1, { said })], deferred: [refused] }],
    ['its base has moved', { entries: [givenEntry(1, { said, refusedBefore: { head: 'head-1', says } })] }],
    [
      'it conflicts with what is in flight too',
      { entries: [givenEntry(1, { said })], deferred: [refused, ahead] },
    ],
  ])('is told as its head tells it where %s', (_case, changes) => {
    expect(placesOf(changes)).toEqual([[1, 'refused', 'conflict']]);
  });

  test('is told no more once the head says something else', () => {
    const other = { ...said, state: 'pending' as const, description: PULL_CODES.queued.says };
    const entries = [givenEntry(1, { said: other })];
    expect(placesOf({ entries, deferred: [refused] })).toEqual([[1, 'ready', null]]);
  });
});

test('long lines and titles are cut, never half a character', () => {
  const entries = Array.from({ length: QUEUE_PLACES_MAX + 3 }, (_, index) =>
    givenEntry(index + 1, { title: '\u{1f600}'.repeat(9_000) }),
  );
  const view = toQueueView(repo, givenRecord({ entries }), AT);
  expect([view.places.length, view.more]).toEqual([QUEUE_PLACES_MAX, 3]);
  const title = view.places[0]?.title ?? '';
  expect([...title].length).toBe(QUEUE_TITLE_CHARS_MAX);
  expect(Buffer.from(title).toString()).toBe(title);
});

test.each([
  [{}, 'bounced'],
  [{ verdict: { baseTree: 'tree', times: 1, runUrl: null } }, 'gate_failed'],
  [{ cause: 'merge_timeout' }, 'bounced_merge_timeout'],
  [{ cause: 'fork_merge_timeout' }, 'fork_merge_timeout'],
  [{ again: 'verdict_known' }, 'verdict_known'],
  [{ again: 'retest_spent' }, 'retest_spent'],
] as const)('a bounce keeps the words of its cause: %j is shown as %s, as on its head', (why, code) => {
  const bounced = [{ pr: 1, head: 'head-1', scheduleId: 1, ...why }];
  expect(placesOf({ entries: [givenEntry(1)], bounced })).toEqual([[1, 'bounced', code]]);
  expect(describeEarlierBounce(why)).toBe(PULL_CODES[code].says);
});

test('a queue that holds nothing but what was bounced is empty', () => {
  const bounced = [{ pr: 1, head: 'head-1', scheduleId: 1 }];
  expect(blockOf({ entries: [givenEntry(1)], bounced }).kind).toBe('empty');
  expect(blockOf({ entries: [givenEntry(1), givenEntry(2)], bounced }).kind).toBe('staging');
});

test('which fan-out the queue chose is told, and nothing where the settings name one', () => {
  const autoFanout = startAutoFanout(125);
  expect(toQueueView(repo, givenRecord({ autoFanout }), AT).fanout).toEqual({
    inForce: 13,
    reason: 'learning',
    runsPer100Landed: null,
    budget: 125,
  });
  expect(toQueueView(repo, givenRecord(), AT)).not.toHaveProperty('fanout');
});
