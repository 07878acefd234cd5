import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ERROR_TABLE } from '#core/contracts/errors.ts';
import { run } from '../../../cli/run.ts';
import { bundleCli } from '../../../lib/bundle-cli.ts';

const PROVISIONING = {
  webhook: { status: 'configured' },
  protection: { status: 'configured', detail: null, required: true },
  ci_gate: { status: 'verified', url: null },
};
const REPO = {
  id: 'r',
  name: 'acme/app',
  base_branch: 'main',
  queue_enabled: true,
  pause: null,
  provisioning: PROVISIONING,
  hold_reason: null,
  gate_events: { status: null, run: null },
  gate: 'workflow',
  status_context: 'q',
};
const place = (pr: number, state: string) => ({ pr, title: `Change ${pr}`, state, priority: 'normal' });
const event = (pr: number) => ({
  repo_id: 'r',
  timestamp: '2026-11-22T10:00:00.000Z',
  event: 'pr_landed',
  pr,
  title: `Change ${pr}`,
});
const activity = (
  line: readonly object[],
  events: readonly object[] = [],
  standstill: object | null = null,
  more = 0,
) => ({
  repos: [
    {
      repo_id: 'r',
      state: 'waiting',
      last_reconcile_error_code: null,
      standstill,
      freeze: null,
      queue: {
        line,
        line_more: more,
        block: { kind: 'staging', since: null, until: null, pr: null, run_url: null },
      },
    },
  ],
  recent_activity: events,
});

async function call(
  argv: readonly string[],
  answers: { readonly [path: string]: () => unknown } = {},
  isTerminal = false,
) {
  type Sent = { path: string; query?: string; body: unknown };
  const [out, complaints, sent]: [string[], string[], Sent[]] = [[], [], []];
  let clock = Date.parse('2026-11-22T10:00:00.000Z');
  const code = await run(
    argv,
    {
      env: { MERGEYARD_URL: 'https://q.example.org', MERGEYARD_TOKEN: 'mgy_secret' },
      cwd: '/',
      fetch: async (url, init) => {
        const { pathname, search: query } = new URL(String(url));
        const path = pathname.replace('/api/v1/user/', '');
        sent.push({
          path,
          ...(query === '' ? {} : { query }),
          body: init?.body === undefined ? null : JSON.parse(String(init.body)),
        });
        const answer = answers[path]?.() ?? (path === 'queue/status' ? { repos: [REPO] } : [REPO]);
        return answer instanceof Response ? answer : Response.json(answer);
      },
      print: (line) => void out.push(line),
      isTerminal,
      readGit: async () => 'a'.repeat(40),
      now: () => clock,
      sleep: async (ms) => {
        clock += ms;
      },
    },
    async () => 'forge-token\n',
    (line) => complaints.push(line),
  );
  return { code, out, complaint: complaints.join('\n'), sent };
}

const named = ['--repo', 'acme/app'];

describe('mergeyard holds a queue up', () => {
  test('pause and drain send the reason and the end, and say until when', async () => {
    const until = '2026-11-22T12:00:00.000Z';
    const answers = {
      'repos/r/drain': () => ({ ...REPO, pause: { kind: 'drain', reason: 'release', until } }),
    };
    const drained = await call(['drain', ...named, '--reason', 'release', '--for', '2h'], answers);
    expect(drained.sent.at(-1)).toEqual({ path: 'repos/r/drain', body: { reason: 'release', until } });
    expect(drained.out).toEqual([`acme/app main: drain until ${until}, because: release`]);
    const paused = await call(['pause', ...named], {
      'repos/r/pause': () => ({ ...REPO, pause: { kind: 'pause', reason: null, until: null } }),
    });
    expect(paused.sent.at(-1)?.body).toEqual({ reason: null, until: null });
    expect(paused.out).toEqual(['acme/app main: pause until it is resumed']);
  });

  test('resume says that the queue is on', async () => {
    expect(await call(['resume', ...named], { 'repos/r/resume': () => REPO })).toMatchObject({
      code: 0,
      out: ['acme/app main: on'],
    });
  });
});

