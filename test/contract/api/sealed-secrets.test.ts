import { Secret } from '#core/secret.ts';
import { ApiWorld, HOOK_SECRET, TENANT_A, TOKEN_A } from '../../support/api-world.ts';

const REPOS = '/api/v1/user/repos';
const CHAT = 'https://hooks.slack.com/services/T0/B0/canary51c7';
const HOOK_BODY = JSON.stringify({
  ref: 'refs/heads/main',
  repository: { full_name: 'acme/app', html_url: 'https://forge.example/acme/app' },
});

describe('a reader of the table', () => {
  let world: ApiWorld;
  let a: ReturnType<ApiWorld['as']>;

  beforeEach(async () => {
    world = new ApiWorld();
    a = world.as(TOKEN_A);
    await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
  });

  const rowOf = async (id: string) => {
    const row = await world.store.getRepo(id);
    return JSON.stringify([row, row?.webhookSecret?.reveal()]);
  };

  test('finds no address of a chat, whether it came with the enrollment or later', async () => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    const made = await a('POST', REPOS, {
      connection_id: connection.id,
      repo_slug: 'acme/app',
      notification: { chat_a_webhook_url: CHAT },
    });
    expect(made.status).toBe(201);
    expect(await rowOf(made.json.id)).not.toContain('canary51c7');
    await a('PATCH', `${REPOS}/${made.json.id}`, { notification: { chat_a_webhook_url: `${CHAT}2` } });
    expect(await rowOf(made.json.id)).not.toContain('canary51c7');
  });

  test('finds no secret of before once its row is written again, and its webhooks still count', async () => {
    const targets = { email: null, slack: CHAT, discord: null, matrix: null, webhook: null };
    const { repo } = await world.enroll(TENANT_A, {
      wakeupMode: 'webhook',
      hookId: 'h1',
      notification: targets,
      webhookSecret: new Secret(HOOK_SECRET),
    });
    expect(await rowOf(repo.id)).toContain(HOOK_SECRET);
    const send = () =>
      world.call('POST', '/api/v1/webhooks/forge', {
        query: { r: 'h1' },
        body: HOOK_BODY,
        headers: { 'x-hub-signature-256': world.signHook(HOOK_BODY), 'x-gitea-event': 'push' },
      });
    expect((await send()).status).toBe(200);
    expect((await a('PATCH', `${REPOS}/${repo.id}`, { batch_target: 7 })).status).toBe(200);
    const row = await rowOf(repo.id);
    expect(row).not.toContain(HOOK_SECRET);
    expect(row).not.toContain('canary51c7');
    expect((await send()).status).toBe(200);
  });

  test('cannot give one repository the webhook secret of another', async () => {
    const [one, two] = [
      await world.enroll(TENANT_A, { slug: 'acme/one', wakeupMode: 'webhook', hookId: 'h1' }),
      await world.enroll(TENANT_A, { slug: 'acme/two', wakeupMode: 'webhook', hookId: 'h2' }),
    ];
    await a('PATCH', `${REPOS}/${one.repo.id}`, { batch_target: 7 });
    const moved = (await world.store.getRepo(one.repo.id))?.webhookSecret ?? null;
    await world.store.updateRepo({ ...two.repo, webhookSecret: moved });
    const answer = await world.call('POST', '/api/v1/webhooks/forge', {
      query: { r: 'h2' },
      body: HOOK_BODY,
      headers: { 'x-hub-signature-256': world.signHook(HOOK_BODY), 'x-gitea-event': 'push' },
    });
    expect(answer.code).toBe('invalid_signature');
  });

  test('a key service that does not answer fails a delivery by the code that the contract lists', async () => {
    const { repo } = await world.enroll(TENANT_A, { wakeupMode: 'webhook', hookId: 'h1' });
    await a('PATCH', `${REPOS}/${repo.id}`, { batch_target: 7 });
    world.secrets.failing = 'open';
    const answer = await world.call('POST', '/api/v1/webhooks/forge', {
      query: { r: 'h1' },
      body: HOOK_BODY,
      headers: { 'x-hub-signature-256': world.signHook(HOOK_BODY), 'x-gitea-event': 'push' },
    });
    expect([answer.status, answer.code]).toEqual([500, 'internal_error']);
  });

  test('a key service that does not answer stores no plain text instead', async () => {
    const { repo } = await world.enroll(TENANT_A);
    world.secrets.failing = 'seal';
    const answer = await a('PATCH', `${REPOS}/${repo.id}`, { notification: { chat_a_webhook_url: CHAT } });
    expect(answer.code).toBe('decryption_error');
    expect((await world.store.getRepo(repo.id))?.notification).toBeNull();
  });
});
