/** @jest-environment jsdom */
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';
const WEBHOOK = `/api/v1/user/repos/${ID}/notification/webhook`;

test('the secret of a webhook that is removed stands on the page no longer', async () => {
  const notification = {
    email: null,
    slack: null,
    discord: null,
    matrix: null,
    webhook: 'hooks.example.org',
  };
  const { sent } = mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus({ id: ID })] },
      'GET /api/v1/user/queue/activity': givenFeed({
        repos: [givenActivity({ repo_id: ID, notification: notification as never })],
      }),
      [`PUT ${WEBHOOK}`]: { secret: 'whsec_shown_once' },
      [`DELETE ${WEBHOOK}`]: 204,
    },
  });
  const address = await screen.findByLabelText('Address of the webhook');
  fireEvent.change(address, { target: { value: 'https://hooks.example.org/x' } });
  fireEvent.click(screen.getByRole('button', { name: 'Replace the webhook and its secret' }));
  expect(await screen.findByText('whsec_shown_once')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Remove the webhook' }));
  await waitFor(() => expect(sent.some((each) => each.address === `DELETE ${WEBHOOK}`)).toBe(true));
  await waitFor(() => expect(screen.queryByText('whsec_shown_once')).toBeNull());
});

test('the first try of a test appears in the log without a reload', async () => {
  const row = {
    id: 'msg',
    at: '2026-11-21T10:00:00.000Z',
    kind: 'test',
    state: 'waiting',
    status: null,
    attempts: 1,
    next_at: null,
  };
  let reads = 0;
  mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus({ id: ID })] },
      'GET /api/v1/user/queue/activity': givenFeed({
        repos: [givenActivity({ repo_id: ID, notification: { email: null } as never })],
      }),
      [`POST /api/v1/user/repos/${ID}/notification/test`]: { asked: true },
      // Once when the page opens, once right after the call: the sender has not tried yet.
      [`GET /api/v1/user/repos/${ID}/notification/deliveries`]: () => {
        reads += 1;
        return { deliveries: reads > 2 ? [row] : [] };
      },
    },
  });
  expect(await screen.findByText('Nothing was sent to a webhook yet.')).toBeTruthy();
  fireEvent.click(screen.getByRole('button', { name: 'Send a test to all places' }));
  expect(await screen.findByRole('cell', { name: 'no answer' })).toBeTruthy();
});
