import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { createGuardedHttp, type GuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import type { HttpRequest, HttpSendError } from '#core/adapters/http-guard/http-send.ts';
import {
  type LoopbackServer,
  readRequestBody,
  startLoopbackHttps,
} from '../../../../support/loopback-https.ts';
import { startSlowPort } from '../../../../support/slow-port.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let server: LoopbackServer;
let http: GuardedHttp;
let answer: Answer = (_request, response) => void response.end();

beforeAll(async () => {
  server = await startLoopbackHttps((request, response) => answer(request, response));
});
beforeEach(() => {
  http = createGuardedHttp({ allowHosts: [server.host], caPem: server.caPem });
});
afterEach(() => http.close());
afterAll(() => server.close());

async function get(path: string, change: Partial<HttpRequest> = {}) {
  return http.send({
    method: 'GET',
    url: `${server.origin}${path}`,
    headers: { accept: 'application/json' },
    timeoutMs: 5000,
    bodyBytesMax: 1000,
    ...change,
  });
}

async function failureOf(sent: Promise<unknown>): Promise<unknown> {
  return sent.then(
    () => 'no error',
    (error) => error,
  );
}

describe('guarded HTTP', () => {
  test('sends method, headers and body, and hands back status, headers and bytes', async () => {
    const seen: unknown[] = [];
    answer = async (request, response) => {
      seen.push([request.method, request.url, request.headers['x-one'], await readRequestBody(request)]);
      response.writeHead(201, { 'content-type': 'application/json', 'x-many': ['a', 'b'] }).end('{"ü":1}');
    };
    const response = await get('/p?q=1', { method: 'POST', headers: { 'x-one': '1' }, body: '{"é":2}' });
    expect(seen).toEqual([['POST', '/p?q=1', '1', '{"é":2}']]);
    expect(response.status).toBe(201);
    expect(response.headers).toMatchObject({ 'content-type': 'application/json', 'x-many': 'a, b' });
    expect(response.body.toString('utf8')).toBe('{"ü":1}');
  });

  test.each([301, 302, 303, 307, 308])('a redirect %i is an answer, not a way', async (status) => {
    const paths: unknown[] = [];
    answer = (request, response) => {
      paths.push(request.url);
      response.writeHead(status, { location: `${server.origin}/elsewhere` }).end();
    };
    expect((await get('/start')).status).toBe(status);
    expect(paths).toEqual(['/start']);
  });

  test('compression is neither asked for nor undone', async () => {
    const asked: unknown[] = [];
    answer = (request, response) => {
      asked.push(request.headers['accept-encoding']);
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(100_000)));
    };
    expect(await failureOf(get('/'))).toMatchObject({ kind: 'broken' });
    expect(asked).toEqual(['identity']);
  });

  test('what is cut of long strings does not count for the limit of the body, but has one of its own', async () => {
    answer = (_request, response) => void response.end(JSON.stringify(['x'.repeat(50_000), 'end']));
    const cut = { keepBytes: 10, sentBytesMax: 60_000 };
    expect((await get('/', { cut })).body.toString()).toBe('["xxxxxxxxxx","end"]');
    expect(await failureOf(get('/', { cut: { ...cut, sentBytesMax: 50_000 } }))).toMatchObject({
      kind: 'too_large',
    });
    expect(await failureOf(get('/', { cut: { ...cut, keepBytes: 2_000 } }))).toMatchObject({
      kind: 'too_large',
    });
  });

  test('an answer and a refusal tell how many bytes were sent, what was cut off included', async () => {
    answer = (_request, response) => void response.end(JSON.stringify(['x'.repeat(50_000), 'end']));
    const cut = { keepBytes: 10, sentBytesMax: 60_000 };
    expect(await get('/', { cut })).toMatchObject({ sentBytes: 50_010 });
    expect(await get('/', { bodyBytesMax: 60_000 })).toMatchObject({ sentBytes: 50_010 });
    const refused = (await failureOf(get('/', { cut: { ...cut, sentBytesMax: 40_000 } }))) as HttpSendError;
    expect(refused.sentBytes).toBeGreaterThan(40_000);
    expect(refused.sentBytes).toBeLessThanOrEqual(50_010);
  });

  test('a body at the limit passes, one byte more does not', async () => {
    answer = (request, response) => void response.end(Buffer.alloc(Number(request.url?.slice(1))));
    expect((await get('/1000')).body.length).toBe(1000);
    expect(await failureOf(get('/1001'))).toMatchObject({ kind: 'too_large' });
  });

  test('an endless body ends at the limit', async () => {
    answer = (_request, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(10_000)));
      };
      response.on('drain', more);
      more();
    };
    expect(await failureOf(get('/'))).toMatchObject({ kind: 'too_large' });
  });

  test.each([
    ['no answer', () => {}],
    ['headers and then nothing', (_: IncomingMessage, response: ServerResponse) => void response.write('x')],
  ])('the time limit covers %s', async (_name, behaviour) => {
    answer = behaviour;
    expect(await failureOf(get('/', { timeoutMs: 50 }))).toMatchObject({ kind: 'timeout' });
  });

  test.each([
    ['a body beyond any limit', (response: ServerResponse) => void response.end('x'.repeat(200_000))],
    ['a body that never ends', (response: ServerResponse) => void response.write('x')],
    ['a packed body', (response: ServerResponse) => void response.end(gzipSync('packed'))],
  ])('where no body is wanted, %s keeps no status back', async (_name, send) => {
    answer = (_, response) => {
      response.writeHead(202, _name.startsWith('a packed') ? { 'content-encoding': 'gzip' } : {});
      send(response);
    };
    const { status, body } = await get('/', {
      method: 'POST',
      body: '{}',
      bodyBytesMax: 0,
      timeoutMs: 2_000,
    });
    expect([status, body.length]).toEqual([202, 0]);
  });

  test('the time limit covers name resolution', async () => {
    const stuck = createGuardedHttp({ allowHosts: ['forge.test'], resolve: () => new Promise(() => {}) });
    const url = 'https://forge.test/';
    const request = { method: 'GET', url, headers: {}, timeoutMs: 50, bodyBytesMax: 1 } as const;
    expect(await failureOf(stuck.send(request))).toMatchObject({ kind: 'timeout' });
    stuck.close();
  });

  test.each([
    ['before the answer', (_: IncomingMessage, response: ServerResponse) => void response.socket?.destroy()],
    [
      'within a declared length',
      (_: IncomingMessage, response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => response.socket?.destroy());
      },
    ],
    [
      'within chunks',
      (_: IncomingMessage, response: ServerResponse) => {
        response.write('half', () => response.socket?.destroy());
      },
    ],
    [
      'by switching protocols',
      (_: IncomingMessage, response: ServerResponse) => {
        response.socket?.end('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n');
      },
    ],
    [
      'with more headers than fit',
      (_: IncomingMessage, response: ServerResponse) => {
        response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}\r\n\r\n`);
      },
    ],
    [
      'with noise',
      (_: IncomingMessage, response: ServerResponse) => void response.socket?.end('noise\r\n\r\n'),
    ],
  ])('a connection lost %s is broken', async (_name, behaviour) => {
    answer = behaviour;
    expect(await failureOf(get('/'))).toMatchObject({ kind: 'broken', message: 'http: broken' });
  });

  test('a refused connection is known to have sent nothing', async () => {
    const gone = await startLoopbackHttps(() => {});
    await gone.close();
    const client = createGuardedHttp({ allowHosts: [gone.host] });
    const request = {
      method: 'POST',
      url: gone.origin,
      headers: {},
      timeoutMs: 5000,
      bodyBytesMax: 1,
    } as const;
    expect(await failureOf(client.send(request))).toMatchObject({ kind: 'connect' });
    client.close();
  });

  test('a certificate that no trusted authority signed is no connection', async () => {
    const seen: unknown[] = [];
    answer = (request, response) => {
      seen.push(request.url);
      response.end();
    };
    const strict = createGuardedHttp({ allowHosts: [server.host] });
    const request = {
      method: 'GET',
      url: server.origin,
      headers: {},
      timeoutMs: 5000,
      bodyBytesMax: 1,
    } as const;
    expect(await failureOf(strict.send(request))).toMatchObject({ kind: 'connect' });
    expect(seen).toEqual([]);
    strict.close();
  });

  test('the connection goes to the checked address and the certificate must be that of the name', async () => {
    const port = server.host.split(':')[1];
    const resolve = async () => [{ address: '127.0.0.1', family: 4 }];
    answer = (request, response) => void response.end(request.headers.host);
    const allowHosts = [`localhost:${port}`, `other.test:${port}`];
    const client = createGuardedHttp({ allowHosts, caPem: server.caPem, resolve });
    const request = { method: 'GET', headers: {}, timeoutMs: 5000, bodyBytesMax: 100 } as const;
    const good = await client.send({ ...request, url: `https://localhost:${port}/` });
    expect(good.body.toString()).toBe(`localhost:${port}`);
    const bad = client.send({ ...request, url: `https://other.test:${port}/` });
    expect(await failureOf(bad)).toMatchObject({ kind: 'connect' });
    client.close();
  });

  test('a host that is slow to take the connection is waited for, though its other address is out of reach', async () => {
    const slow = await startSlowPort(Number(server.host.split(':')[1]));
    // Nothing listens at the second one.
    const resolve = async () => [
      { address: '127.0.0.1', family: 4 },
      { address: '127.0.0.2', family: 4 },
    ];
    answer = (_request, response) => void response.end('there');
    const host = `localhost:${slow.port}`;
    const client = createGuardedHttp({ allowHosts: [host], caPem: server.caPem, resolve });
    const request = { method: 'GET', headers: {}, timeoutMs: 5000, bodyBytesMax: 100 } as const;
    const told = await client.send({ ...request, url: `https://${host}/` }).finally(slow.stop);
    expect(told.body.toString()).toBe('there');
    client.close();
  });

  test('a read that waited for a kept connection and is lost on it is broken, and adds no listener for ever', async () => {
    const warned: string[] = [];
    const note = (warning: Error): void => void warned.push(warning.name);
    process.on('warning', note);
    answer = (request, response) =>
      void (request.url === '/lost' ? request.socket.destroy() : response.end());
    const many = Array.from({ length: 200 }, () => get('/'));
    // In line behind the others, so that it gets a connection that one of them used.
    expect(await failureOf(get('/lost'))).toMatchObject({ kind: 'broken' });
    await Promise.allSettled(many);
    await new Promise((done) => setImmediate(done));
    process.off('warning', note);
    expect(warned).not.toContain('MaxListenersExceededWarning');
  });

  test('reads share a connection, a write opens its own', async () => {
    answer = (_request, response) => void response.end('{}');
    const before = server.connections();
    await get('/');
    await get('/');
    expect(server.connections() - before).toBe(1);
    await get('/', { method: 'POST', body: '{}' });
    await get('/', { method: 'POST', body: '{}' });
    expect(server.connections() - before).toBe(3);
  });

  test('proxy settings of the environment are not obeyed', async () => {
    answer = (_request, response) => void response.end('direct');
    const saved = { ...process.env };
    process.env.HTTPS_PROXY = 'http://127.0.0.1:1';
    process.env.https_proxy = 'http://127.0.0.1:1';
    try {
      expect((await get('/')).body.toString()).toBe('direct');
    } finally {
      process.env = saved;
    }
  });

  test('a header that cannot be sent is refused without being quoted', async () => {
    const error = await failureOf(get('/', { headers: { authorization: 'token canary\r\nx: y' } }));
    expect(error).toMatchObject({ kind: 'refused' });
    expect(String((error as Error).stack)).not.toContain('canary');
  });
});
