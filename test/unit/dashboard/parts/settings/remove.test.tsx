/** @jest-environment jsdom */
import { fireEvent, screen, within } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';

/** The page in this test has no dialogs of a browser. */
beforeAll(() => {
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
});

test('who removes a repository is on the overview then, not on a page that was not found', async () => {
  let isThere = true;
  mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/connections': [],
      'GET /api/v1/user/queue/status': () => ({
        queue_name: 'mq',
        repos: isThere ? [givenStatus({ id: ID })] : [],
      }),
      'GET /api/v1/user/queue/activity': () =>
        givenFeed({ repos: isThere ? [givenActivity({ repo_id: ID })] : [] }),
      [`DELETE /api/v1/user/repos/${ID}`]: () => {
        isThere = false;
        return 204;
      },
    },
  });
  const { fetch } = globalThis;
  // One of the two readings of the page comes later than the other, as over a network.
  globalThis.fetch = async (input, init) => {
    if (!isThere && String(input).includes('activity')) await new Promise((next) => setTimeout(next, 200));
    return fetch(input, init);
  };
  const region = within(await screen.findByRole('region', { name: 'Remove from the queue' }));
  fireEvent.click(region.getByRole('button', { name: 'Remove' }));
  fireEvent.click(await region.findByRole('button', { name: 'Remove it' }));
  expect(await screen.findByRole('heading', { name: 'Let the first pull request through' })).toBeTruthy();
  expect(location.pathname).toBe('/');
});