describe('mergeyard schedules with the right of the person', () => {
  const path = 'repos/r/pulls/7/queue';
  const made = (already: boolean) => ({ [path]: () => ({ number: 7, head: 'a'.repeat(40), already }) });

  test('enqueue sends the head that is checked out, or the one that is named', async () => {
    const own = await call(['enqueue', '7', '--token-stdin', ...named], made(false));
    expect(own.sent.at(-1)).toEqual({ path, body: { head: 'a'.repeat(40) } });
    expect(own.out).toEqual(['#7 is scheduled at aaaaaaaaaa']);
    const other = await call(
      ['enqueue', '7', '--head', 'B'.repeat(40), '--token-stdin', ...named],
      made(true),
    );
    expect(other.sent.at(-1)?.body).toEqual({ head: 'b'.repeat(40) });
    expect(other.out).toEqual(['#7 is scheduled at aaaaaaaaaa, as it was before']);
  });

  test('without a forge token nothing is asked of the forge, and the words say where to give it', async () => {
    const { code, complaint, sent } = await call(['enqueue', '7', ...named]);
    expect([code, sent.some((each) => each.path === path)]).toEqual([64, false]);
    expect(complaint).toContain('MERGEYARD_FORGE_TOKEN');
  });

  test('dequeue says what is so now', async () => {
    const answers = { [path]: () => new Response(null, { status: 204 }) };
    const { code, out } = await call(['dequeue', '7', '--token-stdin', ...named], answers);
    expect([code, out]).toEqual([0, ['#7 is not scheduled']]);
  });
});

describe('mergeyard queue', () => {
  const list = async (answer: object) =>
    (await call(['queue', ...named], { 'queue/activity': () => answer })).out;

  test('says how many stand behind those that the service lists', async () => {
    const line = Array.from({ length: 100 }, (_, at) => place(at + 1, 'ready'));
    const out = await list(activity(line, [], null, 20));
    expect([out.length, ...out.slice(-2)]).toEqual([101, '100. #100 Change 100 (ready)', 'and 20 more']);
  });

  test('says that no pull request waits', async () => {
    expect(await list(activity([]))).toEqual(['no pull request waits']);
  });
});

describe('mergeyard watch', () => {
  test.each([true, false])(
    'says how many stand behind those that are listed (terminal: %s)',
    async (isTerminal) => {
      const answers = { 'queue/activity': () => activity([place(1, 'ready')], [], null, 20) };
      const { out } = await call(['watch', ...named, '--timeout', '0s'], answers, isTerminal);
      expect(out.join('\n')).toContain('1. #1 Change 1 (ready)\nand 20 more');
    },
  );

  test('draws on a terminal that no pull request waits', async () => {
    const answers = { 'queue/activity': () => activity([]) };
    const { out } = await call(['watch', ...named, '--timeout', '0s'], answers, true);
    expect(out[0]).toContain('no pull request waits');
  });

  test('prints in a script each change once, and passes over a fault of the service', async () => {
    const looks = [
      () => activity([place(1, 'staged'), place(2, 'ready')]),
      () => Response.json({ error: { code: 'db_error', message: 'm', retryable: true } }, { status: 503 }),
      () => activity([place(2, 'ready')], [event(1)]),
      () => activity([place(2, 'ready')], [event(1)]),
    ];
    let look = 0;
    const next = () => (looks[look++] ?? (() => activity([])))();
    const { code, out } = await call(['watch', ...named, '--timeout', '15s'], { 'queue/activity': next });
    expect([code, look]).toEqual([0, 4]);
    expect(out).toEqual([
      '1. #1 Change 1 (staged)',
      '2. #2 Change 2 (ready)',
      '2026-11-22T10:00:00.000Z pr_landed #1 Change 1',
      '1. #2 Change 2 (ready)',
    ]);
  });

  test('draws a terminal anew, with what is waited for', async () => {
    const answers = { 'queue/activity': () => activity([place(1, 'ready')]) };
    const { out } = await call(['watch', ...named, '--timeout', '1s'], answers, true);
    expect(out).toHaveLength(2);
    expect(out[0]?.split('\n').slice(1, 4)).toEqual([
      'Building the next batch.',
      '',
      '1. #1 Change 1 (ready)',
    ]);
  });
});

test('a service of before freeze windows is asked as well', async () => {
  const [{ freeze: _, ...earlier }] = activity([]).repos as unknown as [Record<string, unknown>];
  const answers = { 'queue/activity': () => ({ ...activity([]), repos: [earlier] }) };
  expect((await call(['watch', ...named, '--timeout', '0s'], answers)).code).toBe(0);
});

