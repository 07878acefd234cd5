import { DAY_MS, HOUR_MS, MINUTE_MS, WEEK_MS } from '#core/domain/api-limits.ts';
import type { EventHead } from '#core/domain/queue/activity.ts';
import type { NodeRow, Receipt } from '#core/domain/queue/batch.ts';
import { readFigures, weekOf } from '#core/domain/queue/queue-figures.ts';
import { givenNodeRow } from '../../../../builders/store-rows.ts';

const MONDAY = Date.UTC(2026, 10, 16);
const NOON = MONDAY + 12 * HOUR_MS;
const at = (minutes: number): number => NOON + minutes * MINUTE_MS;
const sha = (letter: string): string => letter.repeat(40);

const event = (pr: number, name: EventHead['event'], minutes: number, scheduled?: number): EventHead => ({
  at: at(minutes),
  event: name,
  repoId: 'repo-1',
  pr,
  ...(scheduled === undefined ? {} : { scheduledAt: at(scheduled) }),
});
const receiptOf = (stagedSha: string, landedAt: number, mergeCommit: string): Receipt => ({
  baseBefore: sha('0'),
  head: sha('1'),
  stagedSha,
  tree: sha('2'),
  runUrl: null,
  mergeCommit,
  landedAt: at(landedAt),
});
const node = (changes: Partial<NodeRow>): NodeRow =>
  givenNodeRow({
    outcome: 'success',
    phase: null,
    resolvedAt: at(60),
    createdAt: at(0),
    gateRuns: 1,
    gateVerdict: 'success',
    gateSource: null,
    actions: [],
    ...changes,
  });
const landing = (pr: number, stagedSha: string, minutes: number) => ({
  pr,
  action: 'landed' as const,
  stagingSha: stagedSha,
  gateVerdict: 'success' as const,
  cursor: 0,
  receipt: receiptOf(stagedSha, minutes, sha(String(pr))),
});
const figuresOf = (events: readonly EventHead[], rows: readonly NodeRow[]) => {
  const { weeks, flakyWindows } = readFigures([MONDAY], events, rows);
  return { week: weeks[0], flakyWindows };
};

test('a week begins on Monday at midnight UTC', () => {
  for (const time of [MONDAY, MONDAY + 1, MONDAY + 6 * DAY_MS + 23 * HOUR_MS])
    expect(weekOf(time)).toBe(MONDAY);
  expect(weekOf(MONDAY - 1)).toBe(MONDAY - WEEK_MS);
});

test('the time in the queue is told by its parts: until staged, until judged, until landed', () => {
  const row = node({
    id: 'n',
    stagingSha: sha('a'),
    stagedAt: at(10),
    judgedAt: at(32),
    prs: [7],
    actions: [landing(7, sha('a'), 35)],
  });
  const { week } = figuresOf([event(7, 'pr_queued', 2, 0), event(7, 'pr_landed', 35)], [row]);
  expect(week).toMatchObject({
    landed: 1,
    bounced: 0,
    runs: 1,
    runsSaved: 0,
    waiting: { p50Ms: 10 * MINUTE_MS, p95Ms: 10 * MINUTE_MS },
    gate: { p50Ms: 22 * MINUTE_MS },
    merging: { p50Ms: 3 * MINUTE_MS },
  });
});

test('waiting begins anew after a bounce, and holds the attempts before the proven staging', () => {
  const row = node({
    stagingSha: sha('a'),
    stagedAt: at(100),
    judgedAt: at(120),
    prs: [7],
    actions: [landing(7, sha('a'), 121)],
  });
  const events = [
    event(7, 'pr_queued', 0),
    event(7, 'pr_bounced', 30),
    event(7, 'pr_queued', 60),
    event(7, 'pr_staged', 70),
    event(7, 'pr_landed', 121),
  ];
  expect(figuresOf(events, [row]).week?.waiting.p50Ms).toBe(40 * MINUTE_MS);
});

test('time out of the queue, between a cancelled schedule and the next one, is no wait', () => {
  const row = node({
    stagingSha: sha('a'),
    stagedAt: at(100),
    judgedAt: at(120),
    prs: [7],
    actions: [landing(7, sha('a'), 121)],
  });
  const events = [
    event(7, 'pr_queued', 0),
    event(7, 'pr_skipped', 5),
    event(7, 'pr_queued', 90),
    event(7, 'pr_landed', 121),
  ];
  expect(figuresOf(events, [row]).week?.waiting.p50Ms).toBe(10 * MINUTE_MS);
});

test('parts that rows of before do not tell are unknown, and make no other landing unknown', () => {
  const old = node({ id: 'old', stagingSha: sha('a'), prs: [7], actions: [landing(7, sha('a'), 30)] });
  const queued = [event(7, 'pr_queued', 0), event(8, 'pr_queued', 0)];
  expect(figuresOf(queued, [old]).week).toMatchObject({
    waiting: { p50Ms: null },
    gate: { p50Ms: null },
    merging: { p50Ms: null, p95Ms: null },
  });
  const known = node({
    id: 'new',
    stagingSha: sha('b'),
    stagedAt: at(5),
    judgedAt: at(9),
    prs: [8],
    actions: [landing(8, sha('b'), 10)],
  });
  expect(figuresOf(queued, [old, known]).week?.gate.p50Ms).toBe(4 * MINUTE_MS);
  const uncounted = { ...known, id: 'uncounted' };
  delete (uncounted as { gateRuns?: number }).gateRuns;
  expect(figuresOf(queued, [uncounted]).week).toMatchObject({ runs: null, runsSaved: null });
});

test('a landing by the run of its own head has no gate run of the queue, so its parts are unknown', () => {
  const row = node({ stagingSha: sha('a'), stagedAt: at(1), judgedAt: at(2), prs: [7] });
  const own = landing(7, sha('a'), 3);
  const actions = [{ ...own, receipt: { ...own.receipt, ofHead: true } }];
  expect(figuresOf([event(7, 'pr_queued', 0)], [{ ...row, actions }]).week?.gate.p50Ms).toBeNull();
});

test('a tree that one gate run failed and another passed is a flake, told by the hours of the failure', () => {
  const failed = { gateVerdict: 'failure', outcome: 'bisected' } as const;
  const rows = [
    node({ id: '1', stagingTree: sha('a'), stagedAt: at(0), ...failed }),
    node({ id: '2', stagingTree: sha('a'), stagedAt: at(300) }),
    node({ id: '3', stagingTree: sha('b'), stagedAt: at(10), ...failed }),
    // What another run had proven is no second opinion.
    node({ id: '4', stagingTree: sha('b'), stagedAt: at(20), gateSource: 'cached' }),
  ];
  const { week, flakyWindows } = figuresOf([], rows);
  expect(week).toMatchObject({ failedTrees: 2, flakyTrees: 1 });
  expect(flakyWindows).toEqual([{ fromHour: 12, toHour: 16, judged: 2, flaky: 1 }]);
});

test('a bounce costs the gate runs of its batch beyond the first one', () => {
  const bounced = { pr: 7, action: 'bounced', stagingSha: null, gateVerdict: 'failure', cursor: 0 } as const;
  const rows = [
    node({ id: '1', batchId: 'b1', gateRuns: 1, outcome: 'bisected' }),
    node({ id: '2', batchId: 'b1', gateRuns: 2, outcome: 'bounced', actions: [bounced] }),
    node({ id: '3', batchId: 'b2', gateRuns: 1 }),
  ];
  expect(figuresOf([event(7, 'pr_bounced', 5)], rows).week).toMatchObject({ bounceRuns: 2, runs: 4 });
});
