import { differingFields } from '#core/domain/forge/branch-rule.ts';
import type { ManagedRepo, MergeStyle } from '#core/domain/repos/repo.ts';
import { viewProvisioning } from '#core/domain/set-up/provisioning.ts';
import { changeStatusContext, provisionRepo, setProtection } from '#core/services/set-up/provisioning.ts';
import { HOOK_EVENTS } from '#core/services/set-up/webhook-registration.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import { openSetUpWorld, type SetUpWorld, WEBHOOK_URL } from '../../support/set-up-world.ts';

jest.setTimeout(60_000);

const open: SetUpWorld[] = [];
afterEach(async () => {
  for (const world of open.splice(0)) await world.close();
});
async function create(options: Parameters<typeof openSetUpWorld>[0] = {}): Promise<SetUpWorld> {
  const world = await openSetUpWorld(options);
  open.push(world);
  return world;
}

const VERIFIED = { ciGate: { status: 'verified', url: null, setupPr: null, probe: null } } as const;
const statusOf = (repo: ManagedRepo) => {
  const view = viewProvisioning(repo);
  return { webhook: view.webhook.status, protection: view.protection.status };
};
const switchHookOff = async (world: SetUpWorld): Promise<void> => {
  const [hook] = await world.api('GET', '/hooks');
  await world.api('PATCH', `/hooks/${hook?.id}`, { active: false, events: HOOK_EVENTS });
};
const rulesOf = (world: SetUpWorld) => world.api('GET', '/branch_protections');
const contextsOf = async (world: SetUpWorld, name: string) =>
  (await rulesOf(world)).find((rule) => rule.rule_name === name)?.status_check_contexts;

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

