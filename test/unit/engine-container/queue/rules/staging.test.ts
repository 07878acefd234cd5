import type { BatchId, NodeRowId } from '#core/domain/ids.ts';
import { STAGING_RECONCILES_MAX } from '#core/domain/limits.ts';
import { known, UNKNOWN } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import { fold } from '../../../../../engine-container/src/queue/fold.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import type { Snapshot } from '../../../../../engine-container/src/queue/snapshot.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import {
  BASE,
  givenBatch,
  givenEntry,
  givenEvidence,
  givenMember,
  givenNode,
  givenRecord,
  givenStagedBatch,
  headOf,
  stagedAt,
} from '../../../../builders/queue-record.ts';
import {
  givenFinishedRun,
  givenFocus,
  givenSnapshot,
  givenView,
  NOW,
} from '../../../../builders/snapshot.ts';
import { tellDecision } from '../../../../support/told-decision.ts';

const scheduled = (...prs: readonly number[]): Snapshot['pulls'] => known(prs.map((pr) => givenView(pr)));
const entries = (...prs: readonly number[]) => prs.map((pr) => givenEntry(pr));

describe('when a batch begins', () => {
  const lingering = givenRepo({ batchLingerSeconds: 60 });
  const fresh = givenEntry(1, { readyAt: NOW - 10_000 });

  test('not before the newest that is ready has lingered', () => {
    const given = givenSnapshot({ repo: lingering, pulls: scheduled(1) });
    expect(tellDecision(given, givenRecord({ entries: [fresh] }))).toMatchObject({
      actions: [],
      wakeInMs: 50_000,
    });
    const later = { ...given, now: NOW + 50_000 };
    expect(tellDecision(later, givenRecord({ entries: [fresh] })).actions).toEqual([
      'stage #1 on base-0 as mq/main/staging',
    ]);
  });

  test('once the oldest has waited for five lingers, although others keep coming', () => {
    const given = givenSnapshot({ repo: lingering, pulls: scheduled(1, 2) });
    const givenWaited = (waitedMs: number) =>
      givenRecord({
        entries: [givenEntry(1, { readyAt: NOW - waitedMs }), givenEntry(2, { readyAt: NOW - 1_000 })],
      });
    expect(tellDecision(given, givenWaited(299_000))).toMatchObject({ actions: [], wakeInMs: 1_000 });
    expect(tellDecision(given, givenWaited(300_000)).actions).toEqual([
      'stage #1 #2 on base-0 as mq/main/staging',
    ]);
  });

  test('at once when as many are ready as the batch target says', () => {
    const repo = { ...lingering, batchTarget: 2 };
    const given = givenSnapshot({ repo, pulls: scheduled(1, 2) });
    expect(
      tellDecision(given, givenRecord({ entries: [fresh, givenEntry(2, { readyAt: NOW })] })),
    ).toMatchObject({
      actions: ['stage #1 #2 on base-0 as mq/main/staging'],
    });
  });

  test.each([0, 80])('at once when fifty are ready, where the batch target is %i', (batchTarget) => {
    const repo = { ...lingering, batchTarget };
    const isStaged = (count: number): boolean => {
      const prs = Array.from({ length: count }, (_, index) => index + 1);
      const given = givenSnapshot({ repo, pulls: scheduled(...prs) });
      const ready = prs.map((pr) => givenEntry(pr, { readyAt: NOW }));
      return tellDecision(given, givenRecord({ entries: ready })).actions.some((each) =>
        each.startsWith('stage '),
      );
    };
    expect([49, 50].map(isStaged)).toEqual([false, true]);
  });

  test.each<[string, Partial<Snapshot>]>([
    ['the base', { base: UNKNOWN }],
    ['the rule of the base', { protection: UNKNOWN }],
    ['which forge this is', { forge: UNKNOWN }],
  ])('not while %s is unknown', (_name, changes) => {
    const given = givenSnapshot({ pulls: scheduled(1), ...changes });
    expect(tellDecision(given, givenRecord({ entries: entries(1) })).actions).toEqual([]);
  });

  test('not from a look at what is in flight only, whose list is older', () => {
    const given = givenSnapshot({ full: false, pulls: scheduled(1) });
    expect(tellDecision(given, givenRecord({ entries: entries(1) })).actions).toEqual([]);
  });

  test.each([
    ['gate runs were broken off, as a record of before says nothing', {}, 'gate_infrastructure'],
    ['a gate did not end in time', { restsFor: 'gate_timeout' }, 'gate_timeout'],
    ['the forge failed on all that was tried', { restsFor: 'forge_call_failed' }, 'forge_call_failed'],
    ['a record of before says so', { restsFor: 'forge_unreachable' }, 'forge_unreachable'],
  ] as const)('not while it rests because %s, which is what is told', (_name, why, error) => {
    const given = givenSnapshot({ pulls: scheduled(1) });
    const record = givenRecord({ entries: entries(1), restsUntil: NOW + 9_000, ...why });
    expect(tellDecision(given, record)).toMatchObject({ actions: [], error, wakeInMs: 9_000 });
  });

  test('not while the queue is halted, until a person switches it on again', () => {
    const halted = { reason: 'tree_mismatch' as const, pr: 3, mergeCommit: 'merge-3', at: 500 };
    const given = givenSnapshot({ pulls: scheduled(1) });
    expect(tellDecision(given, givenRecord({ entries: entries(1), halted }))).toMatchObject({
      actions: [],
      error: 'tree_mismatch',
    });
    const again = { ...given, repo: givenRepo({ enabledAt: 501 }) };
    expect(tellDecision(again, givenRecord({ entries: entries(1), halted }))).toMatchObject({
      actions: ['stage #1 on base-0 as mq/main/staging'],
      error: null,
    });
  });

  test('not where a branch of the repository has the name that a staging branch needs', () => {
    const nameInTheWay = { kind: 'branch' as const, branches: ['mq/main/staging'] };
    const given = givenSnapshot({ pulls: scheduled(1) });
    expect(tellDecision(given, givenRecord({ entries: entries(1), nameInTheWay }))).toMatchObject({
      actions: [],
      nodes: [],
      error: 'branch_name_taken',
    });
    expect(
      tellDecision(
        { ...given, nameInTheWay: known(null) },
        givenRecord({ entries: entries(1), nameInTheWay }),
      ).actions,
    ).toEqual(['stage #1 on base-0 as mq/main/staging']);
  });
});

