import { SESSION_COOKIE } from '#core/contracts/tenants/account.ts';
import { RATE_LIMITS, SOCKETS_PER_TENANT_MAX } from '#core/domain/api-limits.ts';
import { issueTicket } from '#core/services/realtime/tickets.ts';
import { createLog } from '#core/telemetry.ts';
import { createConnect } from '../../../lambdas/realtime/admit.ts';
import { FakeIdentity } from '../../fakes/fake-identity.ts';
import { createMemoryStore } from '../../fakes/memory-store.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const TENANT = 'aaaaaaaa-0000-4000-8000-000000000001';
const STAMP = 'stamp-of-the-edge';

const SESSION = 'a-live-session';

function makeDoor(requiredStamp = '') {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const store = createMemoryStore({ clock, beforeCall: (label) => void calls.push(label) });
  const identity = new FakeIdentity();
  identity.signIn(SESSION, TENANT);
  const connect = createConnect({
    store,
    rates: store,
    clock,
    identity,
    requiredStamp,
    now: () => clock.now(),
    log: createLog({ service: 'test', write: () => undefined, now: () => 0 }),
    publicUrl: 'https://queue.example.org/',
  });
  const knock = async (socketId: string, headers: Readonly<Record<string, string>> = {}) => {
    const ticket = await issueTicket({ store, clock }, TENANT);
    calls.length = 0;
    const { statusCode } = await connect({
      headers,
      queryStringParameters: { ticket },
      requestContext: { connectionId: socketId, requestId: 'r', identity: { sourceIp: '198.51.100.7' } },
    });
    return statusCode;
  };
  const open = async (socketId: string) => {
    const { statusCode } = await connect({
      headers: { cookie: `${SESSION_COOKIE}=${SESSION}`, origin: 'https://queue.example.org' },
      requestContext: { connectionId: socketId, requestId: 'r', identity: { sourceIp: '198.51.100.7' } },
    });
    return statusCode;
  };
  return { clock, store, identity, knock, open, calls };
}

describe('the door of the socket', () => {
  test('a tenant has as many sockets as it may have, and one more is 429 until one of them ends', async () => {
    const { store, clock, knock } = makeDoor();
    for (let nth = 0; nth < SOCKETS_PER_TENANT_MAX; nth += 1) {
      await store.addSocket(TENANT, `s${nth}`, clock.now() + 60_000);
    }
    expect(await knock('one-more')).toBe(429);
    expect(await store.listSockets(TENANT)).toHaveLength(SOCKETS_PER_TENANT_MAX);
    await store.removeSocket('s0');
    expect(await knock('one-more')).toBe(200);
  });

  test('a live session that opens sockets without pause costs no call to the provider past its share', async () => {
    const { identity, store, clock, open } = makeDoor();
    const { burst } = RATE_LIMITS.user;
    const statuses = new Set<number>();
    for (let nth = 0; nth < 3 * burst; nth += 1) {
      statuses.add(await open(`s${nth}`));
      await store.removeSocket(`s${nth}`);
    }
    expect([...statuses]).toEqual([200, 429]);
    expect(identity.asked).toBe(burst + 1);
    await clock.advance(1_000);
    expect(await open('later')).toBe(200);
  });

  test('with rules at the edge, a socket that did not come through it is refused before anything is asked', async () => {
    const { knock, calls } = makeDoor(STAMP);
    expect(await knock('past')).toBe(403);
    expect(await knock('guessed', { 'X-Mergeyard-Stamp': 'guessed' })).toBe(403);
    expect(calls).toEqual([]);
    expect(await knock('through', { 'X-Mergeyard-Stamp': STAMP })).toBe(200);
  });
});
