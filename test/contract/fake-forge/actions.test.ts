import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judgeGateStatuses } from '#core/domain/forge/status-gate.ts';
import { CI_LOGIN, contextsOf, type JenkinsResult, postOfJenkins } from '../../../local/forge/ci/other-ci.ts';
import { PROFILE_NAMES } from '../../../local/forge/profiles.ts';
import { type Bench, quiet, startBench } from './harness.ts';

/** Longer than any test; a POSIX shell has no such command of its own. */
const WAIT = 'node -e "setTimeout(Boolean, 600000)"';

let bench: Bench;
afterEach(() => bench.close());

async function pushBranch(
  branch: string,
  message: string,
  files: Record<string, string> = {},
): Promise<string> {
  const answer = await bench.api('POST', '/contents', {
    branch: (await bench.forge.control.branches()).includes(branch) ? branch : 'main',
    new_branch: (await bench.forge.control.branches()).includes(branch) ? undefined : branch,
    message,
    files: Object.entries({ [`file-${Math.abs(message.length)}.txt`]: message, ...files }).map(
      ([path, text]) => ({
        operation: 'create',
        path,
        content: Buffer.from(text).toString('base64'),
      }),
    ),
  });
  expect(answer.status).toBe(201);
  return answer.body.commit.sha;
}

interface StatusAnswer {
  readonly id: number;
  readonly context: string;
  readonly status: string;
  readonly description: string;
  readonly creator: { readonly login: string };
  readonly target_url: string;
}

describe('another CI', () => {
  test.each([
    ['woodpecker', 'success', 'success'],
    ['woodpecker', 'failure', 'failure'],
    ['woodpecker', 'cancelled', 'cancelled'],
    ['woodpecker', 'error', 'error'],
    ['jenkins', 'success', 'success'],
    ['jenkins', 'failure', 'failure'],
    ['jenkins', 'cancelled', 'error'],
  ] as const)(
    '%s posts a pipeline that ends in %s so that a gate reads %s, and the forge lists no run',
    async (ci, judged, verdict) => {
      bench = await startBench({ profile: 'fj15' });
      bench.forge.addUser(CI_LOGIN);
      bench.forge.knobs.ci = ci;
      const { control } = bench.forge;
      control.judge = () => judged;
      control.gateDurationMs = 5000;
      const sha = await pushBranch('mq/main/staging', 'stage');
      await quiet(bench);
      const gate = { contexts: contextsOf(ci, control.slug, ['gate']), authors: [CI_LOGIN] };
      const read = async () => {
        const { body } = await bench.api('GET', `/commits/${sha}/statuses`);
        const rows = body as readonly StatusAnswer[];
        return judgeGateStatuses(
          rows.map((row) => ({
            id: row.id,
            context: row.context,
            state: row.status,
            description: row.description,
            creator: row.creator.login,
            url: row.target_url,
            createdAt: 0,
          })),
          gate,
        ).gate;
      };
      expect(await read()).toMatchObject({ kind: 'running' });
      await bench.clock.advance(5000);
      expect(await read()).toMatchObject({
        kind: 'finished',
        verdict,
        url: expect.stringMatching(/^https:/),
      });
      expect((await bench.api('GET', '/actions/runs')).body.total_count).toBe(0);
    },
  );
});

describe('Jenkins', () => {
  const gate = { contexts: ['acme/app/pipeline/head'], authors: [CI_LOGIN] };
  const judge = (results: readonly JenkinsResult[], knowsSkipped: boolean) =>
    judgeGateStatuses(
      results.map((result, id) => {
        const [state, description] = postOfJenkins(result, knowsSkipped);
        return {
          id,
          context: 'acme/app/pipeline/head',
          state,
          description,
          creator: CI_LOGIN,
          url: null,
          createdAt: 0,
        };
      }),
      gate,
    ).gate;

  test.each<readonly [JenkinsResult, string]>([
    ['SUCCESS', 'success'],
    ['UNSTABLE', 'failure'],
    ['FAILURE', 'failure'],
    ['NOT_BUILT', 'error'],
    ['ABORTED', 'error'],
  ])(
    'a build that ends %s is read as %s, on a forge with `skipped` and on one without',
    (result, verdict) => {
      for (const knowsSkipped of [true, false])
        expect(judge(['QUEUED', 'STARTED', 'STARTED', result], knowsSkipped)).toMatchObject({
          kind: 'finished',
          verdict,
        });
    },
  );

  test('a build that is queued again waits for its new end, whatever the build before said', () => {
    expect(judge(['QUEUED', 'STARTED', 'ABORTED', 'QUEUED'], false)).toMatchObject({ kind: 'running' });
    const again = judge(['STARTED', 'ABORTED', 'QUEUED', 'STARTED', 'SUCCESS'], false);
    expect(again).toMatchObject({ kind: 'finished', verdict: 'success' });
  });

  test('queued links to the job of the branch, started to the build, one context whatever the branch', async () => {
    bench = await startBench({ profile: 'fj15' });
    bench.forge.addUser(CI_LOGIN);
    bench.forge.knobs.ci = 'jenkins';
    const { control } = bench.forge;
    control.gateDurationMs = 5000;
    const sha = await pushBranch('mq/main/staging', 'stage');
    await quiet(bench);
    await bench.clock.advance(5000);
    const { body } = await bench.api('GET', `/commits/${sha}/statuses`);
    const rows = (body as readonly StatusAnswer[]).toSorted((a, b) => a.id - b.id);
    const page = `https://jenkins.example.org/job/${control.slug.replace('/', '/job/')}/job/mq%252Fmain%252Fstaging`;
    expect(rows.map((row) => [row.description, row.target_url])).toEqual([
      ['Build queued...', `${page}/display/redirect`],
      ['Build started...', `${page}/1/display/redirect`],
      ['This commit looks good', `${page}/1/display/redirect`],
    ]);
    expect(new Set(rows.map((row) => row.context))).toEqual(new Set([`${control.slug}/pipeline/head`]));
  });
});

