/** @jest-environment jsdom */
import { onlineManager } from '@tanstack/react-query';
import { act, fireEvent, screen } from '@testing-library/react';
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

test.each(['/', '/statistics', '/repos/repo'])(
  'without a network the page at %s goes on asking, and says from when it is',
  async (at) => {
    const { sent } = mountQueue({}, at);
    await pass(1_000);
    act(() => onlineManager.setOnline(false));
    const asked = () => sent.filter(({ address }) => address === 'GET /api/v1/user/queue/activity').length;
    const before = asked();
    globalThis.fetch = async () => {
      throw new TypeError('Failed to fetch');
    };
    await pass(120_000);
    expect(document.body.textContent).toMatch(/What you see is from .*: the last look failed/);
    expect(document.body.textContent).toContain('Service: unknown');
    expect(asked()).toBe(before);
  },
);

test('a change that finds no network fails, and is not carried out once there is one again', async () => {
  const { sent } = mountQueue();
  await pass(1_000);
  act(() => onlineManager.setOnline(false));
  const working = globalThis.fetch;
  globalThis.fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  fireEvent.click(screen.getByRole('button', { name: 'Pause the queue' }));
  await pass(5_000);
  const told = document.body.textContent;
  globalThis.fetch = working;
  act(() => onlineManager.setOnline(true));
  await pass(60_000);
  expect(sent.filter(({ address }) => address.endsWith('/pause'))).toEqual([]);
  expect(told).toContain('The service cannot be reached');
});
