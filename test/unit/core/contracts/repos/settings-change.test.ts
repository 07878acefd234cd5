import { tellSettingsChange } from '#core/contracts/repos/settings-change.ts';
import { readSettingsFile } from '#core/contracts/repos/settings-file.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';

const tell = (text: string, before: Readonly<Record<string, unknown>> = {}) =>
  tellSettingsChange(DEFAULT_SETTINGS, before, readSettingsFile(text));

/** Words about a change of the settings file (A38, A138). */
test('the status names settings and numbers, and no word of the file', () => {
  const labels = 'incident_labels: [FREE_TEXT]\nlow_labels: [FREE_TEXT, more]\nbisect_fanout: auto\n';
  expect(tell(labels)).toEqual({
    short: 'queued: .mergeyard.yml would set bisect_fanout 1 -> auto; incident_labels (1); low_labels (2)',
    says: 'bisect_fanout 1 -> auto; incident_labels [] -> ["FREE_TEXT"]; low_labels [] -> ["FREE_TEXT","more"]',
  });
  expect(tell('FREE_TEXT: 1\nbatch_target: FREE_TEXT\n')?.short).toBe(
    'queued: .mergeyard.yml would be wrong at line 1, line 2 (batch_target), so no setting would change',
  );
});

test('a status has at most 140 printable characters, however much changes or is wrong', () => {
  const all = `batch_linger_seconds: 86400\nbatch_target: 100\nbisect_fanout: 16\ngate_timeout_minutes: 1440
incident_labels: [a]\nhigh_labels: [b]\nlow_labels: [c]\nauto_runs_per_100_landed: 400\n`;
  const wrong = `${Array.from({ length: 30 }, (_, line) => `unknown_${line}: 1`).join('\n')}\n`;
  for (const text of [all, wrong]) expect(tell(text)?.short).toMatch(/^queued: [ -~]{40,132}$/);
  expect(tell(`high_labels: [${'\u202e'}x]\nbatch_target: 9\n`)?.short).toMatch(/^[ -~]+$/);
});

test('long names of labels are cut in the whole words too', () => {
  const names = Array.from({ length: 5 }, (_, each) => `l${each}`.repeat(25)).join(', ');
  const text = ['incident_labels', 'high_labels', 'low_labels'].map((key) => `${key}: [${names}]`).join('\n');
  expect(tell(text)?.says.length).toBe(600);
});

test('what the file before has set and this one does not name is told to go back to the stored value', () => {
  expect(tell('batch_target: 3\n', { bisect_fanout: 4, batch_target: 3 })?.says).toBe('bisect_fanout 4 -> 1');
  expect(tell('batch_target: 3\n', { batch_target: 3 })).toBeNull();
});
