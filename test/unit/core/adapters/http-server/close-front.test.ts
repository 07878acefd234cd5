import { Agent, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { closeFront } from '#core/adapters/http-server/close-front.ts';
import { createHttpFront } from '#core/adapters/http-server/http-front.ts';

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const sockets: Socket[] = [];
afterEach(() => {
  agent.destroy();
  for (const each of sockets.splice(0)) each.destroy();
});

/** A server whose `/slow` answers when `release` is called. */
async function givenFront() {
  let release = (): void => {};
  const held = new Promise<void>((done) => {
    release = done;
  });
  const target = {
    invoke: async (event: unknown) => {
      if ((event as { rawPath: string }).rawPath === '/slow') await held;
      return { statusCode: 200, body: 'ok' };
    },
  };
  const front = createHttpFront([{ key: '$default', target }], () => {});
  await new Promise<void>((done) => front.listen(0, '127.0.0.1', done));
  const { port } = front.address() as AddressInfo;
  const ask = (path: string): Promise<IncomingMessage> =>
    new Promise((done, failed) => {
      get({ agent, port, path, host: '127.0.0.1' }, (answer) => {
        answer.resume();
        answer.on('end', () => done(answer));
      }).on('error', failed);
    });
  const open = (text: string): Promise<Socket> =>
    new Promise((done) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(text, () => done(socket)));
      socket.on('error', () => {});
      sockets.push(socket);
    });
  return { front, ask, open, release: () => release() };
}

/** Far beyond any test: only what has ended by itself can have ended. */
const NEVER_MS = 600_000;

test('a client that keeps asking on one connection does not keep a server open that is to end', async () => {
  const { front, ask, release } = await givenFront();
  await ask('/');
  const slow = ask('/slow');
  // One connection: it is asked on it as soon as the answer before is there.
  const next = ask('/');
  const asked = new Promise((done) => front.once('request', done));
  await asked;
  const closed = closeFront(front, () => {}, NEVER_MS);
  release();
  expect((await slow).statusCode).toBe(200);
  expect((await next).headers.connection).toBe('close');
  await closed;
});

test('a connection that is still open after a time is cut', async () => {
  const { front, open } = await givenFront();
  const connected = new Promise((done) => front.once('connection', done));
  await open('GET / HTTP/1.1\r\nHost: half');
  await connected;
  let cuts = 0;
  await closeFront(
    front,
    () => {
      cuts += 1;
    },
    50,
  );
  expect(cuts).toBe(2);
});

test('no connection is upgraded any more', async () => {
  const { front, open } = await givenFront();
  let upgrades = 0;
  front.on('upgrade', () => {
    upgrades += 1;
  });
  const socket = await open('GET /slow HTTP/1.1\r\nHost: a');
  await new Promise((done) => setTimeout(done, 50));
  const closed = closeFront(front, () => {}, 200);
  socket.write('\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
  await closed;
  expect(upgrades).toBe(0);
});