test.each<[string, Partial<QueueRecord>]>([
  ['a halt', { halted: { reason: 'tree_mismatch', pr: 3, mergeCommit: 'merge-3', at: 500 } }],
  ['a name in the way', { nameInTheWay: { kind: 'branch', branches: ['mq/main/staging'] } }],
  ['another queue', { rival: { at: 500, pr: 1 } }],
])('a queue that is off does not name %s: its wind-down ends', (_name, changes) => {
  const off = givenSnapshot({ repo: givenRepo({ queueEnabled: false }) });
  expect(tellDecision(off, givenRecord(changes))).toMatchObject({ error: null, wakeInMs: null });
});

describe('the members of a batch', () => {
  test('a pull request that was deferred on this base waits for another, or for a time', () => {
    const deferred = [
      { pr: 1, head: headOf(1), reason: 'conflict' as const, baseTree: BASE.tree, until: null },
      { pr: 2, head: headOf(2), reason: 'head_not_ready' as const, baseTree: BASE.tree, until: NOW + 5_000 },
    ];
    const given = givenSnapshot({ pulls: scheduled(1, 2, 3) });
    const record = givenRecord({ entries: entries(1, 2, 3), deferred });
    expect(tellDecision(given, record)).toMatchObject({
      actions: ['stage #3 on base-0 as mq/main/staging'],
      wakeInMs: 5_000,
    });
    const moved = { ...given, base: known({ sha: 'base-1', tree: 'tree-9' }) };
    expect(tellDecision(moved, record).actions).toEqual(['stage #1 #2 #3 on base-1 as mq/main/staging']);
    expect(tellDecision({ ...given, now: NOW + 5_000 }, record).actions).toEqual([
      'stage #2 #3 on base-0 as mq/main/staging',
    ]);
  });

  test('a bounced head stays out until it moves or is scheduled again', () => {
    const bounced = [{ pr: 1, head: headOf(1), scheduleId: 1 }];
    const given = givenSnapshot({ pulls: scheduled(1, 2) });
    expect(tellDecision(given, givenRecord({ entries: entries(1, 2), bounced })).actions).toEqual([
      'stage #2 on base-0 as mq/main/staging',
    ]);
    const again = givenView(1, { schedule: known({ kind: 'bound', id: 9, at: 900, by: 'dev' }) });
    expect(
      tellDecision(
        { ...given, pulls: known([again, givenView(2)]) },
        givenRecord({ entries: entries(1, 2), bounced }),
      ).actions,
    ).toEqual(['stage #1 #2 on base-0 as mq/main/staging']);
  });

  test('one that staging failed with is staged alone', () => {
    const entries = [givenEntry(1, { timesSetAside: 1 }), givenEntry(2)];
    expect(
      tellDecision(givenSnapshot({ pulls: scheduled(1, 2) }), givenRecord({ entries: entries })).actions,
    ).toEqual(['stage #1 on base-0 as mq/main/staging']);
  });

  test('the turn after that belongs to the others, in one batch', () => {
    const queued = [
      givenEntry(1, { timesSetAside: 1 }),
      givenEntry(2),
      givenEntry(3, { stagingTries: 1 }),
      givenEntry(4),
    ];
    const given = givenSnapshot({ pulls: scheduled(1, 2, 3, 4) });
    const staged = (changes: Partial<QueueRecord>) =>
      tellDecision(given, givenRecord({ entries: queued, ...changes })).actions;
    expect(staged({ stagedAlone: true })).toEqual(['stage #2 #4 on base-0 as mq/main/staging']);
    expect(staged({})).toEqual(['stage #1 on base-0 as mq/main/staging']);
    expect(staged({ stagedAlone: true, stagingFailuresInARow: 1 })).toEqual([
      'stage #2 #4 on base-0 as mq/main/staging',
    ]);
    expect(staged({ stagedAlone: true, stagingFailuresInARow: 2 })).toEqual([
      'stage #2 on base-0 as mq/main/staging',
    ]);
  });

  test('one by one after two in a row failed alone, also where staging was never finished', () => {
    const batch = givenBatch({
      members: [givenMember(1)],
      limit: 1,
      unfinished: STAGING_RECONCILES_MAX - 1,
      nodes: [givenNode({ to: 1, state: 'wanted', stagedAt: null })],
    });
    const given = givenSnapshot({ pulls: scheduled(1, 2, 3) });
    const before = givenRecord({
      entries: entries(1, 2, 3),
      batches: [batch],
      tip: BASE.sha,
      stagingFailuresInARow: 1,
    });
    const decision = decide(given, before);
    const action = decision.actions.find(({ kind }) => kind === 'stage_batch');
    if (action === undefined) throw new Error('the batch is staged');
    const { record } = fold(given, decision.record, action, { kind: 'unfinished' }, NOW);
    const { actions } = tellDecision(given, { ...record, stagedAlone: true });
    expect(actions.filter((line) => line.startsWith('stage'))).toEqual([
      'stage #2 on base-0 as mq/main/staging-id-0-r',
    ]);
  });

  test('one at a time where the rule blocks branches that are behind', () => {
    const given = givenSnapshot({ pulls: scheduled(1, 2) });
    const rule = given.protection.known ? given.protection.value : null;
    if (rule === null) throw new Error('a rule is given');
    const protection = known({ ...rule, blockOnOutdatedBranch: true });
    expect(tellDecision({ ...given, protection }, givenRecord({ entries: entries(1, 2) })).actions).toEqual([
      'stage #1 on base-0 as mq/main/staging',
    ]);
  });
});

