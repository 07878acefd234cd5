import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApiClient } from '#core/contracts/client.ts';
import { run } from '../../../cli/run.ts';
import { findCanary, formsOf } from '../../support/canary.ts';

const SECRETS = { MERGEYARD_TOKEN: 'mgy_canary-of-the-service', MERGEYARD_FORGE_TOKEN: 'canary-of-a-person' };
const HEAD = 'a'.repeat(40);
const ENQUEUE = ['enqueue', '7', '--repo', 'acme/app', '--head', HEAD];
const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closers.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function call(
  argv: readonly string[],
  url: string,
  fetch = globalThis.fetch,
  secrets: Readonly<Record<string, string>> = SECRETS,
) {
  const [out, complaints]: [string[], string[]] = [[], []];
  const code = await run(
    argv,
    {
      env: { MERGEYARD_URL: url, ...secrets, HOME: '/none' },
      cwd: '/',
      isTerminal: false,
      fetch,
      now: () => 0,
      sleep: async () => {},
      readGit: async () => null,
      print: (line) => void out.push(line),
    },
    async () => '',
    (line) => complaints.push(line),
  );
  return { code, out: out.join('\n'), complaint: complaints.join('\n') };
}

/** Answers as a service does, up to the call that schedules. */
const known: RequestListener = (request, response) =>
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(request.url === '/api/v1/user/repos' ? '[{"id":"r","name":"acme/app","base_branch":"main"}]' : '{}');

describe('a server that sends the command line elsewhere', () => {
  test.each([301, 302, 303, 307, 308])(
    'with %i is not followed, and no other server gets a token',
    async (status) => {
      const heard: unknown[] = [];
      const elsewhere = await serve((request, response) => {
        heard.push(request.headers);
        known(request, response);
      });
      const service = await serve((request, response) =>
        request.method === 'PUT'
          ? response.writeHead(status, { location: `${elsewhere}${request.url}` }).end()
          : known(request, response),
      );
      const { code, out, complaint } = await call(ENQUEUE, service);
      expect([heard, code, out]).toEqual([[], 69, '']);
      expect(complaint).toBe(
        'unexpected: The server sends this call to another address, which is not followed, because a token would go along. Check that the address is that of the service itself and that no proxy answers in its place, then try again.',
      );
    },
  );

  test('is told in a browser too, where such an answer has no status', async () => {
    const opaque = {
      type: 'opaqueredirect',
      status: 0,
      ok: false,
      headers: new Headers(),
      text: async () => '',
    };
    const asked: unknown[] = [];
    const client = createApiClient({
      baseUrl: '',
      readToken: () => null,
      fetch: async (_url, init) => {
        asked.push(init?.redirect);
        return opaque as unknown as Response;
      },
    });
    await expect(client.listRepos()).rejects.toThrow('sends this call to another address');
    expect(asked).toEqual(['manual']);
  });
});

test('an address without TLS gets no token, wherever it is given', async () => {
  const sent: unknown[] = [];
  const fetch = async (...given: unknown[]) => {
    sent.push(given);
    return Response.json([]);
  };
  for (const url of [
    'http://q.example.org',
    'ftp://q.example.org',
    'q.example.org',
    'http://127.0.0.1.example.org',
  ])
    expect(await call(['status'], url, fetch)).toMatchObject({
      code: 64,
      out: '',
      complaint: 'The address must begin with https://, or the token could be read on the way.',
    });
  expect(sent).toEqual([]);
});

test('words of a server move no cursor, and no output has a token, also where the server says it back', async () => {
  for (const more of [[], ['--json']]) {
    const service = await serve((request, response) =>
      response.writeHead(400, { 'content-type': 'application/json' }).end(
        JSON.stringify({
          error: { code: 'in\u001b[2Jvalid', message: `no ${request.headers.authorization}\u001b]0;x\u0007` },
        }),
      ),
    );
    const { code, out, complaint } = await call(['status', ...more], service);
    expect([code, out]).toEqual([69, '']);
    expect(complaint).not.toMatch(/\p{Cc}|u001b/u);
    const all = Buffer.from(complaint);
    expect(Object.values(SECRETS).filter((secret) => findCanary(all, secret) !== null)).toEqual([]);
  }
});

test('no output has a token in another spelling either, as a server or a log may have it', async () => {
  const token = 'mgy_"sl/ash+sp%ace"of-one';
  const told = [token, SECRETS.MERGEYARD_FORGE_TOKEN].flatMap((secret) => [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).toLowerCase(),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
    Buffer.from(secret).toString('base64url'),
    JSON.stringify(secret),
    `Authorization: Basic ${btoa(secret)}`,
    `Authorization: Basic ${btoa(`o:${secret}`)}`,
    `Authorization: Basic ${btoa(`:${secret}:`)}`,
    `authorization: token ${secret}`,
  ]);
  const service = await serve((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(
      JSON.stringify({
        repos: told.map((name) => ({ name, base_branch: 'main', queue_enabled: true, pause: null })),
      }),
    ),
  );
  for (const more of [[], ['--json']]) {
    // A file or a variable may end in a line break, which no header has.
    const env = { ...SECRETS, MERGEYARD_TOKEN: `${token}\n` };
    const { code, out } = await call(['status', ...more], service, globalThis.fetch, env);
    expect([code, out.split('***').length - 1]).toEqual([0, told.length]);
    const found = [token, SECRETS.MERGEYARD_FORGE_TOKEN].map((secret) =>
      formsOf(secret)
        .map((form) => form.toLowerCase())
        .find((form) => out.toLowerCase().includes(form)),
    );
    expect(found).toEqual([undefined, undefined]);
    if (more.length > 0) expect(JSON.parse(out)).toHaveLength(told.length);
  }
});

describe('a service that cannot be reached where a proxy stands in the environment', () => {
  const unreachable = async (): Promise<never> => {
    throw new Error('no route');
  };
  const complain = async (url: string, env: Readonly<Record<string, string>>) =>
    (await call(['queue', '--repo', 'acme/app'], url, unreachable, { ...SECRETS, ...env })).complaint;
  const AWAY =
    'unreachable: The service could not be reached. Check the address and your network, then try again.';

  test.each([
    ['https://q.example.org', 'HTTPS_PROXY'],
    ['https://q.example.org', 'https_proxy'],
    ['http://127.0.0.1:1', 'http_proxy'],
  ])('%s is told what makes %s count', async (url, name) => {
    expect(await complain(url, { [name]: 'http://user:word@proxy.example.org:3128' })).toBe(
      `unreachable: The service could not be reached. ${name} is set, but is used only where NODE_USE_ENV_PROXY=1 is set as well (JavaScript runtime 22.21, and 24 or newer). Set that, or check the address and your network, then try again.`,
    );
  });

  test.each([
    ['https://q.example.org', { HTTP_PROXY: 'http://proxy.example.org' }],
    ['https://q.example.org', { HTTPS_PROXY: '' }],
    ['https://q.example.org', { HTTPS_PROXY: 'http://proxy.example.org', NODE_USE_ENV_PROXY: '1' }],
  ])('%s with %j has the step of any other', async (url, env) => {
    expect(await complain(url, env as Record<string, string>)).toBe(AWAY);
  });
});
