import { parseForgeVersion } from '#core/domain/forge/forge-version.ts';
import type { NodeRowId } from '#core/domain/ids.ts';
import { STAGING_TRIES_ALONE_MAX } from '#core/domain/limits.ts';
import { known } from '#core/domain/result.ts';
import type { ActionOutcome } from '../../../../../engine-container/src/queue/actions.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import { fold } from '../../../../../engine-container/src/queue/fold.ts';
import { isStagedAlone } from '../../../../../engine-container/src/queue/line/staging-turns.ts';
import { NO_HISTORY } from '../../../../../engine-container/src/queue/policy/rate.ts';
import type { QueueEntry } from '../../../../../engine-container/src/queue/record/queue-entry.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import {
  BASE,
  givenEntry,
  givenEvidence,
  givenNode,
  givenRecord,
  givenStagedBatch,
  headOf,
  stagedAt,
} from '../../../../builders/queue-record.ts';
import { givenSnapshot, givenView, NOW } from '../../../../builders/snapshot.ts';
import { tellDecision } from '../../../../support/told-decision.ts';

const look = givenSnapshot({ pulls: known([1, 2, 3].map((pr) => givenView(pr))) });

/** The record after the queue asked for a batch and the forge answered so. */
function recordAfter(outcome: ActionOutcome, before: QueueRecord, given = look): QueueRecord {
  const { actions, record } = decide(given, before);
  const staging = actions.find(({ kind }) => kind === 'stage_batch');
  if (staging === undefined) throw new Error('a batch is staged');
  return fold(given, record, staging, outcome, given.now).record;
}

const queued = (...prs: readonly number[]) => givenRecord({ entries: prs.map((pr) => givenEntry(pr)) });

describe('a conflict while a batch is built', () => {
  test('splits it there: the members before it are the batch, the others keep their places', () => {
    const after = recordAfter(
      {
        kind: 'batch_staged',
        chain: [stagedAt(1)],
        gateKey: 'gate',
        baseGate: { file: '.forgejo/workflows/gate.yaml', id: 'gate' },
        gateFile: '.forgejo/workflows/gate.yaml',
        published: stagedAt(1),
        cut: { index: 1, reason: 'conflict' },
      },
      queued(1, 2, 3),
    );
    expect(tellDecision(look, after)).toMatchObject({
      actions: [],
      events: [],
      queue: [1, 2, 3],
      nodes: ['r (0, 1] gating running'],
    });
  });

  test('of the first member with the base itself is told to its author, and the others are staged without it', () => {
    const cut = { index: 0, reason: 'merge_rules' as const };
    const after = recordAfter({ kind: 'nothing_staged', cut }, queued(1, 2, 3));
    expect(tellDecision({ ...look, now: NOW + 1_000 }, after)).toMatchObject({
      actions: [
        'error on head-1: refused: .gitattributes rules the merge of a file that both sides changed; merge the base branch into it',
        'stage #2 #3 on base-0 as mq/main/staging',
        'delete mq-work/main/id-0',
      ],
      queue: [1, 2, 3],
      after: { deferred: [{ pr: 1, reason: 'merge_rules', baseTree: 'tree-0' }], bounced: [] },
    });
  });
});

