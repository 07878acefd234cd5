/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { sayFanout } from '../../../../dashboard/view/fanout.ts';
import { mountPage } from '../../../support/mount-page.tsx';
import { givenActivity, givenQueue, givenStatus } from '../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';
const PATCH = `PATCH /api/v1/user/repos/${ID}`;

function mount(repo: ReturnType<typeof givenStatus>, fanout: ReturnType<typeof givenQueue>['fanout'] = null) {
  const queue = { ...givenQueue('empty'), fanout };
  return mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [repo] },
      'GET /api/v1/user/queue/activity': {
        repos: [givenActivity({ repo_id: ID, queue })],
        recent_activity: [],
        queue_batches: [],
        recent_activity_truncated: false,
        queue_batches_truncated: false,
        queue_batches_next: null,
        stats: null,
        record_errors: [],
      },
      [PATCH]: repo,
    },
  });
}

test('the head of a page says how many gate runs at once, and that the queue chose them', () => {
  expect([1, 6].map((fanout) => sayFanout(fanout, undefined))).toEqual([
    'one gate run at a time',
    'up to 6 gate runs at once',
  ]);
  expect([undefined, 1, 6].map((inForce) => sayFanout('auto', inForce))).toEqual([
    'gate runs at once chosen by the queue',
    'one gate run at a time, chosen by the queue',
    'up to 6 gate runs at once, chosen by the queue',
  ]);
});

test('the choice is left to the queue with a budget', async () => {
  const { sent } = mount(givenStatus({ id: ID }));
  const form = within(await screen.findByRole('form', { name: 'How it works through the queue' }));
  fireEvent.click(form.getByLabelText(/The queue chooses how many/));
  fireEvent.change(form.getByLabelText('Gate runs for each 100 landed pull requests'), {
    target: { value: '80' },
  });
  fireEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(sent.some(({ address }) => address === PATCH)).toBe(true));
  expect(sent.find(({ address }) => address === PATCH)?.body).toEqual({
    bisect_fanout: 'auto',
    auto_runs_per_100_landed: 80,
  });
});

test('the page says which number is in force and why, and the choice is taken back with a number', async () => {
  const says = 'Up to 6 gate runs at once, chosen by the queue: for a reason.';
  const { sent } = mount(givenStatus({ id: ID, bisect_fanout: 'auto' }), {
    in_force: 6,
    reason: 'budget',
    says,
  });
  expect(await screen.findByText(says)).toBeTruthy();
  expect(screen.getByText('up to 6 gate runs at once, chosen by the queue')).toBeTruthy();
  const form = within(screen.getByRole('form', { name: 'How it works through the queue' }));
  fireEvent.click(form.getByLabelText(/The queue chooses how many/));
  fireEvent.click(form.getByRole('button', { name: 'Save' }));
  await waitFor(() => expect(sent.some(({ address }) => address === PATCH)).toBe(true));
  expect(sent.find(({ address }) => address === PATCH)?.body).toEqual({ bisect_fanout: 4 });
});
