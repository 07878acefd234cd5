import type { IncomingMessage, ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { answerBytesMax } from '#core/adapters/forge-http/wire/answer-limits.ts';
import { readAllPages } from '#core/adapters/forge-http/wire/paging.ts';
import {
  createForgeTransport,
  createLeasedTransport,
  type ForgeTransportConfig,
} from '#core/adapters/forge-http/wire/transport.ts';
import { createGuardedHttp, type GuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { FORGE_ANSWER_DEPTH_MAX, FORGE_ANSWER_VALUES_MAX } from '#core/domain/limits.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { ForgeError, ReadNotBegun } from '#core/ports/forge.ts';
import { Secret } from '#core/secret.ts';
import {
  type LoopbackServer,
  readRequestBody,
  startLoopbackHttps,
} from '../../../../../support/loopback-https.ts';
import { scriptForge } from '../../../../../support/scripted-forge.ts';

const TOKEN = 'canary-3f9a1c7be2d04586';
const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);
const READ = { method: 'GET', label: 'GET thing', path: ['thing'] } as const;
const WRITE = { method: 'POST', label: 'POST thing', path: ['thing'], body: { a: 1 } } as const;

let server: LoopbackServer;
let http: GuardedHttp;
let answer: (request: IncomingMessage, response: ServerResponse) => void;

beforeAll(async () => {
  server = await startLoopbackHttps((request, response) => answer(request, response));
  http = createGuardedHttp({ allowHosts: [server.host], caPem: server.caPem });
});
afterAll(() => {
  http.close();
  return server.close();
});

function configOf(change: Partial<ForgeTransportConfig> = {}): ForgeTransportConfig {
  return {
    instanceUrl: server.origin,
    slug: 'acme/app',
    token: new Secret(TOKEN),
    send: http.send,
    clock: { now: () => NOW },
    ...change,
  };
}

function open(change: Partial<ForgeTransportConfig> = {}) {
  return createForgeTransport(configOf(change));
}

async function errorOf(sent: Promise<unknown>): Promise<ForgeError> {
  const error = await sent.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ForgeError)) throw new Error('no ForgeError was thrown');
  return error;
}

function reply(status: number, body: string, headers: Record<string, string> = {}): void {
  answer = (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
  };
}

describe('a call', () => {
  test('carries the token, asks for JSON and sends its body as JSON', async () => {
    const seen: unknown[] = [];
    answer = async (request, response) => {
      const { authorization, accept, 'content-type': type } = request.headers;
      seen.push([request.method, request.url, authorization, accept, type, await readRequestBody(request)]);
      response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' }).end('{"ok":true}');
    };
    const transport = open({ instanceUrl: `${server.origin}/forge/` });
    const got = await transport.request({
      ...WRITE,
      path: [...transport.repoPath, 'a b', 'ü'],
      query: { q: 'x&y', n: 1 },
    });
    expect(got.value).toEqual({ ok: true });
    expect(seen).toEqual([
      [
        'POST',
        '/forge/api/v1/repos/acme/app/a%20b/%C3%BC?q=x%26y&n=1',
        `token ${TOKEN}`,
        'application/json',
        'application/json',
        '{"a":1}',
      ],
    ]);
  });

  test.each(['..', '.', ''])('a path segment %j is not sent', async (segment) => {
    const { send, seen } = scriptForge(() => ({ json: {} }));
    const error = await errorOf(open({ send }).request({ ...READ, path: ['branches', segment, 'x'] }));
    expect(error).toMatchObject({ kind: 'rejected', status: null });
    expect(seen).toEqual([]);
  });

  test.each(['a', 'a/b/c', ''])('a slug %j is refused at once', (slug) => {
    expect(() => open({ slug })).toThrow(ForgeError);
  });

  test('is counted under its static label, every retry anew', async () => {
    const labels: string[] = [];
    const { send } = scriptForge((_request, nth) => (nth === 1 ? 'broken' : { json: {} }));
    await open({ send, onCall: (label) => labels.push(label) }).request(READ);
    expect(labels).toEqual(['GET thing', 'GET thing']);
  });

  test('is not sent once the lease may be taken over, not even as a retry (A41)', async () => {
    const { send, seen } = scriptForge(() => 'broken');
    const grant = { fence: 1, expiresAt: Number.MAX_SAFE_INTEGER };
    const held = grantHeldLease('repo-1', grant, () => seen.length, 1);
    const transport = createLeasedTransport(held, configOf({ send }));
    expect(await errorOf(transport.request(READ))).toMatchObject({
      kind: 'unreachable',
      effectUnknown: false,
    });
    expect(seen).toHaveLength(1);
    expect(await errorOf(transport.request(WRITE))).toMatchObject({
      kind: 'unreachable',
      effectUnknown: false,
    });
    expect(seen).toHaveLength(1);
  });
});

