import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { callCli } from '../../support/call-cli.ts';

const LOGIN = { MERGEYARD_URL: 'https://q.example.org', MERGEYARD_TOKEN: 'mgy_secret' };
const repo = (id: string, instance_url: string, name = 'acme/app', base_branch = 'main') => ({
  id,
  name,
  base_branch,
  instance_url,
});
const queueOf = (id: string, pr: number) => ({
  repo_id: id,
  queue: { line: [{ pr, title: 'x', state: 'ready', priority: 'normal' }] },
});
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'clone-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const git = async (...args: string[]): Promise<string | null> =>
  promisify(execFile)('git', args, {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
  }).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );

/** Which queue is asked for: each has one pull request with a number of its own. */
async function ask(repos: readonly { readonly id: string }[], argv: readonly string[] = [], withGit = true) {
  const activity = { repos: repos.map(({ id }, at) => queueOf(id, at + 1)), recent_activity: [] };
  const { code, out, complaint } = await callCli(['queue', ...argv], {
    env: LOGIN,
    cwd: folder,
    answers: { repos, 'queue/activity': activity },
    readGit: async (args) => (withGit ? git(...args) : null),
  });
  const [, pr = ''] = /#(\d+)/.exec(out[0] ?? '') ?? [];
  return { code, found: repos[Number(pr) - 1]?.id ?? null, complaint };
}

async function setRemote(url: string): Promise<void> {
  await git('init', '-q');
  await git('remote', 'add', 'origin', url);
}

const ONE = [repo('r', 'https://git.example.org')];

describe('the repository of the remote', () => {
  test.each([
    'git@git.example.org:acme/app.git',
    'git@git.example.org:acme/app',
    'git@git.example.org:/acme/app.git/',
    'git.example.org:acme/app.git',
    'https://git.example.org/acme/app',
    'https://git.example.org/acme/app.git//',
    'https://ada:secret@git.example.org/acme/app.git?a=b#c',
    'HTTPS://GIT.EXAMPLE.ORG/Acme/App',
    'https://git.example.org/acme/%61pp',
    'ssh://git@git.example.org:2222/acme/app.git/',
    'ssh://git@git.example.org/acme/./app.git',
    'git+ssh://git@git.example.org/acme/app',
    'git://git.example.org/acme/app.git',
    'work:acme/app.git',
    '/srv/git/acme/app.git',
    'file:///srv/git/acme/app.git/',
    '../acme/app',
  ])('%s is acme/app', async (url) => {
    await setRemote(url);
    expect(await ask(ONE)).toEqual({ code: 0, found: 'r', complaint: '' });
    // A machine without git, or a folder that git does not trust, such as one of a container.
    expect(await ask(ONE, [], false)).toEqual({ code: 0, found: 'r', complaint: '' });
  });

  test.each([
    'ssh://git@[::1]:2222/acme/app.git',
    'ssh://git@[0:0:0:0:0:0:0:1]/acme/app',
    'git@[::1]:acme/app.git',
    '[git@::1]:acme/app',
    'http://[::1]:3000/acme/app',
    'https://[::1]:3000/acme/app.git/',
  ])('%s is that of a host with an IPv6 address', async (url) => {
    await setRemote(url);
    const repos = [repo('r', 'https://[::1]:3000'), repo('other', 'https://[::2]:3000')];
    expect(await ask(repos)).toEqual({ code: 0, found: 'r', complaint: '' });
    expect(await ask(repos, [], false)).toEqual({ code: 0, found: 'r', complaint: '' });
  });

  test.each([
    ['in quotes', '[remote "origin"]\n\turl = "https://git.example.org/acme/app.git"\n'],
    ['with a comment', '[remote "origin"]\n\turl = https://git.example.org/acme/app ; ours\n'],
    [
      'in quotes, with a number sign',
      '[remote "origin"]\n\turl = "https://git.example.org/acme/app#x" # ours\n',
    ],
    ['in other letters', '[Remote "origin"] # ours\n  URL=https://git.example.org/acme/app\n'],
    ['in one line', '[remote "origin"] url = https://git.example.org/acme/app\n'],
    ['with CRLF', '[remote "origin"]\r\n\turl = https://git.example.org/acme/app\r\n'],
    [
      'behind another one with a bracket',
      '[remote "a]b"]\n\turl = https://x/y/z\n[remote "origin"]\n\tfetch = +refs/heads/[a]:refs/x\n\turl = git@git.example.org:acme/app\n',
    ],
  ])('is read where it stands %s', async (_what, config) => {
    await git('init', '-q');
    writeFileSync(join(folder, '.git', 'config'), `[core]\n\tbare = false\n${config}`);
    expect(await ask(ONE)).toEqual({ code: 0, found: 'r', complaint: '' });
    expect(await ask(ONE, [], false)).toEqual({ code: 0, found: 'r', complaint: '' });
  });

  test('is the one that git makes of it by insteadOf', async () => {
    await setRemote('ours:app');
    await git('config', 'url.https://git.example.org/acme/.insteadOf', 'ours:');
    expect(await ask(ONE)).toEqual({ code: 0, found: 'r', complaint: '' });
  });

  test('is that of the clone where a folder in it or a worktree is', async () => {
    await setRemote('git@git.example.org:acme/app.git');
    await git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'a');
    await git('worktree', 'add', '-q', 'tree');
    mkdirSync(join(folder, 'tree', 'sub'));
    folder = join(folder, 'tree', 'sub');
    try {
      expect(await ask(ONE)).toMatchObject({ found: 'r' });
      expect(await ask(ONE, [], false)).toMatchObject({ found: 'r' });
    } finally {
      folder = join(folder, '..', '..');
    }
  });

  test('is not that of a repository around this one, which has no remote', async () => {
    await setRemote('git@git.example.org:acme/app.git');
    const outer = folder;
    folder = join(outer, 'notes');
    mkdirSync(folder);
    try {
      await git('init', '-q');
      for (const hasGit of [true, false])
        expect(await ask(ONE, [], hasGit)).toMatchObject({ code: 64, found: null });
    } finally {
      folder = outer;
    }
  });

  test.each(['app', 'https://git.example.org/app', 'C:\\src\\app', 'https://[::1', ''])(
    '%s names none, and the words say to name one',
    async (url) => {
      if (url !== '') await setRemote(url);
      expect(await ask(ONE)).toEqual({
        code: 64,
        found: null,
        complaint: 'Name the repository: --repo OWNER/NAME.',
      });
    },
  );
});

