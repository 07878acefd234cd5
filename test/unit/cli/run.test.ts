import { createApiClient } from '#core/contracts/routes/client.ts';
import { withinTime } from '../../../cli/reach.ts';
import { run } from '../../../cli/run.ts';

const REPO = { id: 'r', name: 'acme/app', base_branch: 'main' };
const story = (kind: 'exit' | 'wait', code: string, fault: boolean | null) => ({
  number: 7,
  title: 'a\u202eb\u001b[2J',
  place: null,
  estimate: null,
  now: { kind, code, fault, turn: null, words: 'words', next: null },
});

type Told = ReturnType<typeof story>;

const answer = (body: object | null): Response =>
  body === null
    ? Response.json(
        { error: { code: 'auth_unavailable', message: 'No answer.', retryable: true } },
        { status: 503 },
      )
    : Response.json(body);

/** Null: the service fails for now. */
async function wait(now: Told | ((clock: number) => Told | null), ...more: string[]) {
  const out: string[] = [];
  const complaints: string[] = [];
  let clock = 0;
  const code = await run(
    ['wait', '7', '--repo', 'acme/app', '--timeout', '20s', ...more],
    {
      env: { MERGEYARD_URL: 'https://q.example.org', MERGEYARD_TOKEN: 'mgy_secret' },
      cwd: '/',
      fetch: async (url) =>
        answer(String(url).endsWith('/pulls/7') ? (typeof now === 'function' ? now(clock) : now) : [REPO]),
      print: (line) => void out.push(line),
      now: () => clock,
      isTerminal: false,
      readGit: async () => null,
      sleep: async (ms) => {
        clock += ms;
      },
    },
    async () => '',
    (line) => complaints.push(line),
  );
  return { code, out: out.join('\n'), complaint: complaints.join('\n'), clock };
}

describe('mergeyard wait', () => {
  test.each([
    ['landed', story('exit', 'landed', null), 0],
    ['left with a fault', story('exit', 'bounced', true), 1],
    ['left without one', story('exit', 'unscheduled', false), 2],
    ['still waiting', story('wait', 'queued', null), 3],
  ])('%s has its own exit code', async (_what, now, code) => {
    expect((await wait(now)).code).toBe(code);
  });

  test('asks until the time is over, and then says where it stands', async () => {
    const { clock, out } = await wait(story('wait', 'queued', null));
    expect([clock, out.split('\n')[1]]).toEqual([20_000, 'queued: words']);
  });

  test('a fault that only a change of the pull request ends is waited for no longer than the queue takes to see one', async () => {
    const conflict = story('wait', 'conflict', true);
    expect(await wait(conflict, '--timeout', '30m')).toMatchObject({ code: 1, clock: 40_000 });
    expect((await wait(conflict)).code).toBe(3);
    // What holds this pull request may be lifted while it stays as it is.
    const open = story('wait', 'open_dependencies', false);
    expect(await wait(open, '--timeout', '30m')).toMatchObject({ code: 3, clock: 1_800_000 });
  });

  test('a fault that a push has just mended, or that comes anew, is no reason to end', async () => {
    const conflict = story('wait', 'conflict', true);
    const queued = story('wait', 'queued', null);
    const after = (ms: number) => (at: number) =>
      at < ms
        ? conflict
        : at < ms + 10_000
          ? queued
          : at < ms + 40_000
            ? conflict
            : story('exit', 'landed', null);
    expect((await wait(after(30_000), '--timeout', '30m')).code).toBe(0);
  });

  test('a fault is told from an answer: a service that fails at that moment is asked again', async () => {
    const conflict = story('wait', 'conflict', true);
    const { code, out, clock } = await wait((at) => (at === 40_000 ? null : conflict), '--timeout', '30m');
    expect([code, clock, out.split('\n')[1]]).toEqual([1, 50_000, 'conflict: words']);
  });

  test('a title moves no cursor and turns no direction', async () => {
    expect((await wait(story('exit', 'landed', null))).out.split('\n')[0]).toBe('#7 ab');
  });

  test('a wrong time or option is misuse, in one line', async () => {
    expect(await wait(story('exit', 'landed', null), '--timeout', 'soon')).toMatchObject({
      code: 64,
      out: '',
    });
    expect(await wait(story('exit', 'landed', null), '--nope')).toMatchObject({ code: 64, out: '' });
  });
});

