import { activity, call, event, named, place, REPO } from './call-program.ts';

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

  test.each([
    ['a time of nothing', ['--for', '0s'], /--for takes a time above 0 and of at most 366 days/],
    ['more than a year', ['--for', '367d'], /--for takes a time above 0 and of at most 366 days/],
    [
      'a reason that no status takes',
      ['--reason', 'Prüfung'],
      /at most 60 characters, all of printable ASCII/,
    ],
    ['a reason that is too long', ['--reason', 'x'.repeat(61)], /at most 60 characters/],
  ])('%s is a misuse in the words of the command', async (_name, options, words) => {
    const { code, complaint, sent } = await call(['pause', ...named, ...options]);
    expect([code, sent]).toEqual([64, []]);
    expect(complaint).toMatch(words);
  });

  test('resume says that the queue is on', async () => {
    expect(await call(['resume', ...named], { 'repos/r/resume': () => REPO })).toMatchObject({
      code: 0,
      out: ['acme/app main: on'],
    });
  });
});

describe('mergeyard status', () => {
  test('a queue that is not processed is not called on', async () => {
    const pause = { kind: 'drain', reason: null, until: null };
    const repos = [
      { ...REPO, name: 'acme/a' },
      { ...REPO, name: 'acme/b', hold_reason: 'payment_required', pause },
      { ...REPO, name: 'acme/c', pause },
      { ...REPO, name: 'acme/d', queue_enabled: false, hold_reason: 'payment_required' },
    ];
    const { out } = await call(['status'], { 'queue/status': () => ({ repos }) });
    expect(out).toEqual([
      'acme/a main: on',
      'acme/b main: on hold (payment required)',
      'acme/c main: drain',
      'acme/d main: off',
    ]);
  });
});

