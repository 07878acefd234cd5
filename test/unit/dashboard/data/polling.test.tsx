/** @jest-environment jsdom */
import { act } from '@testing-library/react';
import { mountPage, Refusal } from '../../../support/mount-page.tsx';
import { givenFeed, givenStatus } from '../rows.ts';

const REALTIME_UNAVAILABLE = { error: { code: 'realtime_unavailable', message: 'x', retryable: true } };

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('without tickets the page asks for the queue every 30 seconds, as it says (A116)', async () => {
  const page = mountPage({
    at: '/',
    answers: {
      'GET /api/v1/me': { id: 'aaaaaaaa-0000-4000-8000-000000000001', is_admin: false },
      'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': givenFeed(),
      'POST /api/v1/user/queue/ws/ticket': new Refusal(503, REALTIME_UNAVAILABLE),
    },
  });
  const pass = (ms: number) => act(() => jest.advanceTimersByTimeAsync(ms));
  const asked = () => page.sent.filter(({ address }) => address === 'GET /api/v1/user/queue/activity').length;
  await pass(1_000);
  expect(asked()).toBe(1);
  expect(document.body.textContent).toContain('Every 30 s');
  await pass(28_000);
  expect(asked()).toBe(1);
  await pass(2_000);
  expect(asked()).toBe(2);
  await pass(90_000);
  expect(asked()).toBe(5);
});
