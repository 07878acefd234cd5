/** @jest-environment jsdom */
import { screen, within } from '@testing-library/react';
import { mountPage } from '../../../support/mount-page.tsx';
import { CONNECTION, givenFeed, givenStatus } from '../rows.ts';

test('the connection whose token the forge refuses says so, and no other one', async () => {
  const other = { ...CONNECTION, id: '22222222-0000-4000-8000-000000000002', bot_username: 'other-bot' };
  const error = 'The forge does not accept the stored token: it has expired or was revoked.';
  mountPage({
    at: '/connections',
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/connections': [CONNECTION, other],
      'GET /api/v1/user/queue/status': {
        queue_name: 'mq',
        repos: [
          givenStatus({
            forge_conn_id: CONNECTION.id,
            reconcile: { ran_at: null, ok: false, error, error_code: 'forge_access_denied' },
          }),
          givenStatus({
            id: 'else',
            forge_conn_id: other.id,
            reconcile: { ran_at: null, ok: false, error: 'Slow.', error_code: 'timeout' },
          }),
        ],
      },
      'GET /api/v1/user/queue/activity': givenFeed(),
    },
  });
  await screen.findByText(/The last look at/);
  const cards = screen.getAllByRole('listitem').filter((item) => item.className.includes('card'));
  const said = cards.map((card) => within(card).queryByText(/The last look at/)?.textContent ?? null);
  expect(said).toEqual([`The last look at acme/app failed: ${error}`, null]);
});
