import { randomUUID } from 'node:crypto';
import type { BranchRule } from '#core/domain/forge/branch-rule.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { grantHeldLease, type LeaseGrant } from '#core/domain/wakes/lease.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { StoreError } from '#core/ports/store.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { givenObligations, givenQueueView } from '../../builders/told-queue.ts';
import {
  ApiWorld,
  BOT,
  type EngineStub,
  ScriptedAccounts,
  TENANT_A,
  TENANT_B,
  TOKEN_A,
  TOKEN_B,
} from '../../support/api-world.ts';
import { makeWorkingForge } from '../../support/working-forge.ts';

const REPOS = '/api/v1/user/repos';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;

beforeEach(async () => {
  world = new ApiWorld();
  a = world.as(TOKEN_A);
  for (const id of [TENANT_A, TENANT_B]) await world.store.savePlan(id, { tier: 'team', status: 'active' });
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

  test.each<[string, ScriptedAccounts['access'], number, string, string | undefined]>([
    ['can only read it', { canPush: false }, 422, 'forge_access_denied', undefined],
    ['is refused', new ForgeError('denied', 'GET repo', 401), 422, 'forge_access_denied', undefined],
    ['sees none', new ForgeError('missing', 'GET repo', 404), 400, 'invalid_field', 'repo_slug'],
    ['sees it under another name', { fullName: 'acme/renamed' }, 400, 'invalid_field', 'repo_slug'],
    ['is sent on', new ForgeError('denied', 'GET repo', 307), 400, 'invalid_field', 'repo_slug'],
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
    ['is sent on', new ForgeError('denied', 'GET repo', 301), /^The repository has another name or owner/],
  ])('where the bot %s, the words say so', async (_name, access, words) => {
    const { connection } = await world.enroll(TENANT_A, { slug: 'acme/first' });
    world.forge.access = access;
    const refused = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/free' });
    expect(refused.json.error).toMatchObject({ code: 'invalid_field', field: 'repo_slug' });
    expect(refused.json.error.message).toMatch(words);
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

describe('settings', () => {
  test('another gate is verified anew', async () => {
    const ciGate = { status: 'verified', url: null, setupPr: null, probe: null } as const;
    const { repo } = await world.enroll(TENANT_A, { ciGate });
    const same = await a('PATCH', `${REPOS}/${repo.id}`, { gate: 'workflow', bisect_fanout: 3 });
    expect(same.json.provisioning.ci_gate.status).toBe('verified');
    const other = await a('PATCH', `${REPOS}/${repo.id}`, { gate: 'statuses', gate_contexts: ['ci/build'] });
    expect(other.json.provisioning.ci_gate.status).toBe('awaiting_validation');
  });

  test('a number takes the choice of the fan-out back from the queue, and one from before stays below it', async () => {
    const { repo } = await world.enroll(TENANT_A, { bisectFanout: 6 });
    const stored = async () => {
      const { bisectFanout, fanoutAuto } = (await world.store.getRepo(repo.id)) ?? {};
      return [bisectFanout, fanoutAuto];
    };
    const auto = await a('PATCH', `${REPOS}/${repo.id}`, { bisect_fanout: 'auto' });
    expect([auto.status, auto.json.bisect_fanout]).toEqual([200, 'auto']);
    expect(await stored()).toEqual([6, true]);
    const fixed = await a('PATCH', `${REPOS}/${repo.id}`, { bisect_fanout: 3 });
    expect([fixed.status, fixed.json.bisect_fanout]).toEqual([200, 3]);
    expect(await stored()).toEqual([3, false]);
  });

  const patch = async (fields: unknown, changes: Partial<ManagedRepo> = {}) => {
    const { repo } = await world.enroll(TENANT_A, changes);
    const answer = await a('PATCH', `${REPOS}/${repo.id}`, fields);
    return { repo, answer, stored: await world.store.getRepo(repo.id) };
  };

  test.each([
    [
      'bisect_fanout',
      [1, 16, 'auto'],
      [0, 17, 1.5, '3', true, null, Number.POSITIVE_INFINITY, -1, 'AUTO', ''],
    ],
    ['auto_runs_per_100_landed', [20, 125, 1_000], [19, 1_001, 50.5, 'auto', null]],
    ['batch_linger_seconds', [0, 1, 86_400], [-1, 0.5, '0', null, 86_401]],
    ['batch_target', [0, 100], [-1, 0.5, true, null, 101]],
    ['gate_timeout_minutes', [0, 1_440, null], [-1, 1.5, '5', 1_441]],
    ['reuse_ci', [true, false], ['true', 1, null]],
    ['repair_setup', [true, false], ['true', 1, null]],
    ['backports', [true, false], ['true', 1, null]],
    ['settings_file', [true, false], ['true', 1, null]],
    ['gate', ['workflow', 'statuses'], ['jobs', true, null]],
    ['gate_contexts', [[], ['ci/build', 'ci/*']], ['ci', [5], [''], [' x'], Array(21).fill('x'), null]],
    ['gate_authors', [[], ['ci-bot']], ['ci', [5], [''], Array(6).fill('x'), null]],
    ['incident_labels', [[], ['incident', 'Kind/Hot fix']], ['x', [''], [' x'], Array(6).fill('x'), null]],
    ['high_labels', [['high']], ['x', [5], ['x'.repeat(51)], null]],
    ['low_labels', [['low']], ['x', [5], null]],
    ['priority_people', [[], ['oncall']], ['x', [''], ['a b'], Array(21).fill('x'), null]],
    ['schedule_people', [[], ['lead']], ['x', [''], ['a b'], Array(51).fill('x'), null]],
    ['schedule_teams', [[], ['release']], ['x', [''], ['a b'], Array(11).fill('x'), null]],
    ['schedule_own', [false, true], ['true', 1, null]],
    ['bots', [[], ['renovate']], ['x', [''], Array(21).fill('x'), null]],
    ['bot_approval', [true, false], ['true', 1, null]],
    ['author_queued_max', [0, 1_000], [-1, 1.5, '5', 1_001, null]],
    ['bot_queued_max', [0, 1_000], [-1, 1.5, '5', 1_001, null]],
    ['head_attempts_max', [0, 100], [-1, 1.5, '5', 101, null]],
    ['freeze_exempt_labels', [['urgent']], ['x', [5], null]],
    ['freeze_time_zone', ['Europe/Berlin', 'UTC'], ['+01:00', 'Mars/Olympus', '', 1, null]],
    [
      'notice_topics',
      [{ email: [], slack: ['landed', 'stuck'], discord: ['bounced'], matrix: ['drift'], webhook: [] }],
      ['bounced', ['bounced'], null, { email: ['all'] }, { slack: ['drift', 'drift'] }, { discord: null }],
    ],
    ['wakeup_mode', ['poll', 'webhook'], ['push', 1, null]],
    ['queue_enabled', [true, false], ['true', 0, null]],
    ['status_context', ['ci/mq', ' trimmed '], ['', 'a*b', 5, null, 'x'.repeat(101)]],
    ['base_branch', [], ['main']],
    ['merge_style', [], ['merge']],
    ['automerge', [], [true]],
    ['repo_slug', [], ['acme/x']],
    ['connection_id', [], ['x']],
  ])('%s: good values pass, bad ones change nothing (A65, A68)', async (field, good, bad) => {
    for (const value of good) {
      const { answer } = await patch({ [field]: value }, { slug: `acme/${randomUUID()}` });
      expect([value, answer.status]).toEqual([value, 200]);
      const shown = typeof value === 'string' ? value.trim() : value;
      expect(answer.json[field]).toEqual(shown);
    }
    for (const value of bad) {
      const body = JSON.stringify({ bisect_fanout: 9, [field]: value }).replace(
        'null',
        value === null ? 'null' : '1e400',
      );
      const { answer, repo, stored } = await patch(body, { slug: `acme/${randomUUID()}` });
      expect([value, answer.status, answer.code, answer.json.error.field.split('.')[0]]).toEqual([
        value,
        400,
        'invalid_field',
        field,
      ]);
      expect(stored).toEqual(repo);
    }
  });

  test('the full safe view comes back, and `notification` never does', async () => {
    const { answer, stored } = await patch({
      unknown: 1,
      notification: {
        email: 'team@example.org',
        chat_a_webhook_url: 'https://hooks.slack.com/services/T0/B0/x',
        matrix: { homeserver: 'https://matrix.org', room: '!a:matrix.org', token: 'syt_canary_9' },
        other: 'dropped',
      },
    });
    expect(Object.keys(answer.json).sort()).toEqual(
      [
        'id',
        'name',
        'base_branch',
        'status_context',
        'merge_style',
        'automerge',
        'instance_url',
        'forge_conn_id',
        'wakeup_mode',
        'connection',
        'provisioning',
        'reconcile',
        'created_at',
        'updated_at',
        'hold_reason',
        'gate_events',
        'forge',
        'pause',
        'queue_enabled',
        'batch_linger_seconds',
        'bisect_fanout',
        'auto_runs_per_100_landed',
        'batch_target',
        'gate',
        'gate_contexts',
        'gate_authors',
        'gate_timeout_minutes',
        'reuse_ci',
        'repair_setup',
        'backports',
        'settings_file',
        'file_settings',
        'incident_labels',
        'high_labels',
        'low_labels',
        'priority_people',
        'schedule_people',
        'schedule_teams',
        'schedule_own',
        'bots',
        'bot_approval',
        'author_queued_max',
        'bot_queued_max',
        'head_attempts_max',
        'freeze_windows',
        'freeze_time_zone',
        'freeze_exempt_labels',
        'notice_topics',
      ].sort(),
    );
    expect(stored?.notification).toEqual({
      email: 'team@example.org',
      slack: expect.stringMatching(/^sealed:/),
      discord: null,
      matrix: expect.stringMatching(/^https:\/\/matrix\.org sealed:/),
      webhook: null,
    });
    expect(world.answers.join()).not.toMatch(/hooks\.slack\.com|syt_canary_9/);
    expect(world.store.dump()).not.toContain('syt_canary_9');
    await a('PATCH', `${REPOS}/${stored?.id}`, { notification: null });
    expect((await world.store.getRepo(stored?.id ?? ''))?.notification).toBeNull();
  });

  test.each([
    ['homeserver', 'http://matrix.org'],
    ['homeserver', 'https://matrix.org/'],
    ['homeserver', 'https://matrix.org:8448'],
    ['homeserver', 'https://x@matrix.org'],
    ['homeserver', 'https://127.0.0.1'],
    ['homeserver', 'https://localhost'],
    ['room', '#lounge:matrix.org'],
    ['room', ''],
    ['token', ''],
    ['token', 'a b'],
  ])('a wrong %s of Matrix, %j, is refused by its name', async (field, wrong) => {
    const matrix = { homeserver: 'https://matrix.org', room: '!a:matrix.org', token: 'x', [field]: wrong };
    const { answer, stored } = await patch({ notification: { matrix } });
    expect([answer.code, answer.json.error.field]).toEqual(['invalid_field', `notification.matrix.${field}`]);
    expect(stored?.notification).toBeNull();
  });

  test.each([
    'http://hooks.slack.com/services/x',
    'https://hooks.slack.com.evil.org/services/x',
    'https://evil.org/services/x',
    'https://hooks.slack.com@evil.org/services/x',
    'https://hooks.slack.com:444/services/x',
    'https://hooks.slack.com/services/../x',
    'https://hooks.slack.com/other/x',
    'https://hooks.slack.com/services/x?y#z',
    'https://HOOKS.slack.com/services/x',
    'https:\\\\hooks.slack.com/services/x',
    'https://hooks.slack.com/services/',
    'https://discord.com/api/webhooks/1/x',
    'javascript:alert(1)',
    '',
  ])('a chat address %j is refused (A82)', async (url) => {
    const { answer, stored } = await patch({ notification: { chat_a_webhook_url: url } });
    expect([answer.code, answer.json.error.field]).toEqual([
      'invalid_field',
      'notification.chat_a_webhook_url',
    ]);
    expect(stored?.notification).toBeNull();
  });

  test.each(['no-at', 'a@b', 'a b@c.org', 'a@c.org\r\nBcc: x@y.org', `${'x'.repeat(250)}@c.org`])(
    'an e-mail address %j is refused',
    async (email) => {
      expect((await patch({ notification: { email } })).answer.code).toBe('invalid_field');
    },
  );

  test('nothing to change is 200 and no write', async () => {
    const { answer, repo, stored } = await patch({});
    expect(answer.status).toBe(200);
    expect(stored).toEqual(repo);
  });

  test('switching on sets the time that lifts an older stop, and makes the repo due', async () => {
    world.engine = null;
    const { repo } = await world.enroll(TENANT_A, { queueEnabled: false, dueAt: null });
    await world.clock.advance(1_000);
    await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true });
    expect(await world.store.getRepo(repo.id)).toMatchObject({
      queueEnabled: true,
      enabledAt: world.clock.now(),
      dueAt: world.clock.now(),
    });
  });

  test('switching on sends a wake at once; a change of a queue that is on sends none', async () => {
    world.engine = null;
    const { repo } = await world.enroll(TENANT_A, { queueEnabled: false, dueAt: null });
    await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true });
    expect(world.sent.wakes).toEqual([{ repoId: repo.id, wakeSeq: 1, at: world.clock.now() }]);
    await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true, bisect_fanout: 2 });
    expect(world.sent.wakes).toHaveLength(1);
  });

  test('a wake that cannot be sent leaves the queue on and due', async () => {
    world.sent.failing = true;
    const { repo } = await world.enroll(TENANT_A, { queueEnabled: false, dueAt: null });
    const answer = await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true });
    expect([answer.status, answer.json.queue_enabled]).toEqual([200, true]);
    expect(await world.store.getRepo(repo.id)).toMatchObject({ dueAt: world.clock.now() });
  });
});

