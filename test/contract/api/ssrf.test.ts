import { ApiWorld, FORGE_TOKEN, TENANT_A, TOKEN_A } from '../../support/api-world.ts';
import { BOT } from '../../support/scripted-accounts.ts';

/** Spelled as attackers spell them. */
const REFUSED: readonly string[] = [
  'http://git.example.org',
  'ftp://git.example.org',
  'file:///etc/passwd',
  'gopher://x',
  'javascript:1',
  'https://127.0.0.1',
  'https://127.1',
  'https://0',
  'https://0.0.0.0',
  'https://2130706433',
  'https://0x7f.1',
  'https://017700000001',
  'https://0x7f000001',
  'https://127.0.0.1.',
  'https://localhost',
  'https://localhost.',
  'https://a.localhost',
  'https://LOCALHOST',
  'https://[::1]',
  'https://[::]',
  'https://[::ffff:127.0.0.1]',
  'https://[::ffff:7f00:1]',
  'https://[64:ff9b::7f00:1]',
  'https://[fe80::1]',
  'https://[fd00:ec2::254]',
  'https://[fc00::1]',
  'https://[ff02::1]',
  'https://10.0.0.1',
  'https://10.255.255.255',
  'https://172.16.0.1',
  'https://172.31.255.255',
  'https://192.168.0.1',
  'https://100.64.0.1',
  'https://169.254.169.254',
  'https://169.254.170.2',
  'https://192.0.0.1',
  'https://198.18.0.1',
  'https://224.0.0.1',
  'https://240.0.0.1',
  'https://255.255.255.255',
  'https://git.example.org@127.0.0.1',
  'https://user:pw@git.example.org',
  'https://127.0.0.1#git.example.org',
  'https://127.0.0.1?git.example.org',
  'https://git.example.org%2f@127.0.0.1',
  'https:\\\\127.0.0.1',
  'https:/\\127.0.0.1',
  'https://git.example.org\\@127.0.0.1',
  'https://127.0.0.1\t',
  'https://127.0.\n0.1',
  ' https://127.0.0.1',
  'https://１２７.0.0.1',
  'https://127。0。0。1',
  'https://gіt.example.org',
  'https://git.example.org.',
  'https://git.example.org:22',
  'https://git.example.org:25',
  'https://git.example.org:6379',
  'https://git.example.org:9200',
  'https://git.example.org:8443',
  'https://x.internal',
  'https://metadata.google.internal',
  'https://vpce-1.amazonaws.com',
  'https://x.local',
  'https://intranet',
  'https://api.mergeyard.example',
  'https://',
  'https:git.example.org',
  '//git.example.org',
  'git.example.org',
];

/** Almost the addresses of the two chat services. */
const CHAT_TRICKS: readonly string[] = [
  ...['hooks.slack.com', 'discord.com'].flatMap((host) => {
    const path = host === 'discord.com' ? '/api/webhooks/1/x' : '/services/T0/B0/x';
    return [
      `http://${host}${path}`,
      `https://${host}:443${path}`,
      `https://${host}:8443${path}`,
      `https://u@${host}${path}`,
      `https://${host}@127.0.0.1${path}`,
      `https://${host}.example.org${path}`,
      `https://x${host}${path}`,
      `https://x.${host}${path}`,
      `https://${host}.${path}`,
      `https://${host}${path}?a=b`,
      `https://${host}${path}#x`,
      `https://${host}/`,
      `https://${host}/other${path}`,
      `https://${host}/..${path}`,
      `https://${host}${path}/../../x`,
      `https://${host}/%2e%2e${path}`,
      `https://${host}\\@127.0.0.1${path}`,
      `https://${host}${path}\n`,
      ` https://${host}${path}`,
      `https://${host.toUpperCase()}${path}`,
      `https://127.0.0.1${path}`,
      `//${host}${path}`,
      `https:${host}${path}`,
      `https://${host}\t${path}`,
    ];
  }),
];

/** Honest names that resolve to a forbidden address. */
const RESOLVES_TO = {
  'rebound.example.org': '127.0.0.1',
  'metadata.example.org': '169.254.169.254',
  'inside.example.org': '10.1.2.3',
  'six.example.org': 'fd00:ec2::254',
  'mapped.example.org': '::ffff:10.0.0.1',
} as const;

