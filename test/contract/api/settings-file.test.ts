import type { ReconcileOutcome } from '#core/domain/repos/repo.ts';
import type { SettingsSeen } from '#core/domain/repos/settings-file.ts';
import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';

/** What the page is told of the settings file (decision 0237). */
const REPOS = '/api/v1/user/repos';
const SEEN: SettingsSeen = {
  commit: 'c2',
  tree: 't2',
  since: Date.UTC(2026, 10, 23),
  blob: 'b2',
  from: 'c1',
  values: { bisect_fanout: 4, gate_timeout_minutes: null },
};
const PROBLEMS = [
  { line: 3, column: 1, key: 'gate', says: '"gate" cannot be set in the file.' },
  { line: 5, column: 2, key: null, says: 'A key is a word.' },
];

async function given(seen: SettingsSeen | undefined, settingsFile = true) {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A, { settingsFile, bisectFanout: 2 });
  const outcome: ReconcileOutcome = { ranAt: world.clock.now(), ok: true, errorCode: null };
  await world.store.saveReconcileOutcome(repo, {
    ...outcome,
    ...(seen === undefined ? {} : { settingsSeen: seen }),
  });
  const a = world.as(TOKEN_A);
  const path = `${REPOS}/${repo.id}`;
  return { a, path, shown: async () => (await a('GET', REPOS)).json[0] };
}

test('each setting that a file may set is shown with the value that holds and where it comes from', async () => {
  const { shown } = await given(SEEN);
  const { file_settings, bisect_fanout } = await shown();
  expect(bisect_fanout).toBe(2);
  expect(file_settings).toEqual({
    state: 'right',
    commit: 'c2',
    from: 'c1',
    since: '2026-11-23T00:00:00.000Z',
    problems: [],
    values: {
      batch_linger_seconds: { value: 0, origin: 'page' },
      batch_target: { value: 0, origin: 'page' },
      bisect_fanout: { value: 4, origin: 'file' },
      auto_runs_per_100_landed: { value: 125, origin: 'page' },
      gate_timeout_minutes: { value: null, origin: 'file' },
      incident_labels: { value: [], origin: 'page' },
      high_labels: { value: [], origin: 'page' },
      low_labels: { value: [], origin: 'page' },
    },
  });
});

test.each([
  ['off', SEEN, false],
  ['unread', undefined, true],
  ['missing', { ...SEEN, blob: null, values: {}, from: null }, true],
  ['wrong', { ...SEEN, problems: PROBLEMS }, true],
] as const)('a file is shown as %s', async (state, seen, isAsked) => {
  const { shown } = await given(seen, isAsked);
  const { file_settings } = await shown();
  expect(file_settings.state).toBe(state);
  const holds = state === 'wrong' ? { value: 4, origin: 'file' } : { value: 2, origin: 'page' };
  expect(file_settings.values.bisect_fanout).toEqual(holds);
  expect(file_settings.problems).toEqual(state === 'wrong' ? PROBLEMS : []);
});

test('a PATCH of what the file sets is kept for when the file does not set it any more', async () => {
  const { a, path, shown } = await given(SEEN);
  const answer = await a('PATCH', path, { bisect_fanout: 7 });
  expect([answer.status, answer.json.bisect_fanout]).toEqual([200, 7]);
  expect((await shown()).file_settings.values.bisect_fanout).toEqual({ value: 4, origin: 'file' });
  await a('PATCH', path, { settings_file: false });
  expect((await shown()).file_settings.values.bisect_fanout).toEqual({ value: 7, origin: 'page' });
});

test('a wrong file is among the drifts of the activity, with its lines; one that is not asked for is none', async () => {
  const drifts = async (isAsked: boolean) => {
    const { a } = await given({ ...SEEN, problems: PROBLEMS }, isAsked);
    return (await a('GET', '/api/v1/user/queue/activity')).json.repos[0].drifts;
  };
  expect(await drifts(false)).toEqual([]);
  expect(await drifts(true)).toEqual([
    expect.objectContaining({
      kind: 'settings_file',
      since: '2026-11-23T00:00:00.000Z',
      repair: 'people',
      says: 'The settings file on the base branch is wrong, so the settings from before it stay in force: line 3: "gate" cannot be set in the file; line 5: A key is a word',
    }),
  ]);
});
