/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { mountPage, Refusal } from '../../../../support/mount-page.tsx';
import { CONNECTION, givenFeed, givenFound, givenStatus } from '../../rows.ts';

const ENROLL = 'POST /api/v1/user/repos';
const LIMIT = { error: { code: 'repo_limit_exceeded', message: 'No more.', retryable: false } };

test('where one of several is not added, "Add" again is about that one alone, and all added ones go on', async () => {
  let isFull = true;
  const { sent } = mountPage({
    at: `/start?connection=${CONNECTION.id}`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/connections': [CONNECTION],
      [`POST /api/v1/connections/${CONNECTION.id}/discover`]: {
        repos: ['one', 'two', 'three'].map((name) => givenFound(name)),
      },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [] },
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [] }),
      [ENROLL]: ({ repo_slug: slug }: { repo_slug: string }) =>
        isFull && slug === 'acme/two'
          ? new Refusal(402, LIMIT)
          : givenStatus({ id: `id-of-${slug.slice('acme/'.length)}` }),
    },
  });
  const slugs = () =>
    sent
      .filter(({ address }) => address === ENROLL)
      .map(({ body }) => (body as { readonly repo_slug: string }).repo_slug);
  const box = (slug: string) => screen.getByRole<HTMLInputElement>('checkbox', { name: new RegExp(slug) });
  await screen.findByText('acme/one');
  for (const name of ['one', 'two', 'three']) fireEvent.click(box(`acme/${name}`));
  fireEvent.click(screen.getByRole('button', { name: 'Add 3 repositories' }));
  const again = await screen.findByRole('button', { name: 'Add 1 repository' });
  expect(slugs()).toEqual(['acme/one', 'acme/two', 'acme/three']);
  expect(['one', 'two', 'three'].map((name) => box(`acme/${name}`).checked)).toEqual([false, true, false]);
  expect(screen.getByRole('alert').textContent).toContain('acme/one: added');
  isFull = false;
  fireEvent.click(again);
  await waitFor(() => expect(new URLSearchParams(location.search).get('added')).not.toBeNull());
  expect(slugs().slice(3)).toEqual(['acme/two']);
  expect(new URLSearchParams(location.search).get('added')?.split(',')).toEqual([
    'id-of-one',
    'id-of-three',
    'id-of-two',
  ]);
});

function mountPick(answers: Readonly<Record<string, unknown>>, connection = CONNECTION) {
  return mountPage({
    at: `/start?connection=${connection.id}`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/connections': [connection],
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [] },
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [] }),
      ...answers,
    },
  });
}

test('a repository that is not added says why, not only what kind of refusal it is', async () => {
  const message = 'The bot of this connection cannot write to that repository.';
  mountPick({
    [`POST /api/v1/connections/${CONNECTION.id}/discover`]: { repos: [givenFound('one')] },
    [ENROLL]: new Refusal(422, { error: { code: 'forge_access_denied', message } }),
  });
  fireEvent.click(await screen.findByRole('checkbox', { name: /acme\/one/ }));
  fireEvent.click(screen.getByRole('button', { name: 'Add 1 repository' }));
  const said = await screen.findByRole('alert');
  expect(said.textContent).toContain(message);
  // The list is a list inside of it: as the alert itself it would be none.
  expect(within(said).getAllByRole('list')).toHaveLength(1);
});

test('where the forge of a connection cannot be reached, its whole address is shown and the way to another one', async () => {
  const connection = { ...CONNECTION, instance_url: 'https://git.example.org/acme/app' };
  const gone = {
    error: { code: 'forge_unreachable', message: 'The forge could not be reached.', retryable: true },
  };
  mountPick({ [`POST /api/v1/connections/${CONNECTION.id}/discover`]: new Refusal(502, gone) }, connection);
  expect(await screen.findByText('https://git.example.org/acme/app')).toBeTruthy();
  const hint = screen.getByText(/is stored unchecked/);
  expect(within(hint).getByRole('link', { name: 'Connections' }).getAttribute('href')).toBe('/connections');
  expect(screen.getByText(/mq-bot on git\.example\.org\/acme\/app/)).toBeTruthy();
  // The words of the title are not read twice.
  expect(screen.getByRole('alert').textContent?.split('The forge could not be reached')).toHaveLength(2);
});

test('once each repository that was added is set up, the last action is done and the page says what to press', async () => {
  mountPage({
    at: `/start?connection=${CONNECTION.id}&added=repo`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/connections': [CONNECTION],
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus()] },
      'GET /api/v1/user/queue/activity': givenFeed(),
    },
  });
  expect(await screen.findByText(/^Setup is finished\. Press "Auto merge/)).toBeTruthy();
  expect(screen.queryByText(/adds one workflow file/)).toBeNull();
  expect(screen.getByRole('heading', { name: /^Merge the setup pull request \(done\)$/ })).toBeTruthy();
});
