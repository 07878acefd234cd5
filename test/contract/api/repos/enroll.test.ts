import { randomUUID } from 'node:crypto';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { StoreError } from '#core/ports/store.ts';
import { type ApiWorld, TENANT_A, TENANT_B, TOKEN_B } from '../../../support/api-world.ts';
import { BOT, ScriptedAccounts } from '../../../support/scripted-accounts.ts';
import { makeWorkingForge } from '../../../support/working-forge.ts';
import { givenTeams, REPOS } from './given-teams.ts';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;
beforeEach(async () => {
  ({ world, a } = await givenTeams());
});

describe('enroll', () => {
  const enroll = async (fields: Readonly<Record<string, unknown>> = {}) => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    return a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/app', ...fields });
  };

  test('201 with the defaults (A66)', async () => {
    const made = await enroll();
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'acme/app',
      base_branch: 'main',
      status_context: 'mq',
      merge_style: 'squash',
      automerge: false,
      instance_url: expect.any(String),
      forge_conn_id: expect.any(String),
      provisioning: {
        webhook: { status: 'not_required' },
        protection: { status: 'not_requested', detail: null, required: null },
        ci_gate: { status: 'missing', url: null },
        last_provisioned_at: null,
      },
    });
    expect((await world.store.getRepo(made.json.id))?.wakeupMode).toBe('poll');
  });

  test.each([
    ['the gate file is on the base already', { setUp: makeWorkingForge(true) }, 'awaiting_validation'],
    ['it is not', { setUp: makeWorkingForge(false) }, 'missing'],
    ['the forge does not say', {}, 'missing'],
  ])('ci_gate tells what is on the base: %s', async (_name, forge, status) => {
    Object.assign(world.forge, forge);
    const made = await enroll();
    expect([made.status, made.json.provisioning.ci_gate]).toEqual([201, { status, url: null }]);
    expect((await world.store.getRepo(made.json.id))?.ciGate.status).toBe(status);
  });

  test('a new repository is woken at once, not at the next tick', async () => {
    world.engine = null;
    const made = await enroll();
    expect(world.sent.wakes).toEqual([{ repoId: made.json.id, wakeSeq: 1, at: world.clock.now() }]);
  });

  test.each([
    ['connection_id', undefined, 'missing_fields'],
    ['repo_slug', undefined, 'missing_fields'],
    ['repo_slug', 'a/b/c', 'invalid_field'],
    ['repo_slug', '/b', 'invalid_field'],
    ['repo_slug', `${'x'.repeat(140)}/y`, 'invalid_field'],
    ['base_branch', '', 'invalid_field'],
    ['base_branch', 'a..b', 'invalid_field'],
    ['base_branch', 'mq/main', 'invalid_field'],
    ['base_branch', 'heads/main', 'invalid_field'],
    ['base_branch', 'tags/v1', 'invalid_field'],
    ['base_branch', 'mq-work/main', 'invalid_field'],
    ['status_context', 'x*', 'invalid_field'],
    ['status_context', '  ', 'invalid_field'],
    ['status_context', 'x'.repeat(101), 'invalid_field'],
    ['merge_style', 'octopus', 'invalid_field'],
    ['automerge', 'true', 'invalid_field'],
    ['wakeup_mode', 'push', 'invalid_field'],
    ['token', 'inline', 'invalid_field'],
    ['bot_username', 'inline', 'invalid_field'],
    ['notification', 7, 'invalid_field'],
  ])('%s = %j is 400 %s', async (field, value, code) => {
    const refused = await enroll({ [field]: value });
    expect([refused.status, refused.code, refused.json.error.field]).toEqual([400, code, field]);
    expect(await world.store.listRepos(TENANT_A)).toHaveLength(1);
  });

  test('a base that leaves no room for the names of the queue is refused with words', async () => {
    const refused = await enroll({ base_branch: 'r'.repeat(82) });
    expect([refused.status, refused.json.error.field]).toEqual([400, 'base_branch']);
    expect(refused.json.error.message).toContain('more than 81 characters');
    expect((await enroll({ base_branch: 'r'.repeat(81) })).status).toBe(201);
  });

  test('without connection_id inline credentials are missing_fields, and stored nowhere (A67)', async () => {
    const refused = await a('POST', REPOS, { repo_slug: 'acme/app', token: 'inline-secret-7781' });
    expect([refused.code, refused.json.error.field]).toEqual(['missing_fields', 'connection_id']);
    expect(world.store.dump() + world.lines.join()).not.toContain('inline-secret-7781');
  });

  test('the connection of another tenant is as absent as none (A86)', async () => {
    const { connection } = await world.enroll(TENANT_B, { slug: 'acme/b' });
    const theirs = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/x' });
    const none = await a('POST', REPOS, { connection_id: randomUUID(), repo_slug: 'acme/x' });
    expect([theirs.status, theirs.text]).toEqual([404, none.text]);
  });

  test('a managed repo is 409 with who has it, before 402, in any spelling (A101)', async () => {
    const { repo } = await world.enroll(TENANT_B, {
      slug: 'acme/shared',
      instanceUrl: 'https://git.example.org',
    });
    const { connection } = await world.enroll(
      TENANT_A,
      { slug: 'acme/mine', instanceUrl: 'https://GIT.example.org:443/' },
      { botUsername: 'a-bot', verifiedAt: 1 },
    );
    await world.store.savePlan(TENANT_A, { tier: 'free', status: 'active' });
    const taken = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'ACME/Shared' });
    expect([taken.status, taken.json.error]).toMatchObject([
      409,
      {
        code: 'repo_already_managed',
        existing_tenant_id: TENANT_B,
        existing_managed_repo_id: repo.id,
      },
    ]);
    const over = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/new' });
    expect([over.status, over.code, over.json.error.portal]).toEqual([
      402,
      'repo_limit_exceeded',
      '/api/v1/billing/portal',
    ]);
  });

  test('50 at once: one wins, the others learn of it', async () => {
    world.rateFactor = 100;
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    const body = { connection_id: connection.id, repo_slug: 'acme/app' };
    const answers = await Promise.all(Array.from({ length: 50 }, () => a('POST', REPOS, body)));
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.code === 'repo_already_managed')).toHaveLength(49);
  });

  test('provisioning that fails never blocks enrollment (A56)', async () => {
    world.forge.fault = new ForgeError('denied', 'any', 403);
    const made = await enroll({ wakeup_mode: 'webhook' });
    expect([made.status, made.json.provisioning.webhook.status]).toEqual([201, 'needs_admin']);
    expect(made.json.provisioning.last_provisioned_at).not.toBeNull();
  });

  test('provisioning that cannot be recorded never blocks enrollment (A56)', async () => {
    world.store.beforeCall = (label) => {
      if (label === 'updateRepo') throw new StoreError('unavailable', label);
    };
    const made = await enroll({ wakeup_mode: 'webhook' });
    expect([made.status, made.json.provisioning.last_provisioned_at]).toEqual([201, null]);
    expect(await world.store.getRepo(made.json.id)).not.toBeNull();
  });

  test.each<[string, ScriptedAccounts['access'], number, string, string | undefined]>([
    ['can only read it', { canPush: false }, 422, 'forge_access_denied', undefined],
    ['is refused', new ForgeError('denied', 'GET repo', 401), 422, 'forge_access_denied', undefined],
    ['sees none', new ForgeError('missing', 'GET repo', 404), 400, 'invalid_field', 'repo_slug'],
    ['sees it under another name', { fullName: 'acme/renamed' }, 400, 'invalid_field', 'repo_slug'],
    ['is sent on', new ForgeError('denied', 'GET repo', 307), 400, 'invalid_field', 'repo_slug'],
    ['sees a mirror', { isMirror: true }, 400, 'invalid_field', 'repo_slug'],
    ['gets no answer', new ForgeError('unreachable', 'GET repo', null), 502, 'forge_unreachable', undefined],
  ])(
    'a repository of which the bot %s is not enrolled, taken or not',
    async (_name, access, status, code, field) => {
      world.forge.access = access;
      const { repo } = await world.enroll(TENANT_B, {
        slug: 'acme/theirs',
        instanceUrl: 'https://git.example.org',
      });
      const { connection } = await world.enroll(
        TENANT_A,
        { slug: 'acme/first', instanceUrl: 'https://git.example.org' },
        { botUsername: 'a-bot', verifiedAt: 1 },
      );
      for (const slug of [repo.slug, 'acme/free']) {
        const refused = await a('POST', REPOS, { connection_id: connection.id, repo_slug: slug });
        expect([refused.status, refused.code, refused.json.error.field]).toEqual([status, code, field]);
        expect(refused.text).not.toContain(TENANT_B);
      }
      expect(await world.store.listRepos(TENANT_A)).toHaveLength(1);
    },
  );

  test.each<[string, ScriptedAccounts['access'], RegExp]>([
    ['sees none', new ForgeError('missing', 'GET repo', 404), /^The bot .* sees no such repository/],
    ['sees it under another name', { fullName: 'acme/renamed' }, /^The repository has another name or owner/],
    ['sees a mirror', { isMirror: true }, /^The repository is a mirror of another one/],
    ['is sent on', new ForgeError('denied', 'GET repo', 301), /^The repository has another name or owner/],
  ])('where the bot %s, the words say so', async (_name, access, words) => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    world.forge.access = access;
    const refused = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/free' });
    expect(refused.json.error).toMatchObject({ code: 'invalid_field', field: 'repo_slug' });
    expect(refused.json.error.message).toMatch(words);
  });

  test('a branch that the forge does not have is refused with words, and nothing is stored', async () => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    world.forge.setUp = { ...makeWorkingForge(false), readBranchTip: async () => null };
    const asked = { connection_id: connection.id, repo_slug: 'acme/app', base_branch: 'mian' };
    const refused = await a('POST', REPOS, asked);
    expect([refused.status, refused.json.error]).toMatchObject([
      400,
      { code: 'invalid_field', field: 'base_branch' },
    ]);
    expect(refused.json.error.message).toMatch(/^The repository has no branch of this name/);
    expect(await world.store.listRepos(TENANT_A)).toHaveLength(1);
  });

  test('a tag on which the forge finds the gate file is no base either', async () => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    world.forge.setUp = { ...makeWorkingForge(true), readBranchTip: async () => null };
    const asked = { connection_id: connection.id, repo_slug: 'acme/app', base_branch: 'v1.0' };
    const refused = await a('POST', REPOS, asked);
    expect([refused.status, refused.json.error.field]).toEqual([400, 'base_branch']);
    expect(await world.store.listRepos(TENANT_A)).toHaveLength(1);
  });

  test('a credential that does not open is 500 decryption_error', async () => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    world.vault.failing = 'open';
    const refused = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/app' });
    expect([refused.status, refused.code]).toEqual([500, 'decryption_error']);
  });

  test('an enrollment that the plan refuses leaves the connection as it was: not verified', async () => {
    const first = await world.enroll(
      TENANT_A,
      { slug: 'acme/first' },
      { botUsername: BOT, verifiedAt: null },
    );
    await world.store.savePlan(TENANT_A, { tier: 'free', status: 'active' });
    const before = await world.store.getConnection(TENANT_A, first.connection.id);
    const answer = await a('POST', '/api/v1/user/repos', {
      connection_id: first.connection.id,
      repo_slug: 'acme/second',
    });
    expect([answer.status, answer.code]).toEqual([402, 'repo_limit_exceeded']);
    expect(await world.store.getConnection(TENANT_A, first.connection.id)).toEqual(before);
  });

  test('a connection that was stored while its forge was away is verified first', async () => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    const body = { connection_id: connection.id, repo_slug: 'acme/app' };
    world.forge.login = new ForgeError('unreachable', 'GET user', null);
    expect((await a('POST', REPOS, body)).code).toBe('forge_unreachable');
    world.forge.login = 'another-account';
    expect((await a('POST', REPOS, body)).code).toBe('forge_access_denied');
    world.forge.login = BOT;
    expect((await a('POST', REPOS, body)).status).toBe(201);
    const stored = await world.store.getConnection(TENANT_A, connection.id);
    expect(stored?.verifiedAt).toBe(world.clock.now());
    world.forge.login = new ForgeError('unreachable', 'GET user', null);
    expect((await a('POST', REPOS, { ...body, repo_slug: 'acme/next' })).status).toBe(201);
  });

  describe('a name that another tenant has', () => {
    const instanceUrl = 'https://git.example.org';
    const claim = async (changes: Partial<ManagedRepo> = {}) => {
      const held = await world.enroll(TENANT_B, { slug: 'acme/app', instanceUrl, ...changes });
      const { connection } = await world.enroll(
        TENANT_A,
        { slug: 'acme/first', instanceUrl },
        { botUsername: 'a-bot', verifiedAt: 1 },
      );
      const wanted = { connection_id: connection.id, repo_slug: 'acme/app' };
      return { held: held.repo, answer: () => a('POST', REPOS, wanted) };
    };
    /** The forge as each of the two sees it: `TENANT_A` writes. */
    const theirs = (access: ScriptedAccounts['access']) => {
      const adminOf = ScriptedAccounts.prototype.adminOf.bind(world.forge);
      let asked = 0;
      world.forge.adminOf = (slug) => {
        asked += 1;
        world.forge.access = asked === 1 ? {} : access;
        return adminOf(slug);
      };
    };

    test.each<[string, ScriptedAccounts['access']]>([
      ['can only read', { canPush: false }],
      ['is refused', new ForgeError('denied', 'GET repo', 401)],
      ['sees none', new ForgeError('missing', 'GET repo', 404)],
    ])('gives way when its claim never was verified and its bot %s', async (_name, access) => {
      const { held, answer } = await claim();
      theirs(access);
      expect((await answer()).status).toBe(201);
      expect((await world.store.getRepo(held.id))?.tombstone ?? true).toBe(true);
      const notes = await world.store.listAudit(TENANT_B, 9);
      expect(notes).toContainEqual(
        expect.objectContaining({
          action: 'repo.displaced',
          target: held.id,
          actor: 'another_tenant',
          from: null,
        }),
      );
    });

    test('stays when its bot can write after all, and is verified from then on', async () => {
      const { held, answer } = await claim();
      theirs({});
      const refused = await answer();
      expect([refused.status, refused.json.error.existing_managed_repo_id]).toEqual([409, held.id]);
      expect((await world.store.getRepo(held.id))?.verifiedAt).toBe(world.clock.now());
      theirs({ canPush: false });
      expect((await answer()).code).toBe('repo_already_managed');
    });

    test('stays when it was verified, or when its forge says nothing', async () => {
      const verified = await claim({ verifiedAt: 1 });
      theirs({ canPush: false });
      expect((await verified.answer()).code).toBe('repo_already_managed');
      const other = await world.enroll(TENANT_B, { slug: 'acme/other', instanceUrl }, { botUsername: 'b2' });
      theirs(new ForgeError('unreachable', 'GET repo', null));
      const body = {
        connection_id: (await world.store.listConnections(TENANT_A))[0]?.id,
        repo_slug: 'acme/other',
      };
      const refused = await a('POST', REPOS, body);
      expect(refused.json.error.existing_managed_repo_id).toBe(other.repo.id);
    });
  });

  test('an account that is leaving gets no new repository, and is told that it leaves', async () => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    await world.store.markTenantDeleting(TENANT_A);
    const answer = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/app' });
    expect([answer.status, answer.code]).toEqual([409, 'queue_locked']);
    expect(answer.json.error.message).toContain('is being deleted');
  });

  test('an enrollment that others forestall again and again is told to try again, not that the account leaves', async () => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    world.store.beforeCall = (label) => {
      if (label === 'createRepo') throw new StoreError('lost_race', label);
    };
    const answer = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/app' });
    expect([answer.status, answer.code]).toEqual([409, 'queue_locked']);
    expect(answer.json.error.message).not.toContain('deleted');
  });

  test('a plan that cannot be read is 503, never a ceiling (A108)', async () => {
    world.store.beforeCall = (label) => {
      if (label === 'loadPlan') throw new StoreError('unavailable', label);
    };
    const failed = await enroll();
    expect([failed.status, failed.code, failed.json.error.retryable]).toEqual([
      503,
      'billing_unavailable',
      true,
    ]);
  });
});

describe('delete', () => {
  test('204, gone for its owner, never there for others', async () => {
    const { repo } = await world.enroll(TENANT_A);
    expect((await world.as(TOKEN_B)('DELETE', `${REPOS}/${repo.id}`)).status).toBe(404);
    const gone = await a('DELETE', `${REPOS}/${repo.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    expect((await a('DELETE', `${REPOS}/${repo.id}`)).status).toBe(404);
    expect((await a('GET', REPOS)).json).toEqual([]);
  });
});