describe('a cache before the forge', () => {
  test('has no answer to a read in store, and is asked for none', async () => {
    const seen: IncomingMessage[] = [];
    const kept = new Map<string, string>();
    answer = (request, response) => {
      seen.push(request);
      const url = request.url ?? '';
      const text = kept.get(url) ?? `{"nth":${seen.length}}`;
      kept.set(url, text);
      response.writeHead(200, { 'content-type': 'application/json' }).end(text);
    };
    const call = { ...READ, query: { page: 1 } };
    const nth = async () => (await open().request(call)).value;
    expect([await nth(), await nth(), await nth()]).toEqual([{ nth: 1 }, { nth: 2 }, { nth: 3 }]);
    expect(seen.every(({ headers }) => headers['cache-control'] === 'no-cache')).toBe(true);
    expect(seen.every(({ url }) => url?.startsWith('/api/v1/thing?page=1&'))).toBe(true);
  });

  test('keeps no answer to a write, whose address stays as it is', async () => {
    const seen: (string | undefined)[] = [];
    answer = (request, response) => {
      seen.push(request.url);
      response.writeHead(204).end();
    };
    await open().request(WRITE);
    expect(seen).toEqual(['/api/v1/thing']);
  });
});

describe('an answer', () => {
  const json = '{"message":"","url":"x"}';

  test.each([
    [400, 'rejected', false],
    [401, 'denied', false],
    [402, 'unreachable', false],
    [403, 'denied', false],
    [404, 'missing', false],
    [405, 'unreachable', false],
    [409, 'rejected', false],
    [413, 'unreachable', false],
    [418, 'unreachable', false],
    [422, 'rejected', false],
    [423, 'archived', false],
    [429, 'rate_limited', false],
    [500, 'unreachable', true],
    [501, 'unreachable', true],
    [502, 'unreachable', true],
    [503, 'unreachable', true],
    [504, 'unreachable', true],
    [301, 'unreachable', false],
    [302, 'unreachable', false],
    [307, 'unreachable', false],
    [308, 'unreachable', false],
  ])('of %i is %s', async (status, kind, effectUnknown) => {
    reply(status, json, { location: `${server.origin}/api/v1/other` });
    const read = await errorOf(open().request(READ));
    expect(read).toMatchObject({ kind, status, call: 'GET thing', effectUnknown: false, retryAfterMs: null });
    expect(await errorOf(open().request(WRITE))).toMatchObject({ kind, status, effectUnknown });
  });

  test.each([
    ['to another repository, without a host', '/api/v1/repos/acme/renamed/pulls', 'denied'],
    ['to another repository of the same forge', 'ORIGIN/api/v1/repos/acme/renamed', 'denied'],
    ['to a repository of another forge', 'https://other.example/api/v1/repos/acme/app', 'unreachable'],
    ['to a page that asks to sign in', '/user/login', 'unreachable'],
    ['that climbs out of the repositories', '/api/v1/repos/../user', 'unreachable'],
    ['that is no URL', 'https://[', 'unreachable'],
  ])('a redirect %s is %s: it is not followed', async (_name, location, kind) => {
    let requests = 0;
    answer = (_request, response) => {
      requests += 1;
      response.writeHead(301, { location: location.replace('ORIGIN', server.origin) }).end();
    };
    expect(await errorOf(open().request(READ))).toMatchObject({ kind, status: 301 });
    expect(await errorOf(open().request(WRITE))).toMatchObject({ kind, status: 301, effectUnknown: false });
    expect(requests).toBe(2);
  });

  test.each([200, 201, 401, 403, 404, 409, 422, 423, 500, 502])(
    'of %i as a page of HTML is not the forge’s',
    async (status) => {
      reply(status, '<html>blocked</html>', { 'content-type': 'text/html; charset=utf-8' });
      expect(await errorOf(open().request(READ))).toMatchObject({ kind: 'unreachable', status });
    },
  );

  test.each([
    ['truncated', '{"message":"half'],
    ['empty', ''],
    ['of text', 'ok'],
  ])('%s in a success status leaves a write open', async (_name, body) => {
    reply(200, body);
    expect(await errorOf(open().request(READ))).toMatchObject({ kind: 'unreachable', effectUnknown: false });
    expect(await errorOf(open().request(WRITE))).toMatchObject({ kind: 'unreachable', effectUnknown: true });
  });

  test.each([
    ['a single sign-on (oauth2-proxy)', 401, '{}'],
    ['a gateway that wants its own key', 401, '{"message":"No API key found in request"}'],
    ['a gateway without a route', 404, '{"message":"no Route matched with those values"}'],
    ['a firewall', 403, '{"title":"Access denied","status":403,"detail":"blocked"}'],
    ['a gateway that says nothing', 403, 'null'],
    ['a gateway that lists its errors', 404, '["not found"]'],
  ])('in JSON of %s accuses no token, and nothing is gone by it', async (_name, status, body) => {
    reply(status, body);
    const answer = await open().exchange(READ);
    expect(answer).toMatchObject({ status, isJson: false, value: undefined });
    expect(await errorOf(open().request(READ))).toMatchObject({ kind: 'unreachable', status });
    expect(await errorOf(open().request(WRITE))).toMatchObject({ kind: 'unreachable', effectUnknown: false });
  });

  test.each([
    [
      401,
      'denied',
      '{"message":"invalid username, password or token","url":"https://forge.example/api/swagger"}',
    ],
    [403, 'denied', '{"message":"Only signed in user is allowed to call APIs."}'],
    [404, 'missing', 'null'],
    [404, 'missing', '{"errors":null,"message":"not found","url":"https://forge.example/api/swagger"}'],
  ])('of %i in the forge’s own form is %s', async (status, kind, body) => {
    reply(status, body);
    expect(await errorOf(open().request(READ))).toMatchObject({ kind, status });
  });

  test('truncated in an error status accuses no token', async () => {
    reply(403, '{"message":');
    expect(await errorOf(open().request(READ))).toMatchObject({ kind: 'unreachable', status: 403 });
  });

  test('204 needs no body', async () => {
    answer = (_request, response) => void response.writeHead(204).end();
    expect((await open().request(WRITE)).status).toBe(204);
  });

  test.each([
    [429, '7', 'rate_limited', 7000],
    [503, '120', 'rate_limited', 120_000],
    [503, 'Thu, 01 Jan 2026 12:00:30 GMT', 'rate_limited', 30_000],
    [503, 'Thu, 01 Jan 2026 11:00:00 GMT', 'rate_limited', 0],
    [429, '99999999999', 'rate_limited', 900_000],
    [429, 'Thu, 01 Jan 2099 12:00:30 GMT', 'rate_limited', 900_000],
    [429, 'soon', 'rate_limited', null],
    [429, '-5', 'rate_limited', null],
    [503, 'soon', 'unreachable', null],
  ])('%i with Retry-After %s waits', async (status, header, kind, retryAfterMs) => {
    reply(status, 'slow down', { 'retry-after': header, 'content-type': 'text/plain' });
    expect(await errorOf(open().request(READ))).toMatchObject({ kind, status, retryAfterMs });
  });

  test('too late is not waited for twice and leaves a write open', async () => {
    let requests = 0;
    answer = () => {
      requests += 1;
    };
    const transport = open({ timeoutMs: 250 });
    const read = await errorOf(transport.request(READ));
    expect(read).toMatchObject({ kind: 'unreachable', status: null, effectUnknown: false });
    expect(requests).toBe(1);
    expect(await errorOf(transport.request(WRITE))).toMatchObject({ effectUnknown: true });
    expect(requests).toBe(2);
  });
});

