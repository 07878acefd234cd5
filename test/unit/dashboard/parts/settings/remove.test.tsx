/** @jest-environment jsdom */
import { fireEvent, screen, within } from '@testing-library/react';
import { REFUSAL_CAUSES } from '#core/domain/forge/refusal-cause.ts';
import { RECONCILE_ERROR_SENTENCES } from '#core/domain/repos/repo.ts';
import { DRIFTS } from '#core/domain/set-up/drift.ts';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../../rows.ts';

/** The name of the button, as steps tell of it. */
const REMOVE = 'Remove from the queue';
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
  fireEvent.click(region.getByRole('button', { name: REMOVE }));
  const really = await region.findByRole('button', { name: 'Remove it' });
  // A key that is pressed once more than meant removes nothing.
  expect(document.activeElement?.textContent).toBe('Keep it');
  fireEvent.click(really);
  expect(await screen.findByRole('heading', { name: 'Let the first pull request through' })).toBeTruthy();
  expect(location.pathname).toBe('/');
});

const STEPS = [
  ...Object.values(REFUSAL_CAUSES).map(({ next }) => next),
  ...Object.values(DRIFTS).map(({ next }) => next),
  ...Object.values(RECONCILE_ERROR_SENTENCES),
];

test('a step about the branches of the queue names the button that is always on the setup page', async () => {
  const [, name = ''] = /"([^"]+)" on the setup page/.exec(DRIFTS.own_branches.next) ?? [];
  mountPage({
    at: `/repos/${ID}/setup`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [givenStatus({ id: ID })] },
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ repo_id: ID })] }),
    },
  });
  expect(await screen.findByRole('button', { name })).toBeTruthy();
});

test('a step that takes a repository out of the service names the buttons that are pressed for it', () => {
  const removing = STEPS.filter((step) => step.includes(REMOVE));
  expect(removing).toHaveLength(5);
  expect(STEPS.filter((step) => /\b(delete|remove) (this|its|the old) (entry|one)\b/i.test(step))).toEqual(
    [],
  );
  const adding = STEPS.filter((step) => /\b(enroll|add) .*new name/i.test(step));
  expect(adding.filter((step) => !step.includes('"Add repositories"'))).toEqual([]);
});
