/** @jest-environment jsdom */
import { screen } from '@testing-library/react';
import { mountPage } from '../../../support/mount-page.tsx';
import { givenActivity, givenStatus } from '../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';

test('the weeks of a branch are shown by parts, and what is not known is Unknown, never zero', async () => {
  const spread = { p50_seconds: 600, p95_seconds: 3_600 };
  const unknown = { p50_seconds: null, p95_seconds: null };
  const week = {
    week: '2026-11-16T00:00:00.000Z',
    landed: 9,
    bounced: 1,
    waiting: spread,
    gate: unknown,
    merging: unknown,
    runs: null,
    runs_saved: null,
    bounce_runs: 4,
    failed_trees: 4,
    flaky_trees: 1,
  };
  mountPage({
    at: `/repos/${ID}/statistics`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus({ id: ID })] },
      'GET /api/v1/user/queue/activity': {
        repos: [givenActivity({ repo_id: ID })],
        recent_activity: [],
        queue_batches: [],
        recent_activity_truncated: false,
        queue_batches_truncated: false,
        queue_batches_next: null,
        stats: null,
        record_errors: [],
      },
      [`GET /api/v1/user/repos/${ID}/statistics`]: {
        weeks: [week],
        flaky_windows: [{ from_hour: 12, to_hour: 16, judged: 20, flaky: 3 }],
      },
      [`GET /api/v1/user/repos/${ID}/statistics/fanout`]: {
        current: 1,
        advised: 4,
        reason: null,
        rests_on: 61,
        needed: 30,
        since: null,
        replays: [1, 4].map((fanout) => ({
          fanout,
          landed: 60,
          runs: 100 + fanout,
          wait: { p50_seconds: 2_400 / fanout, p95_seconds: 3_000, mean_seconds: 2_400 },
        })),
      },
    },
  });
  const cellOf = async (name: string) =>
    (await screen.findByRole('rowheader', { name })).parentElement?.querySelector('td')?.textContent;
  expect(await cellOf('Waiting')).toBe('10 min (1 h)');
  expect([await cellOf('Gate'), await cellOf('Gate runs')]).toEqual(['Unknown', 'Unknown']);
  expect(await cellOf('Failures that were flakes')).toBe('1 of 4, 25 %');
  expect(await cellOf('4 (advised)')).toBe('10 min');
  expect(await cellOf('1 (set)')).toBe('40 min');
  expect(await screen.findByText(/^With 4 instead of 1: median 10 min instead of 40 min/)).toBeTruthy();
  expect(await screen.findByText(/12:00 to 16:00 UTC: 3 of 20 gate runs/)).toBeTruthy();
});
