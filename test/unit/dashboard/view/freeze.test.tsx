/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { mountPage } from '../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';
const PATCH = `PATCH /api/v1/user/repos/${ID}`;
const NIGHT = {
  reason: 'night',
  days: ['mon' as const],
  from: '22:00',
  to: '06:00',
  first: null,
  last: null,
};

test('a part that was not edited is not sent, and follows what another person has stored', async () => {
  const first = givenStatus({ id: ID, freeze_time_zone: 'UTC' });
  let stored = first;
  const { sent } = mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': () => ({ queue_name: 'mq', repos: [stored] }),
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ repo_id: ID })] }),
      [PATCH]: (body: object) => {
        stored = { ...stored, ...body, freeze_windows: [NIGHT] };
        return { ...first, ...body };
      },
    },
  });
  const form = await screen.findByRole('form', { name: 'Freeze windows' });
  const write = (label: string, value: string) =>
    fireEvent.change(within(form).getByLabelText(label), { target: { value } });
  const save = () => fireEvent.click(within(form).getByRole('button', { name: 'Save freeze windows' }));
  write('Time zone', 'Europe/Berlin');
  save();
  expect(await within(form).findByDisplayValue('night')).toBeTruthy();
  write('Labels that exempt', 'urgent');
  save();
  await waitFor(() => expect(sent.filter(({ address }) => address === PATCH)).toHaveLength(2));
  expect(sent.filter(({ address }) => address === PATCH).map(({ body }) => body)).toEqual([
    { freeze_time_zone: 'Europe/Berlin' },
    { freeze_exempt_labels: ['urgent'] },
  ]);
});

test('the settings page shows the next window, and sends windows, time zone and labels together', async () => {
  const repo = givenStatus({ id: ID });
  const freeze = { reason: 'night', since: '2036-11-24T23:00:00.000Z', until: '2036-11-25T05:00:00.000Z' };
  const { sent } = mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': { queue_name: 'mq', repos: [repo] },
      'GET /api/v1/user/queue/activity': {
        repos: [givenActivity({ repo_id: ID, freeze })],
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
  const form = await screen.findByRole('form', { name: 'Freeze windows' });
  expect(form.textContent).toContain('The next one is from');
  fireEvent.click(within(form).getByRole('button', { name: 'Add a window' }));
  fireEvent.click(within(form).getByLabelText('Friday'));
  fireEvent.change(within(form).getByLabelText('From'), { target: { value: '16:00' } });
  fireEvent.change(within(form).getByLabelText('Time zone'), { target: { value: 'Europe/Berlin' } });
  fireEvent.change(within(form).getByLabelText('Labels that exempt'), {
    target: { value: 'urgent, hotfix' },
  });
  fireEvent.click(within(form).getByRole('button', { name: 'Save freeze windows' }));
  await waitFor(() => expect(sent.some(({ address }) => address === PATCH)).toBe(true));
  expect(sent.find(({ address }) => address === PATCH)?.body).toEqual({
    freeze_windows: [
      { reason: 'weekend', days: ['fri', 'sat', 'sun'], from: '16:00', to: '24:00', first: null, last: null },
    ],
    freeze_time_zone: 'Europe/Berlin',
    freeze_exempt_labels: ['urgent', 'hotfix'],
  });
});
