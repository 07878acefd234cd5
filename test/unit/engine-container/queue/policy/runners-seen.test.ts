import type { NodeRowId } from '#core/domain/ids.ts';
import { BISECT_FANOUT_MAX, RUNNER_TAKES_RUN_MS } from '#core/domain/limits.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import {
  beginPass,
  type DecisionContext,
} from '../../../../../engine-container/src/queue/decision-context.ts';
import { gateRunsMax } from '../../../../../engine-container/src/queue/policy/in-force.ts';
import { NO_HISTORY } from '../../../../../engine-container/src/queue/policy/rate.ts';
import { countBegun, noteRunners } from '../../../../../engine-container/src/queue/policy/runners-seen.ts';
import type { RunnersKnown } from '../../../../../engine-container/src/queue/record/learned-state.ts';
import type { Node } from '../../../../../engine-container/src/queue/record/record.ts';
import type { GateView } from '../../../../../engine-container/src/queue/snapshot.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenBatch, givenNode, givenRecord } from '../../../../builders/queue-record.ts';
import { givenSnapshot, NOW } from '../../../../builders/snapshot.ts';

const RUNNING = { kind: 'running', runId: '1', url: null } as const;
const READINGS = {
  goes: known<GateView>(RUNNING),
  waits: known<GateView>({ ...RUNNING, waitsForRunner: true }),
  unread: UNKNOWN,
} as const satisfies Record<string, Reading<GateView>>;

const GATE_MS = 300_000;

type Out = keyof typeof READINGS;

interface Given {
  /** How long before the look each was staged, ms. @default ten times what a free runner needs to take it */
  readonly ages?: readonly number[];
  readonly seen?: number;
  readonly known?: RunnersKnown;
  readonly now?: number;
  readonly gate?: 'workflow' | 'statuses';
}

/** A look at gate runs that go on, that wait for a runner, or whose state could not be read. */
function lookAt(
  out: readonly Out[],
  { ages = [], seen, known: runnersKnown, now = NOW, gate = 'workflow' }: Given = {},
): DecisionContext {
  const nodes = out.map((state, index): Node => {
    const stagedAt = NOW - (ages[index] ?? 10 * RUNNER_TAKES_RUN_MS);
    const runnerWait = { until: NOW, isOver: state === 'goes' };
    return givenNode({ id: `node-${index}` as NodeRowId, stagedAt, runnerWait });
  });
  const gates = new Map(nodes.map(({ id }, index) => [id, READINGS[out[index] ?? 'unread']] as const));
  const record = givenRecord({
    batches: [givenBatch({ nodes })],
    ...(seen === undefined ? {} : { runnersSeen: seen }),
    ...(runnersKnown === undefined ? {} : { runnersKnown }),
    rate: { ...NO_HISTORY, paces: [{ ms: GATE_MS, runs: 5 }] },
  });
  return beginPass(givenSnapshot({ now, gates, repo: givenRepo({ bisectFanout: 16, gate }) }), record);
}

function seenAfter(pass: DecisionContext, begunBefore = 0): number | undefined {
  noteRunners(pass, begunBefore);
  return pass.record.runnersSeen;
}

test('while a gate run waits for a runner, no more are out than go on', () => {
  const pass = lookAt(['goes', 'goes', 'goes', 'waits', 'waits']);
  expect(gateRunsMax(pass)).toBe(16);
  expect(seenAfter(pass)).toBe(3);
  expect(gateRunsMax(pass)).toBe(3);
  expect(pass.log.join()).toContain('waits for a runner beside 3 that go on');
});

test('one more is tried where none waits and as many go on as were allowed', () => {
  expect(seenAfter(lookAt(['goes', 'goes', 'goes'], { seen: 3 }))).toBe(4);
  expect(seenAfter(lookAt(['goes', 'goes'], { seen: 3 }))).toBe(3);
  expect(seenAfter(lookAt(Array(BISECT_FANOUT_MAX).fill('goes'), { seen: 4 }))).toBeUndefined();
});

