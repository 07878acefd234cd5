import { createHmac } from 'node:crypto';
import { AppError } from '#core/contracts/errors.ts';
import { REFUSED_DELIVERIES_MAX, REFUSED_DELIVERIES_WINDOW_MS } from '#core/domain/api-limits.ts';
import { EVENT_WAKE_WINDOW_MS, LEASE_TTL_MS, WEBHOOK_BODY_BYTES_MAX } from '#core/domain/limits.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { StoreError } from '#core/ports/store.ts';
import { Secret } from '#core/secret.ts';
import {
  acceptForgeWebhook,
  type ForgeWebhookRequest,
  type WebhookDeps,
} from '#core/services/webhooks/accept-forge-webhook.ts';
import { createRefusedDeliveries } from '#core/services/webhooks/refused-deliveries.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { FakeSecretBox } from '../../../../fakes/secret-box.ts';
import { FakeWakeQueue } from '../../../../fakes/wake-queue.ts';
import { SeededRandom } from '../../../../support/seeded-random.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

const SECRET = 'hook-secret-app';
const OTHER = 'hook-secret-two';
const HOOK = 'a'.repeat(64);

async function givenHook(changes: Partial<ManagedRepo> = {}) {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const store = createMemoryStore({ clock, beforeCall: (label) => void calls.push(label) });
  const queue = new FakeWakeQueue(clock);
  const secrets = new FakeSecretBox();
  const deps: WebhookDeps = { store, leases: store, secrets, queue, clock, queueName: 'mq' };
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  const base = { wakeupMode: 'webhook', dueAt: Date.UTC(2030, 0, 1) } as const;
  await store.createRepo(
    givenRepo({ ...base, webhookSecret: new Secret(SECRET), hookId: HOOK, ...changes }),
    null,
  );
  await store.createRepo(
    givenRepo({
      ...base,
      id: 'repo-2',
      slug: 'acme/two',
      webhookSecret: new Secret(OTHER),
      hookId: 'b'.repeat(64),
    }),
    null,
  );
  calls.length = 0;
  const wakeSeq = async (): Promise<number> => (await store.getRepo('repo-1'))?.wakeSeq ?? -1;
  return { clock, store, queue, deps, calls, wakeSeq };
}

type HookWorld = Awaited<ReturnType<typeof givenHook>>;

const REPOSITORY = { full_name: 'acme/app', html_url: 'https://forge.example/acme/app' };

function bodyOf(fields: Readonly<Record<string, unknown>> = {}): Buffer {
  return Buffer.from(
    JSON.stringify({ repository: REPOSITORY, sender: { login: 'dev' }, ...fields }, null, 2),
  );
}

