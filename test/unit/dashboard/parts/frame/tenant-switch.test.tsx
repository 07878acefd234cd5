/** @jest-environment jsdom */
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { session } from '../../../../../dashboard/data/session.ts';
import { mountPage } from '../../../../support/mount-page.tsx';

const ID = 'https://id.example.org/auth/v1';
const [ACME, BOLT] = [
  { id: '11111111-1111-5111-8111-111111111111', name: 'acme' },
  { id: '22222222-2222-5222-8222-222222222222', name: 'bolt' },
];
const signedIn = {
  token: 'token',
  refreshToken: 'refresh',
  expiresAt: Date.now() + 3_600_000,
  email: 'ada@example.org',
  isAdmin: false,
};
const tokenIn = (sub: string) => `a.${Buffer.from(JSON.stringify({ sub })).toString('base64url')}.c`;

beforeAll(() => {
  const { TextDecoder } = require('node:util');
  Object.assign(globalThis, { TextDecoder });
});

test('a person of several organizations chooses one, and the page is in that one from then on', async () => {
  const page = mountPage({
    at: '/account',
    session: { ...signedIn, tenants: { chosen: ACME.id, all: [ACME, BOLT] } },
    answers: {
      [`POST ${ID}/tenant`]: {
        access_token: tokenIn(BOLT.id),
        refresh_token: 'next',
        expires_in: 3_600,
        user: { email: 'ada@example.org', app_metadata: { tenants: [ACME, BOLT] } },
      },
    },
  });
  const choice = await screen.findByLabelText<HTMLSelectElement>('Organization');
  expect(choice.selectedOptions[0]?.textContent).toBe('acme');
  fireEvent.change(choice, { target: { value: BOLT.id } });
  await waitFor(() => expect(session.read()?.tenants?.chosen).toBe(BOLT.id));
  expect(page.sent.find(({ address }) => address === `POST ${ID}/tenant`)?.body).toEqual({
    tenant_id: BOLT.id,
  });
  await waitFor(() => expect(location.pathname).toBe('/'));
});

test('where the installation is one tenant there is nothing to choose', async () => {
  mountPage({ at: '/account', session: signedIn });
  await screen.findByRole('button', { name: 'Sign out' });
  expect(screen.queryByLabelText('Organization')).toBeNull();
});
