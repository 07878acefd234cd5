import { followClock } from '../../../../../engine-container/src/queue/record/clock-step.ts';
import { createEntry } from '../../../../../engine-container/src/queue/record/queue-entry.ts';
import { emptyRecord, type QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import { SteadyClock } from '../../../../../engine-container/src/reconcile/steady-clock.ts';
import { SteppedClock } from '../../../../support/stepped-clock.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;

const AT = 1_800_000_000_000;

/** The fields with times: each list has one row, and each time is `AT`. */
const TIMED = {
  archivedSince: AT,
  autoFanout: {
    inForce: 4,
    reason: 'budget',
    runs: 1,
    expected: 1,
    budget: 125,
    since: { runs: 1, landed: 1 },
    arrivals: { at: AT, gapMs: 1 },
  },
  gateMissing: { gate: 'g', since: AT },
  runnersKnown: { count: 1, at: AT, again: 0 },
  settingsSeen: { commit: 'c', tree: 't', blob: 'b', since: AT, values: {}, from: null },
  slowPatches: { until: AT, isGivenUp: true },
  stagingRefused: { since: AT, at: AT },
  storedBy: { engine: 'e', wall: AT, monotonic: 1 },
  unprovenBase: { sha: 'b', at: AT },
  restsUntil: AT,
  lateUntil: AT,
  othersAt: AT,
  recalledAt: AT,
  unreadSince: AT,
  baseSeen: { sha: 'b', tree: 't', at: AT },
  begunLately: { count: 1, at: AT, stagedAt: AT },
  forge: { version: null, readAt: AT },
  gateLooks: { at: AT, missedAt: { run: AT } },
  halted: { reason: 'tree_mismatch', pr: 1, mergeCommit: 'm', at: AT, enabledAt: AT },
  hook: { since: AT, at: AT, state: 'active' },
  rival: { pr: 1, at: AT, enabledAt: AT },
  rule: { at: AT, lookedAt: AT, reasons: [] },
  outsideMove: { from: 'a', to: 'b', since: AT, own: [] },
  bounced: [{ pr: 1, head: 'h', scheduleId: 1, verdict: { baseTree: 't', times: 1, runUrl: null, at: AT } }],
  deferred: [{ pr: 1, head: 'h', reason: 'staging_failed', baseTree: 't', until: AT }],
  evidence: [{ tree: 't', gate: 'g', verdict: 'success', runKey: 'r', runUrl: null, sha: 's', at: AT }],
  garbage: [{ branch: 'b', notBefore: AT, runKey: null }],
  givenUp: [{ pr: 1, head: 'h', tree: 't', baseBefore: 'b', at: AT }],
  landed: [{ pr: 1, head: 'h', baseBefore: 'b', at: AT }],
  outside: [{ pr: 1, at: AT }],
  pendingStatuses: [
    { pr: 1, sha: 'h', context: 'mq', state: 'pending', description: '', targetUrl: null, retryAt: AT },
  ],
  readings: [
    {
      pr: 1,
      head: 'h',
      updatedAt: AT,
      schedule: { kind: 'bound', id: 1, at: AT },
      reviews: null,
      seenAt: AT,
      readAt: AT,
    },
  ],
  recallHeads: [{ pr: 1, head: 'h', until: AT }],
  unheard: [{ pr: 1, sha: 'h', context: 'mq', posts: 1, since: AT, lookAt: AT }],
  entries: [
    {
      ...createEntry({ pr: 1, title: '', head: 'h', scheduleId: 1, queuedAt: AT }),
      readyAt: AT,
      movedAt: AT,
      retestAfter: AT,
      contradictedAt: AT,
      goneSince: AT,
      unreadSince: AT,
      notReady: { head: 'h', since: AT },
      unclear: { head: 'h', since: AT },
    },
  ],
  batches: [
    {
      createdAt: AT,
      turnAt: AT,
      unmergeableSince: AT,
      unreadableSince: AT,
      receipts: [{ landedAt: AT }],
      untraced: [{ index: 0, receipt: { landedAt: AT } }],
      landing: {
        intentAt: AT,
        postedAt: AT,
        askedAt: AT,
        unmergeableSince: AT,
        takeBack: { reason: 'paused', postedAt: AT },
      },
      nodes: [
        {
          createdAt: AT,
          stagedAt: AT,
          judgedAt: AT,
          settledSince: AT,
          unreadSince: AT,
          resolvedAt: AT,
          retryAt: AT,
          runnerWait: { until: AT, isOver: false },
        },
      ],
    },
  ],
};

const WITHOUT_TIMES = [
  'attempts',
  'context',
  'doubtedTip',
  'forecast',
  'gateTimes',
  'hasLeftOut',
  'landedNumbers',
  'mergeTimeoutCounts',
  'nameInTheWay',
  'rate',
  'rebuilding',
  'recall',
  'recallContexts',
  'repoId',
  'reread',
  'restsFor',
  'ruledBranch',
  'runnersSeen',
  'schema',
  'setAsideInARow',
  'stagedAlone',
  'stagingFailuresInARow',
  'tip',
  'turns',
  'unread',
] as const satisfies readonly (keyof QueueRecord)[];
type Unlisted = Exclude<keyof QueueRecord, keyof typeof TIMED | (typeof WITHOUT_TIMES)[number]>;
true satisfies [Unlisted] extends [never] ? true : Unlisted;

const RECORD = { ...emptyRecord('mq'), ...TIMED } as unknown as QueueRecord;

/** By the clock of the forge, of the store or of the service, compared with one of these, or told to people as they were. */
const STAYING: readonly string[] = [
  '.batches.nodes.createdAt',
  '.batches.nodes.resolvedAt',
  '.entries.queuedAt',
  '.gateLooks.missedAt.run',
  '.gateMissing.since',
  '.halted.enabledAt',
  '.hook.since',
  '.readings.schedule.at',
  '.readings.updatedAt',
  '.rival.enabledAt',
  '.rule.at',
  '.settingsSeen.since',
  '.storedBy.wall',
];

/** Paths of numbers that differ, without places in lists, and by how much. */
function differences(before: unknown, after: unknown, path = ''): readonly string[] {
  if (typeof before === 'number' && typeof after === 'number')
    return before === after ? [] : [`${path} ${after - before}`];
  if (before === null || typeof before !== 'object') return before === after ? [] : [`${path} changed`];
  return Object.entries(before).flatMap(([key, value]) =>
    differences(
      value,
      (after as Record<string, unknown>)[key],
      Array.isArray(before) ? path : `${path}.${key}`,
    ),
  );
}

test('a step moves the times that something waits from, or that are compared, and no other', () => {
  const all = differences(
    RECORD,
    JSON.parse(JSON.stringify(RECORD).replaceAll(String(AT), String(AT + HOUR_MS))),
  );
  const moved = differences(RECORD, followClock(RECORD, HOUR_MS));
  const expected = all.filter((each) => !STAYING.some((path) => each === `${path} ${HOUR_MS}`));
  expect(all.length).toBe(expected.length + STAYING.length);
  expect([...moved].sort()).toEqual([...expected].sort());
});

test('a step there and back changes nothing', () => {
  expect(followClock(followClock(RECORD, HOUR_MS), -HOUR_MS)).toEqual(RECORD);
});

describe('the clock of one reconcile', () => {
  test('goes on whatever is done to the wall clock of the machine', async () => {
    const clock = new SteppedClock(new VirtualClock());
    const steady = new SteadyClock(clock, 'engine');
    const startedAt = steady.now();
    clock.put(HOUR_MS);
    await clock.advance(5_000);
    expect(steady.now()).toBe(startedAt + 5_000);
  });

  test.each([
    ['put forward', HOUR_MS, HOUR_MS],
    ['put back', -HOUR_MS, -HOUR_MS],
    ['off by little', 4_999, 0],
  ])('tells the next that it was %s', async (_, stepMs, told) => {
    const clock = new SteppedClock(new VirtualClock());
    const { start } = new SteadyClock(clock, 'engine');
    await clock.advance(60_000);
    clock.put(stepMs);
    expect(new SteadyClock(clock, 'engine').stepSince(start)).toBe(told);
  });

  test('says nothing about the clock of another process', () => {
    const clock = new SteppedClock(new VirtualClock());
    const steady = new SteadyClock(clock, 'engine');
    const { wall, monotonic } = steady.start;
    const other = { engine: 'another', wall: wall - HOUR_MS, monotonic: monotonic + HOUR_MS };
    expect([steady.stepSince(other), steady.stepSince(undefined)]).toEqual([0, 0]);
  });
});
