import { buildSync } from 'esbuild';
import {
  ApiError,
  type ClientRouteId,
  createApiClient,
  type InputFor,
  type ResultOf,
} from '#core/contracts/routes/client.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { isAnswer } from '../../../cli/answers.ts';
import { ApiWorld, FORGE_TOKEN, TENANT_A, TOKEN_A } from '../../support/api-world.ts';
import { BOT } from '../../support/scripted-accounts.ts';

/** `fetch` onto the routers in this process. */
function fetchOf(world: ApiWorld): typeof fetch {
  return async (target, init) => {
    const url = new URL(String(target));
    const answer = await world.call(init?.method ?? 'GET', url.pathname, {
      headers: Object.fromEntries(new Headers(init?.headers).entries()),
      query: Object.fromEntries(url.searchParams),
      ...(typeof init?.body === 'string' ? { body: init.body } : {}),
    });
    const empty = answer.status === 204;
    return new Response(empty ? null : answer.text, {
      status: answer.status,
      headers: { ...answer.headers },
    });
  };
}

function openClient(world: ApiWorld, token: string | null = TOKEN_A) {
  return createApiClient({
    baseUrl: 'https://api.example.org',
    readToken: () => token,
    fetch: fetchOf(world),
  });
}

async function failureOf(call: Promise<unknown>): Promise<ApiError> {
  const error = await call.then(
    () => new Error('no error was thrown'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw error;
  return error;
}

describe('the typed client', () => {
  test('walks from a connection to a repo, its settings and its end', async () => {
    const world = new ApiWorld();
    const client = openClient(world);
    const made = await client.createConnection({
      body: { instance_url: 'https://git.example.org', token: FORGE_TOKEN, bot_login: BOT },
    });
    const repo = await client.enrollRepo({ body: { connection_id: made.id, repo_slug: 'acme/app' } });
    expect(repo.merge_style).toBe('squash');
    const patched = await client.updateRepo({ id: repo.id, body: { bisect_fanout: 3, notification: null } });
    expect(patched.bisect_fanout).toBe(3);
    expect((await client.listRepos()).map((each) => each.id)).toEqual([repo.id]);
    expect(await client.readGateTemplate({ id: repo.id })).toContain('on:');
    expect((await client.reconcileRepo({ id: repo.id })).reconcile.ok).toBe(true);
    expect(await client.deleteRepo({ id: repo.id })).toBeUndefined();
    expect(await client.readMe()).toEqual({ id: TENANT_A });
  });

  test('the command line takes what the service answers', async () => {
    const world = new ApiWorld();
    const { repo } = await world.enroll(TENANT_A);
    const client = createApiClient({
      baseUrl: 'https://api.example.org',
      readToken: () => TOKEN_A,
      fetch: fetchOf(world),
      isAnswer,
    });
    const { id } = repo;
    expect((await client.listRepos()).map((each) => each.id)).toEqual([id]);
    expect((await client.readQueueStatus()).repos).toHaveLength(1);
    expect((await client.readActivity()).repos).toHaveLength(1);
    expect((await client.readEvents({ id })).events).toEqual([]);
    expect((await client.updateRepo({ id, body: { bisect_fanout: 3 } })).id).toBe(id);
    expect((await client.pauseRepo({ id, body: { reason: 'x', until: null } })).pause?.kind).toBe('pause');
    expect((await client.resumeRepo({ id })).pause).toBeNull();
    expect((await client.readFanoutAdvice({ id })).replays).toEqual([]);
  });

  test('an envelope is an ApiError with code, message, field and whether to retry', async () => {
    const world = new ApiWorld();
    const client = openClient(world);
    const wrong = await failureOf(client.updateRepo({ id: 'none', body: { bisect_fanout: 17 } }));
    expect([wrong.code, wrong.status, wrong.field, wrong.retryable]).toEqual([
      'invalid_field',
      400,
      'bisect_fanout',
      false,
    ]);
    expect(wrong.message).not.toBe('');
    world.identity.available = false;
    const silent = await failureOf(client.listRepos());
    expect([silent.code, silent.status, silent.retryable]).toEqual(['auth_unavailable', 503, true]);
  });

  test('without a token none is sent', async () => {
    const error = await failureOf(openClient(new ApiWorld(), null).listRepos());
    expect([error.code, error.status]).toEqual(['missing_auth', 401]);
  });

  test('a failure with a body of its own is an answer: unhealthy, and a reconcile that failed', async () => {
    const world = new ApiWorld();
    const { repo } = await world.enroll(TENANT_A);
    world.engine = { answer: 'failed', logTail: [] };
    const client = openClient(world);
    expect((await client.reconcileRepo({ id: repo.id })).reconcile.ok).toBe(false);
    world.engineHealthy = false;
    expect(await client.checkContainer()).toEqual({ ok: false, dependency: 'container' });
  });

  test.each([
    [
      'a page of a proxy',
      new Response('<html>', { status: 502, headers: { 'content-type': 'text/html' } }),
      'unexpected',
      502,
      true,
    ],
    [
      'cut JSON',
      new Response('{"err', { status: 200, headers: { 'content-type': 'application/json' } }),
      'unexpected',
      200,
      false,
    ],
    [
      'JSON of a stranger',
      new Response('{"message":"x"}', { status: 403, headers: { 'content-type': 'application/json' } }),
      'unexpected',
      403,
      false,
    ],
  ])('%s is no answer of the service', async (_name, response, code, status, retryable) => {
    const client = createApiClient({ baseUrl: '', readToken: () => null, fetch: async () => response });
    const error = await failureOf(client.listRepos());
    expect([error.code, error.status, error.retryable]).toEqual([code, status, retryable]);
  });

  const HTML = { 'content-type': 'text/html; charset=utf-8' };
  const JSON_TYPE = { 'content-type': 'application/json' };

  test.each([
    ['a page', () => new Response('<html>', { headers: HTML })],
    ['nothing', () => new Response('', { headers: {} })],
    ['null', () => new Response('null', { headers: JSON_TYPE })],
    ['a word', () => new Response('"x"', { headers: JSON_TYPE })],
  ])('%s with 200 is no answer of the service, whatever is asked', async (_name, answer) => {
    const client = createApiClient({ baseUrl: '', readToken: () => null, fetch: async () => answer() });
    const calls = [
      client.listRepos(),
      client.readQueueStatus(),
      client.deleteRepo({ id: 'x' }),
      client.readGateTemplate({ id: 'x' }),
    ];
    for (const call of calls)
      expect(await failureOf(call)).toMatchObject({ code: 'unexpected', status: 200 });
  });

  test('a list is no answer where an object is asked for, nor an object where a list is, nor no content for either', async () => {
    const openWith = (answer: () => Response) =>
      createApiClient({ baseUrl: '', readToken: () => null, fetch: async () => answer() });
    const calls = [
      openWith(() => Response.json([])).readQueueStatus(),
      openWith(() => Response.json({})).listRepos(),
      openWith(() => new Response(null, { status: 204 })).listRepos(),
      openWith(() => new Response(null, { status: 204 })).readQueueStatus(),
      openWith(() => Response.json({})).deleteRepo({ id: 'x' }),
      openWith(() => Response.json({ ok: false }, { status: 503 })).listRepos(),
    ];
    for (const call of calls) expect(await failureOf(call)).toMatchObject({ code: 'unexpected' });
  });

  test('a caller may look closer, and what it refuses is no answer either', async () => {
    const asked: unknown[] = [];
    const client = createApiClient({
      baseUrl: '',
      readToken: () => null,
      fetch: async () => Response.json({ repos: 7 }),
      isAnswer: (...given) => {
        asked.push(given);
        return false;
      },
    });
    expect((await failureOf(client.readQueueStatus())).code).toBe('unexpected');
    expect(asked).toEqual([['readQueueStatus', { repos: 7 }]]);
  });

  test('no answer at all is retryable and has no status; an abort stays an abort', async () => {
    const broken = createApiClient({
      baseUrl: '',
      readToken: () => null,
      fetch: () => Promise.reject(new TypeError('x')),
    });
    const error = await failureOf(broken.listRepos());
    expect([error.code, error.status, error.retryable]).toEqual(['unreachable', 0, true]);
    const stopped = new AbortController();
    stopped.abort();
    await expect(broken.listRepos({ signal: stopped.signal })).rejects.toThrow(TypeError);
  });

  test('a refusal of the rate limit says when to come again', async () => {
    const world = new ApiWorld();
    const client = openClient(world);
    for (let nth = 0; nth < 60; nth += 1) await client.createTicket();
    const error = await failureOf(client.createTicket());
    expect(error.code).toBe('rate_limited');
    expect(error.retryAfterSeconds).toBeGreaterThan(0);
  });

  test('ids and queries are escaped', async () => {
    const asked: string[] = [];
    const client = createApiClient({
      baseUrl: 'https://api.example.org',
      readToken: () => 't',
      fetch: async (target) => {
        asked.push(String(target));
        return asked.length === 1
          ? new Response(null, { status: 204 })
          : new Response('{}', { headers: { 'content-type': 'application/json' } });
      },
    });
    await client.deleteRepo({ id: '../me?x' });
    await client.searchRepos({ query: { q: 'a&b=c', limit: 5 } });
    expect(asked).toEqual([
      'https://api.example.org/api/v1/user/repos/..%2Fme%3Fx',
      'https://api.example.org/api/v1/admin/repos?q=a%26b%3Dc&limit=5',
    ]);
  });

  test('has every route that a client calls', () => {
    const notCalled = ['openSocket', 'acceptForgeEvent', 'acceptPaymentEvent'];
    const client = openClient(new ApiWorld());
    expect(Object.keys(client).sort()).toEqual(
      ROUTES.map((route) => route.id as string)
        .filter((id) => !notCalled.includes(id))
        .sort(),
    );
  });

  test('brings no schema and no node module into a browser', () => {
    const { outputFiles, metafile } = buildSync({
      entryPoints: ['core/contracts/routes/client.ts'],
      bundle: true,
      write: false,
      minify: true,
      format: 'esm',
      platform: 'browser',
      metafile: true,
    });
    expect(Object.keys(metafile.inputs)).toEqual(['core/contracts/routes/client.ts']);
    expect(outputFiles[0]?.contents.length).toBeLessThan(6_000);
  });
});

test('a call that does not fit the table does not compile', () => {
  const enroll: InputFor<'enrollRepo'> = {
    body: { connection_id: 'x', repo_slug: 'a/b', merge_style: 'rebase' },
  };
  const admin: InputFor<'searchRepos'> = { query: { limit: 5 } };
  // @ts-expect-error inline credentials are no field of the body
  const inline: InputFor<'enrollRepo'> = { body: { connection_id: 'x', repo_slug: 'a/b', token: 'x' } };
  // @ts-expect-error the id of the path is required
  const idless: InputFor<'updateRepo'> = { body: {} };
  // @ts-expect-error the socket is not called
  const socket: ClientRouteId = 'openSocket';
  const stats: ResultOf<'readActivity'>['stats']['week_merges'] = null;
  const nothing: ResultOf<'deleteRepo'> = undefined;
  expect([enroll, admin, inline, idless, socket, stats, nothing]).toHaveLength(7);
});
