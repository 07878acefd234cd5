/** @jest-environment jsdom */
import { onlineManager } from '@tanstack/react-query';
import { act } from '@testing-library/react';
import { mountPage, Refusal } from '../../../support/mount-page.tsx';
import { givenFeed, givenStatus } from '../rows.ts';

const IN_ORDER = {
  status: 'ok',
  degraded_by: 'none',
  signals: { tick_freshness: 'ok', overdue_repo: 'ok', supersede_rate: 'ok', phase_age: 'ok' },
};
const UNAVAILABLE = new Refusal(503, {
  error: { code: 'db_error', message: 'The database did not answer.', retryable: true },
});
const NOT_LIVE = new Refusal(503, {
  error: { code: 'realtime_unavailable', message: 'x', retryable: true },
});

beforeEach(() => void jest.useFakeTimers());
afterEach(() => {
  onlineManager.setOnline(true);
  jest.useRealTimers();
});

const pass = (ms: number) => act(() => jest.advanceTimersByTimeAsync(ms));

function mountQueue(changes: Readonly<Record<string, unknown>> = {}, at = '/repos/repo/settings') {
  return mountPage({
    at,
    answers: {
      'GET /api/v1/me': { id: 'aaaaaaaa-0000-4000-8000-000000000001', is_admin: false },
      'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': givenFeed(),
      'GET /api/queue-health': IN_ORDER,
      'POST /api/v1/user/queue/ws/ticket': NOT_LIVE,
      ...changes,
    },
  });
}

test('a service that answers no more is unknown, whatever it said before', async () => {
  let isAway = false;
  mountQueue({ 'GET /api/queue-health': () => (isAway ? UNAVAILABLE : IN_ORDER) });
  await pass(1_000);
  expect(document.body.textContent).toContain('Service: in order');
  isAway = true;
  await pass(61_000);
  expect(document.body.textContent).toContain('Service: unknown');
});