describe('judged runs', () => {
  test.each(PROFILE_NAMES)('a push to mq/** starts one run, shown as %s shows it', async (profile) => {
    bench = await startBench({ profile });
    const { control } = bench.forge;
    control.gateDurationMs = 5000;
    const sha = await pushBranch('mq/main/staging', 'stage');
    await pushBranch('feature/x', 'not gated');
    await quiet(bench);
    expect(control.runs()).toMatchObject([{ sha, branch: 'mq/main/staging', state: 'running' }]);
    const context = 'gate / gate (push)';
    expect(await control.status(sha, context)).toMatchObject({ state: 'pending' });
    await bench.clock.advance(5000);
    expect(await control.status(sha, context)).toEqual({
      state: 'success',
      description: 'Successful in 5s',
      creator: profile.startsWith('gt') ? 'gitea-actions' : 'forgejo-actions',
    });
    const runs = await bench.api('GET', `/actions/runs?head_sha=${sha}`);
    expect(runs.status).toBe({ fj11: 404, gt125: 403 }[String(profile)] ?? 200);
    if (profile === 'gt126' || profile === 'gt127') {
      expect(runs.body.workflow_runs).toMatchObject([
        { head_sha: sha, head_branch: 'mq/main/staging', status: 'completed', conclusion: 'success' },
      ]);
    } else if (profile === 'fj15' || profile === 'fj16') {
      expect(runs.body.workflow_runs).toMatchObject([
        {
          commit_sha: sha,
          prettyref: 'mq/main/staging',
          status: 'success',
          workflow_id: 'mq-gate.yaml',
        },
      ]);
      const ref = encodeURIComponent('refs/heads/other');
      expect((await bench.api('GET', `/actions/runs?ref=${ref}`)).body.total_count).toBe(0);
    }
    const tasks = await bench.api('GET', '/actions/tasks');
    expect(tasks.body.workflow_runs).toMatchObject([{ head_sha: sha, status: 'success', name: 'gate' }]);
    const id = control.runs()[0]?.id;
    const cancel = await bench.api('POST', `/actions/runs/${id}/cancel`);
    expect(cancel.status).toBe(profile === 'fj16' ? 204 : 404);
    expect(control.runs()).toMatchObject([{ state: 'success' }]);
  });

  test('[skip ci] in the head message, a deleted branch and a judge that says never start nothing', async () => {
    bench = await startBench();
    const { control } = bench.forge;
    await pushBranch('mq/main/a', 'work [skip ci]');
    await pushBranch('mq/main/b', 'short-lived');
    await bench.api('DELETE', '/branches/mq/main/b');
    await quiet(bench);
    control.judge = () => 'never';
    await pushBranch('mq/main/c', 'nothing comes');
    await quiet(bench);
    expect(control.runs()).toEqual([]);
  });

  test('a newer push on the branch cancels the older run; another branch does not', async () => {
    bench = await startBench();
    const { control } = bench.forge;
    control.judge = () => 'hold';
    const old = await pushBranch('mq/main/staging', 'one');
    await pushBranch('mq/main/staging-2', 'two!');
    await quiet(bench);
    await pushBranch('mq/main/staging', 'three');
    await quiet(bench);
    expect(control.runs().map((run) => run.state)).toEqual(['cancelled', 'running', 'running']);
    expect(await control.status(old, 'gate / gate (push)')).toMatchObject({
      state: 'failure',
      description: 'Has been cancelled',
    });
    const held = control.runs()[2];
    await control.finishRun(held?.id ?? '', 'error');
    expect(control.runs()[2]?.state).toBe('error');
  });

  test('the judge sees the files of the staged tree', async () => {
    bench = await startBench();
    const { control } = bench.forge;
    control.judge = (files) => (files.has('bad.txt') ? 'failure' : 'success');
    await pushBranch('mq/main/staging', 'bad one', { 'bad.txt': 'x' });
    await pushBranch('mq/main/staging-2', 'good one!');
    await bench.clock.advance(2000);
    expect(control.runs().map((run) => run.state)).toEqual(['failure', 'success']);
  });
});

