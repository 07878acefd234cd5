import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PatchRepoBody } from '../../../../../core/contracts/repos/managed-repo.ts';
import {
  compareSettings,
  FILE_SETTINGS,
  readSettingsFile,
  SETTINGS_FILE_BYTES_MAX,
  SETTINGS_FILE_PROBLEMS_MAX,
  settingsFileSchema,
} from '../../../../../core/contracts/repos/settings-file.ts';
import { readSettingsSeen } from '../../../../../core/contracts/repos/settings-seen.ts';

const docs = join(__dirname, '../../../../../docs');
const problemsOf = (text: string) => {
  const file = readSettingsFile(text);
  if (file.ok) throw new Error(`taken: ${JSON.stringify(file.settings)}`);
  return file.problems;
};
const told = (text: string) => problemsOf(text).map(({ line, says }) => `${line}: ${says}`);

describe('a settings file that is right', () => {
  test('gives the settings that it names, and no other', () => {
    expect(readSettingsFile('# of the team\nbatch_target: 8\nhigh_labels: [urgent]\n')).toEqual({
      ok: true,
      settings: { batch_target: 8, high_labels: ['urgent'] },
    });
  });

  test('may ask for a learned deadline, which is null', () => {
    expect(readSettingsFile('gate_timeout_minutes: null')).toEqual({
      ok: true,
      settings: { gate_timeout_minutes: null },
    });
  });

  test.each([
    ['nothing', ''],
    ['comments alone', '# later\n'],
    ['an empty mapping', '{}'],
  ])('that holds %s sets nothing', (_, text) => {
    expect(readSettingsFile(text)).toEqual({ ok: true, settings: {} });
  });
});

