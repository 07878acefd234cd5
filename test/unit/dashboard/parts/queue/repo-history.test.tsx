/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { mountPage, Refusal } from '../../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../../rows.ts';

const ID = givenStatus().id;
const EVENTS = `GET /api/v1/user/repos/${ID}/events`;
const NEXT = '1'.repeat(26);

function mount(at: string, pages: Readonly<Record<string, unknown>>) {
  return mountPage({
    at,
    answers: {
      'GET /api/v1/me': { id: 'aaaaaaaa-0000-4000-8000-000000000001', is_admin: false },
      'GET /api/v1/user/queue/status': { repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ repo_id: ID })] }),
      ...pages,
    },
  });
}

const eventOf = (pr: number, title: string) => ({
  repo_id: ID,
  repo_slug: 'acme/app',
  instance_url: 'https://forge.example.org',
  pr,
  title,
  event: 'pr_landed',
  reason: null,
  timestamp: '2026-11-21T10:00:00.000Z',
});

test('the history is asked for with the filters of the address, and its links keep them', async () => {
  mount(`/repos/${ID}?q=shop&event=pr_landed`, {
    [`${EVENTS}?q=shop&event=pr_landed`]: { events: [eventOf(7, 'Open the shop')], next: NEXT },
  });
  await screen.findByText('Open the shop');
  const older = screen.getByRole('link', { name: 'Older events' }).getAttribute('href');
  expect(older).toBe(`/repos/${ID}?q=shop&event=pr_landed&before=${NEXT}`);
  expect(screen.queryByRole('link', { name: 'Newest events' })).toBeNull();
});

test('an older page leads back to the newest with its filters', async () => {
  mount(`/repos/${ID}?event=pr_landed&before=${NEXT}`, {
    [`${EVENTS}?event=pr_landed&before=${NEXT}`]: { events: [eventOf(2, 'Long ago')], next: null },
  });
  await screen.findByText('Long ago');
  const newest = screen.getByRole('link', { name: 'Newest events' }).getAttribute('href');
  expect(newest).toBe(`/repos/${ID}?event=pr_landed`);
  expect(screen.queryByRole('link', { name: 'Older events' })).toBeNull();
});

test('a number asks for that pull request, and a kind that is chosen goes into the address', async () => {
  const { sent } = mount(`/repos/${ID}`, { [EVENTS]: { events: [], next: null } });
  await screen.findByText('Nothing has happened here yet.');
  fireEvent.change(screen.getByLabelText('Search events'), { target: { value: '#12' } });
  await waitFor(() => expect(sent.map(({ address }) => address)).toContain(`${EVENTS}?pr=12`));
  fireEvent.change(screen.getByLabelText('Show'), { target: { value: 'pr_bounced' } });
  await waitFor(() => expect(location.search).toBe('?q=%2312&event=pr_bounced'));
  await screen.findByText('No event fits.');
});

test('a page without events that is not the last says so', async () => {
  mount(`/repos/${ID}`, { [EVENTS]: { events: [], next: NEXT } });
  await screen.findByText(/^None among the rows that were looked through/);
});

test('the tab "Queue" takes a search away, and it does not come back', async () => {
  mount(`/repos/${ID}?q=shop`, {
    [`${EVENTS}?q=shop`]: { events: [], next: null },
    [EVENTS]: { events: [eventOf(7, 'Open the shop')], next: null },
  });
  await screen.findByText('No event fits.');
  fireEvent.click(screen.getByRole('link', { name: 'Queue' }));
  await screen.findByText('Open the shop');
  expect(screen.getByLabelText<HTMLInputElement>('Search events').value).toBe('');
  // Longer than a search takes to settle.
  await new Promise((resolve) => setTimeout(resolve, 600));
  expect(location.search).toBe('');
});

/** As the service refuses a part of the query. */
const refused = (field: string) =>
  new Refusal(400, {
    error: { code: 'invalid_field', message: 'A field has a value that is not allowed.', field },
  });

test.each([
  ['before', `?q=shop&before=xyz`, /no place of this list/, `/repos/${ID}?q=shop`],
  [
    'q',
    `?event=pr_landed&q=${'x'.repeat(201)}`,
    /search in the address is too long/,
    `/repos/${ID}?event=pr_landed`,
  ],
])(
  'an address with a wrong "%s" is called wrong, and leads to the list without it',
  async (field, query, words, to) => {
    mount(`/repos/${ID}${query}`, { [EVENTS]: refused(field) });
    const told = await screen.findByRole('alert');
    expect(told.textContent).toMatch(words);
    expect(told.textContent).not.toMatch(/field/i);
    expect(within(told).getByRole('link', { name: 'Newest events' }).getAttribute('href')).toBe(to);
  },
);

test('an address of older batches that is none is called wrong, and leads to the newest ones', async () => {
  mount(`/repos/${ID}/batches?before=xyz`, { 'GET /api/v1/user/queue/activity': refused('before') });
  await screen.findByRole('heading', { name: 'No such list' });
  expect(screen.getByText(/no place of this list/)).toBeTruthy();
  const newest = screen.getByRole('link', { name: 'Newest batches' }).getAttribute('href');
  expect(newest).toBe(`/repos/${ID}/batches`);
});
