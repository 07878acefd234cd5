import { provisionRepo } from '#core/services/set-up/provisioning.ts';
import { HOOK_EVENTS } from '#core/services/set-up/webhook-registration.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import { type SetUpWorld, WEBHOOK_URL } from '../../support/set-up-world.ts';
import { create, statusOf, VERIFIED } from './set-up-stories.ts';

jest.setTimeout(60_000);

const switchHookOff = async (world: SetUpWorld): Promise<void> => {
  const [hook] = await world.api('GET', '/hooks');
  await world.api('PATCH', `/hooks/${hook?.id}`, { active: false, events: HOOK_EVENTS });
};

describe('webhook registration', () => {
  test('poll mode: nothing is called and nothing is required', async () => {
    const world = await create();
    const { kind, repo } = await provisionRepo(world.deps, await world.repo());
    expect(kind).toBe('done');
    expect(statusOf(repo)).toEqual({ webhook: 'not_required', protection: 'not_requested' });
    expect(repo.provisioning.lastProvisionedAt).toBe(world.clock.now());
    expect(world.takeWrites()).toEqual([]);
  });

  test('one hook with an address that cannot be guessed; again and again it stays that one (A77)', async () => {
    const world = await create();
    await world.change({ wakeupMode: 'webhook' });
    expect(statusOf(await world.repo()).webhook).toBe('not_configured');
    for (let time = 0; time < 3; time += 1) await provisionRepo(world.deps, await world.repo());
    const repo = await world.repo();
    expect(statusOf(repo).webhook).toBe('configured');
    const hooks = await world.api('GET', '/hooks');
    expect(hooks).toHaveLength(1);
    expect(hooks[0]).toMatchObject({
      active: true,
      config: { url: `${WEBHOOK_URL}?r=${repo.hookId}`, content_type: 'json' },
    });
    expect(repo.hookId).toMatch(/^[0-9a-f-]{36}$/);
    const owner = { tenantId: repo.tenantId, repoId: repo.id, purpose: 'webhook-secret' } as const;
    const stored = repo.webhookSecret?.reveal() ?? '';
    expect(stored).toMatch(/^sealed:/);
    expect((await new FakeSecretBox().open(owner, stored)).reveal()).toMatch(/^[0-9a-f]{64}$/);
    expect(world.takeWrites()).toEqual(['POST hooks']);
  });

  test('a hook that is replaced: the new one is made and stored before the old one goes', async () => {
    const world = await create();
    await world.change({ wakeupMode: 'webhook' });
    const first = (await provisionRepo(world.deps, await world.repo())).repo;
    await switchHookOff(world);
    world.takeWrites();
    const second = (await provisionRepo(world.deps, first)).repo;
    expect(second.hookId).not.toBe(first.hookId);
    expect(second.webhookSecret?.reveal()).not.toBe(first.webhookSecret?.reveal());
    expect(world.takeWrites()).toEqual(['POST hooks', 'DELETE hooks/{id}']);
    const hooks = await world.api('GET', '/hooks');
    expect(hooks.map((hook) => hook.config)).toEqual([
      expect.objectContaining({ url: `${WEBHOOK_URL}?r=${second.hookId}` }),
    ]);
  });

  test('a store that refuses the new secret: the new hook goes again, the old one stays for the next attempt', async () => {
    const world = await create();
    await world.change({ wakeupMode: 'webhook' });
    const first = (await provisionRepo(world.deps, await world.repo())).repo;
    await switchHookOff(world);
    world.failStore('updateRepo', 1);
    const result = await provisionRepo(world.deps, first);
    expect(result.kind).toBe('db_error');
    const stored = await world.repo();
    expect(stored.hookId).toBe(first.hookId);
    expect((await world.api('GET', '/hooks')).map((hook) => hook.config)).toEqual([
      expect.objectContaining({ url: `${WEBHOOK_URL}?r=${first.hookId}` }),
    ]);
    expect((await provisionRepo(world.deps, stored)).repo.hookId).not.toBe(first.hookId);
    expect(await world.api('GET', '/hooks')).toHaveLength(1);
  });

  test('a hook that another call makes for a branch meanwhile is not forgotten', async () => {
    const world = await create();
    await world.change({ wakeupMode: 'webhook' });
    const first = (await provisionRepo(world.deps, await world.repo())).repo;
    const second = { ...first, id: 'repo-2', baseBranch: 'v15', statusContext: 'mq/v15' };
    await world.enroll({ ...second, hookId: null, webhookSecret: null });
    await switchHookOff(world);
    const { store } = world.deps;
    const beside: typeof world.deps = {
      ...world.deps,
      store: {
        ...store,
        getRepo: (id) => store.getRepo(id),
        updateRepo: (...given) => store.updateRepo(...given),
        listReposAt: async (address) => {
          const seen = await store.listReposAt(address);
          await world.change({ hookId: 'made-meanwhile' });
          return seen;
        },
      },
    };
    expect((await provisionRepo(beside, await world.repo('repo-2'))).kind).toBe('done');
    expect(await world.repo()).toMatchObject({
      hookId: 'made-meanwhile',
      webhookSecret: first.webhookSecret,
    });
  });

  test('one hook serves every managed branch of a repository; where one of them replaces it, it is that one’s', async () => {
    const world = await create();
    await world.change({ wakeupMode: 'webhook' });
    const first = (await provisionRepo(world.deps, await world.repo())).repo;
    world.takeWrites();
    const second = { ...first, id: 'repo-2', baseBranch: 'v15', statusContext: 'mq/v15' };
    await world.enroll({ ...second, hookId: null, webhookSecret: null });
    const seen = (await provisionRepo(world.deps, await world.repo('repo-2'))).repo;
    expect(statusOf(seen).webhook).toBe('configured');
    expect(seen.hookId).toBeNull();
    expect(world.takeWrites()).toEqual([]);
    await switchHookOff(world);
    const replaced = (await provisionRepo(world.deps, seen)).repo;
    expect(world.takeWrites()).toEqual(['POST hooks', 'DELETE hooks/{id}']);
    expect(replaced.hookId).toMatch(/^[0-9a-f-]{36}$/);
    expect(await world.repo()).toMatchObject({ hookId: null, webhookSecret: null });
    expect(statusOf((await provisionRepo(world.deps, await world.repo())).repo).webhook).toBe('configured');
    expect(world.takeWrites()).toEqual([]);
  });

  test('leftovers at our address go, hooks of others stay', async () => {
    const world = await create();
    const config = (url: string) => ({ type: 'gitea', active: true, config: { url, content_type: 'json' } });
    await world.api('POST', '/hooks', config(`${WEBHOOK_URL}?r=forgotten`));
    await world.api('POST', '/hooks', config(WEBHOOK_URL));
    await world.api('POST', '/hooks', config('https://ci.example.org/hook'));
    await world.api('POST', '/hooks', config(`${WEBHOOK_URL}-of-another-service`));
    const repo = await world.change({ wakeupMode: 'webhook' });
    const { hookId } = (await provisionRepo(world.deps, repo)).repo;
    const urls = (await world.api('GET', '/hooks')).map((hook) => (hook.config as { url: string }).url);
    expect(urls).toEqual([
      'https://ci.example.org/hook',
      `${WEBHOOK_URL}-of-another-service`,
      `${WEBHOOK_URL}?r=${hookId}`,
    ]);
  });

  test.each([
    ['switched off', { active: false, events: ['push'] }],
    ['stripped of its events', { active: true, events: ['push'] }],
  ])('a hook that a person has %s is replaced', async (_name, edit) => {
    const world = await create();
    const repo = await world.change({ wakeupMode: 'webhook' });
    const first = (await provisionRepo(world.deps, repo)).repo;
    const [hook] = await world.api('GET', '/hooks');
    await world.api('PATCH', `/hooks/${hook?.id}`, edit);
    const second = (await provisionRepo(world.deps, first)).repo;
    expect(second.hookId).not.toBe(first.hookId);
    const hooks = await world.api('GET', '/hooks');
    expect(hooks).toHaveLength(1);
    expect(hooks[0]).toMatchObject({ active: true });
  });

  test('a lost answer to the creation makes no second hook', async () => {
    const world = await create();
    const repo = await world.change({ wakeupMode: 'webhook' });
    let lost = true;
    world.fake.knobs.fault = ({ method, path }) => {
      if (!lost || method !== 'POST' || !path.endsWith('/hooks')) return null;
      lost = false;
      return { status: 502, html: true, when: 'after' };
    };
    const result = await provisionRepo(world.deps, repo);
    expect(statusOf(result.repo).webhook).toBe('configured');
    expect(await world.api('GET', '/hooks')).toHaveLength(1);
  });
});