describe('executed runs', () => {
  const WORKFLOW = [
    'name: "real gate" # comment',
    'on: {push: {branches: [mq/**]}}',
    'env:',
    '  GREETING: hello',
    'jobs:',
    '  test:',
    '    name: unit tests',
    '    steps:',
    '    - uses: actions/checkout@v4',
    '    - name: script',
    '      working-directory: sub',
    '      env: { WHO: world }',
    '      run: |',
    '        echo "$GREETING $WHO from $PWD"',
    '        test "$GITHUB_SHA" = "$EXPECTED" || true',
    '',
    '        while read -r line; do echo "$line"; done <data.txt',
    '        test ! -e ../broken',
    '        echo reached the end',
    '',
  ].join('\n');

  async function startReal(): Promise<void> {
    bench = await startBench({
      knobs: { gate: 'run' },
      seed: {
        owner: 'acme',
        name: 'app',
        files: { '.github/workflows/real.yml': WORKFLOW, 'sub/data.txt': 'data of the commit\n' },
        collaborators: { 'mq-bot': 'admin', dev: 'write' },
      },
    });
  }

  test('steps run on the pushed commit, output and exit code are kept and posted', async () => {
    await startReal();
    const { control } = bench.forge;
    const good = await pushBranch('mq/main/good', 'good');
    const bad = await pushBranch('mq/main/bad', 'red one', { broken: 'x' });
    await quiet(bench);
    expect(control.runs().map((run) => [run.sha, run.state])).toEqual([
      [good, 'success'],
      [bad, 'failure'],
    ]);
    expect(await control.status(good, 'real gate / unit tests (push)')).toMatchObject({ state: 'success' });
    expect(await control.status(bad, 'real gate / unit tests (push)')).toMatchObject({ state: 'failure' });
    const log = async (run: number): Promise<string> =>
      (await fetch(`${bench.httpUrl}/acme/app/actions/runs/${run}/jobs/0`)).text();
    expect(await log(1)).toMatch(/hello world from .*\/sub\ndata of the commit\nreached the end/);
    expect(await log(2)).not.toContain('reached the end');
    expect(await log(2)).toContain('exit code 1');
  });

  test('a run that was under way when the forge stopped starts again with it', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'fake-forge-'));
    const seed = {
      owner: 'acme',
      name: 'app',
      files: {
        '.forgejo/workflows/wait.yml':
          `on: push\njobs:\n  wait:\n    steps:\n      - run: test -e "$GATE" || ${WAIT}\n` +
          `        env:\n          GATE: ${join(dataDir, 'open')}\n`,
      },
      collaborators: { 'mq-bot': 'admin' as const },
    };
    bench = await startBench({ dataDir, seed, knobs: { gate: 'run' } });
    const sha = await pushBranch('mq/main/staging', 'stage');
    const first = bench.forge.control;
    const working = bench.forge.settle();
    while (first.runs()[0]?.state !== 'running') await new Promise((done) => setImmediate(done));
    await bench.close();
    await working;
    writeFileSync(join(dataDir, 'open'), '');
    bench = await startBench({ dataDir, seed, knobs: { gate: 'run' } });
    await quiet(bench);
    expect(bench.forge.control.runs()).toMatchObject([{ sha, state: 'success' }]);
    await bench.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('a run that is cancelled has its processes killed', async () => {
    await startReal();
    const { control } = bench.forge;
    await pushBranch('mq/main/slow', 'slow');
    await bench.forge.settle();
    const slow = WORKFLOW.replace('test ! -e ../broken', WAIT);
    expect(slow).toContain(WAIT);
    const { body } = await bench.api('GET', '/contents/.github/workflows/real.yml?ref=mq/main/slow');
    await bench.api('PUT', '/contents/.github/workflows/real.yml', {
      branch: 'mq/main/slow',
      content: Buffer.from(slow).toString('base64'),
      sha: body.sha,
      message: 'slow down',
    });
    const working = bench.forge.settle();
    const run = () => control.runs().at(-1);
    while (run()?.state !== 'running') await new Promise((done) => setImmediate(done));
    await control.finishRun(run()?.id ?? '', 'cancelled');
    await working;
    expect(run()?.state).toBe('cancelled');
  });
});
