import { EVENT_WAKE_WINDOW_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { StoreError } from '#core/ports/store.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import {
  bodyOf,
  codeOf,
  givenHook,
  HOOK,
  type HookWorld,
  OTHER,
  REPOSITORY,
  requestOf,
  sign,
} from './given-hook.ts';

describe('events of gates (0246)', () => {
  const deliver = (world: HookWorld, eventType: string, login = 'dev') =>
    codeOf(acceptForgeWebhook(world.deps, requestOf(bodyOf({ sender: { login } }), { eventType })));

  test.each([
    ['status', 'status'],
    ['workflow_run', 'run'],
    ['workflow_job', 'run'],
    ['action_run_success', 'run'],
  ] as const)('%s is noted as %s, with one write an hour', async (eventType, kind) => {
    const world = await givenHook();
    const at = world.clock.now();
    for (let nth = 0; nth < 5; nth += 1) {
      expect(await deliver(world, eventType)).toBe('200 wait_for_reconcile');
      await world.clock.advance(60_000);
    }
    expect((await world.store.getRepo('repo-1'))?.heard).toEqual({ delivery: at, [kind]: at });
    expect(world.calls.filter((call) => call === 'noteHeard')).toHaveLength(2);
  });

  test.each([
    ['push', 'dev'],
    ['pull_request', 'dev'],
    ['status', 'mq-bot'],
  ])('%s of %s says nothing of the gate, and that the webhook delivers', async (eventType, login) => {
    const world = await givenHook();
    const at = world.clock.now();
    await deliver(world, eventType, login);
    expect((await world.store.getRepo('repo-1'))?.heard).toEqual({ delivery: at });
  });

  test('a delivery that another secret signed is not noted', async () => {
    const world = await givenHook();
    const request = requestOf(bodyOf(), { eventType: 'push' });
    const forged = { ...request, signature: `sha256=${'0'.repeat(64)}` };
    expect(await codeOf(acceptForgeWebhook(world.deps, forged))).toBe('invalid_signature');
    expect(world.calls).not.toContain('noteHeard');
  });

  test('a queue that is off is not woken, and that its webhook delivers is noted all the same', async () => {
    const world = await givenHook({ queueEnabled: false });
    const at = world.clock.now();
    expect(await deliver(world, 'status')).toBe('200 ignored');
    expect((await world.store.getRepo('repo-1'))?.heard).toEqual({ delivery: at });
    expect(await world.wakeSeq()).toBe(0);
  });

  test('a repository whose owner wants no webhooks is noted nothing', async () => {
    const world = await givenHook({ wakeupMode: 'poll' });
    expect(await deliver(world, 'status')).toBe('200 ignored');
    expect(world.calls).not.toContain('noteHeard');
  });

  test('a note that cannot be written costs no event', async () => {
    const world = await givenHook();
    const store = new Proxy(world.store, {
      get: (target, name) =>
        name === 'noteHeard'
          ? () => Promise.reject(new StoreError('unavailable', 'noteHeard'))
          : Reflect.get(target, name).bind?.(target),
    });
    const deps = { ...world.deps, store };
    expect(await codeOf(acceptForgeWebhook(deps, requestOf(bodyOf(), { eventType: 'status' })))).toBe(
      '200 wait_for_reconcile',
    );
    expect(await world.wakeSeq()).toBe(1);
  });
});