describe('switching the queue off (D-24)', () => {
  /** Rows that an engine leaves behind: those of batches, and the view of a landing. */
  const leave = async (
    repo: ManagedRepo,
    grant: LeaseGrant,
    write: {
      readonly prs?: readonly number[];
      readonly landing?: 'posted' | 'revoked';
      readonly at?: number;
    },
  ) => {
    const stored = await world.store.loadQueueRecord(repo.id);
    const { prs = [], landing, at } = write;
    const successStands = landing === 'posted';
    const obligations = givenObligations({ at: world.clock.now(), open: true, successStands, inFlight: [4] });
    const row = {
      id: randomUUID(),
      tenantId: repo.tenantId,
      repoId: repo.id,
      prs,
      ...(at === undefined ? {} : { createdAt: at }),
    };
    await world.store.saveQueue(
      grantHeldLease(repo.id, grant, () => 0, 1),
      repo,
      {
        document: {},
        expectedVersion: stored?.version ?? null,
        events: [],
        batches: prs.length === 0 ? [] : [givenNodeRow(row)],
        ...(landing === undefined ? {} : { told: { view: givenQueueView(), obligations } }),
      },
    );
  };
  const under = async (repo: ManagedRepo, write: Parameters<typeof leave>[2]) => {
    const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 1_000);
    if (grant === 'held') throw new Error('held');
    await leave(repo, grant, write);
    await world.store.releaseLease(repo.id, grant);
  };
  const withBatch = async () => {
    const { repo } = await world.enroll(TENANT_A);
    await under(repo, { prs: [4, 7] });
    return repo;
  };
  /** A success is posted on #4, and its merge is awaited. */
  const withLanding = async () => {
    const repo = await withBatch();
    await under(repo, { landing: 'posted' });
    return repo;
  };
  const disable = (repo: ManagedRepo) => a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: false });

  test('cancels every scheduled merge of a live batch, then stores, then asks for the statuses (A34)', async () => {
    const repo = await withBatch();
    world.engine = null;
    const switches: unknown[] = [];
    world.forge.onCancel = async () => {
      switches.push((await world.store.getRepo(repo.id))?.queueEnabled);
    };
    const answer = await disable(repo);
    expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
    expect(world.forge.cancelled).toEqual([4, 7]);
    expect(switches).toEqual([true, true]);
    expect(world.sent.wakes.map((wake) => wake.repoId)).toEqual([repo.id]);
    expect(await world.store.readLeaseState(repo.id)).toBe('idle');
  });

  test.each([
    [new ForgeError('denied', 'x', 403), 422, 'forge_access_denied'],
    [new ForgeError('unreachable', 'x', null), 502, 'forge_unreachable'],
  ])('%s: the queue stays on', async (fault, status, code) => {
    const repo = await withBatch();
    world.forge.cancelFault = fault;
    const answer = await disable(repo);
    expect([answer.status, answer.code]).toEqual([status, code]);
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
    expect(await world.store.readLeaseState(repo.id)).toBe('idle');
  });

  test('an archived repository lets no merge be cancelled: the queue goes off all the same', async () => {
    const repo = await withBatch();
    world.forge.cancelFault = new ForgeError('archived', 'x', 423);
    const answer = await disable(repo);
    expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
    expect(world.sent.wakes.map((wake) => wake.repoId)).toEqual([repo.id]);
  });

  test('busy is 409 queue_locked, an unreadable lease 503 queue_lock_failed', async () => {
    const repo = await withBatch();
    const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    expect(await disable(repo)).toMatchObject({ status: 409, code: 'queue_locked' });
    if (grant !== 'held') await world.store.releaseLease(repo.id, grant);
    world.store.beforeCall = (label) => {
      if (label === 'acquireLease') throw new StoreError('unavailable', label);
    };
    expect(await disable(repo)).toMatchObject({ status: 503, code: 'queue_lock_failed' });
    world.store.beforeCall = null;
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
  });

  test('an engine at work with nothing posted is asked to stop, and waited for', async () => {
    const repo = await withBatch();
    const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    if (grant === 'held') throw new Error('the lease is not free');
    world.clock.after(3_000, async () => {
      expect((await world.store.readHolds(repo))?.queueEnabled).toBe(false);
      await world.store.releaseLease(repo.id, grant);
    });
    expect(await disable(repo)).toMatchObject({ status: 200, json: { queue_enabled: false } });
    expect((await world.store.getRepo(repo.id))?.stopUntil).toBeUndefined();
  });

  test('a batch that a worker staged until the lease was taken is cancelled too', async () => {
    const repo = await withBatch();
    world.store.beforeCall = async (label) => {
      if (label !== 'acquireLease') return;
      world.store.beforeCall = null;
      await under(repo, { prs: [11] });
    };
    expect((await disable(repo)).status).toBe(200);
    expect([...world.forge.cancelled].sort((x, y) => x - y)).toEqual([4, 7, 11]);
  });

  test('however many batches other repositories of the tenant have had since', async () => {
    const repo = await withBatch();
    const other = (await world.enroll(TENANT_A, { slug: 'acme/busy' })).repo;
    for (let index = 0; index < 205; index += 1) {
      await under(other, { prs: [100 + index], at: world.clock.now() + index + 1 });
    }
    expect((await disable(repo)).status).toBe(200);
    expect(world.forge.cancelled).toEqual([4, 7]);
  });

  describe('with a success that stands', () => {
    const revoking: EngineStub = {
      answer: 'ok',
      logTail: [],
      act: async (id, grant, command) => {
        const repo = await world.store.getRepo(id);
        if (repo === null) throw new Error('gone');
        steps.push(`engine ${command}`);
        await leave(repo, grant, { landing: 'revoked' });
        return null;
      },
    };
    let steps: string[];
    beforeEach(() => {
      steps = [];
      world.forge.onCancel = async () => {
        const stored = (await world.store.listRepos(TENANT_A))[0];
        const stands = (await world.store.readObligations(stored?.id ?? ''))?.successStands;
        steps.push(`cancel ${stands === true ? 'while it stands' : 'after'} ${stored?.queueEnabled}`);
      };
    });

    test('the engine takes it back first, then the schedules go, then the switch is stored', async () => {
      const repo = await withLanding();
      world.engine = revoking;
      const answer = await disable(repo);
      expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
      expect(steps.slice(0, 3)).toEqual(['engine wind_down', 'cancel after true', 'cancel after true']);
      expect((await world.store.getRepo(repo.id))?.stopUntil).toBeUndefined();
    });

    test('an engine that has taken it back and still writes its words is waited for', async () => {
      const repo = await withLanding();
      const writeOn = async (): Promise<void> => {
        const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
        if (grant === 'held') throw new Error('the lease is not free');
        world.clock.after(3_000, () => world.store.releaseLease(repo.id, grant));
      };
      world.engine = {
        ...revoking,
        act: async (id, grant, command) => {
          world.clock.after(100, writeOn);
          return (await revoking.act?.(id, grant, command)) ?? null;
        },
      };
      const answer = await disable(repo);
      expect([answer.status, answer.json.queue_enabled]).toEqual([200, false]);
      expect(steps.slice(0, 3)).toEqual(['engine wind_down', 'cancel after true', 'cancel after true']);
    });

    test.each([
      ['forge_access_denied', 422, 'forge_access_denied'],
      ['forge_unreachable', 502, 'forge_unreachable'],
      ['engine_error', 503, 'queue_lock_failed'],
    ] as const)('%s: the queue stays on, and nothing is cancelled', async (errorCode, status, code) => {
      const repo = await withLanding();
      world.engine = { answer: 'failed', logTail: [], act: async () => errorCode };
      expect(await disable(repo)).toMatchObject({ status, code });
      expect(steps).toEqual([]);
      expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
    });

    test('an engine that does not come is 409 queue_locked; it goes on being asked, so a second try finds it done', async () => {
      const repo = await withLanding();
      world.engine = null;
      expect(await disable(repo)).toMatchObject({ status: 409, code: 'queue_locked' });
      expect(steps).toEqual([]);
      await under(repo, { landing: 'revoked' });
      expect((await disable(repo)).status).toBe(200);
      expect(steps).toEqual(['cancel after true', 'cancel after true']);
    });

    test('a queue that cannot be asked is 503 queue_lock_failed', async () => {
      const repo = await withLanding();
      world.sent.failing = true;
      expect(await disable(repo)).toMatchObject({ status: 503, code: 'queue_lock_failed' });
      expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
    });
  });

  test('a credential that does not open keeps it on', async () => {
    const repo = await withBatch();
    world.vault.failing = 'open';
    expect(await disable(repo)).toMatchObject({ status: 500, code: 'decryption_error' });
    expect(await world.store.getRepo(repo.id)).toMatchObject({ queueEnabled: true });
  });
});

