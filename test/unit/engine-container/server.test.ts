import type { Server } from 'node:http';
import { request as httpRequest } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { signContainerCall } from '#core/http/container-auth.ts';
import type { Log, ReconcileOrder, ReconcileRequest } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { createEngineServer } from '../../../engine-container/src/server.ts';
import { SeededRandom } from '../../support/seeded-random.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const PATH = '/internal/reconcile';
const GENERIC = '{"status":"error","errors":["reconciliation failed"]}';
const TOKEN = 'canary-token-7f3a91';
const secret = new Secret('s'.repeat(64));
const valid = {
  tenant_id: 't1',
  repo_slug: 'acme/app',
  base_branch: 'main',
  queue_name: 'mq',
  instance_url: 'https://git.example.org',
  token: TOKEN,
};

interface Reply {
  readonly status: number;
  readonly type: string | undefined;
  readonly text: string;
}

const clock = new VirtualClock();
const logged: string[] = [];
const log: Log = {
  info: (message, fields) => logged.push(message + JSON.stringify(fields)),
  warn: (message, fields) => logged.push(message + JSON.stringify(fields)),
  error: (message, fields) => logged.push(message + JSON.stringify(fields)),
};
let runs: { request: ReconcileRequest; order: ReconcileOrder }[] = [];
const orderOf = (fence: number): ReconcileOrder => ({ fence, command: 'reconcile' });
let outcome: () => Promise<'ok' | 'failed'> = async () => 'ok';
let server: Server;
let port = 0;

beforeAll(async () => {
  server = createEngineServer({
    secrets: [secret],
    clock,
    log,
    runReconcile: (request, order) => {
      runs.push({ request, order });
      return outcome();
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));
beforeEach(() => {
  runs = [];
  outcome = async () => 'ok';
});

function send(
  method: string,
  path: string,
  body: Buffer = Buffer.alloc(0),
  headers: Record<string, string> = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, method, path, headers, agent: false },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            type: response.headers['content-type'],
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

function post(body: string | Buffer, fence = 3): Promise<Reply> {
  const bytes = Buffer.from(body);
  const header = signContainerCall(
    secret,
    { method: 'POST', path: PATH, body: bytes },
    orderOf(fence),
    clock.now(),
  );
  return send('POST', PATH, bytes, { 'x-container-auth': header });
}

function isErrorShape(text: string): boolean {
  const value: unknown = JSON.parse(text);
  return (
    typeof value === 'object' &&
    value !== null &&
    'status' in value &&
    value.status === 'error' &&
    'errors' in value &&
    Array.isArray(value.errors) &&
    Object.keys(value).length === 2
  );
}

describe('routes', () => {
  test('GET /healthz', async () => {
    expect(await send('GET', '/healthz')).toEqual({
      status: 200,
      type: 'application/json',
      text: '{"status":"ok"}',
    });
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s is 405',
    async (method) => {
      const reply = await send(method, PATH);
      expect(reply.status).toBe(405);
      expect(isErrorShape(reply.text)).toBe(true);
    },
  );

  test('HEAD is 405 with the JSON type', async () => {
    expect(await send('HEAD', PATH)).toEqual({ status: 405, type: 'application/json', text: '' });
  });

  test.each([
    '/',
    '/internal',
    '/internal/reconcile/',
    '/internal/reconcile?x=1',
    '//internal/reconcile',
    '/INTERNAL/RECONCILE',
    '/internal/%72econcile',
    '/healthz/',
    '/metrics',
  ])('%s is 404', async (path) => {
    const reply = await send('POST', path, Buffer.from(JSON.stringify(valid)));
    expect(reply.status).toBe(404);
    expect(isErrorShape(reply.text)).toBe(true);
  });

  test.each([
    ['no HTTP at all', 'hello\r\n\r\n', '400'],
    ['a broken header', `POST ${PATH} HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n`, '400'],
    ['CONNECT', `CONNECT ${PATH} HTTP/1.1\r\nhost: x\r\n\r\n`, '405'],
    ['CONNECT elsewhere', 'CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n', '404'],
    [
      'a strange expectation',
      `GET ${PATH} HTTP/1.1\r\nhost: x\r\nexpect: nothing\r\nconnection: close\r\n\r\n`,
      '405',
    ],
  ])('%s is answered with JSON', async (_name, raw, status) => {
    const text = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(raw));
      let seen = '';
      socket.on('data', (chunk) => {
        seen += chunk.toString('utf8');
      });
      socket.on('end', () => resolve(seen));
      socket.on('error', reject);
    });
    expect(text.split(' ')[1]).toBe(status);
    expect(text.toLowerCase()).toContain('content-type: application/json');
    expect(isErrorShape(text.slice(text.indexOf('\r\n\r\n') + 4))).toBe(true);
  });
});

describe('an accepted request', () => {
  test('runs the engine exactly once with what was asked (A52)', async () => {
    const reply = await post(JSON.stringify(valid), 42);
    expect(reply).toEqual({ status: 200, type: 'application/json', text: '{"status":"ok"}' });
    expect(runs).toHaveLength(1);
    expect(runs[0]?.order).toEqual(orderOf(42));
    expect(runs[0]?.request.repoSlug).toBe('acme/app');
    expect(runs[0]?.request.token.reveal()).toBe(TOKEN);
  });

  test('500 is byte-identical for a failed and for a throwing engine, and tells nothing', async () => {
    outcome = async () => 'failed';
    const failed = await post(JSON.stringify(valid));
    outcome = async () => {
      throw new Error(`upstream said ${TOKEN}`);
    };
    const thrown = await post(JSON.stringify(valid));
    expect(failed).toEqual({ status: 500, type: 'application/json', text: GENERIC });
    expect(thrown).toEqual(failed);
    expect(logged.join('\n')).not.toContain(TOKEN);
  });

  test('a replayed request does not run the engine again', async () => {
    const body = Buffer.from(JSON.stringify(valid));
    const header = signContainerCall(secret, { method: 'POST', path: PATH, body }, orderOf(3), clock.now());
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => send('POST', PATH, body, { 'x-container-auth': header })),
    );
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(19).fill(401)]);
    expect(runs).toHaveLength(1);
  });
});

