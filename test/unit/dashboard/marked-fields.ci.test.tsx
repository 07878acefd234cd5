/** @jest-environment jsdom */
import { fireEvent, screen, waitFor } from '@testing-library/react';
import { mountPage, Refusal } from '../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from './rows.ts';

/** The field that a refusal is about is marked, says what is wrong, and has the focus (issue: marked fields). */
const REPO = givenStatus();
const FORGE = 'https://git.example.org';
const CONNECTION = {
  id: '22222222-0000-4000-8000-000000000001',
  tenant_id: 'tenant',
  instance_url: FORGE,
  bot_username: 'mq-bot',
  token_type: 'pat',
  created_at: '2026-11-23T00:00:00.000Z',
};
const FOUND = {
  full_name: 'acme/app',
  default_branch: 'main',
  private: false,
  default_merge_style: 'squash',
  name: 'app',
  owner: 'acme',
  html_url: `${FORGE}/acme/app`,
  merge_styles: ['squash'],
};
const COMMON = {
  'GET /api/v1/me': { id: 'tenant', is_admin: false },
  'GET /api/v1/tokens': [],
  'GET /api/v1/sessions': { sessions: [] },
  'GET /api/v1/author-notices': { signed_in_as: null, logins: [] },
  'GET /api/v1/connections': [CONNECTION],
  'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [REPO] },
  'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ repo_id: REPO.id })] }),
  [`POST /api/v1/connections/${CONNECTION.id}/discover`]: { repos: [FOUND] },
};

const type = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
/** By its text: what is looked for by role has the name of each button computed, again at each change of the page. */
const press = (name: string) => fireEvent.click(screen.getByText(name, { selector: 'button' }));
const invalid = (field: string) => ({ code: 'invalid_field', field });

interface Case {
  readonly at: string;
  readonly call: string;
  readonly error: { readonly code: string; readonly field?: string };
  /** Fills the form in and sends it. */
  readonly send: () => unknown;
  readonly label: string;
  readonly words: RegExp;
}

const sendTopics = (token: string) => {
  fireEvent.click(screen.getByLabelText('bounced'));
  type('To this address', 'ann@example.org');
  type('Address of the forge', FORGE);
  if (token !== '') type('A token of yours on that forge', token);
  press('Save');
};
const place = (field: string, label: string, words: RegExp): Case => ({
  at: `/repos/${REPO.id}/settings`,
  call: `PATCH /api/v1/user/repos/${REPO.id}`,
  error: invalid(`notification.${field}`),
  label,
  words,
  send: () => {
    type(label, label === 'E-mail' ? 'ann@localhost' : 'https://chat.example.org/x');
    press('Save places');
  },
});
const enrolled = (field: string, label: string, words: RegExp): Case => ({
  at: '/start',
  call: 'POST /api/v1/user/repos',
  error: invalid(field),
  label,
  words,
  send: () => {
    fireEvent.click(screen.getByRole('checkbox', { name: /acme\/app/ }));
    press('Add 1 repository');
  },
});

test.each<[string, Case]>([
  [
    'the name of a token',
    {
      at: '/account',
      call: 'POST /api/v1/tokens',
      error: invalid('name'),
      label: 'Name',
      words: /ASCII/,
      send: () => {
        type('Name', 'ä');
        press('Make the token');
      },
    },
  ],
  [
    'the address that an author is mailed at',
    {
      at: '/account',
      call: 'PUT /api/v1/author-notices',
      error: invalid('email'),
      label: 'To this address',
      words: /no. an e-mail address/,
      send: () => sendTopics('token'),
    },
  ],
  [
    'the forge of an author',
    {
      at: '/account',
      call: 'PUT /api/v1/author-notices',
      error: invalid('instance_url'),
      label: 'Address of the forge',
      words: /no forge that the service knows/,
      send: () => sendTopics('token'),
    },
  ],
  [
    'the token of an author, by its code',
    {
      at: '/account',
      call: 'PUT /api/v1/author-notices',
      error: { code: 'forge_token_refused' },
      label: 'A token of yours on that forge',
      words: /read:user/,
      send: () => sendTopics('token'),
    },
  ],
  [
    'the id that confirms the end of an account',
    {
      at: '/account',
      call: 'POST /api/v1/tenant/offboard',
      error: { code: 'confirm_mismatch' },
      label: 'Type your tenant id to confirm',
      words: /not the id of this account/,
      send: () => {
        type('Type your tenant id to confirm', 'tenant');
        press('Delete everything');
      },
    },
  ],
  [
    'the new token of a bot',
    {
      at: '/connections',
      call: `PATCH /api/v1/connections/${CONNECTION.id}`,
      error: invalid('token'),
      label: 'New access token',
      words: /not a token/,
      send: () => {
        press('Token and login');
        type('New access token', 'x');
        press('Store');
      },
    },
  ],
  ['the mail address of notices', place('email', 'E-mail', /not one/)],
  ['the webhook of Slack', place('chat_a_webhook_url', 'Slack webhook', /Slack/)],
  ['the homeserver of Matrix', place('matrix.homeserver', 'Matrix homeserver', /homeserver/)],
  ['the branch of a repository that is added', enrolled('base_branch', 'Base branch', /base branch/)],
  ['the context of repositories that are added', enrolled('status_context', 'Status context', /characters/)],
])('%s', async (_name, { at, call, error, send, label, words }) => {
  const refusal = new Refusal(400, { error: { message: 'No.', retryable: false, ...error } });
  const { sent } = mountPage({ at, answers: { ...COMMON, [call]: refusal } });
  await screen.findAllByText(/^(Make the token|Save places|Pick at least one|Delete|Remove)/, {
    selector: 'button',
  });
  if (at === '/account') await screen.findByText('Save', { selector: 'button' });
  send();
  await waitFor(() => expect(sent.map(({ address }) => address)).toContain(call));
  await waitFor(() => expect(screen.getByLabelText(label).getAttribute('aria-invalid')).toBe('true'));
  const field = screen.getByLabelText(label);
  expect(document.activeElement).toBe(field);
  const said = (field.getAttribute('aria-describedby') ?? '')
    .split(' ')
    .map((id) => document.getElementById(id)?.textContent)
    .join(' ');
  expect(said).toMatch(words);
  expect(document.querySelectorAll('[aria-invalid=true]')).toHaveLength(1);
});