describe('a forge address that leads inside is refused when it is written (A98)', () => {
  const create = (world: ApiWorld, instance_url: string) =>
    world.as(TOKEN_A)('POST', '/api/v1/connections', { instance_url, token: FORGE_TOKEN, bot_login: BOT });

  test('the list is long enough', () => {
    expect(new Set(REFUSED).size).toBeGreaterThanOrEqual(60);
  });

  test.each(REFUSED)('%j', async (url) => {
    const world = new ApiWorld();
    const answer = await create(world, url);
    expect([answer.status, answer.code, answer.json.error.field]).toEqual([
      400,
      'invalid_field',
      'instance_url',
    ]);
    expect(world.forge.asked).toEqual([]);
    expect(world.store.dump()).not.toContain(FORGE_TOKEN);
  });

  test.each(Object.entries(RESOLVES_TO))('%s, which is %s', async (host, address) => {
    const world = new ApiWorld();
    world.hosts.set(host, address);
    expect((await create(world, `https://${host}`)).code).toBe('invalid_field');
  });

  test('and so are all of them as a chat address, by every route that takes one (A82)', async () => {
    const world = new ApiWorld();
    world.rateFactor = 1_000;
    const { repo, connection } = await world.enroll(TENANT_A);
    await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
    const a = world.as(TOKEN_A);
    const enroll = { connection_id: connection.id, repo_slug: 'acme/chat' };
    for (const url of [...REFUSED, ...CHAT_TRICKS]) {
      for (const field of ['chat_a_webhook_url', 'chat_b_webhook_url']) {
        const notification = { [field]: url };
        const patched = await a('PATCH', `/api/v1/user/repos/${repo.id}`, { notification });
        const enrolled = await a('POST', '/api/v1/user/repos', { ...enroll, notification });
        for (const { code, json } of [patched, enrolled]) {
          expect([url, code, json.error?.field]).toEqual([url, 'invalid_field', `notification.${field}`]);
        }
      }
    }
    expect((await world.store.getRepo(repo.id))?.notification).toBeNull();
  });

  test.each(Object.entries(RESOLVES_TO))(
    '%s, which is %s, as a place of notices, by every route that takes one',
    async (host, address) => {
      const world = new ApiWorld();
      const { repo, connection } = await world.enroll(TENANT_A);
      await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
      const a = world.as(TOKEN_A);
      const path = `/api/v1/user/repos/${repo.id}`;
      const matrix = { homeserver: `https://${host}`, room: '!room:example.org', token: 'syt_token' };
      const chat = { chat_a_webhook_url: 'https://hooks.slack.com/services/T0/B0/x' };
      const enroll = { connection_id: connection.id, repo_slug: 'acme/chat' };
      const set = async (hook: string, places: object) => [
        await a('PUT', `${path}/notification/webhook`, { url: hook }),
        await a('PATCH', path, { notification: places, bisect_fanout: 3 }),
        await a('POST', '/api/v1/user/repos', { ...enroll, notification: places }),
      ];
      const fieldsOf = (answers: Awaited<ReturnType<typeof set>>) =>
        answers.map(({ status, code, json }) => [status, code, json.error?.field]);
      world.hosts.set(host, address);
      const at = 'notification.matrix.homeserver';
      expect(fieldsOf(await set(`https://${host}/x`, { matrix }))).toEqual([
        [400, 'invalid_field', 'url'],
        [400, 'invalid_field', at],
        [400, 'invalid_field', at],
      ]);
      world.hosts.set('hooks.slack.com', address);
      const [, ...byChat] = await set('https://hooks.example.org/x', chat);
      expect(byChat.map(({ json }) => json.error?.field)).toEqual(
        byChat.map(() => 'notification.chat_a_webhook_url'),
      );
      const { notification, bisectFanout } = (await world.store.getRepo(repo.id)) ?? repo;
      expect([notification?.matrix ?? null, notification?.slack ?? null, bisectFanout]).toEqual([
        null,
        null,
        repo.bisectFanout,
      ]);
      expect(notification?.webhook).toMatch(/^https:\/\/hooks\.example\.org /);
    },
  );

  test('a place of notices whose host is this service is refused as well', async () => {
    const world = new ApiWorld();
    const { repo } = await world.enroll(TENANT_A);
    const put = (url: string) =>
      world.as(TOKEN_A)('PUT', `/api/v1/user/repos/${repo.id}/notification/webhook`, { url });
    for (const url of [
      'https://api.mergeyard.example/x',
      'https://x.internal/x',
      'https://vpce-1.amazonaws.com/x',
    ])
      expect([url, (await put(url)).code]).toEqual([url, 'invalid_field']);
    expect((await put('https://hooks.example.org/x')).status).toBe(200);
  });

  test('an honest one passes', async () => {
    expect((await create(new ApiWorld(), 'https://git.example.org/forge')).status).toBe(201);
  });
});
