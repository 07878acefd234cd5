/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenStatus } from '../../rows.ts';

const REPO = '11111111-0000-4000-8000-000000000001';
const TOKEN = `mgy_${'x'.repeat(64)}`;
const VIEW = {
  id: '22222222-0000-4000-8000-000000000002',
  name: 'nightly',
  last_used_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: '2026-04-01T00:00:00.000Z',
  scopes: [
    { scope: 'read', repo_ids: null },
    { scope: 'queue:write', repo_ids: [REPO] },
  ],
};
const open = () =>
  mountPage({
    at: '/account',
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/sessions': { sessions: [] },
      'GET /api/v1/tokens': [VIEW],
      'GET /api/v1/user/queue/status': {
        queue_name: 'mq',
        repos: [{ ...givenStatus(), id: REPO, name: 'acme/app' }],
      },
      'POST /api/v1/tokens': { ...VIEW, token: TOKEN },
      [`DELETE /api/v1/tokens/${VIEW.id}`]: null,
    },
  });

describe('API tokens on the account page', () => {
  test('are listed with what they may do for which repositories, and are revoked', async () => {
    const { sent } = open();
    const row = (await screen.findByText('nightly')).closest('tr') as HTMLElement;
    await waitFor(() => expect(row.textContent).toContain('read; queue:write (acme/app)'));
    expect(row.textContent).toContain('never');
    fireEvent.click(within(row).getByRole('button', { name: 'Revoke nightly' }));
    await waitFor(() => expect(sent.some(({ address }) => address.startsWith('DELETE'))).toBe(true));
  });

  test('are made for chosen scopes and repositories, and shown once', async () => {
    const { sent } = open();
    fireEvent.change(await screen.findByLabelText('Name'), { target: { value: ' ci ' } });
    fireEvent.change(screen.getByLabelText('Ends after'), { target: { value: '30' } });
    fireEvent.click(screen.getByLabelText(/^queue:write/));
    fireEvent.click(await screen.findByLabelText('acme/app'));
    fireEvent.click(screen.getByRole('button', { name: 'Make the token' }));
    expect(await screen.findByText(TOKEN)).toBeTruthy();
    expect(sent.find(({ address }) => address === 'POST /api/v1/tokens')?.body).toEqual({
      name: 'ci',
      expires_in_days: 30,
      scopes: ['read', 'queue:write'].map((scope) => ({ scope, repo_ids: [REPO] })),
    });
  });
});
