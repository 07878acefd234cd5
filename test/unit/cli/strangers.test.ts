import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApiClient } from '#core/contracts/routes/client.ts';
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
    ['the host', 'a.example.org, Q.example.org'],
    ['a domain above it', '.example.org'],
    ['each host', '*'],
  ])('is told without a proxy where NO_PROXY names %s', async (_what, names) => {
    const env = { HTTPS_PROXY: 'http://proxy.example.org:3128', NO_PROXY: names };
    expect(await complain('https://q.example.org', env)).toBe(AWAY);
  });

  test.each([
    ['https://q.example.org', { HTTP_PROXY: 'http://proxy.example.org' }],
    ['https://q.example.org', { HTTPS_PROXY: '' }],
    ['https://q.example.org', { HTTPS_PROXY: 'http://proxy.example.org', NODE_USE_ENV_PROXY: '1' }],
  ])('%s with %j has the step of any other', async (url, env) => {
    expect(await complain(url, env as Record<string, string>)).toBe(AWAY);
  });
});

describe('an address where another server answers with 200', () => {
  const HTML = { 'content-type': 'text/html; charset=utf-8' };
  const JSON_TYPE = { 'content-type': 'application/json' };
  const REPOS = '[{"id":"r","name":"acme/app","base_branch":"main"}]';
  const NAMED = ['--repo', 'acme/app'];
  const SAYS =
    'unexpected: The answer is not one of the service. Check that the address is that of the service itself and that no proxy answers in its place, then try again.';

  /** Whether the repository is found first is told by `isFound`: what comes then is the answer of the command itself. */
  const answerWith = (isFound: boolean, status: number, headers: Record<string, string>, body?: string) =>
    serve((request, response) => {
      if (isFound && request.url === '/api/v1/user/repos') response.writeHead(200, JSON_TYPE).end(REPOS);
      else response.writeHead(status, headers).end(body);
    });

  const COMMANDS = [
    ['status'],
    ['doctor'],
    ['evidence-key'],
    ['queue', ...NAMED],
    ['why', '7', ...NAMED],
    ['wait', '7', '--timeout', '1s', ...NAMED],
    ['watch', '--timeout', '1s', ...NAMED],
    ['log', ...NAMED],
    ['log', '--gate', '7', ...NAMED],
    ['fanout', ...NAMED],
    ['pause', ...NAMED],
    ['resume', ...NAMED],
    ['settings', 'show', ...NAMED],
    ENQUEUE,
    ['dequeue', '7', ...NAMED],
  ];

  test.each([
    ['a page', 200, HTML, '<html>Log in</html>'],
    ['nothing', 200, {}, ''],
    ['no content', 204, {}, undefined],
    ['null', 200, JSON_TYPE, 'null'],
    ['a number', 200, JSON_TYPE, '7'],
    ['JSON of another service', 200, JSON_TYPE, '{"status":"ok"}'],
    ['a list of other things', 200, JSON_TYPE, '[7,"x",null]'],
    [
      'the names and other values',
      200,
      JSON_TYPE,
      '{"repos":7,"recent_activity":7,"number":7,"now":7,"events":7,"jobs":7,"replays":7,"payload":7,"payloadType":7,"signatures":7,"public_key":7,"name":7,"base_branch":7,"head":7}',
    ],
    ['a failure that another route has', 503, JSON_TYPE, '{"ok":false}'],
  ] as const)('with %s is told as one, by each command', async (_what, status, headers, body) => {
    for (const isFound of [false, true]) {
      const url = await answerWith(isFound, status, headers, body);
      // What takes a schedule back is answered with no content; what wants a list may get none.
      const isRight = ([name]: readonly string[]) =>
        isFound && ((status === 204 && name === 'dequeue') || name === 'settings');
      // A fault that passes is waited for.
      const waits = ([name]: readonly string[]) =>
        status === 503 && isFound && ['wait', 'watch'].includes(name ?? '');
      for (const argv of COMMANDS.filter((each) => !isRight(each) && !waits(each)))
        expect([argv, await call(argv, url)]).toEqual([argv, { code: 69, out: '', complaint: SAYS }]);
    }
  });

  test('is told as JSON where that is asked for', async () => {
    const url = await answerWith(false, 200, HTML, '<html>');
    const { code, out, complaint } = await call(['status', '--json'], url);
    expect([code, out, JSON.parse(complaint)]).toEqual([
      69,
      '',
      {
        error: {
          code: 'unexpected',
          message: 'The answer is not one of the service.',
          next: SAYS.split('service. ')[1],
        },
      },
    ]);
  });

  test('a service of another release is understood: further fields, fewer of them, other words', async () => {
    const told = {
      number: 7,
      title: 'One',
      now: { kind: 'later', code: 'newer', turn: null, words: 'newer: words', next: null, fault: null },
      place: null,
      estimate: null,
      added: { deep: [1] },
      history: [{ timestamp: 'x', event: 'pr_newer', code: 'newer' }],
    };
    const url = await answerWith(true, 200, JSON_TYPE, JSON.stringify(told));
    expect(await call(['why', '7', ...NAMED], url)).toMatchObject({ code: 0, complaint: '' });
    const { out } = await call(['why', '7', '--json', ...NAMED], url);
    expect(JSON.parse(out)).toEqual(told);
  });

  test('what a command cannot read all the same is told in one line too, and never as a fault of the pull request', async () => {
    const url = await answerWith(true, 200, JSON_TYPE, '{"repos":[],"recent_activity":[{"repo_id":"r"}]}');
    const { code, out, complaint } = await call(['watch', '--timeout', '1s', ...NAMED], url);
    expect([code, out]).toEqual([69, '']);
    expect(complaint).toMatch(
      /^unexpected: The command could not go on \(TypeError: .+\)\. Check that the service is of the same release as this program\. If it is, report this line\.$/,
    );
  });
});
