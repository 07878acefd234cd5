import { randomUUID } from 'node:crypto';
import { ForgeError } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import { ApiWorld, FORGE_TOKEN, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';
import { BOT } from '../../support/scripted-accounts.ts';

const PATH = '/api/v1/connections';
const BODY = { instance_url: 'https://git.example.org', token: FORGE_TOKEN, bot_login: BOT };

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;
let b: ReturnType<ApiWorld['as']>;

beforeEach(() => {
  world = new ApiWorld();
  a = world.as(TOKEN_A);
  b = world.as(TOKEN_B);
});

const team = () => world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });

describe('create', () => {
  test('201 with the safe view and the provider; the token is verified and sealed', async () => {
    const made = await a('POST', PATH, BODY);
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      tenant_id: TENANT_A,
      instance_url: BODY.instance_url,
      bot_username: BOT,
      token_type: 'pat',
      created_at: '2026-01-01T00:00:00.000Z',
      provider: 'forgejo',
    });
    const stored = await world.store.getConnection(TENANT_A, made.json.id);
    expect(stored?.verifiedAt).toBe(world.clock.now());
    expect(JSON.stringify(stored)).not.toContain(FORGE_TOKEN);
    const { provider: _p, ...view } = made.json;
    expect((await a('GET', PATH)).json).toEqual([view]);
    expect((await b('GET', PATH)).json).toEqual([]);
  });

  test('the same identity again rotates the token, however the address is spelled', async () => {
    const { id } = (await a('POST', PATH, BODY)).json;
    const before = await world.store.getConnection(TENANT_A, id);
    const again = await a('POST', PATH, {
      ...BODY,
      instance_url: 'https://GIT.example.org/',
      bot_login: BOT.toUpperCase(),
      token: 'another-token',
    });
    expect([again.status, again.json]).toEqual([200, { rotated: true, id, provider: 'forgejo' }]);
    const after = await world.store.getConnection(TENANT_A, id);
    expect(after?.credential.encryptedToken).not.toBe(before?.credential.encryptedToken);
  });

  test('another tenant learns the code and nothing else, byte for byte (A88)', async () => {
    await a('POST', PATH, BODY);
    const refused = await b('POST', PATH, BODY);
    expect([refused.status, refused.text]).toEqual([
      409,
      '{"error":{"code":"connection_identity_already_used"}}',
    ]);
  });

  test.each([
    ['instance_url', undefined, 'missing_fields'],
    ['token', undefined, 'missing_fields'],
    ['bot_login', undefined, 'missing_fields'],
    ['instance_url', 'http://git.example.org', 'invalid_field'],
    ['instance_url', 'https://user:pw@git.example.org', 'invalid_field'],
    ['instance_url', 'https://git.example.org?token=x', 'invalid_field'],
    ['instance_url', 'https://git.example.org/forge?x=1', 'invalid_field'],
    ['instance_url', 'https://git.example.org/#f', 'invalid_field'],
    ['instance_url', 7, 'invalid_field'],
    ['instance_url', `https://${'x'.repeat(160)}.org`, 'invalid_field'],
    ['token', '', 'invalid_field'],
    ['token', 'x'.repeat(256), 'invalid_field'],
    ['token', 'line\nbreak', 'invalid_field'],
    ['token', null, 'invalid_field'],
    ['bot_login', 'x'.repeat(65), 'invalid_field'],
    ['bot_login', '\ud800', 'invalid_field'],
    ['forge_type', 'github', 'invalid_field'],
  ])('%s = %j is 400 %s and names the field', async (field, value, code) => {
    const refused = await a('POST', PATH, { ...BODY, [field]: value });
    expect([refused.status, refused.code, refused.json.error.field]).toEqual([400, code, field]);
    expect(await world.store.listConnections(TENANT_A)).toEqual([]);
    expect(world.forge.asked).toEqual([]);
  });

  test.each([
    ['not JSON', '{', {}],
    ['an array', '[]', {}],
    ['a text', '"x"', {}],
    ['null', 'null', {}],
    ['nothing', '', {}],
    ['deep', `${'['.repeat(20_000)}${']'.repeat(20_000)}`, {}],
    ['large', `{"token":"${'x'.repeat(65 * 1024)}"}`, {}],
    ['another media type', JSON.stringify(BODY), { 'content-type': 'text/plain' }],
  ])('a body that is %s is invalid_body', async (_name, body, headers) => {
    const refused = await world.call('POST', PATH, { token: TOKEN_A, body, headers });
    expect([refused.status, refused.code]).toEqual([400, 'invalid_body']);
  });

  test('the forge’s answer about the token decides; silence does not (D-45)', async () => {
    world.forge.login = new ForgeError('denied', 'GET user', 401);
    expect((await a('POST', PATH, BODY)).code).toBe('forge_access_denied');
    world.forge.login = new ForgeError('denied', 'GET user', 403, null, false, ['read:user']);
    expect((await a('POST', PATH, BODY)).json.error.message).toBe(
      'The forge refused the token of the bot: it lacks the scope read:user.',
    );
    world.forge.login = new ForgeError('denied', 'GET user', 403, null, false, [], true);
    expect((await a('POST', PATH, BODY)).json.error.message).toMatch(
      /^The forge lets the account of the bot do nothing: /,
    );
    world.forge.login = 'another-account';
    const other = await a('POST', PATH, BODY);
    expect([other.code, other.json.error.field]).toEqual(['invalid_field', 'bot_login']);
    world.forge.login = new ForgeError('unreachable', 'GET user', null);
    const made = await a('POST', PATH, BODY);
    expect(made.status).toBe(201);
    expect((await world.store.getConnection(TENANT_A, made.json.id))?.verifiedAt).toBeNull();
  });

  test('a pasted token is asked for each scope, and all that it lacks is said at once; nothing is stored', async () => {
    world.forge.missingScopes = ['write:repository', 'read:issue'];
    const refused = await a('POST', PATH, BODY);
    expect([refused.status, refused.code]).toEqual([422, 'forge_access_denied']);
    expect(refused.json.error.message).toBe(
      'The token lacks write:repository and read:issue. Make one for all repositories that its account reaches, with the scopes write:repository, read:issue, read:user.',
    );
    expect(await world.store.listConnections(TENANT_A)).toEqual([]);
  });

  test('past the ceiling of the plan: 402 with the portal; an identity of mine still rotates', async () => {
    await a('POST', PATH, BODY);
    const more = await a('POST', PATH, { ...BODY, instance_url: 'https://two.example.org' });
    expect([more.status, more.code, more.json.error.portal]).toEqual([
      402,
      'connection_limit_exceeded',
      '/api/v1/billing/portal',
    ]);
    expect((await a('POST', PATH, BODY)).status).toBe(200);
    await team();
    const now = await a('POST', PATH, { ...BODY, instance_url: 'https://two.example.org' });
    expect(now.status).toBe(201);
  });

  test.each([
    ['loadPlan', 503, 'billing_unavailable'],
    ['createConnection', 500, 'failed_to_create_connection'],
    ['createTenant', 500, 'failed_to_create_connection'],
  ])('a store that fails in %s is %i %s', async (label, status, code) => {
    world.store.beforeCall = (called) => {
      if (called === label) throw new StoreError('unavailable', called);
    };
    const failed = await a('POST', PATH, BODY);
    expect([failed.status, failed.code, failed.json.error.retryable]).toEqual([status, code, true]);
  });

  test('a rotation that cannot be stored is connection_rotation_failed and keeps the old token', async () => {
    const { id } = (await a('POST', PATH, BODY)).json;
    const before = await world.store.getConnection(TENANT_A, id);
    world.store.beforeCall = (called) => {
      if (called === 'updateConnection') throw new StoreError('unavailable', called);
    };
    expect((await a('POST', PATH, BODY)).code).toBe('connection_rotation_failed');
    expect((await a('PATCH', `${PATH}/${id}`, { token: 'x' })).code).toBe('connection_rotation_failed');
    expect(await world.store.getConnection(TENANT_A, id)).toEqual(before);
    world.store.beforeCall = null;
    world.vault.failing = 'seal';
    expect((await a('POST', PATH, { ...BODY, instance_url: 'https://x.example.org' })).code).toBe(
      'failed_to_create_connection',
    );
  });

  test('50 at once: one is created, the rest rotate it', async () => {
    await team();
    world.rateFactor = 100;
    const answers = await Promise.all(Array.from({ length: 50 }, () => a('POST', PATH, BODY)));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(await world.store.listConnections(TENANT_A)).toHaveLength(1);
    for (const answer of answers) {
      if (answer.status !== 201)
        expect(['200', 'connection_rotation_failed']).toContain(answer.code ?? '200');
    }
  });
});