test('a number that showed a while ago is tried again after a gate duration, and later each time that it is found again', () => {
  const full: readonly Out[] = ['goes', 'goes', 'goes'];
  const known = (again: number): RunnersKnown => ({ count: 3, at: NOW, again });
  const after = (again: number, gates: number) =>
    seenAfter(lookAt(full, { seen: 3, known: known(again), now: NOW + gates * GATE_MS }));
  expect([after(0, 0.9), after(0, 1), after(2, 3.9), after(2, 4)]).toEqual([3, 4, 3, 4]);
  const tried = lookAt([...full, 'waits'], { seen: 4, known: known(2), now: NOW + 5 * GATE_MS });
  expect(seenAfter(tried)).toBe(3);
  expect(tried.record.runnersKnown).toEqual({ count: 3, at: NOW + 5 * GATE_MS, again: 3 });
});

test('where more go on than were known the next is tried at once, and another number begins anew', () => {
  const known = { count: 3, at: NOW, again: 4 };
  expect(seenAfter(lookAt(['goes', 'goes', 'goes', 'goes'], { seen: 4, known }))).toBe(5);
  const fewer = lookAt(['goes', 'goes', 'waits'], { seen: 3, known });
  expect(seenAfter(fewer)).toBe(2);
  expect(fewer.record.runnersKnown).toEqual({ count: 2, at: NOW, again: 0 });
});

test('nothing is learned where none was ever seen to wait', () => {
  expect(seenAfter(lookAt(['goes', 'goes']))).toBeUndefined();
});

test('a wait in which a free runner takes a run says nothing', () => {
  expect(seenAfter(lookAt(['goes', 'waits'], { ages: [600_000, RUNNER_TAKES_RUN_MS - 1] }))).toBeUndefined();
  expect(seenAfter(lookAt(['goes', 'waits'], { ages: [600_000, RUNNER_TAKES_RUN_MS] }))).toBe(1);
});

test('a run that a later one has overtaken waits for something else', () => {
  expect(seenAfter(lookAt(['waits', 'goes'], { ages: [600_000, 500_000] }))).toBeUndefined();
  expect(seenAfter(lookAt(['waits', 'goes'], { ages: [600_000, 600_000] }))).toBe(1);
});

test('where none goes on, how many runners there are is not known', () => {
  expect(seenAfter(lookAt(['waits', 'waits']))).toBeUndefined();
  expect(seenAfter(lookAt(['waits'], { seen: 2 }))).toBeUndefined();
});

test('a run that has just ended went on beside the one that waits', () => {
  expect(seenAfter(lookAt(['goes', 'waits']), 3)).toBe(3);
  expect(seenAfter(lookAt(['waits'], { seen: 2 }), 2)).toBe(2);
});

test('what a look could not read is held neither to wait nor to go on', () => {
  const pass = lookAt(['goes', 'unread'], { seen: 2 });
  expect(seenAfter(pass)).toBe(2);
  expect(countBegun(pass.record)).toBe(1);
  expect(seenAfter(lookAt(['goes', 'goes', 'unread'], { seen: 2 }))).toBe(2);
});

test('a gate by commit statuses tells of no runner: what was learned is forgotten', () => {
  expect(seenAfter(lookAt(['goes', 'waits'], { seen: 2, gate: 'statuses' }))).toBeUndefined();
});

describe('a runner takes its next run seconds after it has ended one', () => {
  const gapAfter = (ms: number) => {
    const before = lookAt(['goes', 'goes', 'goes', 'waits']);
    noteRunners(before, 0);
    const between = lookAt(['goes', 'goes', 'waits'], { seen: 3, now: NOW + ms });
    if (before.record.begunLately !== undefined) between.record.begunLately = before.record.begunLately;
    return between;
  };

  test('a look in between does not find one runner fewer', () => {
    const between = gapAfter(RUNNER_TAKES_RUN_MS - 1);
    expect(seenAfter(between)).toBe(3);
    expect(between.record.runnersKnown).toBeUndefined();
  });

  test('after the time in which a free runner takes a run there is one fewer', () => {
    expect(seenAfter(gapAfter(RUNNER_TAKES_RUN_MS))).toBe(2);
  });

  test('nothing of it is kept while none waits', () => {
    const pass = lookAt(['goes', 'goes'], { seen: 3 });
    pass.record.begunLately = { count: 3, at: NOW, stagedAt: NOW };
    noteRunners(pass, 0);
    expect(pass.record.begunLately).toBeUndefined();
  });
});

test('a number that an engine noted whose clock was ahead is tried again at once', () => {
  const known = { count: 3, at: NOW + 30 * 24 * 60 * 60_000, again: 0 };
  expect(seenAfter(lookAt(['goes', 'goes', 'goes'], { seen: 3, known }))).toBe(4);
});
