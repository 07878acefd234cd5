/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { DEFAULT_CHOICE } from '#core/domain/notices/notice-topics.ts';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../../rows.ts';

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

test('a place that was not edited follows what another person has stored', async () => {
  const first = givenStatus({ id: ID });
  let stored = first;
  const { sent } = mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': () => ({ queue_name: 'mq', repos: [stored] }),
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ repo_id: ID })] }),
      [PATCH]: (body: Pick<typeof first, 'notice_topics'>) => {
        stored = { ...first, notice_topics: { ...body.notice_topics, email: ['landed'] } };
        return { ...first, ...body };
      },
    },
  });
  const form = await screen.findByRole('form', { name: 'What each place is told of' });
  const box = (place: string, topic: string) =>
    within(within(form).getByRole('group', { name: place })).getByLabelText<HTMLInputElement>(topic);
  const save = () => fireEvent.click(within(form).getByRole('button', { name: 'Save what is told' }));
  fireEvent.click(box('Slack', 'the queue stands still'));
  save();
  await waitFor(() => expect(box('E-mail', 'landed').checked).toBe(true));
  fireEvent.click(box('Slack', 'bounced'));
  save();
  await waitFor(() => expect(sent.filter(({ address }) => address === PATCH)).toHaveLength(2));
  expect(sent.findLast(({ address }) => address === PATCH)?.body).toEqual({
    notice_topics: { ...DEFAULT_CHOICE, slack: ['stuck'], email: ['landed'] },
  });
});