describe('a member that needs a patch where the latest one was given up', () => {
  const cutAt = (index: number) => ({ index, reason: 'slow_patch' as const });

  test('at the front of a batch is told nothing, and is staged alone', () => {
    const after = recordAfter({ kind: 'nothing_staged', cut: cutAt(0) }, queued(1, 2, 3));
    expect(tellDecision({ ...look, now: NOW + 1_000 }, after)).toMatchObject({
      actions: ['stage #1 on base-0 as mq/main/staging', 'delete mq-work/main/id-0'],
      queue: [1, 2, 3],
      after: { deferred: [] },
    });
  });

  test('waits until what is in flight is decided, and those behind it are staged meanwhile', () => {
    const before = givenRecord({
      entries: [1, 2, 3].map((pr) => givenEntry(pr)),
      tip: 'base-0',
      batches: [givenStagedBatch(1, { createdAt: NOW - 1_000 })],
      rate: { ...NO_HISTORY, landed: 400, steady: 400, paces: [{ ms: 600_000, runs: 5 }] },
    });
    const given = { ...look, repo: givenRepo({ bisectFanout: 16 }) };
    const after = recordAfter({ kind: 'nothing_staged', cut: cutAt(0) }, before, given);
    expect(after.deferred).toMatchObject([{ pr: 2, reason: 'not_on_batch' }]);
    const { actions } = tellDecision({ ...given, now: NOW + 1_000 }, after);
    expect(actions.find((action) => action.startsWith('stage'))).toMatch(/^stage #3 on/);
  });

  test('ends the batch, and is staged alone', () => {
    const staged = {
      kind: 'batch_staged',
      chain: [stagedAt(1)],
      gateKey: 'gate',
      baseGate: { file: '.forgejo/workflows/gate.yaml', id: 'gate' },
      gateFile: '.forgejo/workflows/gate.yaml',
      published: stagedAt(1),
      cut: cutAt(1),
    } as const;
    const after = recordAfter(staged, queued(1, 2, 3));
    expect(after.entries).toMatchObject([{ pr: 1 }, { pr: 2, timesSetAside: 0 }, { pr: 3 }]);
    expect(after.entries.map(isStagedAlone)).toEqual([false, true, false]);
  });
});

test('a base that moved while a batch was built: the batch begins anew on the new base', () => {
  const after = recordAfter({ kind: 'base_moved' }, queued(1, 2, 3));
  const moved = { ...look, base: known({ sha: 'base-1', tree: 'tree-9' }) };
  expect(tellDecision(moved, after)).toMatchObject({
    actions: ['stage #1 #2 #3 on base-1 as mq/main/staging', 'delete mq-work/main/id-0'],
    ended: [],
    queue: [1, 2, 3],
  });
});

test('a base and members without the gate file: all are deferred, and a person is alarmed', () => {
  const after = recordAfter({ kind: 'gate_missing', members: 3 }, queued(1, 2, 3));
  expect(after.deferred).toMatchObject([1, 2, 3].map((pr) => ({ pr, reason: 'gate_missing' })));
  expect(tellDecision(look, after)).toMatchObject({
    ended: [1, 2, 3].map((pr) => `#${pr} requeued: error`),
    queue: [1, 2, 3],
  });
});

describe('a forge that tells of no gate run', () => {
  const on = (text: string, before = queued(1, 2, 3)) => ({
    ...before,
    forge: { version: parseForgeVersion(text), readAt: NOW },
  });
  const foldersOf = (record: QueueRecord) =>
    decide(look, record).actions.flatMap((action) =>
      action.kind === 'stage_batch' ? action.workflowFolders : [],
    );

  test('no gate workflow is looked for, so that none is waited for in vain', () => {
    expect(foldersOf(on('1.22.6'))).toEqual([]);
    expect(foldersOf(on('1.23.8'))).toEqual(['.gitea/workflows', '.github/workflows']);
  });

  test('what was set aside there is staged as soon as the forge is updated', () => {
    const aside = recordAfter({ kind: 'gate_missing', members: 3 }, on('1.22.6'));
    expect(aside.deferred).toMatchObject([1, 2, 3].map((pr) => ({ pr, reason: 'gate_missing' })));
    const ended = decide(look, aside).record;
    expect(ended.batches).toEqual([]);
    expect(decide(look, ended).actions.map(({ kind }) => kind)).not.toContain('stage_batch');
    expect(foldersOf(on('1.23.0', ended))).toEqual(['.gitea/workflows', '.github/workflows']);
  });
});

describe('a pull request that comes a second after the only batch was opened', () => {
  const GATE_MS = 600_000;
  const openedAt = (bisectFanout: number, below: Partial<QueueEntry> = {}) => {
    const before = givenRecord({
      entries: [givenEntry(1, below), givenEntry(9)],
      tip: 'base-0',
      batches: [givenStagedBatch(1, { createdAt: NOW - 1_000 })],
      rate: { ...NO_HISTORY, landed: 400, steady: 400, paces: [{ ms: GATE_MS, runs: 5 }] },
    });
    const pulls = known([1, 9].map((pr) => givenView(pr)));
    return decide(givenSnapshot({ pulls, repo: givenRepo({ bisectFanout }) }), before);
  };
  const placesOf = ({ record }: Pick<ReturnType<typeof decide>, 'record'>) =>
    record.batches.map(({ place, members }) => [place, ...members.map(({ pr }) => pr)]);

  test('is built on it at once in a long pipeline', () => {
    expect(placesOf(openedAt(16))).toEqual([
      ['pipeline', 1],
      ['pipeline', 9],
    ]);
  });

  test('is tried beside one that is judged alone because its gate runs were broken off', () => {
    expect(placesOf(openedAt(16, { timesSetAside: 0 }))).toEqual([
      ['pipeline', 1],
      ['trial', 9],
    ]);
  });

  test('is tried beside one that is staged alone because staging it failed', () => {
    expect(placesOf(openedAt(16, { stagingTries: 1 }))).toEqual([
      ['pipeline', 1],
      ['trial', 9],
    ]);
  });

  test('waits in a short one for its part of the time of a gate run', () => {
    const decision = openedAt(8);
    expect(placesOf(decision)).toEqual([['pipeline', 1]]);
    expect(decision.nextStartAt).toBe(NOW - 1_000 + GATE_MS / 3);
  });
});

test.each([
  [4, 8, 3],
  [8, 16, 3],
])(
  'fan-out %i: of %i that wait and of which one in seven is bad a batch takes %i, by the mean of places and free slots',
  (bisectFanout, waiting, size) => {
    const prs = Array.from({ length: waiting }, (_, index) => index + 1);
    const before = givenRecord({
      entries: prs.map((pr) => givenEntry(pr)),
      rate: { ...NO_HISTORY, landed: 258, bounced: 42, steady: 300 },
    });
    const pulls = known(prs.map((pr) => givenView(pr)));
    const { record } = decide(givenSnapshot({ pulls, repo: givenRepo({ bisectFanout }) }), before);
    expect(record.batches[0]?.members).toHaveLength(size);
  },
);

test('one that was set aside for suspects stays aside while these are searched, wherever its turn puts them', () => {
  // #9 was scheduled before the crowd; only its turn puts it behind #1 and #2, which are searched.
  const authors = new Map([1, 2, 3, 4, 5, 6, 9].map((pr) => [pr, pr === 9 ? 'late' : 'crowd']));
  const pulls = [...authors].map(([pr, author]) => givenView(pr, { pull: { author } }));
  const entries = [...authors].map(([pr, author]) =>
    givenEntry(pr, { author, queuedAt: pr === 9 ? 5 : pr + 10 }),
  );
  const nodes = [
    givenNode({ state: 'done', outcome: 'bisected', verdict: 'failure' }),
    givenNode({ id: 'half' as NodeRowId, nodeId: 'r.1', to: 1, outcome: 'running' }),
    givenNode({ id: 'rest' as NodeRowId, nodeId: 'r.2', from: 1, state: 'done', outcome: 'held_failure' }),
  ];
  const before = givenRecord({
    entries,
    batches: [givenStagedBatch(2, { place: 'suspect', nodes })],
    tip: 'base-0',
    evidence: [givenEvidence(2, 'failure')],
    deferred: [{ pr: 9, head: headOf(9), reason: 'suspect_ahead', baseTree: stagedAt(2).tree, until: null }],
  });
  // With slots that are free, so that all others that wait are staged.
  const repo = givenRepo({ bisectFanout: 4 });
  const { record } = decide(givenSnapshot({ pulls: known(pulls), repo }), before);
  expect(record.deferred).toMatchObject([{ pr: 9, reason: 'suspect_ahead' }]);
  expect(record.batches.map(({ members }) => members.map(({ pr }) => pr))).toEqual([
    [1, 2],
    [3, 4, 5, 6],
  ]);
});

describe('those who stood behind suspects, while one cut of these is tried (decision 0286)', () => {
  const given = (suspects: number, left: number, bisectFanout = 4) => {
    const size = suspects + left;
    const prs = Array.from({ length: size }, (_, index) => index + 1);
    const to = Math.ceil(suspects / 2);
    const held = { state: 'done', outcome: 'held_failure', ...stagedAt(suspects) } as const;
    const nodes = [
      givenNode({ id: 'cut' as NodeRowId, nodeId: 'r.1.1', to, branch: 'b', ...stagedAt(to) }),
      givenNode({ id: 'held' as NodeRowId, nodeId: 'r.1.2', from: to, to: suspects, ...held }),
    ];
    const batch = givenStagedBatch(size, { place: 'suspect', limit: suspects, nodes });
    const record = givenRecord({
      entries: prs.map((pr) => givenEntry(pr)),
      batches: [batch],
      tip: BASE.sha,
      evidence: [suspects, size].map((length) => givenEvidence(length, 'failure')),
    });
    const snapshot = givenSnapshot({
      repo: givenRepo({ bisectFanout }),
      pulls: known(prs.map((pr) => givenView(pr))),
    });
    return tellDecision(snapshot, record).actions.filter((action) => action.startsWith('stage'));
  };

  test.each([
    ['four', 4, 20],
    ['twice as many', 8, 16],
  ])('wait for the end of the search of %s', (_, suspects, left) => {
    expect(given(suspects, left)).toEqual([]);
  });

  test('are staged beside it where they are many and the suspects are', () => {
    expect(given(8, 17)).toHaveLength(1);
    expect(given(5, 11)).toHaveLength(1);
  });

  test('are staged beside it where several cuts are tried at once', () => {
    expect(given(4, 4, 8)).not.toEqual([]);
  });
});

describe('a staging that fails while the forge is otherwise well', () => {
  const failed: ActionOutcome = { kind: 'failed', forgeAnswers: true };

  test.each<[string, Partial<QueueEntry>, number]>([
    ['a third time: for 30 minutes', { stagingTries: STAGING_TRIES_ALONE_MAX - 1 }, 30],
    ['after it was set aside once: for an hour', { timesSetAside: 1 }, 60],
    ['after it was set aside twice: for two hours', { timesSetAside: 2 }, 120],
  ])('sets a pull request aside that failed alone %s', (_name, entry, minutes) => {
    const after = recordAfter(failed, givenRecord({ entries: [givenEntry(1, entry)] }), {
      ...look,
      pulls: known([givenView(1)]),
    });
    expect(after).toMatchObject({
      deferred: [{ pr: 1, reason: 'staging_failed', until: NOW + minutes * 60_000 }],
      bounced: [],
    });
  });

  test('of a batch of several, twice: half of it is tried', () => {
    const once = recordAfter(failed, queued(1, 2, 3));
    expect(tellDecision(look, once).actions).toEqual(['stage #1 #2 #3 on base-0 as mq/main/staging']);
    const twice = recordAfter(failed, once);
    expect(tellDecision(look, twice).actions).toEqual(['stage #1 #2 on base-0 as mq/main/staging']);
  });

  test('with a forge that answers nothing counts against no pull request: the same batch is tried again', () => {
    const after = recordAfter({ kind: 'failed', forgeAnswers: false }, queued(1, 2, 3));
    expect(tellDecision(look, after)).toMatchObject({
      actions: ['stage #1 #2 #3 on base-0 as mq/main/staging'],
      after: { deferred: [], bounced: [] },
    });
  });
});

test('a name in the way of the staging branch stops staging with an alarm, and blames no pull request', () => {
  const after = recordAfter(
    { kind: 'name_in_the_way', ref: { kind: 'branch', name: 'mq' }, branch: 'mq/main/staging' },
    queued(1, 2),
  );
  expect(after).toMatchObject({ deferred: [], bounced: [], nameInTheWay: { kind: 'branch' } });
});
