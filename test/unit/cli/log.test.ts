import { describeGateLog } from '../../../cli/log.ts';
import { call, event, named, REPO } from './call-program.ts';

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
    ['--gate', '7', /none of --event, --limit, --pr and --search/, ['--pr', '8']],
    ['--gate', '7', /none of --event, --limit, --pr and --search/, ['--limit', '3']],
  ])('%s %s is a misuse', async (option, value, words, more: string[] = []) => {
    const { code, complaint, sent } = await call(['log', option, value, ...more, ...named]);
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

test('empty lines at the end of a log are left out, and no expression is held against more than one line of it', () => {
  const replace = RegExp.prototype[Symbol.replace] as (text: string, by: string) => string;
  const texts: string[] = [];
  const spy = jest.spyOn(RegExp.prototype, Symbol.replace as never).mockImplementation(function (
    this: RegExp,
    ...[text, by]: [string, string]
  ) {
    texts.push(text);
    return replace.call(this, text, by);
  } as never);
  const job = { name: 'check', result: 'failure', is_cut: false };
  const given = ['a\n\nb\n\n\n', '\n\n\n', ''].map((text) => ({ ...job, text }));
  const told = {
    number: 1,
    run_url: null,
    gate_verdict: null,
    tree: null,
    prs: [],
    reason: null,
    words: null,
  };
  const said = describeGateLog({ ...told, jobs: given });
  spy.mockRestore();
  const head = '--- check: failure';
  expect(said).toEqual([head, '| a', '| ', '| b', head, '| ', head, '| ']);
  expect(texts.length).toBeGreaterThan(0);
  expect(texts.filter((text) => text.includes('\n'))).toEqual([]);
});
