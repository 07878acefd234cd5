import { randomUUID } from 'node:crypto';
import { CHATS } from '#core/domain/notices/notice-ways.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type ApiWorld, TENANT_A } from '../../../support/api-world.ts';
import { givenTeams, REPOS } from './given-teams.ts';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;
beforeEach(async () => {
  ({ world, a } = await givenTeams());
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
        'last_delivery_at',
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

  test('the hosts and paths of the chats are these and no others (A82)', () => {
    const places = Object.entries(CHATS).map(([chat, { hosts, pathPrefix }]) => [chat, hosts, pathPrefix]);
    expect(places).toEqual([
      ['slack', ['hooks.slack.com'], '/services/'],
      ['discord', ['discord.com', 'discordapp.com'], '/api/webhooks/'],
    ]);
  });

  test.each([
    'http://hooks.slack.com/services/x',
    'https://hooks.slack.com.evil.org/services/x',
    'https://hooks-slack.com/services/x',
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

  test('switching on sends a wake at once, and so does each other setting that the engine obeys; what notices tell sends none', async () => {
    world.engine = null;
    const { repo } = await world.enroll(TENANT_A, { queueEnabled: false, dueAt: null });
    await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true });
    expect(world.sent.wakes).toEqual([{ repoId: repo.id, wakeSeq: 1, at: world.clock.now() }]);
    await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true });
    await a('PATCH', `${REPOS}/${repo.id}`, { notice_topics: { email: [] } });
    expect(world.sent.wakes).toHaveLength(1);
    const changes = [
      { batch_target: 2 },
      { bisect_fanout: 2 },
      { gate: 'statuses', gate_contexts: ['ci'], gate_authors: ['ci-bot'] },
      { reuse_ci: true },
    ];
    for (const change of changes) {
      expect((await a('PATCH', `${REPOS}/${repo.id}`, change)).status).toBe(200);
    }
    expect(world.sent.wakes).toHaveLength(5);
  });

  test('a wake that cannot be sent leaves the queue on and due', async () => {
    world.sent.failing = true;
    const { repo } = await world.enroll(TENANT_A, { queueEnabled: false, dueAt: null });
    const answer = await a('PATCH', `${REPOS}/${repo.id}`, { queue_enabled: true });
    expect([answer.status, answer.json.queue_enabled]).toEqual([200, true]);
    expect(await world.store.getRepo(repo.id)).toMatchObject({ dueAt: world.clock.now() });
  });
});