describe('the batches beside it', () => {
  const busy = givenRecord({
    entries: entries(1, 2, 3),
    batches: [givenStagedBatch(2)],
    tip: BASE.sha,
    rate: { landed: 0, bounced: 0, steady: 0, flaked: 0, paces: [{ ms: 1_000, runs: 10 }] },
  });

  test('nothing with a fan-out of one: the others wait for the next batch', () => {
    const given = givenSnapshot({ pulls: scheduled(1, 2, 3) });
    expect(tellDecision(given, busy)).toMatchObject({ actions: [], nodes: ['r (0, 2] gating running'] });
  });

  test('with more, the next batch is built on the last staged commit of the one before', () => {
    const repo = givenRepo({ bisectFanout: 8 });
    const given = givenSnapshot({ repo, pulls: scheduled(1, 2, 3) });
    expect(tellDecision(given, busy).actions).toEqual(['stage #3 on staged-2 as mq/main/staging-id-0-r']);
  });

  test('a batch that was never built begins anew when its base has moved', () => {
    const unbuilt = givenBatch({ nodes: [givenNode({ state: 'wanted', stagedAt: null })] });
    const record = givenRecord({ entries: entries(1, 2), batches: [unbuilt], tip: 'base-1' });
    const given = givenSnapshot({ full: false, base: known({ sha: 'base-1', tree: 'tree-9' }) });
    expect(tellDecision(given, record)).toMatchObject({
      actions: ['delete mq-work/main/batch'],
      nodes: [],
    });
  });
});