describe('which repo', () => {
  test('the hook id in the URL wins over what the body says', async () => {
    const world = await givenHook();
    const renamed = bodyOf({
      repository: { full_name: 'acme/new', html_url: 'https://forge.example/acme/new' },
    });
    expect(await acceptForgeWebhook(world.deps, requestOf(renamed, { hookId: HOOK }))).toBe(
      'wait_for_reconcile',
    );
    expect(await world.wakeSeq()).toBe(1);
  });

  test('an unknown hook id is 404, whatever the body says', async () => {
    const { deps } = await givenHook();
    expect(await codeOf(acceptForgeWebhook(deps, requestOf(bodyOf(), { hookId: 'c'.repeat(64) })))).toBe(
      'not_found',
    );
  });

  test('an event of one repo signed with the secret of another is 401 (A103)', async () => {
    const world = await givenHook();
    const request = requestOf(bodyOf(), { signature: sign(bodyOf(), OTHER) });
    expect(await codeOf(acceptForgeWebhook(world.deps, request))).toBe('invalid_signature');
    const byHook = requestOf(bodyOf(), { hookId: 'b'.repeat(64) });
    expect(await codeOf(acceptForgeWebhook(world.deps, byHook))).toBe('invalid_signature');
    // By the hook of the other repo and with its secret it is an event of the other, whatever its body says.
    const theirs = requestOf(bodyOf(), { hookId: 'b'.repeat(64), signature: sign(bodyOf(), OTHER) });
    await acceptForgeWebhook(world.deps, theirs);
    expect(await world.wakeSeq()).toBe(0);
    expect((await world.store.getRepo('repo-2'))?.wakeSeq).toBe(1);
  });

  test('the spelling of host and name does not matter (D-46)', async () => {
    const world = await givenHook();
    const body = bodyOf({
      repository: { full_name: 'Acme/App', html_url: 'https://FORGE.example:443/Acme/App' },
    });
    expect(await acceptForgeWebhook(world.deps, requestOf(body))).toBe('wait_for_reconcile');
  });

  test('a run event names its repository inside the run', async () => {
    const world = await givenHook();
    const body = bodyOf({ repository: undefined, run: { repository: REPOSITORY }, action: 'success' });
    expect(await acceptForgeWebhook(world.deps, requestOf(body, { eventType: 'action_run_success' }))).toBe(
      'wait_for_reconcile',
    );
  });
});

test.each([
  ['train/main/staging', 'ignored'],
  ['train-work/main/1', 'ignored'],
  ['trains', 'wait_for_reconcile'],
  ['mq/main', 'wait_for_reconcile'],
])('of a service called train, a push to %s is %s: its branches have its name', async (branch, outcome) => {
  const { deps } = await givenHook();
  const request = requestOf(bodyOf({ ref: `refs/heads/${branch}` }));
  expect(await acceptForgeWebhook({ ...deps, queueName: 'train' }, request)).toBe(outcome);
});

