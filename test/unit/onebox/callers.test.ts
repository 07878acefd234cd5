import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { routeUpgrades } from '#core/adapters/websocket/route-upgrades.ts';
import { composeSockets } from '../../../onebox/notices.ts';
import { type Stops, stopAll } from '../../../onebox/stops.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** The addresses for which refused tickets of these callers count. */
async function refuseTickets(behindProxy: boolean, forwarded: readonly string[]): Promise<readonly string[]> {
  const counted: string[] = [];
  const stops: Stops = [];
  const store = {
    redeemTicket: async () => null,
    takeToken: async (bucket: string) => {
      counted.push(bucket);
      return { allowed: true };
    },
  };
  const shared = { store, log: SILENT, clock: { now: () => 0 } } as never;
  const hub = composeSockets(shared, { behind_proxy: behindProxy }, stops);
  const server = createServer();
  routeUpgrades(server, '/ws', hub);
  try {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    for (const each of forwarded) {
      const socket = new WebSocket(`ws://127.0.0.1:${port}/ws?ticket=none`, {
        headers: { 'x-forwarded-for': each },
      });
      const [refusal] = (await once(socket, 'error')) as [Error];
      expect(refusal.message).toContain('401');
    }
  } finally {
    server.close();
    await stopAll(stops);
  }
  return counted;
}

test('behind a proxy the refused tickets of a stranger count for that stranger’s address alone', async () => {
  const counted = await refuseTickets(true, ['203.0.113.7', 'made up, 198.51.100.9']);
  expect(counted).toEqual([expect.stringContaining('203.0.113.7'), expect.stringContaining('198.51.100.9')]);
});

test('without one they count for the peer, whatever it writes into the header', async () => {
  const counted = await refuseTickets(false, ['203.0.113.7']);
  expect(counted).toEqual([expect.stringContaining('127.0.0.1')]);
});