function sign(body: Uint8Array, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

let delivery = 0;
function requestOf(body: Buffer, changes: Partial<ForgeWebhookRequest> = {}): ForgeWebhookRequest {
  delivery += 1;
  return {
    body,
    signature: sign(body),
    eventType: 'push',
    deliveryId: `delivery-${delivery}`,
    hookId: undefined,
    ...changes,
  };
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    return `200 ${String(await promise)}`;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

describe('signature (A102, A103)', () => {
  const body = bodyOf();
  const good = sign(body);
  const hex = good.slice('sha256='.length);
  const sha1 = createHmac('sha1', SECRET).update(body).digest('hex');

  test('the right one passes', async () => {
    const { deps } = await givenHook();
    expect(await acceptForgeWebhook(deps, requestOf(body))).toBe('wait_for_reconcile');
  });

  test.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['the name only', 'sha256='],
    ['no name', hex],
    ['sha1', `sha1=${sha1}`],
    ['sha1 under the name of sha256', `sha256=${sha1}`],
    ['sha512', `sha512=${createHmac('sha512', SECRET).update(body).digest('hex')}`],
    ['upper-case hex', `sha256=${hex.toUpperCase()}`],
    ['upper-case name', `SHA256=${hex}`],
    ['one digit short', good.slice(0, -1)],
    ['one digit long', `${good}0`],
    ['half', good.slice(0, 7 + 32)],
    ['doubled', `${good}${hex}`],
    ['two in one header', `${good}, ${good}`],
    ['two, the first one wrong', `sha256=${'0'.repeat(64)},${good}`],
    ['leading space', ` ${good}`],
    ['trailing space', `${good} `],
    ['trailing new line', `${good}\n`],
    ['a space after the sign', good.replace('=', '= ')],
    ['a zero in front', `sha256=0${hex.slice(0, 63)}`],
    ['0x in front', `sha256=0x${hex.slice(2)}`],
    ['letters that are no hex', `sha256=${'g'.repeat(64)}`],
    [
      'full-width digits',
      `sha256=${hex.replace(/[0-9]/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))}`,
    ],
    ['zeros', `sha256=${'0'.repeat(64)}`],
    ['base64', `sha256=${Buffer.from(hex, 'hex').toString('base64')}`],
    ['reversed', `sha256=${[...hex].reverse().join('')}`],
    ['of an empty body', sign(Buffer.alloc(0))],
    ['of another body', sign(bodyOf({ action: 'x' }))],
    ['of another repo’s secret', sign(body, OTHER)],
    ['of an empty secret', `sha256=${createHmac('sha256', '').update(body).digest('hex')}`],
    ['of the secret in upper case', sign(body, SECRET.toUpperCase())],
    ['of the secret with a new line', sign(body, `${SECRET}\n`)],
    ['of the placeholder for no secret', sign(body, 'no secret')],
    ['the secret itself', `sha256=${SECRET}`],
    ['an object’s text', '[object Object]'],
  ])('%s is 401 and changes nothing', async (_name, signature) => {
    const world = await givenHook();
    expect(await codeOf(acceptForgeWebhook(world.deps, requestOf(body, { signature })))).toBe(
      'invalid_signature',
    );
    expect(await world.wakeSeq()).toBe(0);
    expect(world.queue.wakes).toEqual([]);
  });

  test.each<[string, Buffer]>([
    ['re-serialised', Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))))],
    ['with a byte order mark', Buffer.concat([Buffer.from('\uFEFF'), body])],
    ['with a new line', Buffer.concat([body, Buffer.from('\n')])],
    ['with CRLF', Buffer.from(body.toString('utf8').replace(/\n/g, '\r\n'))],
    ['with one space more', Buffer.from(body.toString('utf8').replace('{', '{ '))],
    ['with another value', bodyOf({ ref: 'refs/heads/main' })],
  ])('the body %s is 401 under the old signature', async (_name, changed) => {
    const world = await givenHook();
    const request = requestOf(changed, { signature: good });
    expect(await codeOf(acceptForgeWebhook(world.deps, request))).toBe('invalid_signature');
    expect(await world.wakeSeq()).toBe(0);
  });

  test('no single flipped bit of body or digest is accepted', async () => {
    const { deps } = await givenHook();
    const random = new SeededRandom(102);
    for (let round = 0; round < 500; round += 1) {
      const flipped = Buffer.from(body);
      const at = random.int(flipped.length);
      flipped[at] = (flipped[at] ?? 0) ^ (1 << random.int(8));
      const mac = Buffer.from(hex, 'hex');
      const digit = random.int(mac.length);
      mac[digit] = (mac[digit] ?? 0) ^ (1 << random.int(8));
      const codes = [
        await codeOf(acceptForgeWebhook(deps, requestOf(flipped, { signature: good }))),
        await codeOf(
          acceptForgeWebhook(deps, requestOf(body, { signature: `sha256=${mac.toString('hex')}` })),
        ),
      ];
      for (const code of codes)
        expect([`seed 102 round ${round}`, code.startsWith('200')]).toEqual([
          `seed 102 round ${round}`,
          false,
        ]);
    }
  });

  test('a repo without a secret accepts nothing, not even an empty key', async () => {
    for (const webhookSecret of [null, new Secret('')]) {
      const world = await givenHook({ webhookSecret });
      for (const key of ['', 'no secret', SECRET]) {
        const signature = `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
        expect(await codeOf(acceptForgeWebhook(world.deps, requestOf(body, { signature })))).toBe(
          'invalid_signature',
        );
      }
    }
  });

  test('400 wrong signatures of one address for one repo cost no more look-ups than the first twenty, and silence no other', async () => {
    const world = await givenHook();
    const deps = { ...world.deps, refused: createRefusedDeliveries(() => world.clock.now()) };
    const deliver = (changes: Partial<ForgeWebhookRequest>) =>
      codeOf(acceptForgeWebhook(deps, requestOf(body, { sender: '203.0.113.9', ...changes })));
    const signature = sign(body, 'guessed');
    for (let nth = 0; nth < 400; nth += 1) expect(await deliver({ signature })).toBe('invalid_signature');
    expect(world.calls.filter((call) => call === 'findRepoForHook')).toHaveLength(REFUSED_DELIVERIES_MAX);
    expect(await deliver({})).toBe('invalid_signature');
    // The forge itself, and another repository of the address.
    expect(await deliver({ sender: '203.0.113.10' })).toBe('200 wait_for_reconcile');
    expect(await deliver({ hookId: 'b'.repeat(64), signature: sign(body, OTHER) })).toMatch(/^200/);
    await world.clock.advance(REFUSED_DELIVERIES_WINDOW_MS);
    expect(await deliver({})).toMatch(/^200/);
  });

  test('no error and no answer holds the secret', async () => {
    const { deps } = await givenHook();
    const failed = await acceptForgeWebhook(deps, requestOf(body, { signature: sign(body, OTHER) })).catch(
      String,
    );
    expect(failed).not.toContain(SECRET);
  });
});

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
    expect((await world.store.getRepo('repo-1'))?.heard).toEqual({ [kind]: at });
    expect(world.calls.filter((call) => call === 'noteHeard')).toHaveLength(1);
  });

  test.each([
    ['push', 'dev'],
    ['pull_request', 'dev'],
    ['status', 'mq-bot'],
  ])('%s of %s says nothing of the gate', async (eventType, login) => {
    const world = await givenHook();
    await deliver(world, eventType, login);
    expect((await world.store.getRepo('repo-1'))?.heard).toBeUndefined();
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

describe('order of the checks (D-31)', () => {
  const unknown = bodyOf({
    repository: { full_name: 'acme/none', html_url: 'https://forge.example/acme/none' },
  });
  const big = Buffer.alloc(WEBHOOK_BODY_BYTES_MAX + 1, 0x20);

  test.each<[string, Buffer, Partial<ForgeWebhookRequest>, string]>([
    ['too large comes before no signature', big, { signature: undefined }, 'invalid_body'],
    ['no signature comes before bad JSON', Buffer.from('{'), { signature: undefined }, 'invalid_signature'],
    [
      'bad JSON comes before a wrong signature',
      Buffer.from('{'),
      { signature: `sha256=${'0'.repeat(64)}` },
      'invalid_body',
    ],
    [
      'no repository comes before a wrong signature',
      Buffer.from('{}'),
      { signature: `sha256=${'0'.repeat(64)}` },
      'missing_fields',
    ],
    [
      'an unknown repo comes before a wrong signature',
      unknown,
      { signature: `sha256=${'0'.repeat(64)}` },
      'not_found',
    ],
    [
      'a wrong signature comes before a missing event type',
      bodyOf(),
      { signature: `sha256=${'0'.repeat(64)}`, eventType: undefined },
      'invalid_signature',
    ],
    ['a missing event type comes last', bodyOf(), { eventType: undefined }, 'missing_fields'],
  ])('%s', async (_name, body, changes, code) => {
    const world = await givenHook();
    expect(await codeOf(acceptForgeWebhook(world.deps, requestOf(body, changes)))).toBe(code);
    expect(await world.wakeSeq()).toBe(0);
  });

  test.each<[string, string]>([
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '1'],
    ['nothing', ''],
    ['truncated', '{"repository":'],
  ])('%s as a body is 400', async (_name, text) => {
    const { deps } = await givenHook();
    expect(await codeOf(acceptForgeWebhook(deps, requestOf(Buffer.from(text))))).toBe('invalid_body');
  });

  test.each<[string, unknown]>([
    ['absent', undefined],
    ['a string', 'acme/app'],
    ['without a name', { html_url: REPOSITORY.html_url }],
    ['without an address', { full_name: 'acme/app' }],
    [
      'whose address has another name',
      { full_name: 'acme/app', html_url: 'https://forge.example/acme/other' },
    ],
  ])('a repository that is %s is missing_fields', async (_name, repository) => {
    const { deps } = await givenHook();
    expect(await codeOf(acceptForgeWebhook(deps, requestOf(bodyOf({ repository }))))).toBe('missing_fields');
  });

  test('a wrong signature costs no more than the look-up', async () => {
    const world = await givenHook();
    await codeOf(
      acceptForgeWebhook(world.deps, requestOf(bodyOf(), { signature: `sha256=${'0'.repeat(64)}` })),
    );
    expect(world.calls).toEqual(['findRepoForHook']);
    world.calls.length = 0;
    await codeOf(acceptForgeWebhook(world.deps, requestOf(bodyOf(), { signature: 'junk' })));
    expect(world.calls).toEqual([]);
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

describe('a flood of one repo (D-52)', () => {
  test('600 at once are heard, the next is ignored and changes nothing; a tenth of a second later one more is', async () => {
    const { deps: open, clock, store, wakeSeq } = await givenHook();
    const deps = { ...open, rates: store };
    const send = () => acceptForgeWebhook(deps, requestOf(bodyOf()));
    for (let sent = 0; sent < 600; sent += 1) expect(await send()).toBe('wait_for_reconcile');
    const before = await wakeSeq();
    expect(await send()).toBe('ignored');
    expect(await wakeSeq()).toBe(before);
    await clock.advance(100);
    expect([await send(), await send()]).toEqual(['wait_for_reconcile', 'ignored']);
  });

  test('another repo is heard, and an event without a signature uses nothing up', async () => {
    const { deps: open, store } = await givenHook();
    const deps = { ...open, rates: store };
    const body = bodyOf();
    const forged = { ...requestOf(body), signature: sign(body, 'not-the-secret') };
    for (let sent = 0; sent < 700; sent += 1)
      expect(await codeOf(acceptForgeWebhook(deps, forged))).toBe('invalid_signature');
    expect(await acceptForgeWebhook(deps, requestOf(body))).toBe('wait_for_reconcile');
    for (let sent = 0; sent < 600; sent += 1) await acceptForgeWebhook(deps, requestOf(body));
    const two = bodyOf({ repository: { full_name: 'acme/two', html_url: 'https://forge.example/acme/two' } });
    expect(await acceptForgeWebhook(deps, requestOf(two, { signature: sign(two, OTHER) }))).toBe(
      'wait_for_reconcile',
    );
  });

  test('a limiter that cannot count lets through', async () => {
    const { deps } = await givenHook();
    const takeToken = async (): Promise<never> => {
      throw new StoreError('unavailable', 'takeToken');
    };
    expect(await acceptForgeWebhook({ ...deps, rates: { takeToken } }, requestOf(bodyOf()))).toBe(
      'wait_for_reconcile',
    );
  });
});
