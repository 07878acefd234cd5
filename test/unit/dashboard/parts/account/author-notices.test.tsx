/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';

const PUT = 'PUT /api/v1/author-notices';
const GET = 'GET /api/v1/author-notices';
const LOGIN = {
  instance_url: 'https://git.example.org',
  login: 'ann',
  email: 'ann@example.org',
  email_state: 'waiting',
  topics: ['landed'],
  proven_at: '2026-11-23T00:00:00.000Z',
  ends_at: '2027-05-22T00:00:00.000Z',
};

async function open(view: object) {
  const { sent } = mountPage({
    at: '/account',
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/tokens': [],
      'GET /api/v1/sessions': { sessions: [] },
      [GET]: view,
      [PUT]: view,
    },
  });
  const panel = within(await screen.findByRole('region', { name: 'Mails about your own pull requests' }));
  await panel.findByRole('button', { name: 'Save' });
  return { panel, put: () => sent.filter(({ address }) => address === PUT).map(({ body }) => body) };
}

test('they are off, and cannot be saved without a topic; the token leaves the page with the call', async () => {
  const { panel, put } = await open({ signed_in_as: null, logins: [] });
  const save = panel.getByRole<HTMLButtonElement>('button', { name: 'Save' });
  expect(save.disabled).toBe(true);
  fireEvent.click(panel.getByLabelText('bounced'));
  const type = (label: string, value: string) =>
    fireEvent.change(panel.getByLabelText(label), { target: { value } });
  type('To this address', 'ann@example.org');
  type('Address of the forge', 'https://git.example.org');
  type('A token of yours on that forge', 'forge-token');
  fireEvent.click(save);
  await panel.findByText('Saved.');
  expect(put()).toEqual([
    { instance_url: 'https://git.example.org', email: 'ann@example.org', topics: ['bounced'] },
  ]);
  expect(panel.getByLabelText<HTMLInputElement>('A token of yours on that forge').value).toBe('');
});

test('a session of the forge asks for no token', async () => {
  const signedInAs = { instance_url: 'https://git.example.org', login: 'ann' };
  const { panel, put } = await open({ signed_in_as: signedInAs, logins: [] });
  expect(panel.queryByLabelText('A token of yours on that forge')).toBeNull();
  fireEvent.click(panel.getByLabelText('landed'));
  fireEvent.change(panel.getByLabelText('To this address'), { target: { value: 'ann@example.org' } });
  fireEvent.click(panel.getByRole('button', { name: 'Save' }));
  await panel.findByText('Saved.');
  expect(put()).toEqual([{ email: 'ann@example.org', topics: ['landed'] }]);
});

test('what is stored says to whom, whether that address is confirmed, and how it ends', async () => {
  const { panel, put } = await open({ signed_in_as: null, logins: [LOGIN] });
  expect(await panel.findByText(/ann on git\.example\.org/)).toBeTruthy();
  expect(panel.getByRole('status').textContent).toMatch(/confirm/i);
  fireEvent.click(panel.getByRole('button', { name: 'End these mails' }));
  await waitFor(() => expect(put()).toHaveLength(1));
  expect(put()[0]).toMatchObject({ instance_url: 'https://git.example.org', topics: [] });
});
