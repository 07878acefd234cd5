/** @jest-environment jsdom */
import { act, screen, waitFor } from '@testing-library/react';
import { setSession } from '../../../../dashboard/data/session.ts';
import { expireSession } from '../../../../dashboard/data/tabs.ts';
import { mountPage, Refusal } from '../../../support/mount-page.tsx';
import { givenFeed, givenStatus } from '../rows.ts';

const given = (email: string | null, token: string) => ({
  token,
  email,
  refreshToken: null,
  expiresAt: Date.now() + 3_600_000,
  isAdmin: false,
});

/** The overview of a person whose only repository is this one; the service is away after that. */
async function openOverview(email: string | null) {
  let isSilent = false;
  const silence = new Refusal(503, { error: { code: 'db_error', message: 'x', retryable: false } });
  const answer = (value: unknown) => () => (isSilent ? silence : value);
  mountPage({
    at: '/',
    session: given(email, 'one'),
    answers: {
      'GET /api/v1/user/queue/status': answer({ repos: [givenStatus({ name: 'ada/secret' })] }),
      'GET /api/v1/user/queue/activity': answer(givenFeed()),
    },
  });
  await screen.findByText('ada/secret');
  isSilent = true;
}

const signIn = async (email: string | null, token: string) => {
  await act(async () => setSession(given(email, token)));
  await waitFor(() => expect(location.pathname).toBe('/'));
};

test.each([
  ['ada@example.org', 'bob@example.org'],
  [null, null],
])('who signs in after a session has ended sees nothing of %s', async (first, second) => {
  await openOverview(first);
  await act(async () => expireSession());
  await waitFor(() => expect(location.pathname).toBe('/sign-in'));
  await signIn(second, 'two');
  expect(screen.queryByText('ada/secret')).toBeNull();
});

test('the same person is back where they were, and a renewed token takes nothing off the page', async () => {
  await openOverview('ada@example.org');
  await act(async () => expireSession());
  await signIn('ada@example.org', 'two');
  expect(screen.getByText('ada/secret')).toBeTruthy();
  await openOverview(null);
  await act(async () => setSession(given(null, 'two')));
  expect(screen.getByText('ada/secret')).toBeTruthy();
});