describe('a refused request', () => {
  test.each([
    ['no stamp', {}],
    ['a junk stamp', { 'x-container-auth': 'v1.1.f1-00.00' }],
    [
      'a stamp of another secret',
      {
        'x-container-auth': signContainerCall(
          new Secret('t'.repeat(64)),
          { method: 'POST', path: PATH, body: Buffer.from(JSON.stringify(valid)) },
          orderOf(3),
          clock.now(),
        ),
      },
    ],
    [
      'a stamp of another body',
      {
        'x-container-auth': signContainerCall(
          secret,
          { method: 'POST', path: PATH, body: Buffer.from('{}') },
          orderOf(3),
          clock.now(),
        ),
      },
    ],
  ])('%s is 401', async (_name, headers) => {
    const reply = await send('POST', PATH, Buffer.from(JSON.stringify(valid)), headers);
    expect(reply.status).toBe(401);
    expect(isErrorShape(reply.text)).toBe(true);
    expect(runs).toHaveLength(0);
  });

  const without = (key: keyof typeof valid): string => JSON.stringify({ ...valid, [key]: undefined });
  const having = (fields: Record<string, unknown>): string => JSON.stringify({ ...valid, ...fields });
  test.each<[string, string | Buffer]>([
    ['an empty body', ''],
    ['no JSON', '{'],
    ['trailing bytes', `${JSON.stringify(valid)}x`],
    ['a byte order mark', `\uFEFF${JSON.stringify(valid)}`],
    [
      'bytes that are not UTF-8',
      Buffer.concat([Buffer.from('{"tenant_id":"'), Buffer.from([0xff]), Buffer.from('"}')]),
    ],
    ['null', 'null'],
    ['an array', JSON.stringify([valid])],
    ['a string', '"x"'],
    ['an unknown key', having({ extra: 1 })],
    ['a __proto__ key', JSON.stringify(valid).replace('{', '{"__proto__":{},')],
    ['a constructor key', having({ constructor: 'x' })],
    ...Object.keys(valid).flatMap((key): [string, string][] => [
      [`no ${key}`, without(key as keyof typeof valid)],
      [`an empty ${key}`, having({ [key]: '' })],
      [`a number as ${key}`, having({ [key]: 1 })],
      [`null as ${key}`, having({ [key]: null })],
      [`a list as ${key}`, having({ [key]: ['x'] })],
    ]),
    ...['acme', 'acme/', '/app', '/', 'a/b/c', 'a//b', 'acme/app/'].map((slug): [string, string] => [
      `slug ${slug}`,
      having({ repo_slug: slug }),
    ]),
    ...[
      'http://git.example.org',
      'https://',
      'https:',
      'https:git.example.org',
      'https:///git.example.org',
      'https://?x',
      'https://#x',
      ' https://git.example.org',
      'https://git.example.org\n',
      'ht\ttps://git.example.org',
      'https://git.\nexample.org',
      'https:\\\\git.example.org',
      'https://:443',
      'https://user@',
      'ftp://git.example.org',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'git.example.org',
      '//git.example.org',
      'https://[::1',
      'https://a b',
    ].map((url): [string, string] => [`URL ${JSON.stringify(url)}`, having({ instance_url: url })]),
    ['1025 bytes', having({ token: 'x'.repeat(1025 - having({ token: '' }).length) })],
    ['a mebibyte', having({ token: 'x'.repeat(1024 * 1024) })],
  ])('%s is 400 and echoes nothing', async (_name, body) => {
    const reply = await post(body);
    expect(reply.status).toBe(400);
    expect(reply.type).toBe('application/json');
    expect(isErrorShape(reply.text)).toBe(true);
    expect(reply.text).not.toContain(TOKEN);
    expect(runs).toHaveLength(0);
  });

  test('1024 bytes pass', async () => {
    const body = having({ token: 'x'.repeat(1024 - having({ token: '' }).length) });
    expect(Buffer.byteLength(body)).toBe(1024);
    expect((await post(body)).status).toBe(200);
  });
});

