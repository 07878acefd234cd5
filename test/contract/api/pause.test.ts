import { DAY_MS } from '#core/domain/api-limits.ts';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

async function givenRepo() {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  await world.enroll(TENANT_B);
  const path = (verb: string) => `/api/v1/user/repos/${repo.id}/${verb}`;
  return { world, repo, path, a: world.as(TOKEN_A) };
}

const at = (ms: number) => new Date(ms).toISOString();

describe('pause, drain and resume', () => {
  test.each(['pause', 'drain'] as const)(
    '%s is stored with its reason and its end, shown, and wakes the engine at once',
    async (kind) => {
      const { world, repo, path, a } = await givenRepo();
      const until = world.clock.now() + DAY_MS;
      const { status, json } = await a('POST', path(kind), { reason: 'release 2.4', until: at(until) });
      const pause = { kind, reason: 'release 2.4', since: at(world.clock.now()), until: at(until) };
      expect([status, json]).toMatchObject([200, { id: repo.id, queue_enabled: true, pause }]);
      expect(await world.store.getRepo(repo.id)).toMatchObject({
        pause: { kind, reason: 'release 2.4', since: world.clock.now(), until },
      });
      expect(world.sent.wakes).toMatchObject([{ repoId: repo.id }]);
      const { json: feed } = await a('GET', '/api/v1/user/queue/activity');
      expect(feed.repos).toMatchObject([{ state: 'paused' }]);
    },
  );

  test.each([
    ['without fractions', (iso: string) => iso.replace('.000Z', 'Z')],
    ['with an offset', (iso: string) => iso.replace('.000Z', '+00:00')],
  ])('its end may be a time of RFC 3339 %s', async (_name, spell) => {
    const { world, path, a } = await givenRepo();
    const until = Math.ceil((world.clock.now() + DAY_MS) / 1000) * 1000;
    const { status, json } = await a('POST', path('pause'), { until: spell(at(until)) });
    expect([status, json.pause]).toMatchObject([200, { until: at(until) }]);
  });

  test('without a body it has no reason and no end, as with an empty one', async () => {
    const { path, a } = await givenRepo();
    const { status, json } = await a('POST', path('drain'));
    expect([status, json.pause]).toMatchObject([200, { kind: 'drain', reason: null, until: null }]);
  });

  test('resume ends it, and does no harm where nothing is paused', async () => {
    const { world, repo, path, a } = await givenRepo();
    await a('POST', path('pause'), {});
    const answers = [await a('POST', path('resume')), await a('POST', path('resume'))];
    expect(answers).toMatchObject([
      { status: 200, json: { pause: null } },
      { status: 200, json: { pause: null } },
    ]);
    expect((await world.store.getRepo(repo.id))?.pause).toBeNull();
  });

  test.each([
    ['until', at(0)],
    ['until', at(Date.UTC(2400, 0))],
    ['until', 'tomorrow'],
    ['reason', ''],
    ['reason', ' x'],
    ['reason', 'one\ntwo'],
    ['reason', 'x'.repeat(61)],
    ['reason', 'caf\u00e9'],
  ])('a wrong %s (%j) changes nothing', async (field, value) => {
    const { world, repo, path, a } = await givenRepo();
    const { status, code, json } = await a('POST', path('pause'), { [field]: value });
    expect([status, code, json.error.field]).toEqual([400, 'invalid_field', field]);
    expect((await world.store.getRepo(repo.id))?.pause).toBeNull();
  });

  test('a change of settings leaves a pause as it is', async () => {
    const { path, repo, a } = await givenRepo();
    await a('POST', path('drain'), { reason: 'audit' });
    const { json } = await a('PATCH', `/api/v1/user/repos/${repo.id}`, { bisect_fanout: 3 });
    expect(json.pause).toMatchObject({ kind: 'drain', reason: 'audit' });
  });

  test('of another tenant it is not found, and nothing is paused (A86)', async () => {
    const { world, repo, path } = await givenRepo();
    expect((await world.as(TOKEN_B)('POST', path('pause'), {})).code).toBe('not_found');
    expect((await world.store.getRepo(repo.id))?.pause).toBeNull();
  });
});
