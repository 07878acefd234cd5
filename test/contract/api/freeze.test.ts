import { WEEK_DAYS } from '#core/domain/repos/freeze.ts';
import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';

async function givenRepo() {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  const a = world.as(TOKEN_A);
  const patch = (body: object) => a('PATCH', `/api/v1/user/repos/${repo.id}`, body);
  return { world, repo, a, patch };
}

const SATURDAYS = { reason: 'market', days: ['sat'], from: '08:00', to: '20:00' };

describe('freeze windows', () => {
  test('what is left out is all days, from midnight to midnight, without dates', async () => {
    const { world, repo, patch } = await givenRepo();
    const dates = { first: '2026-12-24', last: '2027-01-03' };
    const windows = [{ reason: 'holidays', ...dates }, SATURDAYS];
    const { status, json } = await patch({ freeze_windows: windows, freeze_time_zone: 'Europe/Berlin' });
    const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
    const stored = [
      { reason: 'holidays', days, from: '00:00', to: '24:00', ...dates },
      { ...SATURDAYS, first: null, last: null },
    ];
    expect([status, json.freeze_windows, json.freeze_time_zone]).toEqual([200, stored, 'Europe/Berlin']);
    expect((await world.store.getRepo(repo.id))?.freezeWindows).toEqual(stored);
  });

  test('a window that is set or lifted wakes the engine at once, unless the queue is off', async () => {
    const { world, repo, patch } = await givenRepo();
    await patch({ freeze_windows: [SATURDAYS] });
    await patch({ freeze_windows: [] });
    expect(world.sent.wakes).toMatchObject([{ repoId: repo.id }, { repoId: repo.id }]);
    await patch({ queue_enabled: false });
    const { length } = world.sent.wakes;
    await patch({ freeze_windows: [SATURDAYS] });
    expect(world.sent.wakes).toHaveLength(length);
  });

  test('the activity tells the window that holds, or else the next one, in the time of UTC', async () => {
    const { world, patch, a } = await givenRepo();
    const freezeNow = async () => (await a('GET', '/api/v1/user/queue/activity')).json.repos[0];
    expect((await freezeNow()).freeze).toBeNull();
    await patch({ freeze_windows: [SATURDAYS], freeze_time_zone: 'Asia/Kolkata' });
    const { freeze } = await freezeNow();
    expect(freeze).toMatchObject({ reason: 'market' });
    const since = new Date(freeze.since);
    expect([since.getUTCDay(), freeze.since.slice(11), freeze.until.slice(11)]).toEqual([
      6,
      '02:30:00.000Z',
      '14:30:00.000Z',
    ]);
    await world.clock.advance(since.getTime() - world.clock.now());
    expect(await freezeNow()).toMatchObject({ freeze, state: 'paused' });
  });

  test('a window in the last year that is taken can be told', async () => {
    const { patch, a } = await givenRepo();
    const dates = { first: '9000-01-01', last: '9000-12-31' };
    expect((await patch({ freeze_windows: [{ reason: 'far', ...dates }] })).status).toBe(200);
    const { status, json } = await a('GET', '/api/v1/user/queue/activity');
    expect([status, json.repos[0].freeze.until]).toEqual([200, '9001-01-01T00:00:00.000Z']);
  });

  test.each([
    ['UTC', '9999-01-01', '9999-01-01T00:00:00.000Z'],
    ['America/Los_Angeles', '9999-12-31', '9999-12-31T23:59:59.999Z'],
  ])(
    'a window that was stored up to the end of year 9999 in %s is told, cut at that end',
    async (freezeTimeZone, first, since) => {
      const { world, repo, a } = await givenRepo();
      const window = {
        reason: 'far',
        days: WEEK_DAYS,
        from: '20:00',
        to: '24:00',
        first,
        last: '9999-12-31',
      };
      const whole = first.endsWith('01-01') ? { from: '00:00' } : {};
      const freezeWindows = [{ ...window, ...whole }];
      await world.store.updateRepo({ ...repo, freezeWindows, freezeTimeZone });
      const { status, json } = await a('GET', '/api/v1/user/queue/activity');
      expect([status, json.repos[0].freeze]).toEqual([
        200,
        { reason: 'far', since, until: '9999-12-31T23:59:59.999Z' },
      ]);
    },
  );

  test.each([
    ['freeze_windows.0.reason', { reason: 'caf\u00e9' }],
    ['freeze_windows.0.days', { days: [] }],
    ['freeze_windows.0.days', { days: ['sat', 'sat'] }],
    ['freeze_windows.0.days.0', { days: ['saturday'] }],
    ['freeze_windows.0.from', { from: '24:00' }],
    ['freeze_windows.0.to', { to: '8:00' }],
    ['freeze_windows.0.first', { last: '2026-12-24' }],
    ['freeze_windows.0.last', { first: '2026-12-24' }],
    ['freeze_windows.0.last', { first: '2026-12-24', last: '2026-12-23' }],
    ['freeze_windows.0.last', { first: '2026-12-24', last: '2027-12-25' }],
    ['freeze_windows.0.last', { first: '9000-12-31', last: '9001-01-01' }],
    ['freeze_windows.0.last', { first: '9999-01-01', last: '9999-12-31' }],
    ['freeze_windows.0.first', { first: '2026-02-30', last: '2026-03-01' }],
    ['freeze_windows', { days: undefined, from: '00:00', to: '00:00' }],
  ])('a wrong %s (%j) is named, and changes nothing', async (field, wrong) => {
    const { world, repo, patch } = await givenRepo();
    const { status, code, json } = await patch({ freeze_windows: [{ ...SATURDAYS, ...wrong }] });
    expect([status, code, json.error.field]).toEqual([400, 'invalid_field', field]);
    expect((await world.store.getRepo(repo.id))?.freezeWindows).toEqual([]);
  });
});
