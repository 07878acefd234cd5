import { randomBytes } from 'node:crypto';
import { SOCKET_PATH } from '#core/contracts/realtime/realtime.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { RATE_LIMITS, SOCKET_SETTLING_MS, SOCKET_TTL_MS } from '#core/domain/api-limits.ts';
import { StoreError } from '#core/ports/store.ts';
import { issueTicket } from '#core/services/realtime/tickets.ts';
import { eraseTenant } from '#core/services/tenants/erase-tenant.ts';
import { findLeaks } from '../../support/canaries.ts';
import { eventually } from '../../support/eventually.ts';
import { Client, type Opening, PUBLIC_URL, RealtimeWorld } from '../../support/realtime-world.ts';

const A = 'tenant-a';
const B = 'tenant-b';
const SESSION_A = 'session-of-a-4f9d2c7be1';
const SESSION_B = 'session-of-b-8e1a6d05c3';

let world: RealtimeWorld;
let issued: string[];

beforeAll(async () => {
  world = await RealtimeWorld.open();
  world.identity.signIn(SESSION_A, A);
  world.identity.signIn(SESSION_B, B);
});
afterAll(() => world.stop());
beforeEach(async () => {
  issued = [];
  // The refusals of the test before count for the address no more.
  await world.clock.advance(60_000);
});
afterEach(async () => {
  world.identity.available = true;
  world.hub.cutAll();
  await eventually('all sockets are closed', 5_000, async () => {
    const left = await Promise.all([A, B].map((tenant) => world.store.listSockets(tenant)));
    return left.flat().length === 0;
  });
  const secrets = [...issued, SESSION_A, SESSION_B].map((value) => ({ name: 'credential', value }));
  expect(findLeaks(secrets, world.lines)).toEqual([]);
});

const ticketOf = async (tenant: string): Promise<string> => {
  const ticket = await issueTicket({ store: world.store, clock: world.clock }, tenant);
  issued.push(ticket);
  return ticket;
};
const open = async (query: string, headers?: Readonly<Record<string, string>>): Promise<Client> => {
  const opening = await world.connect(query, headers);
  if (!(opening instanceof Client)) throw new Error(`refused with ${opening.status}`);
  return opening;
};
const statusOf = (opening: Opening): number => (opening instanceof Client ? 101 : opening.status);
/** A row that dashboards show. */
const change = (tenant: string) => world.store.savePlan(tenant, { tier: 'pro', status: 'active' });
const isRefresh = (text: string): boolean => JSON.parse(text).type === 'refresh';
const cookie = (session: string) => ({ cookie: `theme=dark; __Host-session=${session}` });