describe('provisioning failures are states, never exceptions (A56)', () => {
  test.each([
    ['a token that was revoked', 'revoked', 'needs_admin'],
    ['a token without the scope', ['read:repository'], 'needs_admin'],
  ] as const)('%s', async (_name, scopes, status) => {
    const world = await create();
    const repo = await world.change({ wakeupMode: 'webhook', protectionRequested: true, ...VERIFIED });
    world.useToken(scopes);
    const result = await provisionRepo(world.deps, repo);
    expect(result.kind).toBe('done');
    expect(statusOf(result.repo)).toEqual({ webhook: status, protection: status });
    expect(result.repo.provisioning.lastProvisionedAt).toBe(world.clock.now());
  });

  test('a bot that is no administrator', async () => {
    const world = await create({ access: 'write' });
    const repo = await world.change({ wakeupMode: 'webhook', protectionRequested: true, ...VERIFIED });
    const result = await provisionRepo(world.deps, repo);
    expect(statusOf(result.repo)).toEqual({ webhook: 'needs_admin', protection: 'needs_admin' });
  });

  test.each([
    ['500 with an empty message', { status: 500 }],
    ['HTML of a proxy', { status: 200, html: true }],
    ['a firewall’s 403', { status: 403, html: true }],
    ['429', { status: 429 }],
    ['an archived repository', { status: 423 }],
    ['a repository that is not there', { status: 404 }],
  ])('every call answered with %s', async (_name, fault) => {
    const world = await create();
    const repo = await world.change({ wakeupMode: 'webhook', protectionRequested: true, ...VERIFIED });
    world.fake.knobs.fault = () => fault;
    const result = await provisionRepo(world.deps, repo);
    expect(result.kind).toBe('done');
    expect(statusOf(result.repo)).toEqual({ webhook: 'error', protection: 'error' });
    world.fake.knobs.fault = () => null;
    const healed = await provisionRepo(world.deps, result.repo);
    expect(statusOf(healed.repo)).toEqual({ webhook: 'configured', protection: 'configured' });
  });

  test('a connection that is gone, and a store that does not answer', async () => {
    const world = await create();
    const repo = await world.change({ wakeupMode: 'webhook' });
    world.failStore('updateRepo', 1);
    expect((await provisionRepo(world.deps, repo)).kind).toBe('db_error');
    world.failStore('updateRepo', 0);
    world.failStore('getConnection', 1);
    expect((await provisionRepo(world.deps, await world.repo())).kind).toBe('db_error');
    const { tenantId, connectionId } = await world.repo();
    await (
      world.deps.store as unknown as { markConnectionDeleting(t: string, c: string): Promise<boolean> }
    ).markConnectionDeleting(tenantId, connectionId);
    const result = await provisionRepo(world.deps, await world.repo());
    expect(result.kind).toBe('connection_not_found');
    expect(statusOf(result.repo).webhook).toBe('error');
  });
});
