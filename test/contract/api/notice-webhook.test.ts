import { newDelivery } from '#core/domain/notices/webhook-delivery.ts';
import { ApiWorld, TENANT_A, TOKEN_A } from '../../support/api-world.ts';

async function givenRepo() {
  const world = new ApiWorld();
  const { repo } = await world.enroll(TENANT_A);
  const a = world.as(TOKEN_A);
  const path = `/api/v1/user/repos/${repo.id}`;
  const stored = async () => (await world.store.getRepo(repo.id))?.notification ?? null;
  return { world, repo, a, path, stored };
}
const URL = 'https://hooks.example.org/canary-of-a-path';

describe('the webhook of notices', () => {
  test('is sealed when it is set, shows its secret in that answer alone, and a new one each time', async () => {
    const { world, a, path, stored } = await givenRepo();
    const first = await a('PUT', `${path}/notification/webhook`, { url: URL });
    const second = await a('PUT', `${path}/notification/webhook`, { url: URL });
    expect([first.status, first.json.host]).toEqual([200, 'https://hooks.example.org']);
    for (const { json } of [first, second]) expect(json.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(second.json.secret).not.toBe(first.json.secret);
    expect((await stored())?.webhook).toMatch(/^https:\/\/hooks\.example\.org sealed:/);
    const { repos } = (await a('GET', '/api/v1/user/queue/activity')).json;
    expect(repos[0].notification.webhook).toBe('https://hooks.example.org/…');
    await a('GET', '/api/v1/user/export');
    expect(world.answers.join()).not.toContain('canary-of-a-path');
    expect(world.store.dump()).not.toMatch(/canary-of-a-path|whsec_/);
    expect(world.lines.join()).not.toMatch(/canary-of-a-path|whsec_/);
  });

  test('stays when the other places are replaced, and they stay when it is removed', async () => {
    const { a, path, stored } = await givenRepo();
    await a('PUT', `${path}/notification/webhook`, { url: URL });
    await a('PATCH', path, { notification: { email: 'a@example.org' } });
    expect(await stored()).toMatchObject({ email: 'a@example.org', webhook: expect.any(String) });
    expect((await a('DELETE', `${path}/notification/webhook`)).status).toBe(204);
    expect(await stored()).toMatchObject({ email: 'a@example.org', webhook: null });
    await a('PUT', `${path}/notification/webhook`, { url: URL });
    await a('PATCH', path, { notification: null });
    expect(await stored()).toMatchObject({ email: null, webhook: expect.any(String) });
    await a('DELETE', `${path}/notification/webhook`);
    expect(await stored()).toBeNull();
  });

  test('is the one place that a PATCH does not replace: what that leaves out is removed, and topics are those of the start', async () => {
    const { a, path, stored } = await givenRepo();
    const slack = 'https://hooks.slack.com/services/T/B/x';
    await a('PATCH', path, { notification: { email: 'a@example.org' }, notice_topics: { email: [] } });
    const { json } = await a('PATCH', path, {
      notification: { chat_a_webhook_url: slack },
      notice_topics: { slack: ['landed'] },
    });
    expect(await stored()).toMatchObject({ email: null, slack: expect.any(String) });
    expect(json.notice_topics).toMatchObject({ email: ['bounced'], slack: ['landed'] });
  });

  test('stays when it is set while another request changes the status context', async () => {
    const { world, a, path, stored } = await givenRepo();
    const { updateRepo } = world.store;
    let between = true;
    world.store.updateRepo = async (...given) => {
      if (between) {
        between = false;
        await a('PUT', `${path}/notification/webhook`, { url: URL });
      }
      return updateRepo.apply(world.store, given);
    };
    const changed = await a('PATCH', path, {
      status_context: 'next',
      notification: { email: 'a@example.org' },
    });
    expect([changed.status, changed.json.repo?.status_context ?? changed.json.status_context]).toEqual([
      200,
      'next',
    ]);
    expect(await stored()).toMatchObject({ email: 'a@example.org', webhook: expect.any(String) });
  });

  test.each([
    'http://hooks.example.org/x',
    'https://127.0.0.1/x',
    'https://[::1]/x',
    'https://localhost/x',
    'https://hooks.example.org:8443/x',
    'https://user@hooks.example.org/x',
    'https://hooks.example.org/x#y',
    'https://hooks.example.org\\x',
    '',
  ])('an address %j is refused', async (url) => {
    const { a, path, stored } = await givenRepo();
    const { code, json } = await a('PUT', `${path}/notification/webhook`, { url });
    expect([code, json.error.field, await stored()]).toEqual(['invalid_field', 'url', null]);
  });

  test('has a log of its deliveries without a body', async () => {
    const { world, repo, a, path } = await givenRepo();
    const told = { tenantId: TENANT_A, kind: 'landed', body: '{"secret":"canary"}' } as const;
    world.store.outbox.push(newDelivery({ repoId: repo.id, at: 1_000, id: 'landed_1' }, told, 2_000));
    const { json, text } = await a('GET', `${path}/notification/deliveries`);
    expect(json.deliveries).toEqual([
      {
        id: 'landed_1',
        kind: 'landed',
        at: '1970-01-01T00:00:01.000Z',
        state: 'waiting',
        attempts: 0,
        status: null,
        tried_at: null,
        next_at: '1970-01-01T00:05:02.000Z',
      },
    ]);
    expect(text).not.toContain('canary');
  });

  test('a test to all places is asked for, five times at once', async () => {
    const { world, repo, a, path } = await givenRepo();
    await a('PUT', `${path}/notification/webhook`, { url: URL });
    const codes: unknown[] = [];
    for (let asked = 0; asked < 6; asked += 1) {
      const { status, json } = await a('POST', `${path}/notification/test`);
      codes.push([status, json.asked ?? json.error.code]);
      world.store.takeNotices();
    }
    expect(codes).toEqual([...Array(5).fill([200, true]), [429, 'rate_limited']]);
    expect(world.notices[0]).toMatchObject({ kind: 'test', tenantId: TENANT_A, repoId: repo.id });
  });
});