describe.each(['fj11', 'fj15', 'gt126'] as const)('branch rule on %s', (profile) => {
  const begin = async (rules: readonly object[] = [], changes: Partial<ManagedRepo> = {}) => {
    const world = await create({ profile });
    for (const rule of rules) await world.api('POST', '/branch_protections', rule);
    const repo = await world.change({ ...VERIFIED, ...changes });
    return { world, repo };
  };

  test('opt-in before the gate is verified: recorded, nothing is written (D-67)', async () => {
    const { world, repo } = await begin([], { ciGate: { ...VERIFIED.ciGate, status: 'missing' } });
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('done');
    expect(result.repo.protectionRequested).toBe(true);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'awaiting_ci_gate', id: null });
    expect(world.takeWrites()).toEqual([]);
    await world.change(VERIFIED);
    const later = await provisionRepo(world.deps, await world.repo());
    expect(statusOf(later.repo).protection).toBe('configured');
  });

  test('a base branch that is not on the forge: no rule is made for it, and the words say so', async () => {
    const { world, repo } = await begin();
    world.fake.knobs.fault = ({ path }) => (path.endsWith('/branches/main') ? { status: 404 } : null);
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('forge_unreachable');
    expect(viewProvisioning(result.repo).protection).toMatchObject({
      status: 'error',
      detail: expect.stringMatching(/^base_missing: /),
    });
    expect(await rulesOf(world)).toEqual([]);
  });

  test('no rule: a new one that fails closed', async () => {
    const { world, repo } = await begin();
    const result = await setProtection(world.deps, repo, true);
    expect(viewProvisioning(result.repo).protection).toEqual({
      status: 'configured',
      id: 'main',
      detail: null,
      required: true,
    });
    const [rule] = await rulesOf(world);
    expect(rule).toMatchObject({
      rule_name: 'main',
      enable_push: false,
      enable_status_check: true,
      status_check_contexts: ['mq'],
      [profile === 'gt126' ? 'block_admin_merge_override' : 'apply_to_admins']: true,
    });
  });

  test('a rule of its own: our context once, every other field byte for byte (A80)', async () => {
    const { world, repo } = await begin([
      {
        rule_name: 'main',
        enable_push: true,
        enable_push_whitelist: true,
        push_whitelist_usernames: ['dev'],
        enable_status_check: true,
        status_check_contexts: ['ci/unit', 'ci/lint'],
        required_approvals: 2,
        block_on_rejected_reviews: true,
        dismiss_stale_approvals: true,
        require_signed_commits: true,
        protected_file_patterns: 'secrets/**',
      },
    ]);
    const [before] = await rulesOf(world);
    const result = await setProtection(world.deps, repo, true);
    const [after, ...others] = await rulesOf(world);
    expect(others).toEqual([]);
    expect(after?.status_check_contexts).toEqual(['ci/unit', 'ci/lint', 'mq']);
    expect(differingFields(before ?? {}, after ?? {})).toEqual([]);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
    expect(viewProvisioning(result.repo).protection.detail).toMatch(/^direct_push_allowed/);
    world.takeWrites();
    await provisionRepo(world.deps, result.repo);
    expect(world.takeWrites()).toEqual([]);
  });

  test('a rule of another branch that asks for our status too is told, with the way out (D-17)', async () => {
    const rule = { enable_status_check: true, status_check_contexts: ['mq'] };
    const { world, repo } = await begin([
      { rule_name: 'main', ...rule },
      { rule_name: 'release/*', ...rule },
    ]);
    const result = await setProtection(world.deps, repo, true);
    expect(viewProvisioning(result.repo).protection).toMatchObject({
      status: 'configured',
      detail: expect.stringMatching(/^context_required_elsewhere: .* mq\/main/),
    });
  });

  test('our context twice in the rule becomes once', async () => {
    const { world, repo } = await begin([
      { rule_name: 'main', enable_status_check: true, status_check_contexts: ['mq', 'ci', 'mq'] },
    ]);
    await setProtection(world.deps, repo, true);
    expect(await contextsOf(world, 'main')).toEqual(['mq', 'ci']);
  });

  test('a pattern governs: a rule of the base’s own, equal in every other field, and other branches keep theirs', async () => {
    const { world, repo } = await begin([
      { rule_name: 'm*', required_approvals: 1, block_on_rejected_reviews: true },
    ]);
    const [before] = await rulesOf(world);
    const result = await setProtection(world.deps, repo, true);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
    const rules = await rulesOf(world);
    const pattern = rules.find((rule) => rule.rule_name === 'm*') ?? {};
    const own = rules.find((rule) => rule.rule_name === 'main') ?? {};
    expect(pattern).toEqual(before);
    expect(differingFields(pattern, own)).toEqual([]);
    const branch = await world.api('GET', '/branches/main');
    expect(branch).toMatchObject({
      effective_branch_protection_name: 'main',
      status_check_contexts: ['mq'],
      required_approvals: 1,
    });
  });

  test.each([
    ['block_on_outdated_branch', [{ rule_name: 'main', block_on_outdated_branch: true }], 'error'],
    [
      'foreign_pattern',
      [{ rule_name: 'main', enable_status_check: true, status_check_contexts: ['m?'] }],
      'error',
    ],
    ['all_statuses_required', [{ rule_name: 'main', enable_status_check: true }], 'error'],
    ['staging_protected', [{ rule_name: '**' }], 'needs_admin'],
  ])('refused with its reason, nothing written: %s', async (reason, rules, status) => {
    const { world, repo } = await begin(rules);
    const before = await rulesOf(world);
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('forge_unreachable');
    const { protection } = viewProvisioning(result.repo);
    expect(protection).toMatchObject({ status, id: null });
    expect(protection.detail).toMatch(new RegExp(`^${reason}: `));
    expect(world.takeWrites()).toEqual([]);
    expect(await rulesOf(world)).toEqual(before);
  });

  test('opting out writes nothing to the forge and leaves the rule (A80)', async () => {
    const { world, repo } = await begin();
    const on = await setProtection(world.deps, repo, true);
    world.takeWrites();
    const before = await rulesOf(world);
    const off = await setProtection(world.deps, on.repo, false);
    expect(statusOf(off.repo).protection).toBe('not_requested');
    await provisionRepo(world.deps, off.repo);
    expect(world.takeWrites()).toEqual([]);
    expect(await rulesOf(world)).toEqual(before);
  });

  test('a change of context leaves exactly one context of ours (A81)', async () => {
    const { world, repo } = await begin([
      { rule_name: 'main', enable_status_check: true, status_check_contexts: ['a', 'mq', 'z'] },
    ]);
    const on = await setProtection(world.deps, repo, true);
    const result = await changeStatusContext(world.deps, on.repo, 'queue/gate', () => ({ batchTarget: 4 }));
    expect(result).toMatchObject({ kind: 'done', repo: { statusContext: 'queue/gate', batchTarget: 4 } });
    expect(await contextsOf(world, 'main')).toEqual(['a', 'queue/gate', 'z']);
    expect((await world.repo()).provisioning.strayContexts).toEqual([]);
  });

  test('a change of context that cannot be stored is repaired by the next attempt (A81)', async () => {
    const { world, repo } = await begin();
    const on = await setProtection(world.deps, repo, true);
    const store = world.deps.store;
    let calls = 0;
    const failing = {
      ...world.deps,
      store: {
        getRepo: store.getRepo.bind(store),
        listReposAt: store.listReposAt.bind(store),
        updateRepo: (changed: ManagedRepo) => {
          calls += 1;
          if (calls === 2) world.failStore('updateRepo', 1);
          return store.updateRepo(changed);
        },
      },
    };
    const result = await changeStatusContext(failing, on.repo, 'next');
    expect(result.kind).toBe('db_error');
    expect(await contextsOf(world, 'main')).toEqual(['next']);
    expect((await world.repo()).statusContext).toBe('mq');
    await provisionRepo(world.deps, await world.repo());
    expect(await contextsOf(world, 'main')).toEqual(['mq']);
    const again = await changeStatusContext(world.deps, await world.repo(), 'next');
    expect(again.kind).toBe('done');
    expect(await contextsOf(world, 'main')).toEqual(['next']);
  });

  test('a change of context keeps what another call stores while this one is with the forge', async () => {
    const { world, repo } = await begin();
    const on = await setProtection(world.deps, repo, true);
    const beside: typeof world.deps = {
      ...world.deps,
      openForge: async (opened) => {
        await world.change({
          provisioning: { ...on.repo.provisioning, webhook: 'registered' },
          batchTarget: 7,
        });
        return world.deps.openForge(opened);
      },
    };
    // Read before: the first write of the change loses its race.
    expect((await changeStatusContext(beside, on.repo, 'next')).kind).toBe('done');
    const stored = await world.repo();
    expect([stored.provisioning.webhook, stored.batchTarget, stored.statusContext]).toEqual([
      'registered',
      7,
      'next',
    ]);
    await world.change({ provisioning: { ...stored.provisioning, webhook: 'denied' } });
    expect((await changeStatusContext(world.deps, stored, 'mq')).kind).toBe('done');
    expect((await world.repo()).provisioning.webhook).toBe('denied');
  });

  test('a context that another call stores beside an attempt is removed from the rule by the next one (A81)', async () => {
    const { world, repo } = await begin();
    const on = await setProtection(world.deps, repo, true);
    expect((await changeStatusContext(world.deps, on.repo, 'next')).kind).toBe('done');
    // It has read the row before the change.
    await provisionRepo(world.deps, on.repo);
    expect((await world.repo()).statusContext).toBe('next');
    expect(await contextsOf(world, 'main')).toEqual(['next', 'mq']);
    await provisionRepo(world.deps, await world.repo());
    expect(await contextsOf(world, 'main')).toEqual(['next']);
    expect((await world.repo()).provisioning.strayContexts).toEqual([]);
  });

  test('a rule that cannot be changed: neither is the setting', async () => {
    const { world, repo } = await begin();
    const on = await setProtection(world.deps, repo, true);
    world.fake.knobs.fault = ({ method }) => (method === 'PATCH' ? { status: 500 } : null);
    const result = await changeStatusContext(world.deps, on.repo, 'next');
    expect(result.kind).toBe('forge_unreachable');
    world.fake.knobs.fault = () => null;
    expect((await world.repo()).statusContext).toBe('mq');
    expect(await contextsOf(world, 'main')).toEqual(['mq']);
  });

  test('a context that no rule protects changes without a call', async () => {
    const { world, repo } = await begin();
    const result = await changeStatusContext(world.deps, repo, 'next');
    expect(result).toMatchObject({ kind: 'done', repo: { statusContext: 'next' } });
    expect(world.takeWrites()).toEqual([]);
  });

  test('a forge that is down: 502, the opt-in is kept, the next attempt finishes it', async () => {
    const { world, repo } = await begin();
    world.fake.knobs.fault = () => ({ status: 502, html: true });
    const result = await setProtection(world.deps, repo, true);
    expect(result.kind).toBe('forge_unreachable');
    expect(result.repo.protectionRequested).toBe(true);
    world.fake.knobs.fault = () => null;
    expect(statusOf((await provisionRepo(world.deps, result.repo)).repo).protection).toBe('configured');
  });

  test('a person edits the rule between our reading and our write: their edit is kept, ours is in, it is said', async () => {
    const { world, repo } = await begin([
      { rule_name: 'main', enable_status_check: true, status_check_contexts: ['ci'] },
    ]);
    let edited = false;
    const racing = {
      ...world.deps,
      openForge: async (of: ManagedRepo) => {
        const opened = await world.deps.openForge(of);
        if (opened.kind !== 'open') return opened;
        const { forge } = opened;
        const editRule: typeof forge.editRule = async (name, fields) => {
          if (!edited) await world.api('PATCH', '/branch_protections/main', { required_approvals: 3 });
          edited = true;
          return forge.editRule(name, fields);
        };
        return { kind: 'open' as const, forge: { ...forge, editRule } };
      },
    };
    const result = await setProtection(racing, repo, true);
    expect(result.repo.provisioning.protection).toMatchObject({
      kind: 'required',
      reasons: ['rule_changed_meanwhile'],
    });
    expect((await rulesOf(world))[0]).toMatchObject({
      required_approvals: 3,
      status_check_contexts: ['ci', 'mq'],
    });
  });
});