describe('fuzz', () => {
  /** One mutation of a valid body: as bytes, or as a value. */
  function mutate(random: SeededRandom): Buffer {
    const bytes = Buffer.from(JSON.stringify(valid));
    if (random.chance(0.5)) {
      for (let edits = 1 + random.int(4); edits > 0; edits -= 1)
        bytes[random.int(bytes.length)] = random.int(256);
      return bytes;
    }
    const junk = random.pick<unknown>([
      null,
      1e308,
      -0,
      true,
      '',
      '\u0000',
      '\ud800',
      [],
      {},
      [[[[]]]],
      'https://x',
      'a/b',
      'a/b/c',
    ]);
    const key = random.pick(['tenant_id', 'repo_slug', 'instance_url', 'token', 'extra', '__proto__', '']);
    return Buffer.from(JSON.stringify({ ...valid, [key]: junk }));
  }

  test('every answer is 200 or 400, JSON, and the engine ran once per 200 (A52, A115)', async () => {
    const seed = 115;
    const random = new SeededRandom(seed);
    let accepted = 0;
    for (let round = 0; round < 1500; round += 1) {
      const body = mutate(random);
      const reply = await post(body);
      const where = `seed ${seed} round ${round}: ${body.toString('latin1')}`;
      if (reply.status === 200) accepted += 1;
      else expect([where, reply.status, isErrorShape(reply.text)]).toEqual([where, 400, true]);
      expect([where, JSON.parse(reply.text) !== null, reply.type]).toEqual([where, true, 'application/json']);
    }
    expect(runs).toHaveLength(accepted);
    expect(accepted).toBeGreaterThan(0);
  });
});
