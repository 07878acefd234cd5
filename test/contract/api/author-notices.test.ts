import { AUTHOR_LOGINS_MAX, MAIL_CONFIRMS_AT_ONCE_MAX } from '#core/domain/api-limits.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

const DAY_MS = 86_400_000;
const FORGE = 'https://git.example.org';
const EMAIL = 'Ann@example.org';
const PERSONAL = 'canary-token-of-ann-3f81';
const BODY = { instance_url: FORGE, email: EMAIL, topics: ['bounced', 'landed'] };

let world: ApiWorld;
beforeEach(() => {
  world = new ApiWorld();
  world.forge.login = 'Ann';
});

const put = (body: unknown, forgeToken: string | null = PERSONAL, token = TOKEN_A) =>
  world.call('PUT', '/api/v1/author-notices', {
    token,
    body,
    headers: forgeToken === null ? {} : { 'x-forge-token': forgeToken },
  });
const read = async (token = TOKEN_A) => (await world.as(token)('GET', '/api/v1/author-notices')).json;
const wishOf = (login: string, forge = FORGE) => world.store.findAuthorNotices(forge, login);
const asked = () => world.notices.map(({ kind, tenantId, subject }) => [kind, tenantId, subject]);

describe('mails about one’s own pull requests', () => {
  test('are off until a person asks for them', async () => {
    expect(await read()).toEqual({ signed_in_as: null, logins: [] });
    expect(await wishOf('Ann')).toBeNull();
  });

  test('a token of the person proves the login once, is asked of that forge alone and is kept nowhere', async () => {
    const answer = await put(BODY);
    const login = {
      instance_url: FORGE,
      login: 'Ann',
      email: EMAIL,
      email_state: 'waiting',
      topics: ['bounced', 'landed'],
      proven_at: new Date(world.clock.now()).toISOString(),
      ends_at: new Date(world.clock.now() + 180 * DAY_MS).toISOString(),
    };
    expect([answer.status, answer.json]).toEqual([200, { signed_in_as: null, logins: [login] }]);
    expect(world.forge.asked).toEqual([FORGE]);
    expect(await read()).toEqual(answer.json);
    // A forge compares logins without case, and so does the look-up.
    expect(await wishOf('ann', `${FORGE}/`)).toMatchObject({ tenantId: TENANT_A, email: EMAIL });
    const kept = JSON.stringify([await wishOf('ann'), world.notices, world.lines, world.answers]);
    expect(kept).not.toContain(PERSONAL);
  });

  test('the reader of the address is asked first, and again as often as an owner may ask', async () => {
    await put(BODY);
    expect(asked()).toEqual([['confirm_mailbox', TENANT_A, 'ann@example.org']]);
    for (let count = 0; count < MAIL_CONFIRMS_AT_ONCE_MAX + 2; count += 1) {
      world.store.takeNotices();
      await put(BODY, null);
    }
    expect(asked().filter(([kind]) => kind === 'confirm_mailbox_again')).toHaveLength(
      MAIL_CONFIRMS_AT_ONCE_MAX,
    );
  });

  test('another topic or address needs no other proof; without any there is none', async () => {
    expect((await put(BODY, null)).code).toBe('forge_token_required');
    await put(BODY);
    const { json } = await put({ ...BODY, email: 'b@example.org', topics: ['refused'] }, null);
    expect(json.logins).toMatchObject([{ login: 'Ann', email: 'b@example.org', topics: ['refused'] }]);
    expect(world.forge.asked).toHaveLength(1);
  });

  test('no topics end them', async () => {
    await put(BODY);
    expect((await put({ ...BODY, topics: [] }, null)).json.logins).toEqual([]);
    expect(await wishOf('Ann')).toBeNull();
  });

  test('a token that the forge refuses, a forge that is silent and an address inside prove nothing', async () => {
    world.forge.login = new ForgeError('denied', 'who am I', 401);
    expect((await put(BODY)).code).toBe('forge_token_refused');
    world.forge.login = new ForgeError('unreachable', 'who am I', null);
    expect((await put(BODY)).code).toBe('forge_unreachable');
    world.forge.login = 'Ann';
    const asked = world.forge.asked.length;
    const inside = await put({ ...BODY, instance_url: 'https://127.0.0.1' });
    expect([inside.code, world.forge.asked.length]).toEqual(['invalid_field', asked]);
    expect((await put({ email: EMAIL, topics: ['landed'] })).code).toBe('missing_fields');
    expect(await read()).toMatchObject({ logins: [] });
  });

  test('a session of the forge itself is the proof, also of who may only read; a token of another is not asked', async () => {
    const token = world.identity.signInByForge('canary.session.ann', TENANT_B, {
      instanceUrl: FORGE,
      login: 'ann',
    });
    world.forge.login = 'bob';
    const answer = await put({ email: EMAIL, topics: ['landed'] }, PERSONAL, token);
    expect(answer.json).toMatchObject({
      signed_in_as: { instance_url: FORGE, login: 'ann' },
      logins: [{ instance_url: FORGE, login: 'ann' }],
    });
    expect(world.forge.asked).toEqual([]);
  });

  test('each of several people of an account has their own, and sees no other’s', async () => {
    const [ann, bob] = ['ann', 'bob'].map((login) =>
      world.identity.signInByForge(`canary.session.${login}`, TENANT_B, { instanceUrl: FORGE, login }),
    );
    await put({ email: EMAIL, topics: ['landed'] }, null, ann);
    expect((await read(bob)).logins).toEqual([]);
    await put({ email: 'bob@example.org', topics: ['landed'] }, null, bob);
    expect([(await wishOf('ann'))?.email, (await wishOf('bob'))?.email]).toEqual([EMAIL, 'bob@example.org']);
    expect((await read(ann)).logins).toHaveLength(1);
  });

  test('the newest proof has the login: who had it before is told nothing more, and sees that', async () => {
    await put(BODY);
    await put({ ...BODY, email: 'new@example.org' }, PERSONAL, TOKEN_B);
    expect(await wishOf('ann')).toMatchObject({ tenantId: TENANT_B, email: 'new@example.org' });
    expect((await read()).logins).toEqual([]);
    expect((await put(BODY, null)).code).toBe('forge_token_required');
  });

  test('a proof that has ended proves nothing; another login of the same forge takes its place', async () => {
    await put(BODY);
    await world.clock.advance(180 * DAY_MS);
    expect((await put({ ...BODY, topics: ['landed'] }, null)).code).toBe('forge_token_required');
    world.forge.login = 'ann-renamed';
    const { json } = await put(BODY);
    expect(json.logins.map(({ login }: { login: string }) => login)).toEqual(['ann-renamed']);
    expect(await wishOf('Ann')).toBeNull();
  });

  test('a person has so many, and the export has them', async () => {
    for (let host = 0; host < AUTHOR_LOGINS_MAX; host += 1)
      expect((await put({ ...BODY, instance_url: `https://f${host}.example.org` })).status).toBe(200);
    expect((await put(BODY)).code).toBe('author_login_limit');
    const { json } = await world.as(TOKEN_A)('GET', '/api/v1/tenant/export');
    expect(json.author_notices).toHaveLength(AUTHOR_LOGINS_MAX);
  });
});
