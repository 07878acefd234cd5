import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { routeUpgrades } from '#core/adapters/websocket/route-upgrades.ts';
import type { SocketHub } from '#core/adapters/websocket/socket-hub.ts';

let server: Server;
afterEach(() => server.close());

/** A server that upgrades `/ws`, and the errors that would have ended its process. */
async function openServer(onRequest: Parameters<typeof createServer>[1]) {
  const unheard: unknown[] = [];
  server = createServer(onRequest);
  server.prependListener('upgrade', (_request, line) => {
    const emit = line.emit.bind(line);
    line.emit = (name: string | symbol, ...rest: unknown[]) => {
      if (name === 'error' && line.listenerCount('error') === 0) return unheard.push(...rest) > 0;
      return emit(name, ...rest);
    };
  });
  routeUpgrades(server, '/ws', { upgrade: () => undefined } as unknown as SocketHub);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { port: (server.address() as AddressInfo).port, unheard };
}

test('an ordinary request that asks for an upgrade is answered', async () => {
  const { port } = await openServer((_request, response) => response.end('here'));
  const line = connect(port, '127.0.0.1');
  line.write('GET /page HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  let answer = '';
  for await (const part of line) answer += String(part);
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
});

test('a target that is no address is hung up on, and ends no process', async () => {
  const { port } = await openServer((_request, response) => response.end('here'));
  const line = connect(port, '127.0.0.1');
  line.write('GET *:99999 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  let answer = '';
  for await (const part of line) answer += String(part);
  expect(answer).toBe('');
});

test.each([
  ['an ordinary request', '/page', 'h2c'],
  ['a socket', '/ws', 'websocket'],
])('a line that breaks under %s that asks for an upgrade ends no process', async (_name, path, upgrade) => {
  const { port, unheard } = await openServer(() => undefined);
  const closed = new Promise<void>((done) => {
    server.once('upgrade', (_request, line) => line.once('close', done));
  });
  const line = connect(port, '127.0.0.1');
  line.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`);
  await new Promise<void>((come) => server.once('upgrade', () => come()));
  line.resetAndDestroy();
  await closed;
  expect(unheard).toEqual([]);
});