describe('what one reconcile may read', () => {
  const rows = JSON.stringify(Array.from({ length: 50 }, () => 1));
  const openBounded = (change: Partial<ForgeTransportConfig> = {}) => {
    const sent: string[] = [];
    const transport = open({
      send: async ({ method }) => {
        sent.push(method);
        return { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from(rows) };
      },
      ...change,
    });
    return { transport, sent };
  };

  test('ends with its time: no page and no retry of a read is sent any more, while a write still is', async () => {
    let hasTime = true;
    const { send, seen } = scriptForge((_request, nth) => {
      hasTime = nth < 3;
      return nth === 3 ? 'broken' : { json: [1], headers: { 'x-total-count': '9' } };
    });
    const transport = open({ send, mayRead: () => hasTime });
    const error = await errorOf(readAllPages(transport, READ, () => [1]));
    expect([error instanceof ReadNotBegun, seen.length]).toEqual([true, 3]);
    await transport.request(WRITE);
    expect(seen).toHaveLength(4);
  });

  test('ends after 5,000 calls, and nothing has failed by that (A121)', async () => {
    const { transport, sent } = openBounded();
    for (let call = 0; call < 5_000; call += 1) await transport.exchange(READ);
    expect(await errorOf(transport.exchange(READ))).toBeInstanceOf(ReadNotBegun);
    expect(sent).toHaveLength(5_000);
    await transport.exchange(WRITE);
    expect(sent).toHaveLength(5_001);
  });

  test.each([
    ['an answer that is a list', (count: number) => '0,'.repeat(count).replace(/^(.*),$/, '[$1]')],
    ['a list in a field', (count: number) => `{"tree":${'0,'.repeat(count).replace(/^(.*),$/, '[$1]')}}`],
  ])('ends after a million rows: %s (A121)', async (_name, bodyOf) => {
    const perAnswer = FORGE_ANSWER_VALUES_MAX / 2;
    const body = Buffer.from(bodyOf(perAnswer));
    const { transport } = openBounded({
      send: async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body }),
    });
    const answers = 1_000_000 / perAnswer + 1;
    for (let nth = 0; nth < answers; nth += 1) await transport.exchange(READ);
    expect(await errorOf(transport.exchange(READ))).toBeInstanceOf(ReadNotBegun);
  });
});