describe('a reading that failed', () => {
  const unread = givenSnapshot({ pulls: known([givenView(1, { schedule: UNKNOWN }), givenView(2)]) });

  test('is made again before others are staged without it', () => {
    expect(tellDecision(unread, givenRecord({ entries: entries(2) }))).toMatchObject({
      actions: [],
      lookInMs: 2_000,
    });
  });

  test('holds up no others when it fails again', () => {
    const record = givenRecord({ entries: entries(2), unreadSince: NOW - 2_000 });
    expect(tellDecision(unread, record).actions).toEqual(['stage #2 on base-0 as mq/main/staging']);
  });

  test('has a second try again once it was told that the first one is not scheduled', () => {
    const calm = givenSnapshot({ pulls: known([givenView(1, { schedule: known({ kind: 'none' }) })]) });
    const { after } = tellDecision(calm, givenRecord({ unreadSince: NOW - 60_000 }));
    const record = { ...after, entries: entries(2) };
    expect(tellDecision(unread, record)).toMatchObject({ actions: [], lookInMs: 2_000 });
    // Also where nothing may be staged in that look.
    const off = givenSnapshot({ ...calm, repo: givenRepo({ queueEnabled: false }) });
    expect(tellDecision(off, givenRecord({ unreadSince: NOW - 60_000 })).after).not.toHaveProperty(
      'unreadSince',
    );
  });
});

describe('a pull request whose own reading contradicted the list', () => {
  const contradicted = givenEntry(1, { contradictedAt: NOW - 9_999 });

  test('is not staged again at once: the others go on', () => {
    const given = givenSnapshot({ pulls: known([givenView(1), givenView(2)]) });
    expect(tellDecision(given, givenRecord({ entries: [contradicted, givenEntry(2)] }))).toMatchObject({
      actions: ['stage #2 on base-0 as mq/main/staging'],
    });
    expect(
      tellDecision(givenSnapshot({ pulls: known([givenView(1)]) }), givenRecord({ entries: [contradicted] })),
    ).toMatchObject({ actions: [], wakeInMs: 1 });
  });

  test('is staged when both have had ten seconds to agree', () => {
    const given = givenSnapshot({ now: NOW + 1, pulls: known([givenView(1)]) });
    expect(tellDecision(given, givenRecord({ entries: [contradicted] })).actions).toEqual([
      'stage #1 on base-0 as mq/main/staging',
    ]);
  });
});