describe('mergeyard why', () => {
  test('tells the time to land with its error', async () => {
    const words = {
      kind: 'wait',
      code: 'ready',
      fault: false,
      turn: 'none',
      words: 'queued: soon',
      next: null,
    };
    const why = async (seconds: number) => {
      const estimate = { seconds, error_seconds: 300, landings: 34 };
      const story = { number: 7, title: 'Sort', place: 1, in_queue: true, estimate, now: words };
      return (await call(['why', '7', ...named], { 'repos/r/pulls/7': () => story })).out.at(-1);
    };
    expect(await why(720)).toBe(
      'time to land: About 12 min; four in five within 7 min to 17 min, by 34 landings of this repository',
    );
    expect(await why(0)).toContain('four in five land within 5 min of now');
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

  test('a head that is named by its beginning is the commit here that alone begins so', async () => {
    const { sent } = await call(
      ['enqueue', '7', '--head', 'AAAAAAA', '--token-stdin', ...named],
      made(false),
    );
    expect(sent.at(-1)).toEqual({ path, body: { head: 'a'.repeat(40) } });
  });

  test.each([
    ['begins none of the commits here, or a tag has its name', 'bbbbbbb', 'of several'],
    ['is too short to name one', 'aaaaaa', 'at least 7'],
    ['is the name of a branch', 'main', 'hex digits'],
    ['is longer than an id', 'a'.repeat(65), 'hex digits'],
  ])('a head that %s is refused before anything is asked', async (_why, head, words) => {
    const asked = await call(['enqueue', '7', '--head', head, '--token-stdin', ...named], made(false));
    expect([asked.code, asked.sent.some((each) => each.path === path)]).toEqual([64, false]);
    expect(asked.complaint).toContain(words);
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

  test('gives one that was bounced no place, as its own story does', async () => {
    const line = [place(1, 'bounced'), place(2, 'staged'), place(3, 'bounced'), place(4, 'ready')];
    expect(await list(activity(line))).toEqual([
      '1. #2 Change 2 (staged)',
      '2. #4 Change 4 (ready)',
      'not in the queue: #1 Change 1 (bounced)',
      'not in the queue: #3 Change 3 (bounced)',
    ]);
    expect(await list(activity([place(1, 'bounced')]))).toEqual([
      'no pull request waits',
      'not in the queue: #1 Change 1 (bounced)',
    ]);
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

  test('counts in a script none that was bounced', async () => {
    const answers = { 'queue/activity': () => activity([place(1, 'bounced')]) };
    const { out } = await call(['watch', ...named, '--timeout', '0s'], answers);
    expect(out.slice(1)).toEqual(['not in the queue: #1 Change 1 (bounced)']);
  });

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
      'Building the next batch.',
      '1. #1 Change 1 (staged)',
      '2. #2 Change 2 (ready)',
      '2026-11-22T10:00:00.000Z pr_landed #1 Change 1',
      '1. #2 Change 2 (ready)',
    ]);
  });

  test('prints in a script each of many changes at once, and those behind the events of other repositories', async () => {
    const landed = Array.from({ length: 70 }, (_, at) => event(at + 1)).reverse();
    const upTo = (pr: number) => landed.filter((each) => each.pr <= pr);
    const ofOthers = Array.from({ length: 20 }, () => ({ ...event(1), repo_id: 'other' }));
    let look = 0;
    let pageOfLast = 0;
    const reaches = [2, 12, 12, 70];
    const now = () => upTo(reaches[Math.min(look, reaches.length) - 1] ?? 0);
    const { out, sent } = await call(['watch', ...named, '--timeout', '15s'], {
      'queue/activity': () => {
        look += 1;
        const events = look === 4 ? ofOthers : now().slice(0, 20);
        return { ...activity([], events), recent_activity_truncated: look === 4 };
      },
      'repos/r/events': () => {
        const rest = look === 4 ? now().slice(pageOfLast) : now();
        if (look === 4) pageOfLast += 50;
        return { events: rest.slice(0, 50), next: rest.length > 50 ? 'older' : null };
      },
    });
    const numbers = out.filter((line) => line.includes('pr_landed')).map((line) => /#(\d+)/.exec(line)?.[1]);
    expect(numbers).toEqual(Array.from({ length: 70 }, (_, at) => String(at + 1)));
    const pages = sent.filter(({ path }) => path === 'repos/r/events').map(({ query }) => query);
    expect(pages).toEqual(['?limit=50', '?limit=50', '?limit=50&before=older']);
  });

  test('prints in a script what is waited for, once it changes, and with --json the whole; not how long it has lasted', async () => {
    const since = '2026-11-22T09:58:30.000Z';
    const at = (kind: string, line: readonly object[]) => {
      const [repo] = activity(line).repos;
      const block = { ...repo?.queue.block, kind, since };
      return { ...activity(line), repos: [{ ...repo, queue: { ...repo?.queue, block } }] };
    };
    const line = [place(1, 'ready')];
    let look = 0;
    const next = () => at(look++ < 25 ? 'staging' : 'linger', line);
    const told = await call(['watch', ...named, '--timeout', '3m'], { 'queue/activity': next });
    expect(told.out).toEqual([
      'Building the next batch.',
      '1. #1 Change 1 (ready)',
      'Waiting for more pull requests to join the batch.',
    ]);
    look = 0;
    const { out } = await call(['watch', ...named, '--json', '--timeout', '3m'], { 'queue/activity': next });
    expect(look).toBeGreaterThan(30);
    expect(out.map((text) => JSON.parse(text).blocker)).toEqual([
      'Building the next batch (since 09:58 (1 min)).',
      'Waiting for more pull requests to join the batch (since 09:58 (3 min)).',
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

describe('mergeyard wait', () => {
  const away = () =>
    Response.json(
      { error: { code: 'auth_unavailable', message: 'No answer.', retryable: true } },
      { status: 503 },
    );
  const landed = { kind: 'exit', code: 'landed', fault: null, turn: 'none', words: 'landed', next: null };
  const story = () => ({
    number: 7,
    title: 'Sort',
    place: null,
    in_queue: false,
    estimate: null,
    now: landed,
  });
  const waitFor = (isAway: (calls: number) => boolean) => {
    let calls = 0;
    return call(['wait', '7', ...named, '--timeout', '30s'], {
      repos: () => {
        calls += 1;
        return isAway(calls) ? away() : [REPO];
      },
      'repos/r/pulls/7': story,
    });
  };

  test('waits for a fault of the service that passes, from its first call on', async () => {
    expect(await waitFor((calls) => calls < 3)).toMatchObject({ code: 0, complaint: '' });
    expect(await waitFor(() => true)).toMatchObject({ code: 3, complaint: '' });
  });

  test('a service that the first call does not reach is told at once', async () => {
    const unreached = await call(['wait', '7', ...named], {
      repos: () => {
        throw new TypeError('fetch failed');
      },
    });
    expect([unreached.code, unreached.complaint.split(':')[0]]).toEqual([69, 'unreachable']);
  });
});