describe('manual reconcile', () => {
  const reconcile = async (changes: Partial<ManagedRepo> = {}) => {
    const { repo } = await world.enroll(TENANT_A, changes);
    return { repo, answer: await a('POST', `${REPOS}/${repo.id}/reconcile`) };
  };

  test('200 with the outcome and the log tail, which is stored as well', async () => {
    const { answer } = await reconcile();
    expect([answer.status, answer.json]).toEqual([
      200,
      { reconcile: { ran_at: '2026-01-01T00:00:00.000Z', ok: true, error: null }, log_tail: ['looked'] },
    ]);
    expect((await a('GET', REPOS)).json[0].reconcile).toMatchObject({ ok: true, error_code: null });
  });

  test('at most 50 lines', async () => {
    world.engine = { answer: 'ok', logTail: Array.from({ length: 60 }, (_, index) => `line ${index}`) };
    const { answer } = await reconcile();
    expect(answer.json.log_tail).toHaveLength(50);
  });

  test('a failure is 500 in its own shape with a fixed sentence, not the envelope (D-26)', async () => {
    world.engine = { answer: 'failed', logTail: [] };
    const { answer } = await reconcile();
    expect(answer.status).toBe(500);
    expect(Object.keys(answer.json)).toEqual(['reconcile', 'log_tail']);
    expect(answer.json.reconcile).toMatchObject({
      ok: false,
      error: 'The look failed; the queue tries again by itself.',
    });
  });

  test('an engine that does not end in time is 500 after 25 s, and the work goes on', async () => {
    world.engine = null;
    const before = world.clock.now();
    const { answer } = await reconcile();
    expect([answer.status, answer.json.reconcile.ok]).toEqual([500, false]);
    expect(world.clock.now() - before).toBe(25_000);
  });

  test('an engine that sleeps is waited for: its first answer is the answer', async () => {
    world.engine = { answer: 'starting', logTail: [] };
    const { repo } = await world.enroll(TENANT_A);
    // The worker's own retry.
    world.clock.after(12_000, async () => {
      world.engine = { answer: 'ok', logTail: ['looked'] };
      await world.store.markDue(repo.id, world.clock.now());
      await world.answerWake(repo.id);
    });
    const answer = await a('POST', `${REPOS}/${repo.id}/reconcile`);
    expect([answer.status, answer.json]).toMatchObject([
      200,
      { reconcile: { ok: true }, log_tail: ['looked'] },
    ]);
  });

  test('one that does not wake within 25 s is told as being started, with when to ask again', async () => {
    world.engine = { answer: 'starting', logTail: [] };
    const before = world.clock.now();
    const { answer, repo } = await reconcile();
    expect(world.clock.now() - before).toBe(25_000);
    expect([answer.status, answer.headers['retry-after']]).toEqual([500, '60']);
    expect(answer.json.reconcile).toMatchObject({
      ok: false,
      error: 'The engine was asleep and is being started; ask again in a minute.',
    });
    const [stored] = (await a('GET', REPOS)).json;
    expect([stored.id, stored.reconcile.error_code]).toEqual([repo.id, 'engine_starting']);
  });

  test('a second one within the millisecond in which the first ended is answered, too', async () => {
    const { repo } = await reconcile();
    const before = world.clock.now();
    const answer = await a('POST', `${REPOS}/${repo.id}/reconcile`);
    expect([answer.status, answer.json.reconcile.ok]).toEqual([200, true]);
    expect(world.clock.now() - before).toBeLessThan(100);
  });

  test('an outcome from a clock that runs ahead is not taken for the new one', async () => {
    const { repo } = await reconcile();
    await world.store.saveReconcileOutcome(repo, {
      ranAt: world.clock.now() + 700,
      ok: false,
      errorCode: 'timeout',
    });
    const answer = await a('POST', `${REPOS}/${repo.id}/reconcile`);
    expect([answer.status, answer.json.reconcile.ok]).toEqual([200, true]);
  });

  test('held, off, busy, without connection, without credential', async () => {
    const { repo } = await world.enroll(TENANT_A, { slug: 'acme/old' });
    await world.clock.advance(1);
    const second = { slug: 'acme/new', createdAt: world.clock.now() };
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'past_due' });
    expect((await reconcile(second)).answer).toMatchObject({
      status: 402,
      json: { error: { code: 'payment_required', portal: '/api/v1/billing/portal' } },
    });
    expect((await a('POST', `${REPOS}/${repo.id}/reconcile`)).status).toBe(200);
    await world.store.savePlan(TENANT_A, { tier: 'pro', status: 'active' });
    const off = await reconcile({ slug: 'acme/off', queueEnabled: false, dueAt: null });
    expect(off.answer).toMatchObject({ status: 409, code: 'queue_not_ready' });
    await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    expect(await a('POST', `${REPOS}/${repo.id}/reconcile`)).toMatchObject({
      status: 409,
      code: 'queue_locked',
    });
    world.vault.failing = 'open';
    expect((await reconcile({ slug: 'acme/sealed' })).answer).toMatchObject({
      status: 500,
      code: 'decryption_error',
    });
  });

  test('the seventh within a minute is 429 with when to come back', async () => {
    const { repo } = await reconcile();
    const answers = [];
    for (let nth = 0; nth < 6; nth += 1) {
      answers.push(await a('POST', `${REPOS}/${repo.id}/reconcile`));
    }
    expect(answers.slice(0, 5).map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    expect(answers[5]).toMatchObject({
      status: 429,
      json: { error: { code: 'rate_limited', retryable: true } },
    });
    expect(Number(answers[5]?.headers['retry-after'])).toBe(10);
  });

  test('another spelling of the repo’s id opens no new share, and what is no id shares one', async () => {
    const { repo } = await reconcile();
    const ask = async (id: string) => (await a('POST', `${REPOS}/${id}/reconcile`)).status;
    for (let nth = 0; nth < 5; nth += 1) expect(await ask(repo.id)).toBe(200);
    expect(await ask(repo.id.toUpperCase())).toBe(429);
    expect(await ask(repo.id)).toBe(429);
    for (let nth = 0; nth < 6; nth += 1) expect(await ask(`none-${nth}`)).toBe(404);
    expect(await ask('none-6')).toBe(429);
  });
});

