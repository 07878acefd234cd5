import { randomUUID } from 'node:crypto';
import type { ActivityEvent, NodeRow } from '#core/domain/queue/batch.ts';
import type { Block, QueueView } from '#core/domain/queue/queue-view.ts';
import { STANDSTILLS } from '#core/domain/queue/standstill.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { StoreError } from '#core/ports/store.ts';
import { givenEvent, givenNodeRow } from '../../builders/store-rows.ts';
import { givenObligations } from '../../builders/told-queue.ts';
import { ApiWorld, TENANT_A, TENANT_B, TOKEN_A, TOKEN_B } from '../../support/api-world.ts';

const HOUR_MS = 3_600_000;
const ACTIVITY = '/api/v1/user/queue/activity';

let world: ApiWorld;
let a: ReturnType<ApiWorld['as']>;

beforeEach(async () => {
  world = new ApiWorld();
  a = world.as(TOKEN_A);
  await world.clock.advance(12 * HOUR_MS);
});

async function save(
  repo: ManagedRepo,
  batches: readonly Partial<NodeRow>[],
  events: readonly Partial<ActivityEvent>[] = [],
  view?: QueueView,
): Promise<void> {
  const grant = await world.store.acquireLease(repo.id, 'worker', 'reconcile', 1_000);
  if (grant === 'held') throw new Error('held');
  const held = grantHeldLease(repo.id, grant, () => 0, 1);
  const owner = { tenantId: repo.tenantId, repoId: repo.id, repoSlug: repo.slug };
  const stored = await world.store.loadQueueRecord(repo.id);
  await world.store.saveQueue(held, repo, {
    document: {},
    expectedVersion: stored?.version ?? null,
    batches: batches.map((each) =>
      givenNodeRow({ id: randomUUID(), ...owner, createdAt: world.clock.now(), ...each }),
    ),
    events: events.map((each) => givenEvent({ ...owner, at: world.clock.now(), ...each })),
    ...(view === undefined ? {} : { told: { view, obligations: givenObligations() } }),
  });
  await world.store.releaseLease(repo.id, grant);
}

async function saveMany(repo: ManagedRepo, count: number, kind: 'batch' | 'event'): Promise<void> {
  for (let start = 0; start < count; start += 30) {
    const part = Array.from({ length: Math.min(30, count - start) }, (_, index) => start + index);
    const at = (index: number) => world.clock.now() - index;
    if (kind === 'batch')
      await save(
        repo,
        part.map((index) => ({ createdAt: at(index), prs: [index + 1] })),
      );
    else
      await save(
        repo,
        [],
        part.map((index) => ({ at: at(index), event: 'pr_staged', pr: index + 1 })),
      );
  }
}

const RESOLVED = { phase: null, resolvedAt: Date.UTC(2026, 0, 1) } as const;

describe('queue status', () => {
  test('the safe view with the lease; unreadable is unknown, never idle (A51)', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const status = await a('GET', '/api/v1/user/queue/status');
    expect(status.json).toMatchObject({ queue_name: 'mq', repos: [{ id: repo.id, lease_state: 'idle' }] });
    await world.store.acquireLease(repo.id, 'worker', 'reconcile', 60_000);
    expect((await a('GET', '/api/v1/user/queue/status')).json.repos[0].lease_state).toBe('held');
    world.store.corrupt('lease', repo.id);
    expect((await a('GET', '/api/v1/user/queue/status')).json.repos[0].lease_state).toBe('unknown');
  });
});

