import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket } from 'ws';
import { routeUpgrades } from '#core/adapters/websocket/route-upgrades.ts';
import { SocketHub } from '#core/adapters/websocket/socket-hub.ts';

let server: Server;
let hub: SocketHub;
let answered = 0;

beforeAll(async () => {
  hub = new SocketHub(() => {});
  const admit = { invoke: async () => ({ statusCode: 200 }) };
  const fallback = {
    invoke: async () => {
      answered += 1;
      return { statusCode: 200, body: 'pong' };
    },
  };
  hub.serve({ connect: admit, disconnect: admit, fallback, answers: true, stage: 'live' });
  server = createServer();
  routeUpgrades(server, '/ws', hub);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

afterAll(async () => {
  await hub.stop();
  server.close();
});

async function open(): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/ws`);
  socket.on('error', () => {});
  await once(socket, 'open');
  return socket;
}

test('a socket that sends without end is cut, and one beside it is answered', async () => {
  const [loud, quiet] = [await open(), await open()];
  const cut = once(loud, 'close');
  for (let sent = 0; sent < 500; sent += 1) loud.send('{}');
  await cut;
  expect(answered).toBe(50);
  quiet.send('{}');
  const [pong] = (await once(quiet, 'message')) as [Buffer];
  expect(pong.toString()).toBe('pong');
  quiet.close();
});
