/** @jest-environment jsdom */
import { fireEvent, screen, waitFor, within } from '@testing-library/react';
import { toFileSettings } from '#core/contracts/repos/settings-file-view.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';
import type { SettingsSeen } from '#core/domain/repos/settings-file.ts';
import { mountPage } from '../../../support/mount-page.tsx';
import { givenActivity, givenStatus } from '../rows.ts';

const ID = '11111111-0000-4000-8000-000000000001';
const PATCH = `PATCH /api/v1/user/repos/${ID}`;
const SEEN: SettingsSeen = {
  commit: 'c'.repeat(40),
  tree: 't',
  since: 0,
  blob: 'b',
  from: 'f'.repeat(40),
  values: { bisect_fanout: 4, gate_timeout_minutes: null, high_labels: ['urgent', 'hot'] },
  problems: [{ line: 3, column: 1, key: 'gate', says: '"gate" cannot be set in the file.' }],
};

function mount(seen: SettingsSeen | undefined, settingsFile: boolean) {
  const repo = givenStatus({
    id: ID,
    settings_file: settingsFile,
    file_settings: toFileSettings({ ...DEFAULT_SETTINGS, settingsFile }, seen),
  });
  return mountPage({
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
}
const section = () => screen.findByRole('region', { name: 'Settings in the repository' });

test('each setting of the file is shown with its value and where that comes from, and a wrong file with its lines', async () => {
  mount(SEEN, true);
  const shown = await section();
  const rows = within(shown)
    .getAllByRole('row')
    .map((row) => row.textContent);
  expect(rows).toContain('bisect_fanout4the file');
  expect(rows).toContain('gate_timeout_minuteslearnedthe file');
  expect(rows).toContain('high_labelsurgent, hotthe file');
  expect(rows).toContain('low_labelsnonethis page');
  expect(shown.textContent).toContain(`those of ${'f'.repeat(10)} stay in force`);
  expect(within(shown).getByRole('listitem').textContent).toBe('line 3: "gate" cannot be set in the file.');
});

test('where the file is not asked for, it is offered, and switched on by one PATCH', async () => {
  const { sent } = mount(undefined, false);
  const shown = await section();
  expect(within(shown).queryByRole('table')).toBeNull();
  fireEvent.click(within(shown).getByRole('button', { name: 'Read the file' }));
  await waitFor(() =>
    expect(sent.find(({ address }) => address === PATCH)?.body).toEqual({ settings_file: true }),
  );
});