describe('the work branch', () => {
  const search = (branch: string | null) => {
    const whole = givenNode({ id: 'whole' as NodeRowId, state: 'done', verdict: 'failure', ...stagedAt(2) });
    const half = givenNode({ nodeId: 'r.1', to: 1, state: 'wanted', stagedAt: null, branch });
    const batches = [givenStagedBatch(2, { nodes: [whole, half] })];
    return tellDecision(
      givenSnapshot({ full: false, pulls: UNKNOWN }),
      givenRecord({ entries: entries(1, 2), batches, tip: BASE.sha }),
    );
  };

  test('is deleted in the end where a prefix was tried twice: a failed try may have left it', () => {
    const first = search(null);
    expect(first.after.batches[0]?.builds).toBe(1);
    const branch = first.after.batches[0]?.nodes[1]?.branch ?? null;
    expect(search(branch).after.batches[0]?.builds).toBe(2);
  });

  test('and the staging branch are swept once more where a try has no known end: the forge may carry it out late', () => {
    const first = search(null);
    expect(first.after.garbage).toEqual([]);
    const branch = first.after.batches[0]?.nodes[1]?.branch ?? '';
    const { garbage } = search(branch).after;
    expect(garbage.map((each) => each.branch)).toEqual([branch, expect.stringMatching(/^mq-work\/main\//)]);
    for (const { notBefore } of garbage) expect(notBefore).toBeGreaterThanOrEqual(NOW + 120_000);
  });
});

describe('the ground of a gate run of a search', () => {
  const groundOf = (landsBeside: boolean) => {
    const half = givenNode({ nodeId: 'r.1', to: 2, state: 'done', verdict: 'success', ...stagedAt(2) });
    const whole = givenNode({ nodeId: 'r.2', to: 3, attempt: 2, state: 'wanted', stagedAt: null });
    const record = givenRecord({
      entries: entries(1, 2, 3),
      batches: [givenStagedBatch(3, { nodes: landsBeside ? [half, whole] : [whole] })],
      tip: BASE.sha,
      evidence: [...(landsBeside ? [givenEvidence(2, 'success')] : []), givenEvidence(3, 'failure')],
    });
    const focus = new Map([[1, known(givenFocus(1))]]);
    const { actions } = decide(givenSnapshot({ pulls: scheduled(1, 2, 3), focus }), record);
    return actions.flatMap((action) => {
      if (action.kind === 'post_status' && action.state === 'success') return ['success'];
      return action.kind === 'stage_tree' ? [action.isAnchored ? 'branch of ours' : 'base'] : [];
    });
  };

  test('is the base, where nothing moves it', () => {
    expect(groundOf(false)).toEqual(['base']);
  });

  test('is a branch of ours beside a landing, which moves the base between two calls', () => {
    expect(groundOf(true)).toEqual(['success', 'branch of ours']);
  });
});

describe('a batch that is to be built', () => {
  const build = (builds: number, branch: string | null) => {
    const node = givenNode({ state: 'wanted', stagedAt: null, branch });
    const record = givenRecord({
      entries: entries(1, 2),
      batches: [givenBatch({ builds, nodes: [node] })],
      tip: BASE.sha,
    });
    return tellDecision(givenSnapshot({ pulls: scheduled(1, 2) }), record).after;
  };

  test('for the first time leaves nothing to sweep', () => {
    expect(build(0, null).garbage).toEqual([]);
  });

  test('after a try without a known end has both its branches swept once more: the forge may carry that try out late', () => {
    const { garbage } = build(1, 'mq/main/staging');
    expect(garbage).toEqual([
      { branch: 'mq/main/staging', runKey: null, notBefore: NOW + 125_000 },
      { branch: 'mq-work/main/batch', runKey: null, notBefore: NOW + 125_000 },
    ]);
  });
});

describe('changes that invalidate a batch', () => {
  const staged = givenRecord({ entries: entries(1, 2), batches: [givenStagedBatch(2)], tip: BASE.sha });
  const running = {
    gates: new Map([['node', known({ kind: 'running' as const, runId: 'run-1', url: null })]]),
  };

  test('the base moved past the queue: the same members are staged on the new base', () => {
    const given = givenSnapshot({
      ...running,
      base: known({ sha: 'base-1', tree: 'tree-9' }),
      pulls: scheduled(1, 2),
    });
    expect(tellDecision(given, staged)).toMatchObject({
      ended: ['#1 requeued: invalidated', '#2 requeued: invalidated'],
      events: ['pr_requeued #1: base_advanced', 'pr_requeued #2: base_advanced'],
      actions: ['stage #1 #2 on base-1 as mq/main/staging'],
    });
  });

  test('a member left: it is skipped, and the others are staged anew', () => {
    const gone = givenView(1, { schedule: known({ kind: 'none' }) });
    const given = givenSnapshot({ ...running, pulls: known([gone, givenView(2)]) });
    expect(tellDecision(given, staged)).toMatchObject({
      ended: ['#1 skipped: invalidated', '#2 requeued: invalidated'],
      events: ['pr_skipped #1: auto_merge_cancelled', 'pr_requeued #2: candidate_changed'],
      queue: [2],
    });
  });

  test('the queue was switched off: the batch ends and nothing begins', () => {
    const given = givenSnapshot({
      ...running,
      repo: givenRepo({ queueEnabled: false }),
      pulls: scheduled(1, 2),
    });
    expect(tellDecision(given, staged)).toMatchObject({
      ended: ['#1 requeued: invalidated', '#2 requeued: invalidated'],
      actions: [
        'pending on head-1: not queued: the queue of this repository is switched off or on hold',
        'pending on head-2: not queued: the queue of this repository is switched off or on hold',
        'cancel run-1',
        'delete mq/main/staging',
      ],
      nodes: [],
    });
  });

  test('an unknown reading does not: neither base nor gate were read, and the batch waits', () => {
    const given = givenSnapshot({
      base: UNKNOWN,
      pulls: scheduled(1, 2),
      gates: new Map([['node', UNKNOWN]]),
    });
    expect(tellDecision(given, staged)).toMatchObject({
      actions: [],
      events: [],
      nodes: ['r (0, 2] gating running'],
    });
  });
});

describe('a trial batch', () => {
  test('is tried on the base beside a pipeline that is too likely to fail', () => {
    const repo = givenRepo({ bisectFanout: 8 });
    const fresh = Array.from({ length: 40 }, (_, index) => index + 10);
    const rate = { landed: 100, bounced: 40, steady: 200, flaked: 0, paces: [{ ms: 1_000, runs: 10 }] };
    const record = givenRecord({
      entries: entries(1, 2, 3, 4, ...fresh),
      batches: [givenStagedBatch(4)],
      tip: BASE.sha,
      rate,
    });
    const given = givenSnapshot({ repo, pulls: scheduled(1, 2, 3, 4, ...fresh) });
    const { after } = tellDecision(given, record);
    const places = after.batches.map(({ place, stagedOn, groundSha }) => [place, stagedOn, groundSha]);
    expect(places.slice(0, 2)).toEqual([
      ['pipeline', null, BASE.sha],
      ['trial', null, BASE.sha],
    ]);
  });
});

describe('a suspect', () => {
  test('a batch built on one that failed has no ground any more; its members keep their places', () => {
    const above = givenBatch({
      batchId: 'above' as BatchId,
      stagedOn: 'batch' as BatchId,
      members: [3].map(givenMember),
      limit: 1,
      groundSha: stagedAt(2).sha,
      groundTree: stagedAt(2).tree,
      tip: stagedAt(2).sha,
      chain: [stagedAt(3)],
      gateKey: 'gate',
      baseGateKey: 'gate',
      nodes: [givenNode({ id: 'node-3' as never, to: 1, branch: 'mq/main/staging-above-r', ...stagedAt(3) })],
    });
    const record = givenRecord({
      entries: entries(1, 2, 3),
      batches: [givenStagedBatch(2), above],
      tip: BASE.sha,
      evidence: [givenEvidence(0, 'success')],
    });
    const given = givenSnapshot({
      repo: givenRepo({ bisectFanout: 4 }),
      pulls: scheduled(1, 2, 3),
      gates: new Map([['node', known(givenFinishedRun('failure'))]]),
    });
    const decided = tellDecision(given, record);
    expect(decided.ended).toEqual(['#3 requeued: superseded']);
    expect(decided.after.batches.map(({ place, members }) => [place, members.map(({ pr }) => pr)])).toEqual([
      ['suspect', [1, 2]],
      ['pipeline', [3]],
    ]);
  });
});