describe('mergeyard doctor', () => {
  const healthy = { 'queue/activity': () => activity([]) };

  test('finds nothing where a queue moves', async () => {
    const { code, out } = await call(['doctor'], healthy);
    expect([code, out.filter((line) => !line.startsWith('ok'))]).toEqual([0, []]);
  });

  test('says each obstacle with its next step, and has an exit code for it', async () => {
    const standstill = {
      since: '2026-11-22T09:00:00.000Z',
      usual_seconds: 60,
      says: 'The gate hangs',
      next: 'Look.',
    };
    const { code, out } = await call(['doctor'], {
      'queue/activity': () => activity([], [], standstill),
      'queue/status': () => ({
        repos: [{ ...REPO, provisioning: { ...PROVISIONING, ci_gate: { status: 'missing', url: null } } }],
      }),
    });
    expect(code).toBe(4);
    expect(out.filter((line) => line.startsWith('look')).map((line) => line.slice(0, 60))).toEqual([
      expect.stringMatching(/^look acme\/app main: .*: Missing\. /),
      expect.stringMatching(/^look acme\/app main: queue: It stands still/),
    ]);
  });

  test('tells each part of the set-up that is not as it was, a wrong settings file with its lines', async () => {
    const drift = {
      kind: 'settings_file',
      since: null,
      by: 'unknown',
      repair: 'people',
      says: '.mergeyard.yml on the base is wrong: line 2: \u001b[2Jno',
      next: 'Land a correction.',
    };
    const [repo] = activity([]).repos;
    const { code, out } = await call(['doctor'], {
      'queue/activity': () => ({ ...activity([]), repos: [{ ...repo, drifts: [drift] }] }),
    });
    expect([code, out.filter((line) => line.startsWith('look'))]).toEqual([
      4,
      [
        'look acme/app main: settings file: .mergeyard.yml on the base is wrong: line 2: no. Land a correction.',
      ],
    ]);
  });

  test('a service that refuses the token is an error of the service', async () => {
    const refuse = () =>
      Response.json({ error: { code: 'invalid_token', message: 'no', retryable: false } }, { status: 401 });
    expect(await call(['doctor'], { 'queue/status': refuse })).toMatchObject({
      code: 69,
      complaint: 'invalid_token: no. Sign in again, or make a new API token.',
    });
  });
});

describe('mergeyard in a script', () => {
  test('with --quiet the exit code is the whole answer', async () => {
    expect(await call(['status', '--quiet'])).toMatchObject({ code: 0, out: [], complaint: '' });
  });

  test('with --json an error is one line of JSON, and no error holds the token', async () => {
    const refuse = () =>
      Response.json({ error: { code: 'forbidden', message: 'no', retryable: false } }, { status: 403 });
    const { code, complaint } = await call(['why', '7', '--json', ...named], { 'repos/r/pulls/7': refuse });
    const next = 'Ask the operator of this service for that right.';
    expect([code, JSON.parse(complaint)]).toEqual([
      69,
      { error: { code: 'forbidden', message: 'no', next } },
    ]);
    expect(complaint).not.toContain('mgy_secret');
  });

  test.each([
    [
      'decryption_error',
      'The stored token could not be decrypted. Store the token again, on the page Connections.',
    ],
    ['ci_gate_missing', 'The base branch has no gate workflow. Merge the setup pull request first.'],
    // The message ends with its step.
    [
      'head_moved',
      'The head of the pull request is another commit. Look at the new commits, then ask with the new head.',
    ],
  ] as const)('%s is one line that says the next step, once', async (name, line) => {
    const { status, message } = ERROR_TABLE[name];
    const refuse = () => Response.json({ error: { code: name, message } }, { status });
    const { complaint } = await call(['why', '7', ...named], { 'repos/r/pulls/7': refuse });
    expect(complaint).toBe(`${name}: ${line}`);
  });

  test('an error without a step says so with --json, and a code without a message says its step', async () => {
    const answer = async (error: object, ...more: string[]) =>
      (await call(['status', ...more], { 'queue/status': () => Response.json({ error }, { status: 409 }) }))
        .complaint;
    const strange = { code: 'from_tomorrow', message: 'Tomorrow' };
    expect(await answer(strange)).toBe('from_tomorrow: Tomorrow');
    expect(JSON.parse(await answer(strange, '--json'))).toEqual({ error: { ...strange, next: null } });
    expect(await answer({ code: 'connection_identity_already_used' })).toBe(
      'connection_identity_already_used: Make a bot of your own on the forge and use its token.',
    );
    const { complaint } = await call(['why', '--json']);
    expect(JSON.parse(complaint).error).toMatchObject({ code: 'misuse', next: null });
  });

  test('the field that a refusal names is said, and moves no cursor', async () => {
    const error = { code: 'invalid_field', message: 'No.', field: 'un\u001b[2Jtil' };
    const refuse = () => Response.json({ error }, { status: 400 });
    expect((await call(['status'], { 'queue/status': refuse })).complaint).toBe(
      'invalid_field: No. Correct the field "until".',
    );
  });

  test.each([[[]], [['nope']], [['why']], [['why', '7', '8']], [['pause', '--for', 'ever']]])(
    'misuse %j has one exit code and one line',
    async (argv) => {
      const { code, complaint, sent } = await call(argv);
      expect([code, complaint.split('\n').length, complaint.length > 0, sent]).toEqual([64, 1, true, []]);
    },
  );

  test.each([
    ['nope', "unknown command 'nope'; see --help."],
    ['statsu', "unknown command 'statsu' (Did you mean status?); see --help."],
    ['why', "missing required argument 'number'; see --help."],
  ])('a command line that cannot be read, such as %s, names the help', async (command, words) => {
    expect((await call([command])).complaint).toBe(words);
  });
});

