import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { createEngineClient } from '#core/adapters/engine-http/engine-client.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import type { EngineDirectory } from '#core/ports/engine-fleet.ts';
import type { Log, ReconcileOrder, ReconcileRequest } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';
import { createEngineServer } from '../../../../../engine-container/src/server.ts';

const TOKEN = 'canary-token-90aa';
const secret = new Secret('s'.repeat(64));
const clock = createSystemClock();
const ORDER = { fence: 1, command: 'reconcile' } as const;
const request: ReconcileRequest = {
  tenantId: 't1',
  repoSlug: 'acme/app',
  baseBranch: 'main',
  queueName: 'mq',
  instanceUrl: 'https://git.example.org',
  token: new Secret(TOKEN),
};

const logged: string[] = [];
const write = (message: string, fields?: unknown): void => {
  logged.push(message + JSON.stringify(fields));
};
const log: Log = { info: write, warn: write, error: write };
const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});
afterAll(() => {
  expect(logged.join('\n')).not.toContain(TOKEN);
});

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function listenRaw(serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    serve(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const clientOf = (baseUrl: string, timeoutMs = 2_000, readSecret = async () => secret) =>
  createEngineClient({ engines: { list: async () => [baseUrl] }, readSecret, clock, log, timeoutMs });

const answering = (listener: RequestListener): Promise<string> => listen(createServer(listener));

describe('against the real endpoint', () => {
  async function givenEngine(outcome: 'ok' | 'failed') {
    const runs: { request: ReconcileRequest; order: ReconcileOrder }[] = [];
    const url = await listen(
      createEngineServer({
        secrets: [secret],
        clock,
        log,
        runReconcile: async (received, order) => {
          runs.push({ request: received, order });
          return outcome;
        },
      }),
    );
    return { url, runs };
  }

  test.each(['ok', 'failed'] as const)(
    '%s comes back as it is, with request, fence and command',
    async (outcome) => {
      const { url, runs } = await givenEngine(outcome);
      expect(await clientOf(url).reconcile(request, { fence: 17, command: 'wind_down' })).toBe(outcome);
      expect(runs).toHaveLength(1);
      expect(runs[0]?.order).toEqual({ fence: 17, command: 'wind_down' });
      expect(runs[0]?.request.token.reveal()).toBe(TOKEN);
      expect({ ...runs[0]?.request, token: null }).toEqual({ ...request, token: null });
    },
  );

  test('the token is never in the bytes that travel', async () => {
    const bodies: string[] = [];
    const url = await answering(async (incoming, response) => {
      for await (const chunk of incoming) bodies.push(String(chunk));
      response.end('{}');
    });
    expect(await clientOf(url).reconcile(request, ORDER)).toBe('ok');
    expect(bodies.join('')).toContain('"token":"sealed.v1.');
    expect(bodies.join('')).not.toContain(TOKEN);
  });

  test('without a secret nothing is sent', async () => {
    const { url, runs } = await givenEngine('ok');
    expect(await clientOf(url, 2_000, async () => new Secret(' ')).reconcile(request, ORDER)).toBe(
      'unreachable',
    );
    expect(runs).toHaveLength(0);
  });

  test('another secret is refused', async () => {
    const { url, runs } = await givenEngine('ok');
    const client = clientOf(url, 2_000, async () => new Secret('t'.repeat(64)));
    expect(await client.reconcile(request, ORDER)).toBe('refused');
    expect(runs).toHaveLength(0);
  });

  test('two calls at once are two runs: a stamp is never used twice', async () => {
    const { url, runs } = await givenEngine('ok');
    const client = clientOf(url);
    expect(await Promise.all([client.reconcile(request, ORDER), client.reconcile(request, ORDER)])).toEqual([
      'ok',
      'ok',
    ]);
    expect(runs).toHaveLength(2);
  });

  test('an engine that answers is healthy', async () => {
    const { url } = await givenEngine('ok');
    expect(await clientOf(url).isHealthy()).toBe(true);
  });
});

describe('unreachable: nothing was sent', () => {
  test('no process listens', async () => {
    const url = await answering((_request, response) => response.end());
    for (const close of closers.splice(0)) close();
    expect(await clientOf(url).reconcile(request, ORDER)).toBe('unreachable');
    expect(await clientOf(url).isHealthy()).toBe(false);
  });

  test('the name does not resolve', async () => {
    expect(await clientOf('http://engine.invalid:8080').reconcile(request, ORDER)).toBe('unreachable');
  });

  test('the secret cannot be read', async () => {
    const client = clientOf('http://127.0.0.1:1', 2_000, () => Promise.reject(new Error('denied')));
    expect(await client.reconcile(request, ORDER)).toBe('unreachable');
  });
});

describe('lost: perhaps sent, not answered', () => {
  test('the connection is closed at once', async () => {
    const url = await listenRaw((socket) => socket.destroy());
    expect(await clientOf(url).reconcile(request, ORDER)).toBe('lost');
  });

  test('the engine dies after it has read the request', async () => {
    const url = await listenRaw((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await clientOf(url).reconcile(request, ORDER)).toBe('lost');
  });

  test('it is closed without an answer', async () => {
    const url = await listenRaw((socket) => socket.once('data', () => socket.end()));
    expect(await clientOf(url).reconcile(request, ORDER)).toBe('lost');
  });

  test('an answer that is not HTTP', async () => {
    const url = await listenRaw((socket) => socket.once('data', () => socket.end('hello\r\n\r\n')));
    expect(await clientOf(url).reconcile(request, ORDER)).toBe('lost');
  });

  test('no answer in time', async () => {
    const url = await listenRaw(() => undefined);
    expect(await clientOf(url, 100).reconcile(request, ORDER)).toBe('lost');
  });
});

describe('statuses', () => {
  test.each([
    [200, 'ok'],
    [201, 'refused'],
    [204, 'refused'],
    [302, 'refused'],
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [405, 'refused'],
    [500, 'failed'],
    [502, 'failed'],
    [503, 'failed'],
  ] as const)('%d is %s', async (status, answer) => {
    const url = await answering((_request, response) => {
      response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end();
    });
    expect(await clientOf(url).reconcile(request, ORDER)).toBe(answer);
  });
});

describe('several tasks', () => {
  const named = (name: string): Promise<string> =>
    answering((_request, response) => {
      seen.push(name);
      response.writeHead(200).end();
    });
  const seen: string[] = [];
  beforeEach(() => {
    seen.length = 0;
  });
  const clientFor = (list: EngineDirectory['list']) =>
    createEngineClient({ engines: { list }, readSecret: async () => secret, clock, log, timeoutMs: 2_000 });

  test('a repository stays with its task, and repositories are spread over all', async () => {
    const urls = await Promise.all(['a', 'b', 'c'].map(named));
    const client = clientFor(async () => urls);
    for (let round = 0; round < 2; round += 1) {
      for (let repo = 0; repo < 30; repo += 1) {
        expect(await client.reconcile({ ...request, repoSlug: `acme/${repo}` }, ORDER)).toBe('ok');
      }
    }
    expect(seen.slice(30)).toEqual(seen.slice(0, 30));
    expect(new Set(seen).size).toBe(3);
  });

  test('a task that is gone is replaced at once by what the platform says now', async () => {
    const gone = await answering((_request, response) => response.end());
    for (const close of closers.splice(0)) close();
    const there = await named('there');
    const asked: boolean[] = [];
    const client = clientFor(async ({ fresh }) => {
      asked.push(fresh);
      return fresh ? [gone, there] : [gone];
    });
    expect(await client.reconcile(request, ORDER)).toBe('ok');
    expect([asked, seen]).toEqual([[false, true], ['there']]);
  });

  test('no task, or a platform that does not answer, is an engine that is not reached', async () => {
    expect(await clientFor(async () => []).reconcile(request, ORDER)).toBe('unreachable');
    const silent = clientFor(() => Promise.reject(new Error('throttled')));
    expect(await silent.reconcile(request, ORDER)).toBe('unreachable');
    expect(await silent.isHealthy()).toBe(false);
  });

  test('what was perhaps sent is not sent again', async () => {
    const url = await listenRaw((socket) => socket.destroy());
    const asked: boolean[] = [];
    const client = clientFor(async ({ fresh }) => {
      asked.push(fresh);
      return [url];
    });
    expect(await client.reconcile(request, ORDER)).toBe('lost');
    expect(asked).toEqual([false]);
  });
});
