/** @jest-environment jsdom */
import { fireEvent, screen, waitFor } from '@testing-library/react';
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
