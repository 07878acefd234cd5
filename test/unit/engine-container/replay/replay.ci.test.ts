import type { EventHead } from '#core/domain/queue/activity.ts';
import type { NodeRow } from '#core/domain/queue/batch.ts';
import { chooseFanout, type FanoutReplay } from '#core/domain/queue/fanout-advice.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { replay } from '../../../../engine-container/src/replay/replay.ts';
import { planReplay, type ReplayPlan } from '../../../../engine-container/src/replay/replay-plan.ts';
import { givenRepo } from '../../../builders/managed-repo.ts';
import { givenNodeRow } from '../../../builders/store-rows.ts';

const MINUTE_MS = 60_000;
const BEGIN = Date.UTC(2026, 10, 2, 9);
const told = (event: EventHead['event'], pr: number, minute: number, scheduled?: number): EventHead => ({
  event,
  pr,
  at: BEGIN + minute * MINUTE_MS,
  repoId: 'repo-1',
  ...(scheduled === undefined ? {} : { scheduledAt: BEGIN + scheduled * MINUTE_MS }),
});
const judged = (id: string, verdict: 'success' | 'failure', from: number, minutes: number): NodeRow =>
  givenNodeRow({
    id,
    gateVerdict: verdict,
    stagingTree: id,
    outcome: 'success',
    phase: null,
    gateRuns: 1,
    createdAt: BEGIN,
    stagedAt: BEGIN + from * MINUTE_MS,
    judgedAt: BEGIN + (from + minutes) * MINUTE_MS,
  });

/** `count` pull requests, one each `every` minutes; a gate run takes ten. */
const givenPlan = (count: number, every: number, changes: Partial<ReplayPlan> = {}): ReplayPlan => ({
  stays: Array.from({ length: count }, (_, index) => ({
    at: BEGIN + index * every * MINUTE_MS,
    isBad: false,
  })),
  runs: [{ at: BEGIN, ms: 10 * MINUTE_MS, verdict: 'success' }],
  flakeShare: 0,
  rate: { landed: 200, bounced: 10, steady: 200, flaked: 0, paces: [{ ms: 10 * MINUTE_MS, runs: 5 }] },
  ...changes,
});

function play(plan: ReplayPlan, fanout: number, changes: Parameters<typeof givenRepo>[0] = {}) {
  const steps = replay(plan, givenRepo(changes), fanout, DEFAULT_SERVICE_NAME);
  let count = 0;
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return { result: value, count };
    count += 1;
  }
}

describe('what is replayed', () => {
  test('is each stay that ended with a landing or a bounce, from its schedule on; of many the newest', () => {
    const events = [
      told('pr_landed', 1, 30),
      told('pr_queued', 1, 6, 5),
      told('pr_staged', 1, 7),
      // Bounced, scheduled again, landed: two stays.
      told('pr_queued', 2, 10),
      told('pr_bounced', 2, 40),
      told('pr_queued', 2, 50),
      told('pr_landed', 2, 70),
      // Left and came again; and one that waits: how it will end is not known.
      told('pr_queued', 3, 11),
      told('pr_skipped', 3, 12),
      told('pr_queued', 3, 15),
      told('pr_landed', 3, 90),
      told('pr_queued', 4, 60),
      // Its schedule is from before what is read.
      told('pr_landed', 5, 20),
    ];
    const minutes = planReplay(events, [], 9).stays.map(({ at, isBad }) => [(at - BEGIN) / MINUTE_MS, isBad]);
    expect(minutes).toEqual([
      [5, false],
      [10, true],
      [15, false],
      [50, false],
    ]);
    expect(planReplay(events, [], 2).stays.map(({ at }) => (at - BEGIN) / MINUTE_MS)).toEqual([15, 50]);
  });

  test('are gate runs with their own time; a tree that failed once and passed once is a flake', () => {
    const rows = [
      judged('b', 'success', 20, 12),
      judged('a', 'failure', 5, 7),
      { ...judged('c', 'success', 30, 9), stagingTree: 'a' },
      { ...judged('d', 'success', 40, 1), gateSource: 'cached' as const },
      { ...judged('e', 'success', 50, 1), judgedAt: undefined },
    ] as readonly NodeRow[];
    const { runs, flakeShare, rate } = planReplay([], rows, 9);
    expect(runs.map(({ ms, verdict }) => [ms / MINUTE_MS, verdict])).toEqual([
      [7, 'failure'],
      [12, 'success'],
      [9, 'success'],
    ]);
    expect(flakeShare).toBe(1 / 4);
    expect(rate.paces).toEqual([{ ms: 9 * MINUTE_MS, runs: 3 }]);
  });
});