describe('by ticket', () => {
  test('opens a socket of its tenant, which gets a ping within two seconds of a change', async () => {
    const client = await open(`?ticket=${await ticketOf(A)}`);
    expect(await world.store.listSockets(A)).toHaveLength(1);
    const started = performance.now();
    await change(A);
    await eventually('a ping', 2_000, async () => client.messages.some(isRefresh));
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(JSON.parse(client.messages[0] ?? '')).toEqual({
      type: 'refresh',
      at: new Date(world.clock.now()).toISOString(),
    });
  });

  test('fifty at once with one ticket: one is let in (A93)', async () => {
    const ticket = await ticketOf(A);
    const openings = await Promise.all(Array.from({ length: 50 }, () => world.connect(`?ticket=${ticket}`)));
    const statuses = openings.map(statusOf);
    expect(statuses.filter((status) => status === 101)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(49);
    expect(await world.store.listSockets(A)).toHaveLength(1);
  });

  test.each([
    [29_000, 101],
    [29_999, 101],
    [30_000, 401],
    [31_000, 401],
  ])('works for thirty seconds by our clock: after %i ms it is %i (A93)', async (ms, status) => {
    const ticket = await ticketOf(A);
    await world.clock.advance(ms);
    expect(statusOf(await world.connect(`?ticket=${ticket}`))).toBe(status);
  });

  test('refused upgrades are limited by address, before anything is asked (D-52)', async () => {
    const { perMinute } = RATE_LIMITS.ip;
    const junk = () => world.connect(`?ticket=${randomBytes(32).toString('hex')}`);
    const statuses: number[] = [];
    for (let nth = 0; nth < perMinute; nth += 1) statuses.push(statusOf(await junk()));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(statusOf(await junk())).toBe(429);
    const ticket = await ticketOf(A);
    expect(statusOf(await world.connect(`?ticket=${ticket}`))).toBe(429);
    await world.clock.advance(1_000);
    expect(statusOf(await world.connect(`?ticket=${ticket}`))).toBe(101);
  });

  test('a used one is none', async () => {
    const ticket = await ticketOf(A);
    await open(`?ticket=${ticket}`);
    expect(statusOf(await world.connect(`?ticket=${ticket}`))).toBe(401);
  });

  test.each([
    ['never issued', randomBytes(32).toString('hex')],
    ['too short', 'ab'.repeat(31)],
    ['too long', 'ab'.repeat(33)],
    ['not hex', 'g'.repeat(64)],
    ['empty', ''],
    ['an object key', '__proto__'],
  ])('%s is 401, whatever cookie is beside it', async (_name, ticket) => {
    const headers = { ...cookie(SESSION_A), origin: PUBLIC_URL };
    expect(statusOf(await world.connect(`?ticket=${ticket}`, headers))).toBe(401);
    expect(await world.store.listSockets(A)).toEqual([]);
  });

  test('in upper case it is none, and stays good', async () => {
    const ticket = await ticketOf(A);
    expect(statusOf(await world.connect(`?ticket=${ticket.toUpperCase()}`))).toBe(
      /[a-f]/.test(ticket) ? 401 : 101,
    );
    expect(statusOf(await world.connect(`?ticket=${ticket}`))).toBe(101);
  });

  test('of two, none is preferred and none is used up', async () => {
    const [one, two] = [await ticketOf(A), await ticketOf(B)];
    expect(statusOf(await world.connect(`?ticket=${one}&ticket=${two}`))).toBe(401);
    expect(statusOf(await world.connect(`?ticket=${one}`))).toBe(101);
  });

  test('the redeemer does not matter: a cookie of another tenant changes nothing', async () => {
    const asked = world.identity.asked;
    const client = await open(`?ticket=${await ticketOf(A)}`, { ...cookie(SESSION_B), origin: PUBLIC_URL });
    expect(world.identity.asked).toBe(asked);
    expect(await world.store.listSockets(B)).toEqual([]);
    await change(A);
    await eventually('the ping of the ticket’s tenant', 3_000, async () => client.messages.some(isRefresh));
  });
});

describe('by cookie (D-41)', () => {
  test('a session token that is made up, 400 times: the provider is asked no more often than the address may be refused', async () => {
    const before = world.identity.asked;
    const forged = (nth: number) => world.connect('', { ...cookie(`forged-${nth}`), origin: PUBLIC_URL });
    const statuses = new Map<number, number>();
    for (let start = 0; start < 400; start += 40) {
      const openings = await Promise.all(Array.from({ length: 40 }, (_, nth) => forged(start + nth)));
      for (const status of openings.map(statusOf)) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect([...statuses.keys()].sort()).toEqual([401, 429]);
    // Those that had begun when the limit was reached.
    expect(world.identity.asked - before).toBeLessThanOrEqual(RATE_LIMITS.ip.perMinute + 40);
    expect(statuses.get(429)).toBeGreaterThanOrEqual(400 - RATE_LIMITS.ip.perMinute - 40);
  });

  test('of a page of ours, with a live session', async () => {
    await open('', { ...cookie(SESSION_A), origin: PUBLIC_URL });
    expect(await world.store.listSockets(A)).toHaveLength(1);
    expect(await world.store.listSockets(B)).toEqual([]);
  });

  test.each([
    ['no origin', {}],
    ['a foreign page', { origin: 'https://evil.example' }],
    ['a page below ours', { origin: 'https://x.queue.example.org' }],
    ['our name on another port', { origin: 'https://queue.example.org:8443' }],
    ['our name in plain', { origin: 'http://queue.example.org' }],
    ['a page without a name', { origin: 'null' }],
    ['our name and more', { origin: `${PUBLIC_URL}.evil.example` }],
  ])('%s is 403, and the provider is not asked', async (_name, origin) => {
    const asked = world.identity.asked;
    expect(statusOf(await world.connect('', { ...cookie(SESSION_A), ...origin }))).toBe(403);
    expect(world.identity.asked).toBe(asked);
  });

  test.each([
    ['a bogus session', { cookie: '__Host-session=bogus' }],
    ['another cookie', { cookie: `session=${SESSION_A}` }],
    ['a name that only ends so', { cookie: `x__Host-session=${SESSION_A}` }],
    ['an empty one', { cookie: '__Host-session=' }],
    ['two of them', { cookie: `__Host-session=${SESSION_A}; __Host-session=${SESSION_B}` }],
  ])('%s is 401', async (_name, headers) => {
    expect(statusOf(await world.connect('', { ...headers, origin: PUBLIC_URL }))).toBe(401);
  });

  test('a provider that is silent is 503, never an open socket (A89)', async () => {
    world.identity.available = false;
    expect(statusOf(await world.connect('', { ...cookie(SESSION_A), origin: PUBLIC_URL }))).toBe(503);
    expect(await world.store.listSockets(A)).toEqual([]);
  });
});

describe('by nothing else (A94)', () => {
  test.each([
    ['nothing', '', {}],
    ['a token in the query', `?access_token=${SESSION_A}`, {}],
    [
      'a token by another name',
      `?token=${SESSION_A}&bearer=${SESSION_A}&authorization=Bearer%20${SESSION_A}`,
      {},
    ],
    ['a header', '', { authorization: `Bearer ${SESSION_A}` }],
    ['a subprotocol header', '', { 'x-api-key': SESSION_A }],
  ])('%s is 401, and the provider is not asked about it', async (_name, query, headers) => {
    const asked = world.identity.asked;
    expect(statusOf(await world.connect(query, { ...headers, origin: PUBLIC_URL }))).toBe(401);
    expect(world.identity.asked).toBe(asked);
  });

  test('its path is that of the contract’s table', () => {
    expect(ROUTES.filter(({ path }) => path === SOCKET_PATH).map(({ id }) => id)).toEqual(['openSocket']);
  });

  test('an upgrade of another path is an ordinary request', async () => {
    const served = world.served;
    expect(statusOf(await world.connect('', {}, '/api/v1/me'))).toBe(426);
    expect(world.served).toBe(served + 1);
  });
});

describe('pings', () => {
  test('two tenants: each hears of its own changes only (A87)', async () => {
    const a = await open(`?ticket=${await ticketOf(A)}`);
    const b = await open(`?ticket=${await ticketOf(B)}`);
    await change(A);
    await eventually('a ping for A', 3_000, async () => a.messages.some(isRefresh));
    await change(B);
    await eventually('a ping for B', 3_000, async () => b.messages.some(isRefresh));
    expect([a.messages.length, b.messages.length]).toEqual([1, 1]);
    expect(`${a.messages}${b.messages}`).not.toContain('tenant');
  });

  test('a batch of changes is one ping per socket', async () => {
    const future = world.clock.now() + SOCKET_TTL_MS;
    for (const [tenant, socket] of [
      [A, 'a1'],
      [A, 'a2'],
      [B, 'b1'],
    ] as const) {
      await world.store.addSocket(tenant, socket, future);
    }
    const rows = Array.from({ length: 40 }, (_, index) => ['MODIFY', `TB#${A}`, `B#${index}`] as const);
    const sent = await world.push([
      ...rows,
      ['INSERT', `TE#${A}`],
      ['MODIFY', `T#${B}`, 'REPO#1'],
      ['INSERT', `TA#${B}`],
    ]);
    expect(sent.map((each) => each.socketId).sort()).toEqual(['a1', 'a2', 'b1']);
    for (const socket of ['a1', 'a2', 'b1']) await world.store.removeSocket(socket);
  });

  test('rows of other kinds ping no socket', async () => {
    await world.store.addSocket(A, 'a1', world.clock.now() + SOCKET_TTL_MS);
    expect(
      await world.push([
        ['INSERT', `TK#${A}`, 'T'],
        ['INSERT', `TW#${A}`],
        ['INSERT', `TN#${A}`],
        ['MODIFY', `L#${A}`],
      ]),
    ).toEqual([]);
    await world.store.removeSocket('a1');
  });

  test('a socket that is gone is forgotten, but not one that is still in the handshake', async () => {
    const future = () => world.clock.now() + SOCKET_TTL_MS;
    await world.store.addSocket(A, 'gone-1', future());
    await world.clock.advance(SOCKET_SETTLING_MS + 1);
    await world.store.addSocket(A, 'gone-young', future());
    await world.store.addSocket(A, 'here', future());
    expect(await world.push([['MODIFY', `T#${A}`]])).toHaveLength(3);
    expect([...(await world.store.listSockets(A))].sort()).toEqual(['gone-young', 'here']);
    for (const socket of ['gone-young', 'here']) await world.store.removeSocket(socket);
  });

  test('the gateway says who is gone: through the management API', async () => {
    await world.store.addSocket(A, 'gone=', world.clock.now() + SOCKET_TTL_MS);
    await world.clock.advance(SOCKET_SETTLING_MS + 1);
    const client = await open(`?ticket=${await ticketOf(A)}`);
    await change(A);
    await eventually('a ping', 3_000, async () => client.messages.some(isRefresh));
    await eventually('the row is gone', 3_000, async () => {
      return !(await world.store.listSockets(A)).includes('gone=');
    });
    expect(await world.store.listSockets(A)).toHaveLength(1);
  });

  test('sockets that outlived their time are not asked', async () => {
    await world.store.addSocket(A, 'old', world.clock.now() + 10);
    await world.clock.advance(10);
    expect(await world.push([['MODIFY', `T#${A}`]])).toEqual([]);
    await world.store.removeSocket('old');
  });

  test('sockets that cannot be read fail the delivery, after the other tenants were told', async () => {
    await world.store.addSocket(B, 'b1', world.clock.now() + SOCKET_TTL_MS);
    const posted: string[] = [];
    const { createPush } = await import('../../../lambdas/realtime/push.ts');
    const push = createPush({
      clock: world.clock,
      log: world.log,
      store: {
        ...world.store,
        listSockets: async (tenant) => {
          if (tenant === A) throw new StoreError('unavailable', 'listSockets');
          return world.store.listSockets(tenant);
        },
      },
      sender: {
        post: async (socketId) => {
          posted.push(socketId);
          return 'sent';
        },
        close: async () => undefined,
      },
    });
    const Records = [A, B].map((tenant, index) => ({
      eventName: 'MODIFY',
      dynamodb: { Keys: { pk: { S: `T#${tenant}` }, sk: { S: 'A' } }, SequenceNumber: String(index) },
    }));
    await expect(push({ Records })).rejects.toThrow('unavailable');
    expect(posted).toEqual(['b1']);
    await expect(push({ Records: [{ eventName: 'OTHER' }] })).rejects.toThrow();
    await world.store.removeSocket('b1');
  });
});

describe('life of a socket', () => {
  test('whatever a client says is answered with a pong and never looked at', async () => {
    const client = await open(`?ticket=${await ticketOf(A)}`);
    for (const text of ['{"type":"ping"}', '{"action":"$connect"}', 'not json', '{"__proto__":1}']) {
      client.socket.send(text);
    }
    await eventually('four answers', 3_000, async () => client.messages.length === 4);
    for (const text of client.messages)
      expect(JSON.parse(text)).toEqual({ type: 'pong', at: expect.any(String) });
    expect(client.closed).toBe(false);
  });

  test('a client that leaves is forgotten', async () => {
    const client = await open(`?ticket=${await ticketOf(A)}`);
    client.socket.close();
    await eventually('its rows are gone', 3_000, async () => (await world.store.listSockets(A)).length === 0);
  });

  test('a tenant that is offboarded has no sockets any more (A100)', async () => {
    await world.store.createTenant(A, world.clock.now());
    const mine = await open(`?ticket=${await ticketOf(A)}`);
    const theirs = await open(`?ticket=${await ticketOf(B)}`);
    await world.store.markTenantDeleting(A);
    expect(await eraseTenant(world.store, A)).toBe(true);
    await eventually('the socket is closed', 3_000, async () => mine.closed);
    await eventually('its rows are gone', 3_000, async () => (await world.store.listSockets(A)).length === 0);
    expect(theirs.closed).toBe(false);
    expect(await world.store.listSockets(B)).toHaveLength(1);
  });

  test('a tenant that is leaving opens none: after its end nothing would close it (A100)', async () => {
    const ticket = await ticketOf(A);
    await world.store.createTenant(A, world.clock.now());
    await world.store.markTenantDeleting(A);
    expect(statusOf(await world.connect(`?ticket=${ticket}`))).toBe(409);
    expect(await world.store.listSockets(A)).toEqual([]);
    await eraseTenant(world.store, A);
  });
});
