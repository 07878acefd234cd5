import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { HeldBodies } from '#core/adapters/http-server/held-bodies.ts';
import { createHttpFront } from '#core/adapters/http-server/http-front.ts';
import type { Json } from '#core/ports/invocable.ts';

const MEBIBYTE = 1024 * 1024;

describe('bodies of all requests together have a limit', () => {
  test('beyond which the largest is given up, and small ones are kept', () => {
    const bodies = new HeldBodies(100_000);
    const [small, large, middle] = [bodies.open(), bodies.open(), bodies.open()];
    expect(small.keep(Buffer.alloc(10_000, 'a'))).toBe(true);
    expect(large.keep(Buffer.alloc(60_000))).toBe(true);
    expect(middle.keep(Buffer.alloc(40_000))).toBe(true);
    expect([small.take()?.toString(), large.take(), middle.take()?.length]).toEqual([
      'a'.repeat(10_000),
      null,
      40_000,
    ]);
    expect(large.keep(Buffer.alloc(1))).toBe(false);
    middle.end();
    expect(bodies.open().keep(Buffer.alloc(85_000))).toBe(true);
  });

  test('and one that comes byte by byte counts for the memory that its pieces take', () => {
    const bodies = new HeldBodies(100_000);
    const [whole, dripping] = [bodies.open(), bodies.open()];
    expect(whole.keep(Buffer.alloc(1_000))).toBe(true);
    const kept = Array.from({ length: 1_000 }, () => dripping.keep(Buffer.alloc(1)));
    expect([kept[0], kept.at(-1), dripping.take(), whole.take()?.length]).toEqual([true, false, null, 1_000]);
  });
});

describe('a server to which a caller of no account may send bodies', () => {
  let front: Server;
  const sockets: Socket[] = [];
  /** Its own ends, by the port of the caller. */
  const lines = new Map<number | undefined, Socket>();
  const told: number[] = [];

  beforeAll(async () => {
    const target = {
      invoke: async (event: Json): Promise<Json> => {
        told.push((event as { body?: string }).body?.length ?? 0);
        return { statusCode: 200 };
      },
    };
    front = createHttpFront([{ key: '$default', target }], () => {}).listen(0, '127.0.0.1');
    front.on('connection', (line) => lines.set(line.remotePort, line));
    await once(front, 'listening');
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    front.close();
  });

  /** All of a body but its last byte, once the server has read that. */
  async function begin(bytes: number): Promise<() => Promise<string>> {
    const socket = connect((front.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    socket.write(
      `POST /x HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: ${bytes}\r\n\r\n`,
    );
    await new Promise<void>((sent) => socket.write(Buffer.alloc(bytes - 1, 'a'), () => sent()));
    while ((lines.get(socket.localPort)?.bytesRead ?? 0) < socket.bytesWritten)
      await new Promise((done) => setTimeout(done, 5));
    return async () => {
      socket.write('a');
      const [answer] = (await once(socket, 'data')) as [Buffer];
      return answer.toString().split('\r\n')[0] ?? '';
    };
  }

  test('keeps 64 MiB of them, and answers a small one meanwhile', async () => {
    const ends = await Promise.all(Array.from({ length: 10 }, () => begin(9 * MEBIBYTE)));
    const answers: string[] = [];
    const small = await begin(100);
    expect(await small()).toBe('HTTP/1.1 200 OK');
    for (const end of ends) answers.push(await end());
    expect(answers.filter((line) => line.includes('503'))).toHaveLength(3);
    expect(answers.filter((line) => line.includes('200'))).toHaveLength(7);
    expect(told).toEqual([100, ...Array.from({ length: 7 }, () => 9 * MEBIBYTE)]);
    // What was answered is let go of.
    const after = await begin(9 * MEBIBYTE);
    expect(await after()).toBe('HTTP/1.1 200 OK');
  });
});

test('a connection stays open for longer than a proxy in front keeps it, which would send on a closed one else', async () => {
  const target = { invoke: async (): Promise<Json> => ({ statusCode: 200 }) };
  const front = createHttpFront([{ key: '$default', target }], () => {}).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const socket = connect((front.address() as AddressInfo).port, '127.0.0.1');
  socket.write('GET / HTTP/1.1\r\nHost: queue.example.org\r\n\r\n');
  const [answer] = await once(socket, 'data');
  // The server tells its own time-out. Caddy closes after two minutes.
  expect(Number(/^keep-alive: timeout=(\d+)/im.exec(String(answer))?.[1])).toBeGreaterThan(120);
  socket.destroy();
  front.close();
});
