/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { DEFAULT_CHOICE } from '#core/domain/notices/notice-topics.ts';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenActivity, givenStatus } from '../../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';
const PATCH = `PATCH /api/v1/user/repos/${ID}`;

test('each place is ticked for what it is told of, and the choice is saved as a whole', async () => {
  const repo = givenStatus({ id: ID });
  const { sent } = mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [repo] },
      'GET /api/v1/user/queue/activity': {
        repos: [givenActivity({ repo_id: ID })],
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
  const form = await screen.findByRole('form', { name: 'What each place is told of' });
  const slack = within(within(form).getByRole('group', { name: 'Slack' }));
  fireEvent.click(slack.getByLabelText('the queue stands still'));
  fireEvent.click(slack.getByLabelText('bounced'));
  fireEvent.click(within(form).getByRole('button', { name: 'Save what is told' }));
  await waitFor(() => expect(sent.some(({ address }) => address === PATCH)).toBe(true));
  expect(sent.find(({ address }) => address === PATCH)?.body).toEqual({
    notice_topics: { ...DEFAULT_CHOICE, slack: ['stuck'] },
  });
});