describe('change', () => {
  test('token and bot, each alone, both, or nothing', async () => {
    const { id } = (await a('POST', PATH, BODY)).json;
    await world.clock.advance(5_000);
    const nothing = await a('PATCH', `${PATH}/${id}`, {});
    expect(nothing.json).toEqual({
      id,
      instance_url: BODY.instance_url,
      bot_username: BOT,
      token_type: 'pat',
      updated_at: '2026-01-01T00:00:00.000Z',
    });
    expect((await world.call('PATCH', `${PATH}/${id}`, { token: TOKEN_A })).status).toBe(200);
    world.forge.login = 'new-bot';
    const renamed = await a('PATCH', `${PATH}/${id}`, { bot_login: 'new-bot' });
    expect(renamed.json).toMatchObject({ bot_username: 'new-bot', updated_at: '2026-01-01T00:00:05.000Z' });
    expect((await a('PATCH', `${PATH}/${id}`, { token: 'x' })).status).toBe(200);
  });

  test.each([
    [{ instance_url: 'https://x.example.org' }, 'instance_url'],
    [{ forge_type: 'forgejo' }, 'forge_type'],
    [{ token: 5 }, 'token'],
    [{ bot_login: '' }, 'bot_login'],
  ])('%j is refused and changes nothing (A65)', async (body, field) => {
    const { id } = (await a('POST', PATH, BODY)).json;
    const before = await world.store.getConnection(TENANT_A, id);
    const refused = await a('PATCH', `${PATH}/${id}`, body);
    expect([refused.status, refused.code, refused.json.error.field]).toEqual([400, 'invalid_field', field]);
    expect(await world.store.getConnection(TENANT_A, id)).toEqual(before);
  });

  test('a new login is asked of the forge with the stored token, and never stored on trust', async () => {
    const { id } = (await a('POST', PATH, BODY)).json;
    const before = await world.store.getConnection(TENANT_A, id);
    const rename = () => a('PATCH', `${PATH}/${id}`, { bot_login: 'new-bot' });
    const lied = await rename();
    expect([lied.status, lied.code, lied.json.error.field]).toEqual([400, 'invalid_field', 'bot_login']);
    world.forge.login = new ForgeError('denied', 'GET user', 401);
    const denied = await rename();
    expect([denied.status, denied.code, denied.json.error.field]).toEqual([
      400,
      'invalid_field',
      'bot_login',
    ]);
    world.forge.login = new ForgeError('unreachable', 'GET user', null);
    expect(await rename()).toMatchObject({ status: 500, code: 'connection_rotation_failed' });
    const both = await a('PATCH', `${PATH}/${id}`, { token: 'x', bot_login: 'new-bot' });
    expect(both).toMatchObject({ status: 500, code: 'connection_rotation_failed' });
    world.vault.failing = 'open';
    expect(await rename()).toMatchObject({ status: 500, code: 'connection_rotation_failed' });
    world.vault.failing = null;
    expect(await world.store.getConnection(TENANT_A, id)).toEqual(before);
    world.forge.login = 'new-bot';
    expect((await rename()).status).toBe(200);
    expect((await world.store.getConnection(TENANT_A, id))?.verifiedAt).toBe(world.clock.now());
  });

  test('a verified connection stays verified while the forge is away', async () => {
    const { id } = (await a('POST', PATH, BODY)).json;
    const verifiedAt = world.clock.now();
    await world.clock.advance(1_000);
    world.forge.login = new ForgeError('unreachable', 'GET user', null);
    expect((await a('PATCH', `${PATH}/${id}`, { token: 'x' })).status).toBe(200);
    expect((await a('POST', PATH, BODY)).status).toBe(200);
    expect((await world.store.getConnection(TENANT_A, id))?.verifiedAt).toBe(verifiedAt);
  });

  describe('two changes at once: each token is of the login that it is stored under', () => {
    /** The other call, while the forge is asked about this token for the first time. */
    const meanwhile = (asked: string, other: () => Promise<unknown>) => {
      world.forge.onLogin = async (token) => {
        if (token !== asked) return;
        world.forge.onLogin = null;
        await other();
      };
    };
    const tokenOf = async (id: string) => {
      const stored = await world.store.getConnection(TENANT_A, id);
      if (stored === null) throw new Error('the connection is gone');
      const { tenantId, instanceUrl, botUsername, credential } = stored;
      const token = await world.vault.open({ tenantId, connectionId: id, instanceUrl }, credential);
      return [botUsername, token.reveal()];
    };

    test('a new token, while the connection gets another bot: it is asked again, and refused', async () => {
      const { id } = (await a('POST', PATH, BODY)).json;
      world.forge.loginOf.set('new-bots-token', 'new-bot');
      meanwhile('old-bots-token', () =>
        a('PATCH', `${PATH}/${id}`, { bot_login: 'new-bot', token: 'new-bots-token' }),
      );
      const late = await a('PATCH', `${PATH}/${id}`, { token: 'old-bots-token' });
      expect([late.status, late.code, late.json.error.field]).toEqual([400, 'invalid_field', 'bot_login']);
      expect(await tokenOf(id)).toEqual(['new-bot', 'new-bots-token']);
    });

    test('a new bot, while the connection gets another token: that token is asked whose it is', async () => {
      const { id } = (await a('POST', PATH, { ...BODY, token: 'first' })).json;
      world.forge.loginOf.set('first', 'new-bot');
      meanwhile('first', () => a('PATCH', `${PATH}/${id}`, { token: 'of-the-old-bot' }));
      const late = await a('PATCH', `${PATH}/${id}`, { bot_login: 'new-bot' });
      expect([late.status, late.code, late.json.error.field]).toEqual([400, 'invalid_field', 'bot_login']);
      expect(await tokenOf(id)).toEqual([BOT, 'of-the-old-bot']);
    });

    test('another token of the same bot in between: the later one is stored', async () => {
      const { id } = (await a('POST', PATH, BODY)).json;
      meanwhile('late', () => a('PATCH', `${PATH}/${id}`, { token: 'early' }));
      expect((await a('PATCH', `${PATH}/${id}`, { token: 'late' })).status).toBe(200);
      expect(await tokenOf(id)).toEqual([BOT, 'late']);
    });

    test('another bot during each check: connection_rotation_failed, and nothing is stored', async () => {
      const { id } = (await a('POST', PATH, BODY)).json;
      let turn = 0;
      world.forge.onLogin = async (token) => {
        if (token !== 'late') return;
        turn += 1;
        world.forge.loginOf.set('late', turn === 1 ? BOT : `bot-${turn - 1}`);
        world.forge.loginOf.set(`token-${turn}`, `bot-${turn}`);
        await a('PATCH', `${PATH}/${id}`, { bot_login: `bot-${turn}`, token: `token-${turn}` });
      };
      const late = await a('PATCH', `${PATH}/${id}`, { token: 'late' });
      expect([late.status, late.code]).toEqual([500, 'connection_rotation_failed']);
      expect(await tokenOf(id)).toEqual(['bot-2', 'token-2']);
    });

    test('the same identity again, while its connection gets another bot: a connection of its own', async () => {
      await team();
      const { id } = (await a('POST', PATH, BODY)).json;
      world.forge.loginOf.set('new-bots-token', 'new-bot');
      let isRenamed = false;
      world.store.beforeCall = async (called) => {
        if (called !== 'getConnection' || isRenamed) return;
        isRenamed = true;
        await a('PATCH', `${PATH}/${id}`, { bot_login: 'new-bot', token: 'new-bots-token' });
      };
      const again = await a('POST', PATH, { ...BODY, token: 'another-token' });
      expect(again.status).toBe(201);
      expect(await tokenOf(id)).toEqual(['new-bot', 'new-bots-token']);
      expect(await tokenOf(again.json.id)).toEqual([BOT, 'another-token']);
    });
  });

  test('a verified claim displaces one that never was, with its repos; a verified one stays', async () => {
    world.forge.login = new ForgeError('unreachable', 'GET user', null);
    const { id } = (await b('POST', PATH, BODY)).json;
    await world.enroll(TENANT_B, { instanceUrl: BODY.instance_url, slug: 'acme/theirs' }, { id });
    expect((await a('POST', PATH, BODY)).code).toBe('connection_identity_already_used');
    world.forge.login = BOT;
    const mine = await a('POST', PATH, BODY);
    expect(mine.status).toBe(201);
    expect((await b('GET', PATH)).json).toEqual([]);
    expect((await b('GET', '/api/v1/user/repos')).json).toEqual([]);
    const notes = await world.store.listAudit(TENANT_B, 9);
    expect(notes).toContainEqual(
      expect.objectContaining({
        action: 'connection.displaced',
        target: id,
        actor: 'another_tenant',
        from: null,
      }),
    );
    expect((await b('POST', PATH, BODY)).code).toBe('connection_identity_already_used');
    expect((await a('GET', PATH)).json).toHaveLength(1);
  });

  test('a token that the forge refuses, and an identity that is taken', async () => {
    const { id } = (await a('POST', PATH, BODY)).json;
    world.forge.login = 'b-bot';
    await b('POST', PATH, { ...BODY, bot_login: 'b-bot' });
    const taken = await a('PATCH', `${PATH}/${id}`, { bot_login: 'B-bot' });
    expect([taken.status, taken.text]).toEqual([
      409,
      '{"error":{"code":"connection_identity_already_used"}}',
    ]);
    world.forge.login = new ForgeError('denied', 'GET user', 403);
    const denied = await a('PATCH', `${PATH}/${id}`, { token: 'x' });
    expect([denied.status, denied.code, denied.json.error.field]).toEqual([400, 'invalid_field', 'token']);
  });
});