describe('provision, protect, gate', () => {
  test('a token with too few scopes is told which one it lacks, by each call that meets it', async () => {
    const { repo, connection } = await world.enroll(TENANT_A);
    const at = (rest: string) => `${REPOS}/${repo.id}/${rest}`;
    const lacking = new ForgeError('denied', 'any', 403, null, false, ['write:repository']);
    const words = 'it lacks the scope write:repository.';
    world.forge.fault = lacking;
    world.forge.repos = lacking;
    world.forge.access = lacking;
    const discover = await a('POST', `/api/v1/connections/${connection.id}/discover`);
    const enroll = await a('POST', REPOS, { connection_id: connection.id, repo_slug: 'acme/other' });
    const answers = [
      discover,
      enroll,
      await a('POST', at('ci-gate/setup-pr')),
      await a('POST', at('ci-gate/verify')),
    ];
    for (const answer of answers) expect(answer.json.error.message).toContain(words);
    expect(discover.json.error.message).toMatch(/^forge answered 403 Forbidden\. /);
    await world.store.saveReconcileOutcome(repo, {
      ranAt: 1,
      ok: false,
      errorCode: 'forge_access_denied',
      missingScopes: ['read:issue'],
    });
    const [shown] = (await a('GET', REPOS)).json;
    expect(shown.reconcile).toMatchObject({
      error_code: 'forge_access_denied',
      error: 'The forge refused the stored token: it lacks the scope read:issue.',
    });
    await world.store.saveReconcileOutcome(repo, {
      ranAt: 2,
      ok: false,
      errorCode: 'forge_access_denied',
      refusal: 'archived',
    });
    const [archived] = (await a('GET', REPOS)).json;
    expect(archived.reconcile.error).toMatch(
      /^The repository is archived on the forge, .* switch its queue off\.$/,
    );
  });

  test('codes of the services reach the caller as they are', async () => {
    const { repo } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
    const at = (rest: string) => `${REPOS}/${repo.id}/${rest}`;
    expect((await a('POST', at('provision'))).json.provisioning.webhook).toEqual({ status: 'error' });
    world.forge.fault = new ForgeError('denied', 'any', 403);
    expect(await a('POST', at('ci-gate/verify'))).toMatchObject({ status: 422, code: 'forge_access_denied' });
    expect(await a('POST', at('ci-gate/setup-pr'))).toMatchObject({
      status: 422,
      code: 'forge_access_denied',
    });
    world.forge.fault = new ForgeError('unreachable', 'any', null);
    expect(await a('POST', at('ci-gate/verify'))).toMatchObject({ status: 502, code: 'forge_unreachable' });
    expect(await a('POST', at('protect'), { enabled: 'yes' })).toMatchObject({
      status: 400,
      code: 'invalid_field',
    });
    expect(await a('POST', at('protect'), {})).toMatchObject({ status: 400, code: 'missing_fields' });
    expect(await a('POST', at('protect'), { enabled: false })).toMatchObject({
      status: 200,
      json: { protection_requested: false, provisioning: { protection: { status: 'not_requested' } } },
    });
    world.vault.failing = 'open';
    for (const rest of ['provision', 'ci-gate/verify', 'ci-gate/setup-pr']) {
      expect(await a('POST', at(rest))).toMatchObject({ status: 500, code: 'decryption_error' });
    }
  });

  test('without its connection: connection_not_found', async () => {
    const { repo, connection } = await world.enroll(TENANT_A, { wakeupMode: 'webhook' });
    await world.store.markConnectionDeleting(TENANT_A, connection.id);
    for (const rest of ['provision', 'ci-gate/verify', 'ci-gate/setup-pr', 'reconcile']) {
      expect(await a('POST', `${REPOS}/${repo.id}/${rest}`)).toMatchObject({
        status: 404,
        code: 'connection_not_found',
      });
    }
  });

  describe('protect', () => {
    const VERIFIED = {
      ciGate: { status: 'verified', url: null, setupPr: null, probe: null },
    } as const satisfies Partial<ManagedRepo>;
    const protect = async (enabled: boolean, changes: Partial<ManagedRepo> = VERIFIED) => {
      const { repo } = await world.enroll(TENANT_A, changes);
      const answer = await a('POST', `${REPOS}/${repo.id}/protect`, { enabled });
      const [shown] = (await a('GET', REPOS)).json;
      return { answer, stored: await world.store.getRepo(repo.id), shown: shown.provisioning.protection };
    };
    const ruleOf = (fields: Partial<BranchRule> = {}): BranchRule => ({
      name: 'main',
      priority: null,
      createdAt: 1,
      statusCheckEnabled: true,
      contexts: ['mq'],
      blockOnOutdatedBranch: false,
      directPushAllowed: false,
      raw: {},
      ...fields,
    });

    test('200: the rule asks for the context', async () => {
      world.forge.setUp = { listRules: async () => [ruleOf()] };
      const { answer, stored } = await protect(true);
      expect([answer.status, answer.json.protection_requested]).toEqual([200, true]);
      expect(answer.json.provisioning.protection).toEqual({
        status: 'configured',
        id: 'main',
        detail: null,
        required: true,
      });
      expect(stored?.protectionRequested).toBe(true);
    });

    test('200: before the gate is verified it is only recorded', async () => {
      world.forge.setUp = { listRules: async () => [] };
      const { answer } = await protect(true, {});
      expect([answer.status, answer.json.provisioning.protection.status]).toEqual([200, 'awaiting_ci_gate']);
    });

    test('200: opting out asks the forge nothing', async () => {
      const { answer, stored } = await protect(false, { ...VERIFIED, protectionRequested: true });
      expect([answer.status, answer.json.protection_requested]).toEqual([200, false]);
      expect(stored?.protectionRequested).toBe(false);
    });

    test.each<[string, Partial<ForgeAdmin>, string, RegExp | null]>([
      ['does not answer', {}, 'error', null],
      [
        'refuses the bot',
        { listRules: () => Promise.reject(new ForgeError('denied', 'GET branch_protections', 403)) },
        'needs_admin',
        /may not edit branch rules/,
      ],
      [
        'refuses the edit',
        {
          listRules: async () => [ruleOf({ contexts: ['ci'] })],
          readBranchTip: async () => 'a'.repeat(40),
          editRule: () => Promise.reject(new ForgeError('denied', 'PATCH branch_protections', 403)),
        },
        'needs_admin',
        /may not edit branch rules/,
      ],
      [
        'has a rule that must not be edited',
        { listRules: async () => [ruleOf({ contexts: ['ci'], blockOnOutdatedBranch: true })] },
        'error',
        /block_on_outdated_branch/,
      ],
      [
        'protects the staging branches',
        { listRules: async () => [ruleOf({ name: '**' })] },
        'needs_admin',
        /staging_protected/,
      ],
    ])(
      '502 when the forge %s: the opt-in is recorded, and shown as what it is',
      async (_name, setUp, status, words) => {
        world.forge.setUp = setUp;
        const { answer, stored, shown } = await protect(true);
        expect([answer.status, answer.code, answer.json.error.retryable]).toEqual([
          502,
          'forge_unreachable',
          true,
        ]);
        if (words !== null) expect(answer.json.error.message).toMatch(words);
        expect(stored?.protectionRequested).toBe(true);
        expect(shown.status).toBe(status);
      },
    );

    test.each([
      ['connection_not_found', 404],
      ['decryption_error', 500],
      ['db_error', 500],
    ])('%s is %i', async (code, status) => {
      const { repo, connection } = await world.enroll(TENANT_A, VERIFIED);
      world.forge.setUp = { listRules: async () => [ruleOf()] };
      if (code === 'connection_not_found') await world.store.markConnectionDeleting(TENANT_A, connection.id);
      if (code === 'decryption_error') world.vault.failing = 'open';
      let updates = 0;
      world.store.beforeCall = (label) => {
        updates += label === 'updateRepo' ? 1 : 0;
        // The forge has changed by then, and it cannot be recorded.
        if (code === 'db_error' && updates > 1) throw new StoreError('unavailable', label);
      };
      const answer = await a('POST', `${REPOS}/${repo.id}/protect`, { enabled: true });
      expect([answer.status, answer.code]).toEqual([status, code]);
    });
  });

  test('the template is YAML to copy, and fails until its stub is replaced', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const answer = await a('GET', `${REPOS}/${repo.id}/ci-gate/template`);
    expect(answer.headers).toMatchObject({
      'content-type': 'application/yaml; charset=utf-8',
      'content-disposition': 'inline; filename="mq-gate.yaml"',
      'x-content-type-options': 'nosniff',
    });
    expect(answer.text).toContain("- 'mq/**'");
    expect(answer.text).toContain('exit 1');
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

test('a forge of a version that was never seen is told, and nothing is refused', async () => {
  const { repo } = await world.enroll(TENANT_A);
  const forgeOf = async () => (await a('GET', REPOS)).json[0].forge;
  expect(await forgeOf()).toBeNull();
  const outcome = { ranAt: world.clock.now(), ok: true, errorCode: null };
  const forge = { kind: 'forgejo', major: 17, minor: 1, patch: 0 } as const;
  await world.store.saveReconcileOutcome(repo, { ...outcome, forge });
  expect(await forgeOf()).toEqual({ version: 'Forgejo 17.1.0', seen: false });
  await world.store.saveReconcileOutcome(repo, { ...outcome, forge: { ...forge, major: 15, minor: 0 } });
  expect(await forgeOf()).toEqual({ version: 'Forgejo 15.0.0', seen: true });
});
