import { createServer } from 'node:net';
import { FREE_PORT_MAX, FREE_PORT_MIN, findFreePort } from '#core/adapters/system/free-port.ts';

test('is none that the system gives to outgoing connections, none twice, and one on which a server can listen', async () => {
  const ports = await Promise.all(Array.from({ length: 50 }, () => findFreePort()));
  expect(new Set(ports).size).toBe(ports.length);
  expect(ports.filter((port) => port < FREE_PORT_MIN || port > FREE_PORT_MAX)).toEqual([]);
  const server = createServer();
  await new Promise<void>((done, failed) => server.once('error', failed).listen(ports[0], '127.0.0.1', done));
  await new Promise((done) => server.close(done));
});
