import { known, UNKNOWN } from '#core/domain/result.ts';
import { NO_HISTORY } from '../../../../../engine-container/src/queue/policy/rate.ts';
import type { Batch, Node, QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import type { GateView, Snapshot } from '../../../../../engine-container/src/queue/snapshot.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import {
  BASE,
  givenEntry,
  givenEvidence,
  givenLanding,
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

/** A batch of so many in flight, all of them in the queue. */
function givenBatchInFlight(
  size: number,
  batch: Partial<Batch> = {},
  changes: Partial<QueueRecord> = {},
): QueueRecord {
  const entries = Array.from({ length: size }, (_, index) => givenEntry(index + 1));
  return givenRecord({ entries, batches: [givenStagedBatch(size, batch)], tip: BASE.sha, ...changes });
}

/** A look at that batch, its gate run as it is said. */
function givenLook(size: number, gate: GateView | null, changes: Partial<Snapshot> = {}): Snapshot {
  const prs = Array.from({ length: size }, (_, index) => index + 1);
  return givenSnapshot({
    pulls: known(prs.map((pr) => givenView(pr))),
    focus: new Map(prs.map((pr) => [pr, known(givenFocus(pr))])),
    gates: gate === null ? new Map() : new Map([['node', known(gate)]]),
    ...changes,
  });
}

const alone = (changes: Partial<Node>): Partial<Batch> => ({
  nodes: [givenNode({ to: 1, branch: 'mq/main/staging', ...stagedAt(1), ...changes })],
});

describe('a gate run', () => {
  test('that passed proves its tree: the first member may land', () => {
    expect(tellDecision(givenLook(2, givenFinishedRun('success')), givenBatchInFlight(2))).toMatchObject({
      actions: [
        'success on head-1: proven: in a batch of 2 that passed the gate as a whole; landing 1 of 2',
        'delete mq/main/staging',
      ],
      nodes: ['r (0, 2] done running'],
    });
  });

  test('that is unknown, or still runs, is waited for', () => {
    const running = { kind: 'running' as const, runId: 'run-1', url: null };
    for (const gate of [known(running), UNKNOWN])
      expect(
        tellDecision(givenLook(2, null, { gates: new Map([['node', gate]]) }), givenBatchInFlight(2)),
      ).toMatchObject({ actions: [], nodes: ['r (0, 2] gating running'] });
  });

  test.each(['cancelled', 'error'] as const)(
    'that ended as %s is held against no pull request: a new attempt after a minute',
    (verdict) => {
      expect(tellDecision(givenLook(2, givenFinishedRun(verdict)), givenBatchInFlight(2))).toMatchObject({
        actions: ['cancel run-new', 'delete mq/main/staging'],
        events: [],
        nodes: ['r (0, 2] done error', 'r (0, 2] wanted running'],
        wakeInMs: 60_000,
      });
    },
  );

  test('that broke off a fourth time ends the batch, and the queue has a pause', () => {
    const worn = givenBatchInFlight(1, alone({ faults: 3 }));
    expect(tellDecision(givenLook(1, givenFinishedRun('error')), worn)).toMatchObject({
      ended: ['#1 requeued: operational_error'],
      error: 'gate_infrastructure',
      wakeInMs: 5 * 60_000,
    });
  });

  test('that broke off a fourth time ends its batch only once what has passed of it has landed', () => {
    const nodes = [
      givenNode({ to: 3, state: 'done', outcome: 'bisected', verdict: 'failure', ...stagedAt(3) }),
      givenNode({ id: 'node-1', nodeId: 'r.1', to: 1, state: 'done', verdict: 'success', ...stagedAt(1) }),
      givenNode({ nodeId: 'r.2', from: 1, branch: 'mq/r.2', faults: 3, ...stagedAt(2) }),
    ];
    const evidence = [givenEvidence(1, 'success'), givenEvidence(3, 'failure')];
    const given = (batch: Partial<Batch>) =>
      givenBatchInFlight(3, { place: 'suspect', nodes, ...batch }, { evidence });
    const look = givenLook(3, givenFinishedRun('error'));
    expect(tellDecision(look, given({ landing: givenLanding({ postedAt: NOW }) }))).toMatchObject({
      actions: [],
      error: null,
      wakeInMs: 10_000,
    });
    expect(tellDecision(look, given({ landed: 1, limit: 2 }))).toMatchObject({
      ended: expect.arrayContaining(['#2 requeued: operational_error']),
      error: 'gate_infrastructure',
    });
  });

  test('that never begins is an alarm after half an hour, and is waited for', () => {
    const late = { ...givenLook(2, { kind: 'none' }), now: 5 + 30 * 60_000 };
    expect(tellDecision(late, givenBatchInFlight(2))).toMatchObject({
      alarms: ['gate_phase_age'],
      nodes: ['r (0, 2] gating running'],
    });
  });

  test.each(['branch_gone', 'run_gone'] as const)('that is lost (%s) is started anew', (kind) => {
    expect(tellDecision(givenLook(2, { kind }), givenBatchInFlight(2)).nodes).toEqual([
      'r (0, 2] done error',
      'r (0, 2] wanted running',
    ]);
  });
});

describe('a batch that is built on another', () => {
  const above = givenStagedBatch(1, {
    batchId: 'above',
    stagedOn: 'batch',
    groundSha: stagedAt(2).sha,
    groundTree: stagedAt(2).tree,
    members: [givenMember(3)],
    chain: [stagedAt(3)],
    nodes: [givenNode({ id: 'above-r', to: 1, branch: 'mq/main/staging-above-r', ...stagedAt(3) })],
  });
  const below = givenBatchInFlight(2, {}, { entries: [1, 2, 3].map((pr) => givenEntry(pr)) });
  const both: QueueRecord = { ...below, batches: [...below.batches, above] };
  const lookAbove = (verdict: 'success' | 'failure') =>
    givenLook(3, null, {
      repo: givenRepo({ bisectFanout: 2 }),
      gates: new Map([['above-r', known(givenFinishedRun(verdict))]]),
    });

  test('and failed waits for the one below, which is judged first', () => {
    expect(tellDecision(lookAbove('failure'), both)).toMatchObject({
      actions: ['delete mq/main/staging-above-r'],
      nodes: ['r (0, 2] gating running', 'r (0, 1] done held_failure'],
      ended: [],
      events: [],
    });
  });

  test('and passed proves the one below too, which it contains, and lands after it', () => {
    expect(tellDecision(lookAbove('success'), both)).toMatchObject({
      actions: [
        'success on head-1: proven: in a batch of 3 that passed the gate as a whole; landing 1 of 3',
        'delete mq/main/staging-above-r',
        'delete mq/main/staging',
      ],
      nodes: ['r (0, 2] done running', 'r (0, 1] done held_success'],
    });
  });
});

describe('a batch that failed', () => {
  test('is split: the first half runs, the second has the tree that failed', () => {
    expect(tellDecision(givenLook(4, givenFinishedRun('failure')), givenBatchInFlight(4))).toMatchObject({
      actions: ['stage tree-2 on base-0 as mq/main/staging-batch-r.1', 'delete mq/main/staging'],
      nodes: ['r (0, 4] done bisected', 'r.1 (0, 2] wanted running', 'r.2 (2, 4] done held_failure'],
      ended: [],
      events: [],
    });
  });

  test('lands its proven prefix before it is searched on', () => {
    const evidence = [givenEvidence(2, 'failure'), givenEvidence(1, 'success')];
    const nodes = [
      givenNode({ state: 'done', verdict: 'failure', outcome: 'bisected' }),
      givenNode({ id: 'r1' as never, nodeId: 'r.1', to: 1, state: 'done', verdict: 'success' }),
      givenNode({ id: 'r2' as never, nodeId: 'r.2', from: 1, state: 'done', outcome: 'held_failure' }),
    ];
    const record = givenBatchInFlight(2, { place: 'suspect', nodes }, { evidence });
    expect(tellDecision(givenLook(2, null), record).actions).toContain(
      'success on head-1: proven: the gate passed on exactly this state; landing now',
    );
  });

  test('runs a lone suspect a second time before it is judged', () => {
    const record = givenBatchInFlight(1, alone({}), { evidence: [givenEvidence(0, 'success')] });
    expect(tellDecision(givenLook(1, givenFinishedRun('failure')), record)).toMatchObject({
      actions: ['stage tree-1 on base-0 as mq/main/staging-batch-r-a2', 'delete mq/main/staging'],
      events: [],
    });
  });

  const failedOnce = [givenEvidence(1, 'failure', { runKey: 'run-1', sha: 'staged-1-first' })];
  const BOUNCED =
    'error on head-1: bounced: the gate failed twice with this pull request and passes without it; push a fix, or cancel auto-merge and schedule again';

  test('bounces a lone suspect whose tree failed twice on a proven base', () => {
    const evidence = [givenEvidence(0, 'success'), ...failedOnce];
    const record = givenBatchInFlight(1, alone({ attempt: 2 }), { evidence });
    expect(tellDecision(givenLook(1, givenFinishedRun('failure')), record)).toMatchObject({
      events: ['pr_bounced #1: gate_failed'],
      actions: [BOUNCED, 'delete mq/main/staging'],
      ended: ['#1 bounced: bounced'],
      after: { bounced: [{ pr: 1, head: headOf(1), scheduleId: 1 }] },
    });
  });

  test('bounces a lone suspect at its sixth failure in a row, however often the gate fails by itself (A36)', () => {
    const rate = { ...NO_HISTORY, landed: 1_000, steady: 10, flaked: 90 };
    const eventsAfter = (failures: number) => {
      const failed = Array.from({ length: failures - 1 }, (_, index) =>
        givenEvidence(1, 'failure', { runKey: `run-a${index}`, sha: `staged-1-a${index}` }),
      );
      const evidence = [givenEvidence(0, 'success'), ...failed];
      const record = givenBatchInFlight(1, alone({ attempt: failures }), { evidence, rate });
      return tellDecision(givenLook(1, givenFinishedRun('failure')), record).events;
    };
    expect([5, 6].map(eventsAfter)).toEqual([[], ['pr_bounced #1: gate_failed']]);
  });

  test('bounces no lone suspect whose tree passed the second time: the first was a flake', () => {
    const evidence = [givenEvidence(0, 'success'), ...failedOnce];
    const record = givenBatchInFlight(1, alone({ attempt: 2 }), { evidence });
    expect(tellDecision(givenLook(1, givenFinishedRun('success')), record)).toMatchObject({
      events: [],
      actions: [
        'success on head-1: proven: the gate passed on exactly this state; landing now',
        'delete mq/main/staging',
      ],
    });
  });

  test('runs the bare base before it blames a lone suspect, where the base is not proven', () => {
    const record = givenBatchInFlight(1, alone({ attempt: 2 }), { evidence: failedOnce });
    expect(tellDecision(givenLook(1, givenFinishedRun('failure')), record)).toMatchObject({
      events: [],
      actions: ['stage tree-0 on base-0 as mq/main/staging-batch-b', 'delete mq/main/staging'],
    });
  });

  test('asks no proof of a base without the gate file: the pull request that adds the gate stands for itself (A35)', () => {
    const record = givenBatchInFlight(1, alone({ attempt: 2 }), { evidence: failedOnce });
    const batches = record.batches.map((batch) => ({ ...batch, baseGateKey: null }));
    expect(tellDecision(givenLook(1, givenFinishedRun('failure')), { ...record, batches })).toMatchObject({
      events: ['pr_bounced #1: gate_failed'],
      ended: ['#1 bounced: bounced'],
    });
  });

  test('defers a lone suspect on a base that fails by itself, and says that the base is to blame', () => {
    const evidence = [
      ...failedOnce,
      ...['base-1', 'base-2'].map((runKey) => givenEvidence(0, 'failure', { runKey, at: NOW - 1_000 })),
    ];
    const record = givenBatchInFlight(1, alone({ attempt: 2 }), { evidence });
    expect(tellDecision(givenLook(1, givenFinishedRun('failure')), record)).toMatchObject({
      events: [],
      alarms: ['base_red'],
      error: 'base_red',
      actions: [
        'pending on head-1: waiting: the base branch itself fails the gate; not caused by this pull request',
        'delete mq/main/staging',
      ],
      ended: ['#1 requeued: error'],
      after: { bounced: [], deferred: [{ pr: 1, reason: 'base_red', until: NOW + 30 * 60_000 }] },
    });
  });

  test('is proven by a longer prefix that passed: what failed below it was a flake', () => {
    const nodes = [
      givenNode({ state: 'done', verdict: 'success' }),
      givenNode({ id: 'r1' as never, nodeId: 'r.1', to: 1, state: 'done', outcome: 'held_failure' }),
    ];
    const evidence = [givenEvidence(1, 'failure'), givenEvidence(2, 'success')];
    expect(tellDecision(givenLook(2, null), givenBatchInFlight(2, { nodes }, { evidence })).actions).toEqual([
      'success on head-1: proven: in a batch of 2 that passed the gate as a whole; landing 1 of 2',
    ]);
  });

  test('uses no evidence that is older than a landing of its member that timed out', () => {
    const record = givenBatchInFlight(1, alone({ state: 'done' }), {
      entries: [givenEntry(1, { retestAfter: 6 })],
      evidence: [givenEvidence(1, 'success', { at: 5 })],
    });
    expect(tellDecision(givenLook(1, null), record).actions).not.toContain(
      'success on head-1: proven: the gate passed on exactly this state; landing now',
    );
    const younger = { ...record, evidence: [givenEvidence(1, 'success', { at: 7 })] };
    expect(tellDecision(givenLook(1, null), younger).actions).toContain(
      'success on head-1: proven: the gate passed on exactly this state; landing now',
    );
  });
});