describe('delete', () => {
  test('204, cascades, and the identity is free again', async () => {
    const { repo, connection } = await world.enroll(TENANT_A);
    const gone = await a('DELETE', `${PATH}/${connection.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect(await world.store.getRepo(repo.id)).toBeNull();
    expect((await a('DELETE', `${PATH}/${connection.id}`)).status).toBe(404);
    expect(await world.store.loadTenant(TENANT_A)).toMatchObject({ connections: 0, repos: 0 });
    expect((await world.store.listAudit(TENANT_A, 9)).map((entry) => entry.action)).toEqual([
      'connection.delete',
    ]);
  });

  test('cut short at any call, doing it again finishes it, and nothing is left', async () => {
    for (let failAt = 1; failAt < 12; failAt += 1) {
      const fresh = new ApiWorld();
      const { repo, connection } = await fresh.enroll(TENANT_A);
      let calls = 0;
      fresh.store.beforeCall = (label) => {
        if (label === 'takeToken') return;
        calls += 1;
        if (calls === failAt) throw new StoreError('unavailable', label);
      };
      await fresh.as(TOKEN_A)('DELETE', `${PATH}/${connection.id}`);
      fresh.store.beforeCall = null;
      await fresh.as(TOKEN_A)('DELETE', `${PATH}/${connection.id}`);
      expect([failAt, await fresh.store.getRepo(repo.id)]).toEqual([failAt, null]);
      expect([failAt, await fresh.store.listConnections(TENANT_A)]).toEqual([failAt, []]);
      expect(await fresh.store.loadTenant(TENANT_A)).toMatchObject({ connections: 0, repos: 0 });
    }
  });

  test('while enrolling under it, no row is left behind', async () => {
    world.rateFactor = 100;
    await world.store.savePlan(TENANT_A, { tier: 'team', status: 'active' });
    const { connection } = await world.enroll(TENANT_A);
    world.store.beforeCall = () => new Promise((next) => setImmediate(next));
    const enrollments = Array.from({ length: 20 }, (_, index) =>
      a('POST', '/api/v1/user/repos', { connection_id: connection.id, repo_slug: `acme/r${index}` }),
    );
    const [deleted, ...made] = await Promise.all([a('DELETE', `${PATH}/${connection.id}`), ...enrollments]);
    expect(deleted?.status).toBe(204);
    expect(made.map((answer) => [201, 404].includes(answer.status))).not.toContain(false);
    world.store.beforeCall = null;
    expect(await world.store.listRepos(TENANT_A)).toEqual([]);
    expect(await world.store.listConnections(TENANT_A)).toEqual([]);
  });
});

describe('discover', () => {
  const discover = async () => {
    const { connection } = await world.enroll(TENANT_A);
    return a('POST', `${PATH}/${connection.id}/discover`);
  };

  test('the repositories that the bot sees, and no field more', async () => {
    world.forge.repos = [
      {
        fullName: 'acme/app',
        name: 'app',
        owner: 'acme',
        htmlUrl: 'https://git.example.org/acme/app',
        isPrivate: true,
        defaultBranch: 'main',
        mergeStyles: ['squash'],
        defaultMergeStyle: 'squash',
      },
    ];
    expect((await discover()).json).toEqual({
      repos: [
        {
          full_name: 'acme/app',
          name: 'app',
          owner: 'acme',
          private: true,
          default_branch: 'main',
          html_url: 'https://git.example.org/acme/app',
          merge_styles: ['squash'],
          default_merge_style: 'squash',
        },
      ],
    });
  });

  test.each([
    ['denied', 401, 400, 'forge_error', 'forge answered 401 Unauthorized'],
    ['missing', 404, 400, 'forge_error', 'forge answered 404 Not Found'],
    ['unreachable', null, 502, 'forge_unreachable', expect.any(String)],
    ['unreachable', 500, 502, 'forge_unreachable', expect.any(String)],
  ] as const)(
    'a fault of the kind %s (%s) is answered with %i %s',
    async (kind, fault, status, code, message) => {
      world.forge.repos = new ForgeError(kind, 'x', fault);
      const failed = await discover();
      expect([failed.status, failed.code, failed.json.error.message]).toEqual([status, code, message]);
    },
  );

  test('a credential that does not open, and one of another row (A96)', async () => {
    world.vault.failing = 'open';
    expect((await discover()).code).toBe('decryption_error');
    world.vault.failing = null;
    const { connection } = await world.enroll(TENANT_B);
    const swapped = { id: randomUUID(), credential: connection.credential, botUsername: 'b2' };
    await world.enroll(TENANT_B, { slug: 'acme/two' }, swapped);
    expect((await b('POST', `${PATH}/${swapped.id}/discover`)).code).toBe('decryption_error');
  });
});

test('an account that is leaving gets no new connection, and is told that it leaves', async () => {
  const world = new ApiWorld();
  await world.enroll(TENANT_A);
  await world.store.markTenantDeleting(TENANT_A);
  const body = { instance_url: 'https://git.example.org', token: FORGE_TOKEN, bot_login: BOT };
  const answer = await world.as(TOKEN_A)('POST', '/api/v1/connections', body);
  expect([answer.status, answer.code]).toEqual([409, 'queue_locked']);
  expect(answer.json.error.message).toContain('is being deleted');
});