describe('a settings file that is wrong gives no setting, and says the line', () => {
  test('of a key that is not known, with the nearest known', () => {
    expect(problemsOf('batch_target: 8\nbatch_lingr_seconds: 9\n')).toEqual([
      {
        line: 2,
        column: 1,
        key: 'batch_lingr_seconds',
        says: '"batch_lingr_seconds" is no setting. Did you mean "batch_linger_seconds"?',
      },
    ]);
    expect(told('lunch: 12')).toEqual(['1: "lunch" is no setting.']);
  });

  test('of each value, all at once', () => {
    const lines = told('batch_target: many\n\nbisect_fanout: 17\nhigh_labels:\n  - urgent\n  - 7\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(/^1: batch_target: .*expected number/);
    expect(lines[1]).toMatch(/^3: bisect_fanout: .*<=16/);
    expect(lines[2]).toMatch(/^6: high_labels: .*expected string/);
  });

  test.each([
    ['high_labels: urgent', '1: high_labels: Invalid input: expected array, received string.'],
    ['low_labels: [""]', '1: low_labels: Too small: expected string to have >=1 characters.'],
    ['batch_target: 99999999999999999999', /^1: batch_target: Too big: [^.]*\.$/],
    ['low_labels: [dringend, café]', '1: low_labels: expected printable ASCII, no blank at either end.'],
  ])('once of each value, in words: %s', (text, line) => {
    expect(told(text)).toEqual([typeof line === 'string' ? line : expect.stringMatching(line)]);
  });

  test('of a key without a value', () => {
    expect(told('batch_target:\nbisect_fanout: 2')[0]).toMatch(/^1: batch_target: .*expected number/);
    expect(told('{ batch_target }')[0]).toMatch(/^1: batch_target: .*expected number/);
  });

  test.each([
    ['no mapping', '- batch_target', 1],
    ['a tab that indents', 'high_labels:\n\t- urgent', 2],
    ['a key twice', 'batch_target: 1\nbatch_target: 2', 2],
    ['an alias', 'high_labels: &a [urgent]\nlow_labels: *a', 2],
    ['a tag', 'batch_target: 8\nhigh_labels: [!important urgent]', 2],
    ['a tag of YAML itself', 'batch_target: 8\nbatch_linger_seconds: !!int "60"', 2],
    ['a tag of a key', '!!str batch_target: 8', 1],
    ['a tag of the whole file', '!!map\nbatch_target: 8', 2],
    ['another version, where 010 is eight', '%YAML 1.1\n---\nbatch_target: 010', 1],
    ['its own version', '%YAML 1.2\n---\nbatch_target: 8', 1],
    ['a name for tags', '# ours\n%TAG ! tag:x,2000:\n---\nbatch_target: 8', 2],
    ['a second document', 'batch_target: 1\n---\nbatch_target: 2', 2],
    ['a key that is a list', '[batch_target]: 4', 1],
    ['a quote that is not closed', 'batch_target: 4\nhigh_labels: ["urgent', 2],
  ])('of %s', (_, text, line) => {
    expect(problemsOf(text)[0]?.line).toBe(line);
  });

  test('of names that objects have by nature', () => {
    expect(told('__proto__:\n  batch_target: 4\ntoString: 1')).toEqual([
      '1: "__proto__" is no setting.',
      '3: "toString" is no setting.',
    ]);
  });

  test('of a file that is too large, and reads no further', () => {
    const [first, ...more] = problemsOf(`#${'é'.repeat(SETTINGS_FILE_BYTES_MAX / 2)}`);
    expect(first).toMatchObject({
      line: 1,
      says: `The file has more than ${SETTINGS_FILE_BYTES_MAX} bytes.`,
    });
    expect(more).toEqual([]);
  });

  describe('of what is nested deeper than settings are', () => {
    const TOO_DEEP = { key: null, says: 'The file is nested too deeply.' };
    const deep = (depth: number) => problemsOf(`high_labels: ${'['.repeat(depth)}${']'.repeat(depth)}`);

    test('where that begins, before anything goes down into it', () => {
      for (const depth of [2, 12]) expect(deep(depth)[0]?.key).toBe('high_labels');
      expect(deep(8_000)).toEqual([{ line: 1, column: 29, ...TOO_DEEP }]);
      expect(problemsOf(`batch_target: 8\n${'- '.repeat(4_000)}`)).toMatchObject([{ line: 2, ...TOO_DEEP }]);
    });

    test('also where a key is a mapping whose key is a mapping, which takes twice as long for each', () => {
      const begun = performance.now();
      expect(problemsOf(`high_labels:\n ${'? '.repeat(300)}a`)).toMatchObject([{ line: 2, ...TOO_DEEP }]);
      // No machine is so slow: followed down, it would not end.
      expect(performance.now() - begun).toBeLessThan(20_000);
    });

    test('without throwing, where thousands of lists end at once', () => {
      expect(problemsOf(`${'- '.repeat(8_000)}x\nb: 1`)).toMatchObject([{ line: 1, ...TOO_DEEP }]);
    });
  });

  test('and writes no word of the file anywhere else', () => {
    const emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
    expect(told('high_labels:\n  ? secret: word\n  : 1')[0]).toMatch(/^2: high_labels: .*expected array/);
    expect(emitted).not.toHaveBeenCalled();
    emitted.mockRestore();
  });

  test('at most so many times, and control characters of a key are not repeated', () => {
    const many = Array.from({ length: 500 }, (_, i) => `k${i}: 1`).join('\n');
    expect(problemsOf(many)).toHaveLength(SETTINGS_FILE_PROBLEMS_MAX);
    expect(told('"a\\e[31m\\nb": 1')).toEqual(['1: "a?[31m?b" is no setting.']);
  });
});

describe('a rule that a landed change could weaken', () => {
  const WHERE = 'Set it on the page.';
  test.each([
    ...['gate', 'gate_contexts', 'gate_authors', 'reuse_ci'].map((key) => [key, 'it decides what is proven']),
    ...['schedule_people', 'schedule_teams', 'schedule_own', 'bots', 'bot_approval', 'author_queued_max'].map(
      (key) => [key, 'it decides who may land what, and when'],
    ),
    ...['bot_queued_max', 'head_attempts_max', 'priority_people', 'freeze_windows', 'freeze_time_zone'].map(
      (key) => [key, 'it decides who may land what, and when'],
    ),
    ['freeze_exempt_labels', 'it decides who may land what, and when'],
    ...['notice_topics', 'notification'].map((key) => [key, 'it decides who is told']),
    ...['queue_enabled', 'wakeup_mode', 'repair_setup', 'backports', 'settings_file', 'status_context'].map(
      (key) => [key, 'it decides what the service does on the forge'],
    ),
  ])('is not for the file to set: %s', (key, why) => {
    expect(told(`${key}: 1`)).toEqual([`1: "${key}" cannot be set in the file: ${why}. ${WHERE}`]);
  });

  test.each(['base_branch', 'merge_style', 'automerge'])('nor is what enrollment settles: %s', (key) => {
    expect(told(`${key}: x`)).toEqual([
      `1: "${key}" cannot be set in the file: it is settled at enrollment.`,
    ]);
  });

  test.each([
    ['a setting that is not for the file', { reuse_ci: true }],
    ['a value beyond its limit', { batch_target: 100_000 }],
    ['a value of another kind', { high_labels: 'urgent' }],
  ])('nor is it taken from the store: %s', (_, values) => {
    const seen = { commit: 'c', tree: 't', since: 1, blob: 'b', from: 'c' };
    const right = { ...seen, values: { batch_target: 8 } };
    expect(readSettingsSeen(JSON.stringify(right))).toEqual(right);
    expect(readSettingsSeen(JSON.stringify({ ...seen, values }))).toBeUndefined();
  });

  test('each setting that a PATCH takes is in the file, or is refused with its reason', () => {
    for (const key of Object.keys(PatchRepoBody.shape).filter((name) => !(name in FILE_SETTINGS)))
      expect(told(`${key}: 1`)[0]).toContain('cannot be set in the file');
    expect(Object.keys(FILE_SETTINGS).sort()).toEqual([
      'auto_runs_per_100_landed',
      'batch_linger_seconds',
      'batch_target',
      'bisect_fanout',
      'gate_timeout_minutes',
      'high_labels',
      'incident_labels',
      'low_labels',
    ]);
  });
});

describe('what a file would change', () => {
  const current = {
    batch_target: 4,
    bisect_fanout: 1,
    high_labels: ['urgent'],
    gate_timeout_minutes: 0,
    low_labels: ['chore'],
  };

  test('is each value that differs, and nothing that the file does not name', () => {
    const file = { batch_target: 4, bisect_fanout: 2, high_labels: ['urgent', 'hot'], low_labels: ['chore'] };
    expect(compareSettings(current, file)).toEqual([
      { key: 'bisect_fanout', from: 1, to: 2 },
      { key: 'high_labels', from: ['urgent'], to: ['urgent', 'hot'] },
    ]);
  });

  test('a fan-out that the queue chooses is not the number of before', () => {
    expect(compareSettings(current, { bisect_fanout: 'auto' })).toEqual([
      { key: 'bisect_fanout', from: 1, to: 'auto' },
    ]);
    expect(readSettingsFile('bisect_fanout: auto\nauto_runs_per_100_landed: 80')).toMatchObject({ ok: true });
  });

  test('a learned deadline is not one of no minutes', () => {
    expect(compareSettings(current, { gate_timeout_minutes: null })).toEqual([
      { key: 'gate_timeout_minutes', from: 0, to: null },
    ]);
  });
});

describe('what is published', () => {
  test('the schema takes no other keys', () => {
    expect(settingsFileSchema()).toMatchObject({ additionalProperties: false });
  });

  test('the schema calls no setting one that must not be written', () => {
    expect(JSON.stringify(settingsFileSchema())).not.toContain('readOnly');
  });

  test('the example in the documents is right', () => {
    const [, example] =
      /```yaml\n([^`]+)```/.exec(readFileSync(join(docs, 'settings-file.md'), 'utf8')) ?? [];
    expect(readSettingsFile(example ?? 'no example')).toMatchObject({ ok: true });
  });
});