describe('a replay', () => {
  test('is the same each time, and more gate runs at once shorten the wait of a queue that grows', () => {
    const plan = givenPlan(40, 1);
    const [one, many] = [play(plan, 1).result, play(plan, 16).result];
    expect(play(plan, 1).result).toEqual(one);
    expect(one?.waits).toHaveLength(40);
    const mean = (waits: readonly number[] = []) => waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
    expect(mean(many?.waits)).toBeLessThan(0.75 * mean(one?.waits));
    expect(many?.runs).toBeGreaterThan(one?.runs ?? 0);
  });

  test('lands no bounced one, and a gate run takes as long as the nearest of its verdict', () => {
    const stays = [0, 60, 61].map((minute, index) => ({
      at: BEGIN + minute * MINUTE_MS,
      isBad: index === 1,
    }));
    const plan = givenPlan(0, 0, {
      stays,
      runs: [
        { at: BEGIN, ms: 4 * MINUTE_MS, verdict: 'success' },
        { at: BEGIN + 60 * MINUTE_MS, ms: 20 * MINUTE_MS, verdict: 'success' },
        { at: BEGIN + 300 * MINUTE_MS, ms: 30_000, verdict: 'failure' },
      ],
    });
    const { waits = [] } = play(plan, 1).result ?? {};
    // Seen five seconds after the schedule and after the verdict.
    expect(waits.map((wait) => Math.round(wait / 1_000))).toEqual([4 * 60 + 10, 20 * 60 + 10]);
  });

  test('keeps the linger that is set, and no pause, freeze or rule about people', () => {
    const plan = givenPlan(3, 200);
    const held = {
      pause: { kind: 'pause', at: 0, by: 'x', reason: null, until: null },
      schedulePeople: ['ada'],
      scheduleOwn: false,
      queueEnabled: false,
    } as unknown as Parameters<typeof givenRepo>[0];
    expect(play(plan, 1, held).result?.waits).toHaveLength(3);
    const lingering = play(plan, 1, { batchLingerSeconds: 600 }).result?.waits[0] ?? 0;
    expect(lingering - (play(plan, 1).result?.waits[0] ?? 0)).toBeGreaterThanOrEqual(590_000);
  });

  test('a gate that flakes takes more gate runs', () => {
    const rate = { landed: 200, bounced: 10, steady: 160, flaked: 40, paces: [] };
    const plan = givenPlan(60, 15, { rate });
    expect(play({ ...plan, flakeShare: 0.2 }, 1).result?.runs).toBeGreaterThan(
      play(plan, 1).result?.runs ?? 0,
    );
  });

  test('ends: it has so many decisions and no more', () => {
    // A gate run that never ends soon: each decision is one more look at the same.
    const plan = givenPlan(30, 1, { flakeShare: 1 });
    const { result, count } = play(plan, 4);
    expect(count).toBeLessThanOrEqual(30 * plan.stays.length);
    expect(result).toBeNull();
  });
});

describe('the choice', () => {
  const row = (fanout: number, meanMs: number | null, runs: number, landed = 50): FanoutReplay => ({
    fanout,
    meanMs,
    runs,
    landed,
    p50Ms: meanMs,
    p95Ms: meanMs,
  });
  test('is worth its gate runs: they shorten the wait by a larger share than they add', () => {
    expect(chooseFanout([row(1, 41, 100), row(2, 20, 105), row(4, 6, 112), row(8, 5, 150)])).toBe(4);
    expect(chooseFanout([row(4, 10, 100), row(1, 10, 100), row(8, 10, 101)])).toBe(1);
  });

  test('is none where none landed, and one that lands fewer is not cheaper for it', () => {
    expect(chooseFanout([row(1, null, 10, 0)])).toBeNull();
    expect(chooseFanout([row(1, 10, 100, 50), row(2, 10, 60, 20)])).toBe(1);
  });
});