test('a login that cannot be stored is told in one line, with the way around it', async () => {
  const complaints: string[] = [];
  const code = await run(
    ['login', 'https://q.example.org'],
    {
      env: { XDG_CONFIG_HOME: '/dev/null' },
      cwd: '/',
      now: () => 0,
      sleep: async () => {},
      fetch: async () => Response.json({ repos: [] }),
      isTerminal: false,
      readGit: async () => null,
      print: () => undefined,
    },
    async () => 'mgy_secret',
    (line) => complaints.push(line),
  );
  expect(code).toBe(64);
  expect(complaints).toEqual([
    expect.stringMatching(
      /^The login cannot be stored in \/dev\/null\/mergeyard\/login.json \(E[A-Z]+\): make/,
    ),
  ]);
});

test('a service that takes a call and says nothing is one that is away, so that a wait sees the end of its time', async () => {
  const silent = (_url: unknown, init?: RequestInit) =>
    new Promise<Response>((_, fail) => {
      if (init?.signal?.aborted === true) fail(new Error('late'));
      init?.signal?.addEventListener('abort', () => fail(new Error('late')));
    });
  const api = createApiClient({
    baseUrl: 'https://q.example.org',
    readToken: () => 'mgy_x',
    fetch: withinTime(silent as typeof fetch, 20),
  });
  await expect(api.readQueueStatus()).rejects.toMatchObject({ code: 'unreachable', retryable: true });
  await expect(api.readQueueStatus({ signal: AbortSignal.abort() })).rejects.toThrow('late');
});

describe('a service that takes a call and says nothing', () => {
  const REPOS = '/api/v1/user/repos';
  /** Answers those addresses that are named, and lets all others hang, or their bodies alone. */
  async function ask(argv: readonly string[], answers: Readonly<Record<string, object>>, isBegun = false) {
    const complaints: string[] = [];
    const out: string[] = [];
    const begin = Date.now();
    const code = await run(
      [...argv, '--repo', 'acme/app'],
      {
        env: { MERGEYARD_URL: 'https://q.example.org', MERGEYARD_TOKEN: 'mgy_x' },
        cwd: '/',
        isTerminal: false,
        print: (line) => void out.push(line),
        now: Date.now,
        sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
        readGit: async () => null,
        fetch: async (url, init) => {
          const told = answers[new URL(String(url)).pathname];
          if (told !== undefined) return Response.json(told);
          const late = new Promise<never>((_, fail) => {
            init?.signal?.addEventListener('abort', () => fail(new Error('late')));
          });
          if (!isBegun) return late;
          const body = new ReadableStream({ start: (stream) => late.catch((error) => stream.error(error)) });
          return new Response(body, { headers: { 'content-type': 'application/json' } });
        },
      },
      async () => '',
      (line) => complaints.push(line),
    );
    return { code, out, complaint: complaints.join(), tookMs: Date.now() - begin };
  }

  // Side by side: each lasts as long as it says.
  test('does not outlast the time of a wait or a watch, wherever it falls silent', async () => {
    const known = { [REPOS]: [REPO] };
    const wait = (answers: Record<string, object>, isBegun: boolean) =>
      ask(['wait', '7', '--timeout', '3s'], answers, isBegun);
    const [waits, blind, seen] = await Promise.all([
      Promise.all([wait({}, false), wait({}, true), wait(known, false), wait(known, true)]),
      ask(['watch', '--timeout', '3s'], {}),
      ask(['watch', '--timeout', '3s'], known),
    ]);
    for (const { code, out, complaint } of waits) {
      expect([code, complaint]).toEqual([3, '']);
      expect(out).toEqual([
        'The service did not answer, or the queue has not looked at this pull request yet.',
      ]);
    }
    expect([blind.code, blind.complaint.split(':')[0]]).toEqual([69, 'unreachable']);
    expect(seen.code).toBe(0);
    for (const { tookMs } of [...waits, blind, seen]) expect(tookMs).toBeLessThan(6_000);
  });
});

test('the command line gives each call a time', async () => {
  const signals: unknown[] = [];
  const world = {
    env: { MERGEYARD_URL: 'https://q.example.org', MERGEYARD_TOKEN: 'mgy_x' },
    cwd: '/',
    isTerminal: false,
    print: () => {},
    now: () => 0,
    sleep: async () => {},
    readGit: async () => null,
    fetch: async (_url: unknown, init?: RequestInit) => {
      signals.push(init?.signal);
      return Response.json({ repos: [] });
    },
  };
  expect(
    await run(
      ['status'],
      world,
      async () => '',
      () => {},
    ),
  ).toBe(0);
  expect(signals).toEqual([expect.any(AbortSignal)]);
});