describe('two forges that have a repository of one name are told apart', () => {
  const A = 'https://a.example.org';
  const B = 'https://b.example.org';
  const TWO = [repo('a', A), repo('b', B)];
  const PORTS = [repo('443', A), repo('8443', `${A}:8443`), repo('path', `${A}/forge`)];
  const AMBIGUOUS =
    'Several forges have acme/app: name one with --repo a.example.org/acme/app or --repo b.example.org/acme/app.';

  test.each([
    ['a.example.org/acme/app', TWO, 'a'],
    ['B.Example.org/Acme/App', TWO, 'b'],
    ['https://b.example.org/acme/app', TWO, 'b'],
    ['git@b.example.org:acme/app.git', TWO, 'b'],
    ['a.example.org/acme/app', PORTS, '443'],
    ['a.example.org:443/acme/app', PORTS, '443'],
    ['a.example.org:8443/acme/app', PORTS, '8443'],
    ['https://a.example.org:8443/acme/app.git', PORTS, '8443'],
    ['a.example.org/forge/acme/app', PORTS, 'path'],
    ['[::1]:3000/acme/app', [repo('six', 'https://[::1]:3000'), repo('a', A)], 'six'],
    ['b.example.org/acme/app', [repo('a', A), repo('b', `${B}:3000/forge`)], 'b'],
  ])('--repo %s', async (text, repos, id) => {
    expect(await ask(repos, ['--repo', text])).toEqual({ code: 0, found: id, complaint: '' });
  });

  test.each([
    ['https://b.example.org/acme/app.git', TWO, 'b'],
    ['http://b.example.org:3000/acme/app.git', TWO, 'b'],
    ['ssh://git@b.example.org:2222/acme/app.git', TWO, 'b'],
    ['git@b.example.org:acme/app', TWO, 'b'],
    ['https://a.example.org:8443/acme/app', PORTS, '8443'],
    ['https://a.example.org/forge/acme/app', PORTS, 'path'],
    // The host of SSH may be another one than that of the page.
    ['git@ssh.example.org:acme/app', [repo('a', A)], 'a'],
  ])('the remote %s', async (url, repos, id) => {
    await setRemote(url);
    expect(await ask(repos)).toEqual({ code: 0, found: id, complaint: '' });
  });

  test('a name that leaves it open is refused, with each way to name one', async () => {
    expect(await ask(TWO, ['--repo', 'acme/app'])).toEqual({ code: 64, found: null, complaint: AMBIGUOUS });
    await setRemote('git@ssh.example.org:acme/app');
    expect(await ask(TWO)).toEqual({ code: 64, found: null, complaint: AMBIGUOUS });
    await git('remote', 'set-url', 'origin', 'git@a.example.org:acme/app');
    expect((await ask(PORTS)).complaint).toBe(
      'Several forges have acme/app: name one with --repo a.example.org/acme/app or --repo a.example.org:8443/acme/app or --repo a.example.org/forge/acme/app.',
    );
  });

  test('a branch that one of them has alone leaves nothing open', async () => {
    const repos = [repo('a', A), repo('b', B, 'acme/app', 'release')];
    expect(await ask(repos, ['--repo', 'acme/app', '--branch', 'release'])).toMatchObject({ found: 'b' });
  });

  test.each([
    ['c.example.org/acme/app', 'c.example.org/acme/app'],
    ['https://a.example.org:9999/acme/app', 'a.example.org:9999/acme/app'],
  ])('%s is taken for no other one, and the words say which there are', async (text, said) => {
    const complaint = `The token sees no queue of ${said}, but one with --repo a.example.org/acme/app or --repo b.example.org/acme/app.`;
    expect(await ask(TWO, ['--repo', text])).toEqual({ code: 64, found: null, complaint });
    await setRemote(`https://${said}`);
    expect(await ask(TWO)).toEqual({ code: 64, found: null, complaint });
  });

  test('several queues of one repository are named by their branches', async () => {
    const repos = [repo('a', A), repo('r', A, 'acme/app', 'release')];
    expect((await ask(repos, ['--repo', 'acme/app'])).complaint).toBe(
      'acme/app has several queues: name one with --branch main or --branch release.',
    );
    expect((await ask(repos, ['--repo', 'acme/app', '--branch', 'x'])).complaint).toBe(
      'The token sees no queue for x of acme/app, but one with --branch main or --branch release.',
    );
  });

  test('a repository of which the token sees no queue is told with what to check', async () => {
    expect((await ask([repo('a', A)], ['--repo', 'acme/other'])).complaint).toBe(
      'The token sees no queue of acme/other: check the name, that the repository is enrolled, and that the token is for it.',
    );
  });

  test('what is no name of a repository is refused before anything is asked', async () => {
    const { code, sent } = await callCli(['queue', '--repo', 'app'], { env: LOGIN });
    expect([code, sent]).toEqual([64, []]);
  });

  test('status names the forge where it takes one to tell them apart', async () => {
    const repos = [
      ...TWO.map((each) => ({ ...each, queue_enabled: true, pause: null })),
      { ...repo('c', A, 'acme/web'), queue_enabled: false, pause: null },
    ];
    const { out } = await callCli(['status'], { env: LOGIN, answers: { 'queue/status': { repos } } });
    expect(out).toEqual([
      'a.example.org/acme/app main: on',
      'b.example.org/acme/app main: on',
      'acme/web main: off',
    ]);
  });

  test('doctor tells a clone of another forge as one without a queue', async () => {
    await setRemote('https://b.example.org/acme/app');
    const look = async (repos: readonly object[]) =>
      (
        await callCli(['doctor'], {
          env: LOGIN,
          cwd: folder,
          readGit: async (args) => git(...args),
          answers: { 'queue/status': { repos }, 'queue/activity': { repos: [], recent_activity: [] } },
        })
      ).out.filter((line) => line.includes('clone'));
    const known = {
      queue_enabled: true,
      gate: 'external',
      last_delivery_at: null,
      gate_events: { status: null, run: null },
      provisioning: {
        webhook: { status: 'configured' },
        protection: { status: 'configured', detail: null, required: true },
        ci_gate: { status: 'verified', url: null },
      },
    };
    expect(await look([{ ...repo('a', A), ...known }])).toEqual([
      'look clone: b.example.org/acme/app has no queue that this token sees',
    ]);
    expect(await look([{ ...repo('b', B), ...known }])).toEqual(['ok   clone: b.example.org/acme/app']);
  });
});