/** Answers of one tenant's forge must cost no other tenant its reconcile: measured by `npm run hostile`. */
describe('an answer without measure', () => {
  const served: string[] = [];
  const sizes: number[] = [];
  const openServed = () =>
    open({
      send: async ({ bodyBytesMax }) => {
        sizes.push(bodyBytesMax);
        const body = Buffer.from(served.at(-1) ?? '');
        return { status: 200, headers: { 'content-type': 'application/json' }, body };
      },
    });
  const nest = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  const widen = (rows: number): string => `[${Array.from({ length: rows }, () => '[]').join(',')}]`;

  test.each([
    ['nested a hundred thousand times', nest(100_000)],
    ['nested one time more than any forge does', nest(FORGE_ANSWER_DEPTH_MAX + 1)],
    ['of a million empty lists', widen(1_000_000)],
    ['of more values than any page has', widen(FORGE_ANSWER_VALUES_MAX / 2)],
  ])('%s is not parsed, and is no answer of a forge', async (_name, body) => {
    served.push(body);
    const parse = jest.spyOn(JSON, 'parse');
    const error = await errorOf(openServed().request(READ));
    const parsed = parse.mock.calls.filter(([text]) => text.length > 200);
    parse.mockRestore();
    expect([error.kind, parsed]).toEqual(['unreachable', []]);
  });

  test.each([
    ['at the limit of depth', nest(FORGE_ANSWER_DEPTH_MAX)],
    ['with brackets and commas in its strings', JSON.stringify(['[{,"\\'.repeat(FORGE_ANSWER_VALUES_MAX)])],
    ['with escaped quotes before the end of a string', '["\\\\", "a\\"[[", {"\\\\\\"": 1}]'],
  ])('%s is one', async (_name, body) => {
    served.push(body);
    expect((await openServed().request(READ)).value).toEqual(JSON.parse(body));
  });

  test('is cut at the size that its call can need', async () => {
    served.push('[]');
    sizes.length = 0;
    for (const label of ['GET thing', 'GET git/trees/{sha}', 'GET pulls', 'GET git/blobs/{sha}']) {
      await openServed().request({ ...READ, label });
    }
    expect(sizes.map((bytes) => bytes / (1024 * 1024))).toEqual([2, 8, 8, 14]);
  });

  test('is the last one once all together were 256 MiB: nothing is sent any more (A121)', async () => {
    served.push(`["${'a'.repeat((256 * 1024 * 1024) / 4)}"]`);
    sizes.length = 0;
    const transport = openServed();
    for (let nth = 0; nth < 4; nth += 1) await transport.request(READ);
    expect(await errorOf(transport.request(READ))).toMatchObject({ kind: 'unreachable', status: null });
    expect(sizes).toHaveLength(4);
  });
});