describe('activity', () => {
  test('an empty tenant has an empty document whose counts are zero and rates null', async () => {
    expect((await a('GET', ACTIVITY)).json).toEqual({
      repos: [],
      recent_activity: [],
      recent_activity_truncated: false,
      queue_batches: [],
      queue_batches_truncated: false,
      queue_batches_next: null,
      stats: {
        today_merges: 0,
        week_merges: 0,
        week_bounces: 0,
        merge_success_rate: null,
        week_batches: 0,
        week_superseded: 0,
        restage_rate: null,
        time_in_queue_p50_seconds: null,
        time_in_queue_p95_seconds: null,
        week_runs: 0,
        runs_per_landed: null,
        runs_saved: 0,
        days: Array.from({ length: 7 }, () => ({ day: expect.any(String), landed: 0, bounced: 0, runs: 0 })),
      },
      record_errors: [],
    });
  });

  test.each([
    ['event', 20, false],
    ['event', 21, true],
    ['batch', 200, false],
    ['batch', 201, true],
  ] as const)('%s: %i rows, truncated %s, newest first (A69)', async (kind, count, truncated) => {
    const { repo } = await world.enroll(TENANT_A);
    await saveMany(repo, count, kind);
    const { json } = await a('GET', ACTIVITY);
    const [rows, flag, most] =
      kind === 'event'
        ? [json.recent_activity, json.recent_activity_truncated, 20]
        : [json.queue_batches, json.queue_batches_truncated, 200];
    expect([rows.length, flag]).toEqual([most, truncated]);
    const numbers = rows.map((row: { pr?: number; prs?: number[] }) => row.pr ?? row.prs?.[0]);
    expect(numbers).toEqual(Array.from({ length: most }, (_, index) => index + 1));
    expect(json).not.toHaveProperty('queue_history');
  });

  test('batches beyond the newest 200 are reached from the cursor of the page before, each once, while the rest stays the newest', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await saveMany(repo, 450, 'batch');
    const pages: number[][] = [];
    const seen: string[] = [];
    for (let next: string | null = ''; next !== null; ) {
      const { status, json } = await a(
        'GET',
        ACTIVITY,
        undefined,
        next === '' ? {} : { query: { before: next } },
      );
      expect(status).toBe(200);
      pages.push(json.queue_batches.map((row: { prs: number[] }) => row.prs[0]));
      seen.push(JSON.stringify(json.repos));
      expect(json.queue_batches_truncated).toBe(json.queue_batches_next !== null);
      next = json.queue_batches_next;
    }
    expect(pages.map((page) => page.length)).toEqual([200, 200, 50]);
    expect(pages.flat()).toEqual(Array.from({ length: 450 }, (_, index) => index + 1));
    expect(new Set(seen).size).toBe(1);
  });

  test('a repository whose batches are behind the newest 200 of others is told by its last look, and not as idle', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const { repo: quiet } = await world.enroll(TENANT_A, { instanceUrl: 'https://quiet.example' });
    const { repo: busy } = await world.enroll(TENANT_A, { instanceUrl: 'https://other.example' });
    const place = { title: 'Waits', head: 'h', queuedAt: 1, reason: null, until: null } as const;
    const runUrl = 'https://forge.example/run';
    const view: QueueView = {
      at: world.clock.now(),
      places: [
        { ...place, pr: 7, state: 'staged' },
        { ...place, pr: 8, state: 'ready' },
      ],
      more: 0,
      block: { kind: 'gate', since: world.clock.now(), until: null, pr: 7, runUrl },
    };
    await save(
      repo,
      [{ prs: [7], stagingSha: 'staged', outcome: 'running', phase: 'waiting_gate' }],
      [],
      view,
    );
    const read = async (id: string) => {
      const { json } = await a('GET', ACTIVITY);
      const { state, ci_status, ci_url, batch } = json.repos.find(
        (each: { repo_id: string }) => each.repo_id === id,
      );
      return { state, ci_status, ci_url, batch };
    };
    const batch = [{ pr: 7 }];
    expect(await read(repo.id)).toEqual({ state: 'waiting_gate', ci_status: 'pending', ci_url: null, batch });
    await world.clock.advance(HOUR_MS);
    await saveMany(busy, 201, 'batch');
    expect(await read(repo.id)).toEqual({
      state: 'waiting_gate',
      ci_status: 'unknown',
      ci_url: runUrl,
      batch,
    });
    expect(await read(quiet.id)).toEqual({ state: 'unknown', ci_status: 'unknown', ci_url: null, batch: [] });
  });

  test.each(['x', '1', '00000000000001', `${'9'.repeat(14)}_../x`])(
    'a cursor %j that was never given is refused by name, not taken for the newest page',
    async (before) => {
      const { repo } = await world.enroll(TENANT_A);
      await saveMany(repo, 3, 'batch');
      const answer = await a('GET', ACTIVITY, undefined, { query: { before } });
      expect(answer).toMatchObject({ status: 400, code: 'invalid_field' });
    },
  );

  test('an event tells which forge its repository is on: two of one name are told apart', async () => {
    const one = await world.enroll(TENANT_A, { slug: 'acme/app' });
    const { repo: other } = await world.enroll(TENANT_A, {
      slug: 'acme/app',
      instanceUrl: 'https://other.example',
    });
    await save(one.repo, [], [{ at: world.clock.now(), pr: 1 }]);
    await save(other, [], [{ at: world.clock.now(), pr: 2 }]);
    const { json } = await a('GET', ACTIVITY);
    const told = json.recent_activity.map((event: Record<string, unknown>) => [
      event.pr,
      event.repo_id,
      event.instance_url,
    ]);
    expect(told.sort()).toEqual([
      [1, one.repo.id, one.repo.instanceUrl],
      [2, other.id, 'https://other.example'],
    ]);
  });

  test('the last good reconcile stays told while those after it fail', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const look = async () => (await a('GET', ACTIVITY)).json.repos[0].last_good_reconcile;
    expect(await look()).toBeNull();
    const good = world.clock.now();
    await world.store.saveReconcileOutcome(repo, { ranAt: good, ok: true, errorCode: null });
    expect(await look()).toBe(new Date(good).toISOString());
    for (const ranAt of [good + 1_000, good + 2_000])
      await world.store.saveReconcileOutcome(repo, { ranAt, ok: false, errorCode: 'forge_unreachable' });
    expect(await look()).toBe(new Date(good).toISOString());
  });

  test('the addresses of bounce notices are told masked: enough to know them again, nothing to use', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const look = async () => (await a('GET', ACTIVITY)).json.repos[0].notification;
    expect(await look()).toBeNull();
    const chat = 'https://hooks.slack.com/services/T0/B0/very-secret-part';
    await world.store.updateRepo({
      ...((await world.store.getRepo(repo.id)) ?? repo),
      notification: {
        email: 'ada.lovelace@example.org',
        slack: chat,
        discord: null,
        matrix: 'https://matrix.org sealed:x',
        webhook: null,
      },
    });
    expect(await look()).toEqual({
      email: 'a…@example.org',
      email_state: 'waiting',
      chat_a_webhook_url: 'https://hooks.slack.com/…',
      chat_b_webhook_url: null,
      matrix: 'https://matrix.org/…',
      webhook: null,
    });
  });

  test('statistics: today, week, rates, by the UTC day and exactly seven days (A74)', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const now = world.clock.now();
    const ago = (hours: number) => now - hours * HOUR_MS;
    await save(
      repo,
      [
        { createdAt: ago(1) },
        { createdAt: ago(2), outcome: 'superseded', ...RESOLVED },
        { createdAt: ago(168), outcome: 'bounced', ...RESOLVED },
        { createdAt: ago(168) - 1, outcome: 'superseded', ...RESOLVED },
      ],
      [
        { at: ago(0), event: 'pr_landed', pr: 1 },
        { at: ago(12), event: 'pr_landed', pr: 2 },
        { at: ago(12) - 1, event: 'pr_landed', pr: 3 },
        { at: ago(24), event: 'pr_bounced', pr: 4 },
        { at: ago(168) - 1, event: 'pr_landed', pr: 5 },
        { at: ago(1), event: 'pr_refused', pr: 6 },
      ],
    );
    expect((await a('GET', ACTIVITY)).json.stats).toEqual({
      today_merges: 2,
      week_merges: 3,
      week_bounces: 1,
      merge_success_rate: 75,
      week_batches: 3,
      week_superseded: 1,
      restage_rate: 33.3,
      // Rows without a count of runs, and landings whose begin lies before the week: unknown, never zero.
      time_in_queue_p50_seconds: null,
      time_in_queue_p95_seconds: null,
      week_runs: null,
      runs_per_landed: null,
      runs_saved: null,
      days: expect.any(Array),
    });
  });

  test.each([
    [
      'readEventsSince',
      [
        'today_merges',
        'week_merges',
        'week_bounces',
        'merge_success_rate',
        'time_in_queue_p50_seconds',
        'time_in_queue_p95_seconds',
        'runs_per_landed',
        'runs_saved',
      ],
    ],
    [
      'readBatchesSince',
      ['week_batches', 'week_superseded', 'restage_rate', 'week_runs', 'runs_per_landed', 'runs_saved'],
    ],
  ])('%s unreadable: exactly its numbers are null, never zero (A73)', async (label, fields) => {
    const { repo } = await world.enroll(TENANT_A);
    const queued = { pr: 1, event: 'pr_queued' as const, at: world.clock.now() };
    await save(repo, [{ outcome: 'superseded', gateRuns: 1, ...RESOLVED }], [queued, { pr: 1 }]);
    const expectUnknown = async () => {
      const { days, ...figures } = (await a('GET', ACTIVITY)).json.stats;
      expect(days).toHaveLength(7);
      for (const [field, value] of Object.entries(figures)) {
        expect([field, value === null]).toEqual([field, fields.includes(field)]);
      }
    };
    world.store.beforeCall = (called) => {
      if (called === label) throw new StoreError('unavailable', called);
    };
    await expectUnknown();
    world.store.beforeCall = null;
    // More rows than are counted.
    Object.assign(world.store, { [label]: async () => null });
    await expectUnknown();
  });

  test.each(['listRepos', 'listEvents', 'readBatchHistory', 'listConnections', 'listOutcomes'])(
    '%s unreadable: db_error, not half a document',
    async (label) => {
      world.store.beforeCall = (called) => {
        if (called === label) throw new StoreError('unavailable', called);
      };
      expect(await a('GET', ACTIVITY)).toMatchObject({ status: 500, code: 'db_error' });
    },
  );

  test('a batch carries its lineage, its actions and what later became of its members (A55)', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const { repo: other } = await world.enroll(TENANT_A, { slug: 'acme/web' });
    // Not of this batch: what ended before it was made, and what ended in another repository.
    await save(other, [{ prs: [4] }], [{ pr: 4, event: 'pr_landed' }]);
    await save(repo, [], [{ pr: 3, event: 'pr_bounced', at: world.clock.now() - 1 }]);
    const rootId = randomUUID();
    const action = (pr: number, kind: 'landed' | 'bounced') => ({
      pr,
      action: kind,
      stagingSha: 'a'.repeat(40),
      gateVerdict: 'success' as const,
      cursor: 0,
    });
    await save(
      repo,
      [
        { id: rootId, prs: [1, 2, 3, 4], outcome: 'bisected', ...RESOLVED, batchId: 'run-7' },
        {
          parentId: rootId,
          batchId: 'run-7',
          nodeId: 'r.1',
          parentNodeId: 'r',
          prs: [1, 2],
          outcome: 'bounced',
          ...RESOLVED,
          gateSource: 'cached',
          actions: [action(1, 'landed'), action(2, 'bounced')],
        },
      ],
      [
        { pr: 1, event: 'pr_landed' },
        { pr: 2, event: 'pr_bounced' },
        { pr: 9, event: 'pr_landed' },
      ],
    );
    const { queue_batches: rows } = (await a('GET', ACTIVITY)).json;
    const child = rows.find((row: { parent_id: string | null }) => row.parent_id === rootId);
    expect(child).toMatchObject({
      run_id: 'run-7',
      node_id: 'r.1',
      parent_node_id: 'r',
      attempt: 1,
      gate_source: 'cached',
      landed_prs: [1],
      bounced_prs: [2],
      outcome: 'bounced',
      phase: null,
      historical_terminals: [
        { pr: 1, event: 'landed' },
        { pr: 2, event: 'bounced' },
      ],
    });
    expect(child.actions[0]).toEqual({
      pr: 1,
      action: 'landed',
      staging_sha: 'a'.repeat(40),
      gate_verdict: 'success',
      cursor: 0,
      reason: null,
      receipt: null,
    });
    const root = rows.find((row: { id: string }) => row.id === rootId);
    expect(root.historical_terminals.map((each: { pr: number }) => each.pr)).toEqual([1, 2]);
    world.store.beforeCall = (called) => {
      if (called === 'readTerminals') throw new StoreError('unavailable', called);
    };
    const blind = (await a('GET', ACTIVITY)).json.queue_batches;
    expect(blind.flatMap((row: { historical_terminals: object[] }) => row.historical_terminals)).toEqual([]);
  });

  test('rows of before lineage are record errors, never nodes (A53, D-81)', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await save(repo, [{ prs: [1] }]);
    const id = randomUUID();
    world.store.addNamelessBatch(TENANT_A, world.clock.now() - 1, id);
    const { json } = await a('GET', ACTIVITY);
    expect(json.queue_batches).toHaveLength(1);
    expect(json.record_errors).toEqual([{ id, reason: 'missing_identity' }]);
  });

  test.each([
    ['the whole batch, which waits for it', null, [1]],
    ['one part of it', 'p', [1]],
  ])('while the base is probed an entry tells of who is searched: %s', async (_name, parentId, prs) => {
    const { repo } = await world.enroll(TENANT_A);
    const id = randomUUID();
    await save(repo, [
      {
        parentId: id,
        nodeId: 'b',
        prs: [],
        stagingBranch: 'mq/main/staging-1-b',
        createdAt: world.clock.now(),
      },
      { id, parentId, nodeId: parentId === null ? 'r' : 'r.1', prs, createdAt: world.clock.now() - 1 },
    ]);
    const [entry] = (await a('GET', ACTIVITY)).json.repos;
    expect(entry).toMatchObject({ state: 'bisecting', batch: [{ pr: 1 }] });
  });

  test('an entry tells of one part of a batch: while one lands, of that one, whatever else is gated', async () => {
    const { repo } = await world.enroll(TENANT_A);
    await save(repo, [
      { parentId: 'p', nodeId: 'r.2', prs: [3], stagingBranch: 'mq/main/staging-1-r.2' },
      {
        parentId: 'p',
        nodeId: 'r.1',
        prs: [2],
        stagingBranch: 'mq/main/staging-1-r.1',
        phase: 'waiting_merge',
        gateVerdict: 'success',
        runUrl: 'https://x.example.org/2',
      },
    ]);
    const [entry] = (await a('GET', ACTIVITY)).json.repos;
    expect(entry).toMatchObject({
      state: 'landing',
      ci_status: 'passing',
      ci_url: 'https://x.example.org/2',
      staging_branch: 'mq/main/staging-1-r.1',
      batch: [{ pr: 2 }],
    });
  });

  test.each<[string, Partial<ManagedRepo>, readonly Partial<NodeRow>[], string, string]>([
    ['nothing ever ran', {}, [], 'idle', 'none'],
    ['off', { queueEnabled: false, dueAt: null }, [], 'disabled', 'none'],
    ['staging', {}, [{ stagingSha: null }], 'staging', 'pending'],
    ['gate', {}, [{ runUrl: 'https://x.example.org/run' }], 'waiting_gate', 'running'],
    ['gate done', {}, [{ gateVerdict: 'success' }], 'waiting_gate', 'passing'],
    ['landing', {}, [{ phase: 'waiting_merge', gateVerdict: 'success' }], 'landing', 'passing'],
    ['split', {}, [{ parentId: 'p', nodeId: 'r.1', gateVerdict: 'failure' }], 'bisecting', 'failing'],
    ['over', {}, [{ outcome: 'error', gateVerdict: 'error', ...RESOLVED }], 'idle', 'error'],
  ])('state of a repo: %s', async (_name, changes, batches, state, ciStatus) => {
    const { repo } = await world.enroll(TENANT_A, changes);
    if (batches.length > 0) await save(repo, batches);
    const [entry] = (await a('GET', ACTIVITY)).json.repos;
    expect([entry.state, entry.ci_status]).toEqual([state, ciStatus]);
    expect(Object.keys(entry).sort()).toEqual(
      [
        'repo_slug',
        'instance_url',
        'base_branch',
        'state',
        'ci_status',
        'ci_url',
        'staging_branch',
        'batch',
        'last_reconcile',
        'last_reconcile_ok',
        'last_reconcile_error',
        'lease_state',
        'repo_id',
        'last_reconcile_error_code',
        'next_look_at',
        'queue',
        'last_good_reconcile',
        'notification',
        'standstill',
        'freeze',
        'drifts',
        'repairs',
      ].sort(),
    );
  });

  test.each<[string, Block['kind'], number | null, string]>([
    ['ready pull requests wait for more of them', 'linger', 60_000, 'lingering'],
    ['no duration is known', 'linger', null, 'lingering'],
    ['the wait is over', 'linger', -1, 'idle'],
    ['something else is waited for', 'admission', 60_000, 'idle'],
  ])('state while nothing runs: %s', async (_name, kind, forMs, state) => {
    const { repo } = await world.enroll(TENANT_A);
    const until = forMs === null ? null : world.clock.now() + forMs;
    await save(repo, [], [], {
      at: world.clock.now(),
      places: [],
      more: 0,
      block: { kind, since: null, until, pr: null, runUrl: null },
    });
    expect((await a('GET', ACTIVITY)).json.repos[0].state).toBe(state);
    // Running batches are told before waiting ones.
    await save(repo, [{ stagingSha: null }]);
    expect((await a('GET', ACTIVITY)).json.repos[0].state).toBe('staging');
  });

  test('a queue that stands still says why, since when and what to do; one that moves says nothing', async () => {
    const { repo } = await world.enroll(TENANT_A);
    const at = world.clock.now();
    const place = { pr: 7, title: 'Waits', head: 'h', queuedAt: at, until: null };
    await save(repo, [], [], {
      at,
      more: 0,
      places: [{ ...place, state: 'staged', reason: null }],
      block: { kind: 'gate', since: at, until: null, pr: null, runUrl: null },
    });
    expect((await a('GET', ACTIVITY)).json.repos[0].standstill).toBeNull();
    await world.clock.advance(11 * 60_000);
    expect((await a('GET', ACTIVITY)).json.repos[0].standstill).toEqual({
      cause: 'gate_not_started',
      since: new Date(at).toISOString(),
      usual_seconds: null,
      ...STANDSTILLS.gate_not_started,
    });
  });

  test('the next look is never in the past, however long a repo has been due', async () => {
    await world.enroll(TENANT_A);
    await world.clock.advance(90_000);
    const [entry] = (await a('GET', ACTIVITY)).json.repos;
    expect(Date.parse(entry.next_look_at)).toBeGreaterThan(world.clock.now());
  });

  test('nothing of another tenant (A87)', async () => {
    const { repo } = await world.enroll(TENANT_B);
    await save(repo, [{}], [{ title: 'canary-title-of-b' }]);
    expect((await a('GET', ACTIVITY)).text).not.toContain('canary-title-of-b');
    expect((await world.as(TOKEN_B)('GET', ACTIVITY)).text).toContain('canary-title-of-b');
  });
});

