import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { HeldBodies } from '#core/adapters/http-server/held-bodies.ts';
import { createHttpFront } from '#core/adapters/http-server/http-front.ts';
import type { Json } from '#core/ports/invocable.ts';

const MEBIBYTE = 1024 * 1024;

describe('bodies of all requests together have a limit', () => {
  test('beyond which the largest is given up, and small ones are kept', () => {
    const bodies = new HeldBodies(100);
    const [small, large, middle] = [bodies.open(), bodies.open(), bodies.open()];
    expect(small.keep(Buffer.alloc(10, 'a'))).toBe(true);
    expect(large.keep(Buffer.alloc(60))).toBe(true);
    expect(middle.keep(Buffer.alloc(40))).toBe(true);
    expect([small.take()?.toString(), large.take(), middle.take()?.length]).toEqual([
      'a'.repeat(10),
      null,
      40,
    ]);
    expect(large.keep(Buffer.alloc(1))).toBe(false);
    middle.end();
    expect(bodies.open().keep(Buffer.alloc(90))).toBe(true);
  });
});

describe('a server to which a caller of no account may send bodies', () => {
  let front: Server;
  const sockets: Socket[] = [];
  const told: number[] = [];

  beforeAll(async () => {
    const target = {
      invoke: async (event: Json): Promise<Json> => {
        told.push((event as { body?: string }).body?.length ?? 0);
        return { statusCode: 200 };
      },
    };
    front = createHttpFront([{ key: '$default', target }], () => {}).listen(0, '127.0.0.1');
    await once(front, 'listening');
  });
  afterAll(() => {
    for (const socket of sockets) socket.destroy();
    front.close();
  });

  /** All of a body but its last byte. */
  async function begin(bytes: number): Promise<() => Promise<string>> {
    const socket = connect((front.address() as AddressInfo).port, '127.0.0.1');
    sockets.push(socket);
    socket.write(
      `POST /x HTTP/1.1\r\nhost: x\r\ncontent-type: text/plain\r\ncontent-length: ${bytes}\r\n\r\n`,
    );
    await new Promise<void>((sent) => socket.write(Buffer.alloc(bytes - 1, 'a'), () => sent()));
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
