/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { mountPage } from '../../../../support/mount-page.tsx';
import { givenActivity, givenFeed, givenStatus } from '../../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';

function mount() {
  let repo = givenStatus({ id: ID });
  return mountPage({
    at: `/repos/${ID}/settings`,
    answers: {
      'GET /api/v1/me': { id: 'tenant' },
      'GET /api/v1/user/queue/status': () => ({ queue_name: 'mq', repos: [repo] }),
      'GET /api/v1/user/queue/activity': givenFeed({ repos: [givenActivity({ repo_id: ID })] }),
      [`PATCH /api/v1/user/repos/${ID}`]: (changes: object) => {
        repo = { ...repo, ...changes };
        return repo;
      },
    },
  });
}

test.each([
  ['Priorities by labels', 'Labels of an incident', 'Save priorities', 'incident'],
  ['Who may schedule, and how much', 'Accounts that may schedule', 'Save rules', 'ann'],
  ['Freeze windows', 'Time zone', 'Save freeze windows', 'Europe/Berlin'],
  ['How it works through the queue', 'Status context', 'Save', 'mq/main'],
])(
  'the form "%s" says once its values are stored, and takes edits back until then',
  async (form, label, button, value) => {
    mount();
    const within_ = within(await screen.findByRole('form', { name: form }));
    const field = within_.getByLabelText<HTMLInputElement>(label);
    const before = field.value;
    fireEvent.change(field, { target: { value: 'mistyped' } });
    fireEvent.click(within_.getByRole('button', { name: 'Undo' }));
    expect(field.value).toBe(before);
    fireEvent.change(field, { target: { value } });
    expect(within_.getByRole('status').textContent).toBe('');
    fireEvent.click(within_.getByRole('button', { name: button }));
    await waitFor(() => expect(within_.getByRole('status').textContent).toBe('Saved.'));
    fireEvent.change(field, { target: { value: 'other' } });
    expect(within_.getByRole('status').textContent).toBe('');
  },
);

test('what each place is told of says once it is stored', async () => {
  mount();
  const form = within(await screen.findByRole('form', { name: 'What each place is told of' }));
  fireEvent.click(within(form.getByRole('group', { name: 'E-mail' })).getByLabelText('landed'));
  fireEvent.click(form.getByRole('button', { name: 'Save what is told' }));
  await waitFor(() => expect(form.getByRole('status').textContent).toBe('Saved.'));
});