describe('tickets', () => {
  test('64 hex digits, 30 s, stored as a hash only, one tenant, one use (A93)', async () => {
    const answer = await a('POST', '/api/v1/user/queue/ws/ticket');
    expect(answer.json).toEqual({ ticket: expect.stringMatching(/^[0-9a-f]{64}$/), expires_in: 30 });
    expect(world.store.dump()).not.toContain(answer.json.ticket);
    expect(world.lines.join()).not.toContain(answer.json.ticket);
    world.store.beforeCall = (called) => {
      if (called === 'saveTicket') throw new StoreError('unavailable', called);
    };
    expect(await a('POST', '/api/v1/user/queue/ws/ticket')).toMatchObject({
      status: 503,
      json: { error: { code: 'realtime_unavailable', retryable: true } },
    });
  });

  test.each([
    [{}, {}, [], 426, 'upgrade_required'],
    [{ upgrade: 'websocket' }, {}, [], 401, 'missing_auth'],
    [{ upgrade: 'websocket' }, { ticket: 'short' }, [], 401, 'invalid_token'],
    [{ upgrade: 'websocket' }, { access_token: TOKEN_A, token: TOKEN_A }, [], 401, 'missing_auth'],
    [{ upgrade: 'websocket' }, {}, ['__Host-session=x'], 426, 'upgrade_required'],
  ] as const)('over plain HTTP: %j %j %j is %i %s', async (headers, query, cookies, status, code) => {
    const answer = await world.call('GET', '/api/v1/user/queue/ws', { headers, query, cookies });
    expect([answer.status, answer.code]).toEqual([status, code]);
  });
});