describe('an event leaves a mark and a wake, and never runs the engine (A45, A47)', () => {
  const pull = (action: string, base = 'main') => ({ action, pull_request: { base: { ref: base } } });
  const bot = { sender: { login: 'MQ-bot' } };
  test.each<[string, string, Record<string, unknown>, string]>([
    ['a push', 'push', { ref: 'refs/heads/main' }, 'wait_for_reconcile'],
    ['a push to a topic branch', 'push', { ref: 'refs/heads/topic' }, 'wait_for_reconcile'],
    ['our own staging push', 'push', { ref: 'refs/heads/mq/main/staging' }, 'ignored'],
    ['a person’s push below mq/', 'push', { ref: 'refs/heads/mq/x' }, 'ignored'],
    ['the creation of a staging branch', 'create', { ref: 'mq/main/staging' }, 'ignored'],
    ['our own push to a work branch', 'push', { ref: 'refs/heads/mq-work/main/1' }, 'ignored'],
    ['a push by the bot', 'push', { ref: 'refs/heads/main', ...bot }, 'ignored'],
    ['a status', 'status', { context: 'ci' }, 'wait_for_reconcile'],
    ['our own status', 'status', { context: 'mq', ...bot }, 'ignored'],
    ['a check run', 'check_run', {}, 'wait_for_reconcile'],
    ['a workflow run, though the bot caused it', 'workflow_run', { ...bot }, 'wait_for_reconcile'],
    ['a failed action run', 'action_run_failure', { ...bot }, 'wait_for_reconcile'],
    ['a pull request opened', 'pull_request', pull('opened'), 'processed'],
    ['a pull request pushed to', 'pull_request', pull('synchronized'), 'processed'],
    ['a pull request closed', 'pull_request', pull('closed'), 'processed'],
    ['a review', 'pull_request_approved', pull('reviewed'), 'processed'],
    ['a pull request of another base', 'pull_request', pull('opened', 'dev'), 'ignored'],
    ['a pull request moved to another base', 'pull_request', pull('edited', 'dev'), 'processed'],
    ['a pull request to another base closed', 'pull_request', pull('closed', 'dev'), 'processed'],
    [
      'a pull request of a person who shares the bot’s account',
      'pull_request',
      { ...pull('opened'), ...bot },
      'processed',
    ],
    ['a comment', 'issue_comment', { action: 'created' }, 'processed'],
    ['a release', 'release', { action: 'published' }, 'processed'],
    ['a fork', 'fork', {}, 'ignored'],
    ['a type of tomorrow', 'quantum', {}, 'ignored'],
  ])('%s: %s', async (_name, eventType, fields, outcome) => {
    const world = await givenHook();
    expect(await acceptForgeWebhook(world.deps, requestOf(bodyOf(fields), { eventType }))).toBe(outcome);
    expect(await world.wakeSeq()).toBe(outcome === 'ignored' ? 0 : 1);
    expect(world.queue.wakes).toHaveLength(outcome === 'ignored' ? 0 : 1);
  });

  test.each<[string, Partial<ManagedRepo>]>([
    ['in poll mode', { wakeupMode: 'poll' }],
    ['switched off', { queueEnabled: false, dueAt: null }],
  ])('a repo %s ignores it (D-34)', async (_name, changes) => {
    const world = await givenHook(changes);
    expect(await acceptForgeWebhook(world.deps, requestOf(bodyOf()))).toBe('ignored');
    expect(await world.wakeSeq()).toBe(0);
  });

  test('while the lease is held a queue change is 409, and is not lost (D-30)', async () => {
    const world = await givenHook();
    await world.store.acquireLease('repo-1', 'worker', 'reconcile', LEASE_TTL_MS);
    const opened = requestOf(bodyOf(pull('opened')), { eventType: 'pull_request' });
    expect(await codeOf(acceptForgeWebhook(world.deps, opened))).toBe('lease_held');
    expect(await world.wakeSeq()).toBe(1);
    expect((await world.store.getRepo('repo-1'))?.dueAt).toBe(world.clock.now());
    expect(await acceptForgeWebhook(world.deps, requestOf(bodyOf()))).toBe('wait_for_reconcile');
  });

  test('a lease that cannot be read is not called held', async () => {
    const world = await givenHook();
    world.store.corrupt('lease', 'repo-1');
    const opened = requestOf(bodyOf(pull('opened')), { eventType: 'pull_request' });
    expect(await acceptForgeWebhook(world.deps, opened)).toBe('processed');
  });

  test('a delivery that is sent again is ignored', async () => {
    const world = await givenHook();
    const request = requestOf(bodyOf());
    expect(await acceptForgeWebhook(world.deps, request)).toBe('wait_for_reconcile');
    expect(await acceptForgeWebhook(world.deps, request)).toBe('ignored');
    expect(await world.wakeSeq()).toBe(1);
  });

  test.each([
    [
      'the queue',
      (world: HookWorld, away: boolean) => {
        world.queue.failing = away;
      },
    ],
    [
      'the store',
      (world: HookWorld, away: boolean) => {
        world.store.beforeCall = (label) => {
          if (away && label === 'markDue') throw new StoreError('unavailable', label);
        };
      },
    ],
  ])('a delivery that failed because of %s is not ignored when it is sent again', async (_name, fail) => {
    const world = await givenHook();
    const request = requestOf(bodyOf());
    fail(world, true);
    await expect(acceptForgeWebhook(world.deps, request)).rejects.toThrow();
    fail(world, false);
    await world.clock.advance(2 * EVENT_WAKE_WINDOW_MS);
    expect(await acceptForgeWebhook(world.deps, request)).toBe('wait_for_reconcile');
    expect(world.queue.wakes).toHaveLength(1);
    expect(await acceptForgeWebhook(world.deps, request)).toBe('ignored');
  });

  test('500 deliveries in ten seconds: one mark per five, and a look after the last (E10)', async () => {
    const world = await givenHook();
    for (let event = 0; event < 500; event += 1) {
      await acceptForgeWebhook(world.deps, requestOf(bodyOf()));
      await world.clock.advance(20);
    }
    expect(await world.wakeSeq()).toBeLessThanOrEqual(4);
    const last = world.clock.now() - 20;
    expect(world.queue.delayed.some((wake) => wake.visibleAt >= last)).toBe(true);
  });
});