describe('a lost connection', () => {
  test.each(['broken', 'connect'] as const)('(%s) is tried once more for a read', async (kind) => {
    const once = scriptForge((_request, nth) => (nth === 1 ? kind : { json: { ok: 1 } }));
    expect((await open({ send: once.send }).request(READ)).value).toEqual({ ok: 1 });
    const always = scriptForge(() => kind);
    expect(await errorOf(open({ send: always.send }).request(READ))).toMatchObject({ kind: 'unreachable' });
    expect(always.seen).toHaveLength(2);
  });

  test.each(['timeout', 'too_large', 'refused'] as const)('%s is not tried again', async (kind) => {
    const { send, seen } = scriptForge(() => kind);
    expect(await errorOf(open({ send }).request(READ))).toMatchObject({ kind: 'unreachable', status: null });
    expect(seen).toHaveLength(1);
  });

  test('a read that this process withholds was not begun, and is no failure of the forge', async () => {
    const { send, seen } = scriptForge(() => 'withheld');
    expect(await errorOf(open({ send }).request(READ))).toBeInstanceOf(ReadNotBegun);
    expect(seen).toHaveLength(1);
  });

  test.each([
    ['refused', false],
    ['connect', false],
    ['timeout', true],
    ['broken', true],
    ['too_large', true],
  ] as const)('(%s) never repeats a write; effect unknown: %s', async (kind, effectUnknown) => {
    const { send, seen } = scriptForge(() => kind);
    expect(await errorOf(open({ send }).request(WRITE))).toMatchObject({
      kind: 'unreachable',
      effectUnknown,
    });
    expect(seen).toHaveLength(1);
  });

  test('over a real socket, with a body cut in half', async () => {
    let requests = 0;
    answer = (_request, response) => {
      requests += 1;
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '50' });
      response.write('{"half":', () => response.socket?.destroy());
    };
    expect(await errorOf(open().request(READ))).toMatchObject({ kind: 'unreachable' });
    expect(requests).toBe(2);
  });
});

describe('the token (A95)', () => {
  const leaks: readonly (readonly [string, ForgeTransportConfig['send']])[] = [
    [
      'an upstream that echoes it',
      scriptForge((request) => ({ status: 403, json: { message: request.headers.authorization } })).send,
    ],
    [
      'a page that echoes it',
      scriptForge((request) => ({ text: request.headers.authorization ?? '', type: 'text/html' })).send,
    ],
    [
      'a transport that throws it',
      async (request) => {
        throw new Error(JSON.stringify(request), { cause: request });
      },
    ],
  ];

  test.each(leaks)('is in no form of an error after %s', async (_name, send) => {
    const transport = open({ send });
    for (const call of [READ, WRITE]) {
      const error = await errorOf(transport.request(call));
      const forms = [
        String(error),
        error.stack ?? '',
        JSON.stringify(error),
        inspect(error, { depth: 9, showHidden: true }),
      ];
      for (const form of forms) expect(form).not.toContain(TOKEN.slice(0, 12));
      expect(error.cause).toBeUndefined();
    }
    expect(inspect(transport, { depth: 9, showHidden: true })).not.toContain(TOKEN);
  });
});

test('a page of merged pull requests may have as much text as one of open ones', () => {
  expect(answerBytesMax('GET pulls (merged)')).toBe(answerBytesMax('GET pulls'));
});