describe('completion', () => {
  const said = async (...argv: string[]): Promise<string> => {
    const lines: string[] = [];
    const spy = jest.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)));
    await call(argv);
    spy.mockRestore();
    return lines.join('\n');
  };

  test.each(['bash', 'zsh', 'fish'])('%s gets a script that asks the command itself', async (shell) => {
    expect(await said('complete', shell)).toContain('mergeyard complete --');
  });

  test('commands and options are completed', async () => {
    expect(await said('complete', '--', 'wa')).toMatch(/^wait\t.*\nwatch\t/);
    expect(await said('complete', '--', 'pause', '--r')).toContain('--reason');
  });
});

test('the bundle runs on Node alone, from any folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  try {
    const file = join(folder, 'mergeyard.mjs');
    await bundleCli(file);
    const { stdout } = await promisify(execFile)(process.execPath, [file, 'complete', '--', 'dr'], {
      cwd: folder,
    });
    expect(stdout).toMatch(/^drain\t/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

describe('a pull request that the queue does not know', () => {
  const path = 'repos/r/pulls/7';
  const unknown = () =>
    Response.json(
      { error: { code: 'not_found', message: 'This does not exist, or it belongs to another account.' } },
      { status: 404 },
    );
  const landed = {
    number: 7,
    title: 'a',
    place: null,
    estimate: null,
    now: { kind: 'exit', code: 'landed', fault: null, turn: null, words: 'landed', next: null },
  };

  test('a landing is told without a turn, because nothing is left to do; else the party is named', async () => {
    const told = async (now: object) => {
      const story = { ...landed, now: { ...landed.now, ...now } };
      return (await call(['why', '7', ...named], { [path]: () => story })).out;
    };
    expect(await told({ turn: 'none' })).toEqual(['#7 a', 'landed']);
    const paused = { kind: 'wait', code: 'paused', turn: 'operator', words: 'paused' };
    expect(await told(paused)).toEqual(['#7 a', 'paused', 'turn: a maintainer of the repository']);
  });

  test('wait lets the queue look first, because one that was scheduled just now is not known yet', async () => {
    let asked = 0;
    const answers = { [path]: () => (++asked < 3 ? unknown() : landed) };
    const { code, out } = await call(['wait', '7', ...named], answers);
    expect([code, out[0], asked]).toEqual([0, '#7 a', 3]);
  });

  test('wait is refused once the queue must have looked, and at once when it knew the number before', async () => {
    const never = await call(['wait', '7', ...named], { [path]: unknown });
    expect([never.code, never.complaint]).toEqual([69, expect.stringMatching(/^not_found: /)]);
    const looks = [{ ...landed, now: { ...landed.now, kind: 'wait', code: 'queued' } }];
    const gone = { [path]: () => looks.pop() ?? unknown() };
    expect((await call(['wait', '7', ...named], gone)).code).toBe(69);
  });

  test('wait says at the end of a shorter time what is not known', async () => {
    const { code, out } = await call(['wait', '7', '--timeout', '5s', ...named], { [path]: unknown });
    expect([code, out]).toEqual([
      3,
      ['The service did not answer, or the queue has not looked at this pull request yet.'],
    ]);
  });

  test('why names the queue, and says what to do', async () => {
    const { code, complaint } = await call(['why', '7', ...named], { [path]: unknown });
    expect([code, complaint]).toEqual([
      69,
      'not_found: The queue of acme/app main knows no pull request #7. If it was scheduled just now, ask again in a minute; else schedule it first.',
    ]);
    const json = (await call(['why', '7', '--json', ...named], { [path]: unknown })).complaint;
    expect(JSON.parse(json).error).toEqual({
      code: 'not_found',
      message: 'The queue of acme/app main knows no pull request #7.',
      next: 'If it was scheduled just now, ask again in a minute; else schedule it first.',
    });
  });
});

test('fanout prints the advice and what each fan-out would have changed', async () => {
  const wait = (minutes: number) => ({
    p50_seconds: minutes * 60,
    p95_seconds: minutes * 120,
    mean_seconds: minutes * 60,
  });
  const advice = {
    current: 1,
    advised: 4,
    reason: null,
    rests_on: 61,
    needed: 30,
    since: null,
    replays: [
      { fanout: 1, landed: 60, runs: 100, wait: wait(41) },
      { fanout: 4, landed: 60, runs: 112, wait: wait(6) },
    ],
  };
  const { code, out } = await call(['fanout', ...named], { 'repos/r/statistics/fanout': () => advice });
  expect(code).toBe(0);
  expect(out.slice(0, 3)).toEqual([
    'With 4 instead of 1: median 6 min instead of 41 min, mean 6 min instead of 41 min, 12 % more gate runs. This rests on 61 pull requests.',
    '1 at once: median 41 min, 95th percentile 1 h 22 min, 100 gate runs',
    '4 at once: median 6 min, 95th percentile 12 min, 112 gate runs',
  ]);
  expect(out[3]).toMatch(/assumes that a runner is free/);
});

describe('log', () => {
  const happened = (pr: number, reason: string | null = null) => ({ ...event(pr), reason });
  const paged = (...pages: readonly object[]) => {
    let asked = 0;
    return { 'repos/r/events': () => pages[Math.min(asked++, pages.length - 1)] };
  };
  const queries = (sent: readonly { readonly path: string; readonly query?: string }[]) =>
    sent.filter(({ path }) => path === 'repos/r/events').map(({ query }) => query);

  test('prints the newest events with their reasons, over as many pages as the limit takes', async () => {
    const first = { events: [happened(9, 'gate_failed'), happened(8)], next: '1'.repeat(26) };
    const { out, sent } = await call(
      ['log', '--limit', '3', ...named],
      paged(first, { events: [happened(7)], next: '2'.repeat(26) }),
    );
    expect(out).toEqual([
      '2026-11-22T10:00:00.000Z pr_landed #9 Change 9 (gate_failed)',
      '2026-11-22T10:00:00.000Z pr_landed #8 Change 8',
      '2026-11-22T10:00:00.000Z pr_landed #7 Change 7',
    ]);
    expect(queries(sent)).toEqual(['?limit=3', `?before=${'1'.repeat(26)}&limit=1`]);
  });

  test('asks for the filters that are given, and prints JSON where that is asked for', async () => {
    const filters = ['--pr', '#9', '--event', 'bounced', '--search', 'shop ada'];
    const { out, sent } = await call(
      ['log', ...filters, '--json', ...named],
      paged({ events: [happened(9)], next: null }),
    );
    expect(JSON.parse(out[0] ?? '')).toEqual([happened(9)]);
    expect(queries(sent)).toEqual(['?event=pr_bounced&pr=9&q=shop+ada&limit=20']);
  });

  test('a search that comes to no end says so', async () => {
    const { out, sent } = await call(['log', ...named], paged({ events: [], next: '1'.repeat(26) }));
    expect(out).toEqual(['Older events were not looked through: ask for one pull request with --pr.']);
    expect(queries(sent).length).toBeLessThanOrEqual(40);
  });

  test.each([
    ['--event', 'merged', /^An event is one of .*pr_landed/],
    ['--limit', '0', /from 1 to 1000/],
    ['--limit', '1001', /from 1 to 1000/],
    ['--pr', 'x', /number of the pull request/],
    ['--gate', 'x', /number of the pull request/],
    ['--gate', '', /number of the pull request/],
  ])('%s %s is a misuse', async (option, value, words) => {
    const { code, complaint, sent } = await call(['log', option, value, ...named]);
    expect([code, sent]).toEqual([64, []]);
    expect(complaint).toMatch(words);
  });
});

describe('log --gate', () => {
  const log = {
    number: 7,
    run_url: 'https://f.example.org/runs/3',
    gate_verdict: 'failure',
    tree: null,
    prs: [7],
    reason: null,
    words: null,
  };
  const read = async (answer: object, ...more: string[]) =>
    call(['log', '--gate', '7', ...named, ...more], { 'repos/r/pulls/7/gate-log': () => answer });

  test('prints the end of the log of each job that failed', async () => {
    const jobs = [
      { name: 'check', result: 'failure', text: 'expected 1\n\tgot 2 \u202e\n', is_cut: true },
      { name: 'other', result: 'failure', text: null, is_cut: false },
    ];
    const { code, out } = await read({ ...log, jobs });
    expect([code, out]).toEqual([
      0,
      [
        'run: failure https://f.example.org/runs/3',
        '--- check: failure (the end of the log)',
        '| expected 1',
        '|   got 2 ',
        '--- other: failure',
        'The forge has no log of this job.',
      ],
    ]);
    const [json = ''] = (await read({ ...log, jobs }, '--json')).out;
    expect(JSON.parse(json).jobs).toEqual(jobs);
  });

  test('a line of a log is taken for none of the own lines, and moves no cursor', async () => {
    const text = [
      'run: success https://evil.example.org',
      '--- check: success',
      '\u001b[2J\u001b[1;1H\u001b[32mrun: success\u001b[0m',
      '\u001b]8;;https://evil.example.org\u0007link\u001b]8;;\u001b\\',
      '\u009b2Jrun: \u009d0;title\u009cok\u0085--- x\u2028--- y\r--- z',
      '',
      'The forge has no log of this job.',
      '\u001bPq#0\u001b\\end\u001b',
    ].join('\n');
    const { out } = await read({
      ...log,
      jobs: [{ name: 'c\n| x', result: 'failure', text, is_cut: false }],
    });
    expect(out).toEqual([
      'run: failure https://f.example.org/runs/3',
      '--- c| x: failure',
      '| run: success https://evil.example.org',
      '| --- check: success',
      '| run: success',
      '| link',
      '| run: ok--- x--- y--- z',
      '| ',
      '| The forge has no log of this job.',
      '| end',
    ]);
  });

  test('words of the service and its names move no cursor, whatever command tells them, and JSON says the same without them', async () => {
    const evil = '\u001b[2J\u009b1;1H\u202eevil\u{e0041}';
    const told = { ...log, run_url: `https://f/${evil}`, words: `Why${evil}`, jobs: [] };
    const name = `acme/app${evil}`;
    const statuses = { 'queue/status': () => ({ repos: [{ ...REPO, name }] }) };
    const answers = [
      await read(told),
      await call(['status'], statuses),
      await call(['resume', ...named], { 'repos/r/resume': () => ({ ...REPO, name }) }),
      await call(['evidence-key'], { '/api/v1/evidence/key': () => ({ public_key: `-----\nx${evil}\n` }) }),
    ];
    for (const { code, out } of answers) {
      expect([code, out.length > 0]).toEqual([0, true]);
      expect(out.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
      expect(out.join('\n')).toContain('evil');
      expect(out.join('\n')).not.toContain('[2J');
    }
    const [json = ''] = (await call(['status', '--json'], statuses)).out;
    expect(json).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(json)[0].name).toBe(name);
  });

  test('without a log it prints the page of the run and why', async () => {
    const { out } = await read({ ...log, reason: 'not_offered', words: 'Why.', jobs: [] });
    expect(out).toEqual(['run: failure https://f.example.org/runs/3', 'Why.']);
  });
});