describe('a forge that puts new rules last (Gitea 1.23)', () => {
  const pattern = { rule_name: 'm*', required_approvals: 1 };

  test('the clone is put level with its pattern, where a plain name goes first', async () => {
    const world = await create({ profile: 'gt126' });
    await world.api('POST', '/branch_protections', pattern);
    await world.api('PATCH', '/branch_protections/m*', { priority: 0 });
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    expect(world.takeWrites()).toEqual(['POST branch_protections', 'PATCH branch_protections/{name}']);
    expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
    expect(await world.api('GET', '/branches/main')).toMatchObject({
      effective_branch_protection_name: 'main',
    });
  });

  /** `[a-z0-9_-]*` is a class of four parts there, and was read as a list of characters. */
  test('a class in front of the base’s own rule is not taken for a rule of other branches', async () => {
    const world = await create({ profile: 'gt126' });
    const own = { rule_name: 'main', enable_status_check: true, status_check_contexts: ['mq'] };
    await world.api('POST', '/branch_protections', { rule_name: '[a-z0-9_-]*', required_approvals: 1 });
    await world.api('POST', '/branch_protections', own);
    const before = await rulesOf(world);
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    const { protection } = viewProvisioning(result.repo);
    expect([protection.status, protection.detail]).toEqual(['error', expect.stringMatching(/^rule_unclear/)]);
    expect(await rulesOf(world)).toEqual(before);
  });

  test('a class over the branches of the queue is told', async () => {
    const world = await create({ profile: 'gt126' });
    await world.api('POST', '/branch_protections', { rule_name: '[a-z0-9]*/**' });
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    expect(viewProvisioning(result.repo).protection.detail).toMatch(/^staging_protected/);
  });

  test('a plain rule of the owner’s own behind the pattern is not touched', async () => {
    const world = await create({ profile: 'gt126' });
    await world.api('POST', '/branch_protections', pattern);
    await world.api('POST', '/branch_protections', { rule_name: 'main', required_approvals: 5 });
    const before = await rulesOf(world);
    const result = await setProtection(world.deps, await world.change(VERIFIED), true);
    expect(viewProvisioning(result.repo).protection.detail).toMatch(/^rule_unclear/);
    expect(await rulesOf(world)).toEqual(before);
  });
});

test('a rule that blocks outdated branches but asks for our context already is flagged, not refused (D-14)', async () => {
  const world = await create();
  const fields = { enable_status_check: true, status_check_contexts: ['mq'], block_on_outdated_branch: true };
  await world.api('POST', '/branch_protections', { rule_name: 'main', ...fields });
  const result = await setProtection(world.deps, await world.change(VERIFIED), true);
  expect(viewProvisioning(result.repo).protection).toMatchObject({ status: 'configured', id: 'main' });
  expect(viewProvisioning(result.repo).protection.detail).toMatch(/^block_on_outdated_branch/);
  expect(world.takeWrites()).toEqual([]);
});

test.each<[string, Partial<ManagedRepo>, readonly MergeStyle[], boolean]>([
  [
    'auto-merge in a style that the forge forbids',
    { automerge: true, mergeStyle: 'squash' },
    ['merge'],
    true,
  ],
  ['a forge that only fast-forwards', { automerge: false }, [], true],
  ['a forge that allows another style, which people may choose', { automerge: false }, ['merge'], false],
])('%s is said where nothing would land (D-19)', async (_case, changes, allowedStyles, isSaid) => {
  const world = await create();
  const repo = await world.change({ ...VERIFIED, ...changes });
  const forbidding = {
    ...world.deps,
    openForge: async (of: ManagedRepo) => {
      const opened = await world.deps.openForge(of);
      if (opened.kind !== 'open') return opened;
      const { forge } = opened;
      const readRepo: typeof forge.readRepo = async () => ({ ...(await forge.readRepo()), allowedStyles });
      return { kind: 'open' as const, forge: { ...forge, readRepo } };
    },
  };
  const result = await setProtection(forbidding, repo, true);
  const { detail } = viewProvisioning(result.repo).protection;
  expect(detail?.startsWith('merge_style_not_allowed') ?? false).toBe(isSaid);
});
