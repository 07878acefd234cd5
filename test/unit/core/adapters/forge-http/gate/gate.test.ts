import fc from 'fast-check';
import { createGateReader } from '#core/adapters/forge-http/gate/gate.ts';
import { openScripted } from '../../../../../support/open-scripted.ts';
import { type ScriptedAnswer, type SeenRequest, sha } from '../../../../../support/scripted-forge.ts';

const GATE = { sha: sha(9), branch: 'mq/main/staging', file: '.forgejo/workflows/gate.yml' };
const NO_ROUTE: ScriptedAnswer = { status: 404, text: '<html>not found</html>', type: 'text/html' };
const OLD_VERSION: ScriptedAnswer = { json: { version: '11.0.15+gitea-1.22.0' } };
const MISSING: ScriptedAnswer = { status: 404, json: { message: 'not found', url: 'x' } };

function openGate(respond: (request: SeenRequest, nth: number) => ScriptedAnswer) {
  const { transport, seen } = openScripted(respond);
  return { readGate: createGateReader(transport), seen };
}

function forgejoRun(id: number, change: object = {}) {
  return {
    id,
    title: 't',
    workflow_id: 'gate.yml',
    index_in_repo: id,
    prettyref: 'mq/main/staging',
    commit_sha: sha(9),
    event: 'push',
    trigger_event: 'push',
    status: 'running',
    html_url: `https://forge.test/acme/app/actions/runs/${id}`,
    ...change,
  };
}

function giteaRun(id: number, status: string, conclusion: string | null, change: object = {}) {
  return {
    id,
    path: 'gate.yml@refs/heads/mq/main/staging',
    event: 'push',
    head_sha: sha(9),
    head_branch: 'mq/main/staging',
    status,
    conclusion,
    html_url: `https://forge.test/acme/app/actions/runs/${id}`,
    ...change,
  };
}

async function readRuns(runs: readonly unknown[] | null) {
  const { readGate } = openGate(() => ({ json: { workflow_runs: runs, total_count: runs?.length ?? 0 } }));
  return readGate(GATE);
}

describe('runs of one commit that pushes of several accounts began', () => {
  const by = (login: string) => ({ trigger_user: { login } });
  const onGitea = (login: string) => ({ actor: { login }, trigger_actor: { login: 'dev' } });
  const ours = { ...by('mq-bot'), status: 'failure' };
  const theirs = { ...by('dev'), status: 'success' };

  async function read(runs: readonly unknown[], startedBy?: 'us') {
    const { readGate, seen } = openGate(({ path }) =>
      path.endsWith('/user')
        ? { json: { login: 'mq-bot' } }
        : { json: { workflow_runs: runs, total_count: runs.length } },
    );
    return { reading: await readGate(GATE, startedBy), calls: seen.length };
  }

  test.each([
    ['Forgejo', [forgejoRun(5, theirs), forgejoRun(4, ours)]],
    [
      'Gitea',
      [
        giteaRun(5, 'completed', 'success', onGitea('dev')),
        giteaRun(4, 'completed', 'failure', onGitea('mq-bot')),
      ],
    ],
  ])('on %s that of our own push counts, and the newest where any does', async (_name, runs) => {
    expect((await read(runs, 'us')).reading).toMatchObject({ verdict: 'failure', runId: '4' });
    expect((await read(runs)).reading).toMatchObject({ verdict: 'success', runId: '5' });
  });

  test('none is ours: none counts, and that there are others is told', async () => {
    expect((await read([forgejoRun(5, theirs)], 'us')).reading).toEqual({ kind: 'none', isOfOthers: true });
    expect((await read([], 'us')).reading).toEqual({ kind: 'none' });
  });

  test('one whose account is not told counts', async () => {
    const { reading } = await read([forgejoRun(5, { status: 'success', trigger_user: null })], 'us');
    expect(reading).toMatchObject({ verdict: 'success' });
  });

  test('our own account is asked for once there is a verdict, and once', async () => {
    expect((await read([forgejoRun(5, by('mq-bot'))], 'us')).calls).toBe(1);
    expect((await read([forgejoRun(5, ours)], 'us')).calls).toBe(2);
    expect((await read([forgejoRun(5, theirs)])).calls).toBe(1);
  });
});

describe('a list of which the forge fails on the runs of an account that was deleted', () => {
  const FAILS: ScriptedAnswer = { status: 500, json: { message: '', url: 'x' } };
  const by = (login: string) => ({ trigger_user: { login } });

  /** `null`: a run that cannot be shown. */
  function open(runs: readonly (object | null)[], startedBy?: 'us') {
    const { readGate, seen } = openGate(({ path, query }) => {
      if (path.endsWith('/user')) return { json: { login: 'mq-bot' } };
      const size = Number(query.limit);
      const rows = runs.slice((Number(query.page) - 1) * size, Number(query.page) * size);
      return rows.includes(null) ? FAILS : { json: { workflow_runs: rows, total_count: runs.length } };
    });
    return { read: () => readGate(GATE, startedBy), seen };
  }

  test.each([[0], [1], [2]])('has those of our own pushes, wherever that run stands (%d)', async (at) => {
    const shown = [
      forgejoRun(4, { ...by('mq-bot'), status: 'failure' }),
      forgejoRun(6, { ...by('dev'), status: 'success' }),
    ];
    const { read, seen } = open(shown.toSpliced(at, 0, null as never), 'us');
    expect(await read()).toMatchObject({ verdict: 'failure', runId: '4' });
    const asked = seen.filter(({ path }) => path.endsWith('/runs'));
    expect(asked.map(({ query }) => query.limit)).toEqual(['50', '1', '1', '1', '1']);
    expect(new Set(asked.map(({ query }) => query.head_sha))).toEqual(new Set([sha(9)]));
  });

  test('has none of ours: none counts yet', async () => {
    expect(await open([null], 'us').read()).toEqual({ kind: 'none' });
  });

  test('is not known where the runs of each account count, as the one that is hidden may be the newest', async () => {
    const { read, seen } = open([forgejoRun(4, { status: 'success' }), null]);
    await expect(read()).rejects.toMatchObject({ status: 500, call: 'GET actions/runs' });
    expect(seen).toHaveLength(1);
  });

  test('is not known where none of the first ten can be shown, which is a forge that fails', async () => {
    const { read, seen } = open(Array(60).fill(null), 'us');
    await expect(read()).rejects.toMatchObject({ status: 500, call: 'GET actions/runs' });
    expect(seen).toHaveLength(11);
  });

  test('is not known where fifty bring no end', async () => {
    const { read, seen } = open([forgejoRun(1), ...Array(60).fill(null)], 'us');
    await expect(read()).rejects.toMatchObject({ kind: 'unreachable', status: null });
    expect(seen).toHaveLength(51);
  });

  test.each([
    ['a proxy fails', { status: 502, text: '<html>', type: 'text/html' }],
    ['the page is no answer of the forge', { status: 500, text: '<html>', type: 'text/html' }],
  ])('is not read one by one where %s', async (_name, answer) => {
    const { readGate, seen } = openGate(() => answer);
    await expect(readGate(GATE, 'us')).rejects.toMatchObject({ status: answer.status });
    expect(seen).toHaveLength(1);
  });
});

describe('a run list', () => {
  test.each(
    [['', '{}', null, 'no JSON', '{"ref":"refs/heads/mq/main/staging"}', { ref: 'refs/tags/x' }]].flat(),
  )('is believed for the branch where its payload says %j', async (event_payload) => {
    expect(await readRuns([forgejoRun(4, { status: 'success', event_payload })])).toMatchObject({
      kind: 'finished',
    });
  });

  test.each([
    ['of more values than an answer may have', `"x":[${'[],'.repeat(200_000)}0]}`],
    ['that was cut', '"before":"0000'],
  ])('tells the branch at the begin of a payload %s', async (_name, rest) => {
    const parse = jest.spyOn(JSON, 'parse');
    const kinds: string[] = [];
    for (const ref of ['refs/heads/mq/main/staging', 'refs/tags/mq/main/staging']) {
      const event_payload = `{"ref":"${ref}",${rest}`;
      kinds.push((await readRuns([forgejoRun(4, { status: 'success', event_payload })])).kind);
    }
    const parsed = parse.mock.calls.map(([text]) => text);
    parse.mockRestore();
    expect([kinds, parsed.some((text) => text.endsWith(rest))]).toEqual([['finished', 'none'], false]);
  });

  test('is asked with the filters of every version', async () => {
    const { readGate, seen } = openGate(() => ({ json: { workflow_runs: [], total_count: 0 } }));
    expect(await readGate(GATE)).toEqual({ kind: 'none' });
    expect(seen).toMatchObject([
      {
        path: '/actions/runs',
        query: {
          head_sha: sha(9),
          event: 'push',
          ref: 'refs/heads/mq/main/staging',
          workflow_id: 'gate.yml',
          branch: 'mq/main/staging',
          page: '1',
          limit: '50',
        },
      },
    ]);
  });

  test.each([
    ['waiting', 'waiting'],
    ['running', 'running'],
    ['blocked', 'waiting'],
    ['', 'running'],
    ['SUCCESS', 'running'],
    ['neutral', 'running'],
    ['success', 'success'],
    ['failure', 'failure'],
    ['cancelled', 'cancelled'],
    ['error', 'error'],
    ['skipped', 'error'],
    ['unknown', 'error'],
  ])('Forgejo status %s: %s', async (status, expected) => {
    const run = { runId: '4', url: 'https://forge.test/acme/app/actions/runs/4' };
    expect(await readRuns([forgejoRun(4, { status })])).toEqual(
      expected === 'running'
        ? { kind: 'running', ...run }
        : expected === 'waiting'
          ? { kind: 'running', ...run, waitsForRunner: true }
          : {
              kind: 'finished',
              verdict: expected,
              ...run,
              ...(['skipped', 'unknown'].includes(status) ? { isSkipped: true } : {}),
            },
    );
  });

  test.each([
    ['queued', null, 'waiting'],
    ['waiting', '', 'waiting'],
    ['in_progress', null, 'running'],
    ['completed', null, 'error'],
    ['completed', '', 'error'],
    ['completed', 'timed_out', 'running'],
    ['completed', 'action_required', 'running'],
    ['completed', 'success', 'success'],
    ['completed', 'failure', 'failure'],
    ['completed', 'cancelled', 'cancelled'],
    ['completed', 'skipped', 'error'],
    ['in_progress', 'success', 'running'],
  ])('Gitea status %s, conclusion %s: %s', async (status, conclusion, expected) => {
    const reading = await readRuns([giteaRun(4, status, conclusion)]);
    expect(reading).toMatchObject(
      ['running', 'waiting'].includes(expected)
        ? { kind: 'running' }
        : { kind: 'finished', verdict: expected },
    );
    expect('waitsForRunner' in reading).toBe(expected === 'waiting');
    expect('isSkipped' in reading).toBe(expected === 'error');
  });

  test('no word but the known ones ends a run, and none but success is success (A11)', async () => {
    const known = ['success', 'failure', 'cancelled', 'error', 'skipped', 'unknown'];
    const word = fc.string().filter((text) => !known.includes(text));
    await fc.assert(
      fc.asyncProperty(word, word, async (status, conclusion) => {
        expect(await readRuns([forgejoRun(4, { status })])).toMatchObject({ kind: 'running' });
        fc.pre(conclusion !== '');
        expect(await readRuns([giteaRun(4, 'completed', conclusion)])).toMatchObject({ kind: 'running' });
      }),
    );
  });

  test.each([
    ['another commit', forgejoRun(9, { commit_sha: sha(8), status: 'success' })],
    ['another branch', forgejoRun(9, { prettyref: 'main', status: 'success' })],
    ['a pull request', forgejoRun(9, { prettyref: '#12', event: 'pull_request', status: 'success' })],
    ['another event', forgejoRun(9, { event: 'workflow_dispatch', status: 'success' })],
    ['a schedule that a push brought', forgejoRun(9, { trigger_event: 'schedule', status: 'success' })],
    ['another workflow', forgejoRun(9, { workflow_id: 'other-gate.yml', status: 'success' })],
    // Forgejo before 15 lists it with the same name as a branch, and has no filter for it.
    [
      'a tag with the name of the branch',
      forgejoRun(9, { event_payload: '{"ref":"refs/tags/mq/main/staging"}', status: 'success' }),
    ],
    ['no commit', forgejoRun(9, { commit_sha: undefined, status: 'success' })],
    ['no branch', forgejoRun(9, { prettyref: undefined, status: 'success' })],
    ['no workflow', forgejoRun(9, { workflow_id: undefined, status: 'success' })],
    ['a null row', null],
    ['another commit (Gitea)', giteaRun(9, 'completed', 'success', { head_sha: sha(8) })],
    ['another branch (Gitea)', giteaRun(9, 'completed', 'success', { head_branch: 'main' })],
    ['no branch (Gitea)', giteaRun(9, 'completed', 'success', { head_branch: null })],
    [
      'another workflow (Gitea)',
      giteaRun(9, 'completed', 'success', { path: 'x.yml@refs/heads/mq/main/staging' }),
    ],
    // Both forges run the workflows of folders below, and name each by its path.
    ['a workflow in a folder below', forgejoRun(9, { workflow_id: 'deeper/gate.yml', status: 'success' })],
    [
      'a workflow in a folder below (Gitea)',
      giteaRun(9, 'completed', 'success', { path: 'deeper/gate.yml@refs/heads/mq/main/staging' }),
    ],
    [
      'a workflow in a second folder of workflows',
      forgejoRun(9, { workflow_id: '.forgejo/workflows/gate.yml', status: 'success' }),
    ],
    ...['.gitea/workflows', '.github/workflows', '.forgejo/workflows'].map((folder): [string, object] => [
      `a workflow in a second folder ${folder} (Gitea)`,
      giteaRun(9, 'completed', 'success', { path: `${folder}/gate.yml@refs/heads/mq/main/staging` }),
    ]),
    [
      'a workflow whose name begins like that of the gate (Gitea)',
      giteaRun(9, 'completed', 'success', { path: 'gate.yml@2.yml@refs/heads/mq/main/staging' }),
    ],
  ])('a decoy of %s is no evidence (A12)', async (_name, decoy) => {
    expect(await readRuns([decoy])).toEqual({ kind: 'none' });
    expect(await readRuns([decoy, forgejoRun(4, { status: 'failure' })])).toMatchObject({
      verdict: 'failure',
    });
  });

  test('the newest attempt counts, in whatever order and on whatever page it comes', async () => {
    const rows = [5, 9, 7].map((id) => forgejoRun(id, { status: id === 9 ? 'failure' : 'success' }));
    const { readGate, seen } = openGate((request) => ({
      json: {
        workflow_runs: rows.slice(Number(request.query.page) - 1, Number(request.query.page)),
        total_count: 3,
      },
    }));
    expect(await readGate(GATE)).toMatchObject({ kind: 'finished', verdict: 'failure', runId: '9' });
    expect(seen).toHaveLength(3);
  });

  describe('of a forge that runs workflows of other repositories here too (Gitea 1.27)', () => {
    const scoped = giteaRun(9, 'completed', 'success', { previous_attempt_url: null });
    const OF_GATE = '/actions/workflows/gate.yml/runs';
    const openBoth = (own: ScriptedAnswer) =>
      openGate(({ path }) =>
        path === OF_GATE ? own : { json: { workflow_runs: [scoped], total_count: 1 } },
      );

    test('the newest run of the own file counts, and later looks ask for it alone', async () => {
      const own = giteaRun(4, 'completed', 'failure', { previous_attempt_url: null });
      const { readGate, seen } = openBoth({ json: { workflow_runs: [own], total_count: 1 } });
      expect(await readGate(GATE)).toMatchObject({ kind: 'finished', verdict: 'failure', runId: '4' });
      expect(await readGate(GATE)).toMatchObject({ verdict: 'failure' });
      expect(seen.map(({ path }) => path)).toEqual(['/actions/runs', OF_GATE, OF_GATE]);
      expect(seen[1]?.query).toMatchObject({ head_sha: sha(9), branch: 'mq/main/staging', event: 'push' });
    });

    test('pull requests from the branch of a run are left out of both lists', async () => {
      const { readGate, seen } = openBoth({ json: { workflow_runs: [scoped], total_count: 1 } });
      await readGate(GATE);
      expect(seen.map(({ query }) => query.exclude_pull_requests)).toEqual(['true', 'true']);
    });

    test('no run is told of a repository that does not show', async () => {
      const { readGate } = openGate(({ path }) =>
        path === '/actions/runs' ? { json: { workflow_runs: [scoped], total_count: 1 } } : MISSING,
      );
      await expect(readGate(GATE)).rejects.toThrow('missing');
    });

    test('no run of the own file is none, also where that file never ran', async () => {
      expect(await openBoth(MISSING).readGate(GATE)).toEqual({ kind: 'none' });
      const none = { json: { workflow_runs: null, total_count: 0 } };
      expect(await openBoth(none).readGate(GATE)).toEqual({ kind: 'none' });
    });

    test('a proxy that answers in its place makes no run of another repository the gate', async () => {
      await expect(openBoth(NO_ROUTE).readGate(GATE)).rejects.toThrow('GET actions/workflows/{file}/runs');
    });
  });

  test.each([null, []])('with nothing in it (%j)', async (runs) => {
    expect(await readRuns(runs)).toEqual({ kind: 'none' });
  });

  test.each(['javascript:alert(1)', '', 'data:text/html,x', `https://x/${'a'.repeat(3000)}`, 'http://['])(
    'a link %j is not shown',
    async (html_url) => {
      expect(await readRuns([forgejoRun(4, { html_url })])).toMatchObject({ url: null });
    },
  );
});

/** Forgejo 11 and Gitea 1.22: no run list, but a task list and the statuses that Actions posts. */
describe('a forge without a run list', () => {
  const job = (run: number, name: string, status: string, change: object = {}) => ({
    id: run * 10,
    context: `Gate / ${name} (push)`,
    status,
    description: '',
    target_url: `/acme/app/actions/runs/${run}/jobs/0`,
    creator: null,
    created_at: '2026-01-01T00:00:10Z',
    ...change,
  });
  const task = (run: number, change: object = {}) => ({
    id: run,
    name: 'test',
    head_branch: 'mq/main/staging',
    head_sha: sha(9),
    run_number: run,
    event: 'push',
    status: 'success',
    workflow_id: 'gate.yml',
    created_at: '2026-01-01T00:00:20Z',
    ...change,
  });

  function openOld(statuses: readonly unknown[], tasks: readonly unknown[] | ScriptedAnswer) {
    return openGate((request) => {
      if (request.path === '/actions/runs') return NO_ROUTE;
      if (request.path === '/version') return OLD_VERSION;
      const first = request.query.page === '1';
      if (request.path === '/actions/tasks') {
        return Array.isArray(tasks)
          ? { json: { workflow_runs: first ? tasks : null, total_count: tasks.length } }
          : (tasks as ScriptedAnswer);
      }
      return { json: first ? statuses : [] };
    });
  }

  const skipped = { description: 'Has been skipped' };
  const cancelled = { description: 'Has been cancelled' };
  /** The tasks of these jobs, as they ended. */
  const tasksOf = (jobs: readonly ReturnType<typeof job>[]) =>
    jobs.map(({ context, status, description }, at) => {
      const ends = ['success', 'failure', 'skipped'].includes(status) ? status : 'running';
      const end = /Has been (.*)/.exec(description)?.[1] ?? ends;
      return task(4, { id: at, name: / \/ (.*) \(push\)/.exec(context)?.[1], status: end });
    });

  test.each([
    ['one job passed', [job(4, 'a', 'success')], 'success'],
    ['all jobs passed', [job(4, 'a', 'success'), job(4, 'b', 'success')], 'success'],
    ['one passed, one was skipped', [job(4, 'a', 'success'), job(4, 'b', 'skipped')], 'success'],
    [
      'one passed, one was skipped in old words',
      [job(4, 'a', 'success'), job(4, 'b', 'success', skipped)],
      'success',
    ],
    ['all were skipped', [job(4, 'a', 'skipped'), job(4, 'b', 'skipped')], 'error'],
    ['all were skipped in old words', [job(4, 'a', 'success', skipped)], 'error'],
    ['one failed', [job(4, 'a', 'success'), job(4, 'b', 'failure')], 'failure'],
    ['one failed while one runs', [job(4, 'a', 'pending'), job(4, 'b', 'failure')], 'failure'],
    ['one was cancelled', [job(4, 'a', 'success'), job(4, 'b', 'failure', cancelled)], 'cancelled'],
    [
      'one failed and one was cancelled',
      [job(4, 'a', 'failure', cancelled), job(4, 'b', 'failure')],
      'failure',
    ],
    ['one is in error', [job(4, 'a', 'success'), job(4, 'b', 'error')], 'error'],
    ['one is pending', [job(4, 'a', 'success'), job(4, 'b', 'pending')], 'running'],
    ['one is in an unknown state', [job(4, 'a', 'success'), job(4, 'b', 'warning')], 'running'],
  ])('%s', async (name, statuses, expected) => {
    const run = { runId: '4', url: 'https://forge.test/acme/app/actions/runs/4' };
    const wasSkipped = name.startsWith('all were skipped') ? { isSkipped: true } : {};
    const mayBeLate = expected === 'success' ? { isOpenEnded: true } : {};
    expect(await openOld(statuses, tasksOf(statuses)).readGate(GATE)).toEqual(
      expected === 'running'
        ? { kind: 'running', ...run }
        : { kind: 'finished', verdict: expected, ...run, ...wasSkipped, ...mayBeLate },
    );
  });

  test.each([
    ['no statuses', [], [task(4)]],
    ['a status that a person posted', [job(4, 'a', 'success', { creator: { login: 'dev' } })], [task(4)]],
    ['a person of that name', [job(4, 'a', 'success', { creator: { login: 'forgejo-actions' } })], [task(4)]],
    [
      'a status of another event',
      [job(4, 'a', 'success', { context: 'Gate / a (pull_request)' })],
      [task(4)],
    ],
    ['a status without a run', [job(4, 'a', 'success', { target_url: 'https://elsewhere' })], [task(4)]],
    ['an ended run that no task names', [job(4, 'a', 'success')], []],
    ['a task on another branch', [job(4, 'a', 'success')], [task(4, { head_branch: 'main' })]],
    ['a task of another workflow', [job(4, 'a', 'success')], [task(4, { workflow_id: 'x.yml' })]],
    ['a task of another event', [job(4, 'a', 'success')], [task(4, { event: 'schedule' })]],
    ['a task of another commit', [job(4, 'a', 'success')], [task(4, { head_sha: sha(1) })]],
    ['a running decoy', [job(4, 'a', 'pending')], [task(4, { workflow_id: 'x.yml' })]],
    ['a task list that is switched off', [job(4, 'a', 'success')], MISSING],
  ])('%s is no evidence (A12)', async (_name, statuses, tasks) => {
    expect(await openOld(statuses, tasks).readGate(GATE)).toEqual({ kind: 'none' });
  });

  test('a run that waits for a runner is running, though no task says whose it is', async () => {
    const waiting = [job(4, 'a', 'pending'), job(5, 'a', 'pending', { context: 'Other / a (push)' })];
    const reading = await openOld(waiting, [task(5, { workflow_id: 'other.yml' })]).readGate(GATE);
    expect(reading).toMatchObject({ kind: 'running', runId: '4' });
  });

  test('the newest run of the gate counts', async () => {
    const statuses = [job(4, 'a', 'success'), job(6, 'b', 'failure')];
    const reading = await openOld(statuses, [task(6), task(4)]).readGate(GATE);
    expect(reading).toMatchObject({ kind: 'finished', verdict: 'failure', runId: '6' });
  });

  test('of one job, the newest word counts, in whatever order it comes', async () => {
    const words = [
      job(4, 'a', 'pending', { id: 41 }),
      job(4, 'a', 'success', { id: 43 }),
      job(4, 'a', 'pending', { id: 42 }),
    ];
    expect(await openOld(words, [task(4, { name: 'a' })]).readGate(GATE)).toMatchObject({
      verdict: 'success',
    });
  });

  test('a later run of another workflow with the same names hides nothing', async () => {
    const statuses = [job(5, 'a', 'failure'), job(4, 'a', 'success')];
    const reading = await openOld(statuses, [
      task(5, { workflow_id: 'other.yml' }),
      task(4, { name: 'a' }),
    ]).readGate(GATE);
    expect(reading).toMatchObject({ verdict: 'success', runId: '4' });
  });

  test('a job that only another run of these names shows may be open', async () => {
    const statuses = [job(5, 'a', 'success'), job(4, 'a', 'success'), job(4, 'b', 'pending')];
    const reading = await openOld(statuses, [task(5), task(4)]).readGate(GATE);
    expect(reading).toMatchObject({ kind: 'running', runId: '5' });
  });

  describe('where a workflow or a job has a name that is hard to tell from others', () => {
    const named = (context: string, status: string, run = 4) => job(run, '', status, { context });

    test('a workflow without a name, whose context begins with a slash', async () => {
      const passed = named('/ a (push)', 'success');
      const b = (status: string) => named('/ b (push)', status);
      const a = task(4, { name: 'a' });
      const read = (rows: readonly unknown[], tasks: readonly unknown[]) =>
        openOld(rows, tasks).readGate(GATE);
      expect(await read([passed], [a])).toMatchObject({ verdict: 'success' });
      expect(
        await read([passed, b('failure')], [task(4, { name: 'b', status: 'failure' }), a]),
      ).toMatchObject({
        verdict: 'failure',
      });
      // Its own run may lack the job that the other run shows.
      expect(await read([passed, named('/ b (push)', 'pending', 5)], [a])).toMatchObject({ kind: 'running' });
    });

    test('a job whose name has a slash, shown by another run alone, may be open', async () => {
      const statuses = [named('Gate / b / linux (push)', 'pending', 5), job(4, 'a', 'success')];
      const a = task(4, { name: 'a' });
      // The workflow of the other run may be called `Gate / b`, and its job `linux`.
      const theirs = task(5, { name: 'linux', workflow_id: 'other.yml', status: 'success' });
      expect(await openOld(statuses, [a]).readGate(GATE)).toMatchObject({ kind: 'running' });
      expect(await openOld(statuses, [theirs, a]).readGate(GATE)).toMatchObject({ kind: 'running' });
    });
  });

  describe('of which a job may have no status', () => {
    const at = (number: number, name: string, status: string, change: object = {}) =>
      job(4, name, status, {
        id: 40 + number,
        target_url: `/acme/app/actions/runs/4/jobs/${number}`,
        ...change,
      });
    const ofJob = (name: string, status = 'success') => task(4, { name, status });

    test.each([
      // The forge has failed to post it, or its name is that of the first one and it waits for a runner.
      ['the second of three', [at(0, 'a', 'success'), at(2, 'c', 'success')], ['c', 'a'], 'running'],
      // The last word of two jobs of one name was the same.
      ['one whose twin was told', [at(0, 'a', 'success'), at(2, 'c', 'success')], ['c', 'a', 'a'], 'success'],
      [
        'one that was skipped with its twin',
        [at(0, 'a', 'success'), at(1, 'b', 'skipped'), at(2, 'c', 'skipped'), at(4, 'd', 'skipped')],
        ['a', ['b', 'skipped']],
        'success',
      ],
    ] as const)('%s', async (_name, statuses, tasks, expected) => {
      const rows = tasks.map((each) => (typeof each === 'string' ? ofJob(each) : ofJob(...each)));
      expect(await openOld(statuses, rows).readGate(GATE)).toMatchObject(
        expected === 'running' ? { kind: 'running' } : { verdict: expected },
      );
    });
  });

  test.each([
    ['and none was skipped that it could wait for', [], 'running'],
    ['after one that a runner has skipped', [task(4, { name: 'b', status: 'skipped' })], 'success'],
  ])('a job was skipped before a runner took it, %s', async (_name, taken, expected) => {
    const statuses = [
      job(4, 'a', 'success'),
      ...(taken.length > 0 ? [job(4, 'b', 'success', skipped)] : []),
      job(4, 'c', 'success', skipped),
    ];
    expect(await openOld(statuses, [...taken, task(4, { name: 'a' })]).readGate(GATE)).toMatchObject(
      expected === 'running' ? { kind: 'running' } : { verdict: expected },
    );
  });

  test.each([
    ['that a runner had begun', 'Has started running', [task(4, { name: 'a' })], 'success'],
    [
      'that a runner had begun, which runs',
      'Has started running',
      [task(4, { name: 'a', status: 'running' })],
      'running',
    ],
    // Posted after the end of a quick job, or a person has the job run once more: it has passed.
    ['that is told as waiting', 'Waiting to run', [task(4, { name: 'a' })], 'success'],
    ['that is told as waiting, and no runner took', 'Waiting to run', [task(4, { name: 'b' })], 'running'],
    // The other one may be of a job of the same name, whose words were left out too.
    [
      'of two',
      'Has started running',
      [task(4, { name: 'a' }), task(4, { name: 'a', status: 'failure' })],
      'running',
    ],
  ])('the end of a job is not the newest word of it: one %s', async (_name, description, tasks, expected) => {
    const statuses = [job(5, 'a', 'success', { id: 99 }), job(4, 'a', 'pending', { description })];
    const theirs = task(5, { name: 'a', workflow_id: 'other.yml' });
    expect(await openOld(statuses, [theirs, ...tasks]).readGate(GATE)).toMatchObject(
      expected === 'running' ? { kind: 'running' } : { verdict: expected },
    );
  });

  test.each([
    ['now', '2026-01-01T00:00:39Z', 'running'],
    ['a while ago', '2026-01-01T00:00:40Z', 'success'],
  ])('a run whose last job was told %s', async (_name, now, expected) => {
    const statuses = [
      job(4, 'a', 'success', { created_at: '2026-01-01T00:00:12Z' }),
      job(4, 'a', 'pending', { id: 1, created_at: '2026-01-01T00:00:09Z' }),
      job(4, 'b', 'success', { target_url: '/acme/app/actions/runs/4/jobs/1' }),
    ];
    const tasks = { json: { workflow_runs: [task(4, { name: 'b' }), task(4, { name: 'a' })] } };
    const reading = await openOld(statuses, {
      ...tasks,
      headers: { date: new Date(now).toUTCString() },
    }).readGate(GATE);
    const settles = { kind: 'running', settlesInMs: 1_000 };
    expect(reading).toMatchObject(expected === 'running' ? settles : { verdict: expected });
  });

  test('a job of one name and a task of another that ends like it', async () => {
    const statuses = [
      job(4, 'a', 'success'),
      job(4, 'b / a', 'success', { target_url: '/acme/app/actions/runs/4/jobs/1' }),
    ];
    expect(await openOld(statuses, [task(4, { name: 'a' })]).readGate(GATE)).toMatchObject({
      kind: 'running',
    });
  });

  test.each([
    ['passed', 'success', 'success'],
    ['failed', 'failure', 'failure'],
    ['runs', 'pending', 'running'],
  ])(
    'a workflow without a name, whose contexts the forge cuts the first space off, %s',
    async (_name, status, expected) => {
      const statuses = [job(4, 'a', status, { context: '/ a (push)' })];
      const ends = status === 'pending' ? 'running' : status;
      const reading = await openOld(statuses, [task(4, { name: 'a', status: ends })]).readGate(GATE);
      expect(reading).toMatchObject(
        expected === 'running' ? { kind: 'running' } : { kind: 'finished', verdict: expected },
      );
    },
  );

  test('a job with a slash in its name that only a run of another workflow of this name shows may be open', async () => {
    const statuses = [job(5, 'suite / b', 'pending'), job(4, 'a', 'success')];
    const tasks = [task(5, { workflow_id: 'other.yml', name: 'suite / b' }), task(4, { name: 'a' })];
    expect(await openOld(statuses, tasks).readGate(GATE)).toMatchObject({ kind: 'running', runId: '4' });
  });

  test('a job that failed counts where no status of it is told', async () => {
    const statuses = [job(5, 'b', 'failure'), job(4, 'a', 'success')];
    const tasks = [
      task(5, { workflow_id: 'other.yml', name: 'b', status: 'failure' }),
      task(4, { id: 8, name: 'b', status: 'failure' }),
      task(4, { id: 7, name: 'a' }),
    ];
    expect(await openOld(statuses, tasks).readGate(GATE)).toMatchObject({ verdict: 'failure', runId: '4' });
  });

  describe('with a job that is told as skipped and that no runner has taken', () => {
    const statuses = [job(4, 'a', 'success'), job(4, 'b', 'success', { ...skipped, id: 99 })];

    test('it may wait for a runner', async () => {
      const reading = await openOld(statuses, [task(4, { name: 'a' })]).readGate(GATE);
      expect(reading).toMatchObject({ kind: 'running', runId: '4' });
    });

    test('it is skipped where a runner skipped another one that it needs', async () => {
      const needed = job(4, 'c', 'success', { ...skipped, id: 98 });
      const tasks = [task(4, { id: 8, name: 'c', status: 'skipped' }), task(4, { id: 7, name: 'a' })];
      const reading = await openOld([...statuses, needed], tasks).readGate(GATE);
      expect(reading).toMatchObject({ verdict: 'success' });
    });
  });

  /** Each job of the repository is given a token that posts in the name of Actions. */
  describe('on which a job of another workflow posts that a job has passed', () => {
    const passed = job(4, 'a', 'success');
    const posted = job(4, 'b', 'success', { id: 99 });
    const b = (status: string, id: number) => task(4, { id, name: 'b', status });

    test.each([
      ['which has failed', [b('failure', 8)], 'failure'],
      ['which has passed once, and failed since', [b('failure', 9), b('success', 8)], 'failure'],
      ['which was cancelled', [b('cancelled', 8)], 'cancelled'],
      ['which runs', [b('running', 8)], 'running'],
      ['which waits for a runner', [], 'running'],
      ['which failed once, and has passed since', [b('success', 9), b('failure', 8)], 'success'],
    ])('%s', async (_name, tasks, expected) => {
      const statuses = [posted, job(4, 'b', 'failure', { id: 45 }), passed];
      expect(await openOld(statuses, [...tasks, task(4, { name: 'a' })]).readGate(GATE)).toMatchObject(
        expected === 'running' ? { kind: 'running' } : { kind: 'finished', verdict: expected },
      );
    });

    test('and whose twin has passed', async () => {
      const twin = { target_url: '/acme/app/actions/runs/4/jobs/1' };
      const statuses = [posted, job(4, 'b', 'success', twin), passed];
      const reading = await openOld(statuses, [b('success', 9), task(4, { name: 'a' })]).readGate(GATE);
      expect(reading).toMatchObject({ kind: 'running' });
    });
  });

  describe('with two jobs of one name, which share a context', () => {
    // Actions posts nothing for a job where the newest row of its context says the same already.
    const ofJob = (at: number, id: number, status: string) =>
      job(4, 'test', status, { id, target_url: `/acme/app/actions/runs/4/jobs/${at}` });
    const named = (id: number, status: string) => task(4, { id, name: 'test', status });

    test.each([
      ['one passed, the other one runs', [ofJob(0, 1, 'success')], ['success', 'running'], 'running'],
      [
        'one failed before the other one passed',
        [ofJob(0, 1, 'failure'), ofJob(1, 2, 'success')],
        ['failure', 'success'],
        'failure',
      ],
      [
        'one passed, and the other one began before and ended after it',
        [ofJob(0, 1, 'pending'), ofJob(1, 2, 'success')],
        ['success', 'success'],
        'success',
      ],
      [
        'one passed, and the other one waits for a runner',
        [ofJob(0, 1, 'success'), ofJob(1, 2, 'pending')],
        ['success'],
        'running',
      ],
    ])('%s', async (_name, statuses, tasks, expected) => {
      const rows = tasks.map((status, at) => named(41 + at, status)).reverse();
      expect(await openOld(statuses, rows).readGate(GATE)).toMatchObject(
        expected === 'running' ? { kind: 'running' } : { kind: 'finished', verdict: expected },
      );
    });
  });

  test('tasks older than the commit’s own end the search', async () => {
    const foreign = (page: number) => [
      task(100 - page, {
        head_sha: sha(1),
        created_at: page < 3 ? '2026-01-01T00:00:20Z' : '2026-01-01T00:00:00Z',
      }),
    ];
    const { readGate, seen } = openGate((request) => {
      if (request.path === '/actions/runs') return NO_ROUTE;
      if (request.path === '/version') return OLD_VERSION;
      const page = Number(request.query.page);
      if (request.path === '/actions/tasks')
        return { json: { workflow_runs: foreign(page), total_count: 999 } };
      return { json: page === 1 ? [job(4, 'a', 'pending')] : [] };
    });
    expect(await readGate(GATE)).toMatchObject({ kind: 'running', runId: '4' });
    expect(seen.filter((request) => request.path === '/actions/tasks')).toHaveLength(3);
  });

  test('is asked for its run list once', async () => {
    const { readGate, seen } = openOld([job(4, 'a', 'success')], [task(4)]);
    await readGate(GATE);
    await readGate(GATE);
    expect(seen.filter((request) => request.path === '/actions/runs')).toHaveLength(1);
  });

  test('a proxy in front of a forge that is down decides nothing', async () => {
    let down = true;
    const { readGate } = openGate(() =>
      down ? NO_ROUTE : { json: { workflow_runs: [forgejoRun(4, { status: 'success' })], total_count: 1 } },
    );
    await expect(readGate(GATE)).rejects.toMatchObject({ kind: 'unreachable', status: 404 });
    down = false;
    expect(await readGate(GATE)).toMatchObject({ kind: 'finished', verdict: 'success' });
  });

  test.each([
    ['15.0.3+gitea-1.22.0', 'unreachable'],
    ['12.0.0+gitea-1.22.0', 'unreachable'],
    ['11.0.15+gitea-1.22.0', 'by its statuses'],
    ['1.26.4', 'unreachable'],
    ['1.25.0', 'unreachable'],
    ['1.24.7', 'by its statuses'],
    ['of neither', 'by its statuses'],
  ])('a page in place of the run list of version %s: %s', async (version, expected) => {
    // Statuses tell of one of two jobs with one name.
    const { readGate } = openGate(({ path, query }) => {
      if (path === '/version') return { json: { version } };
      if (path === '/actions/runs') return NO_ROUTE;
      const isFirst = query.page === '1';
      if (path === '/actions/tasks') return { json: { workflow_runs: isFirst ? [task(4)] : null } };
      return { json: isFirst ? [job(4, 'test', 'success')] : [] };
    });
    const reading = await readGate(GATE).catch((error: { kind: string }) => error.kind);
    if (expected === 'unreachable') expect(reading).toBe('unreachable');
    else expect(reading).toMatchObject({ kind: 'finished', verdict: 'success' });
  });

  const DENIED: ScriptedAnswer = { status: 403, json: { message: 'denied', url: 'x' } };
  test.each<[string, string, ScriptedAnswer, string]>([
    ['1.25.5', 'a refusal', DENIED, 'by its statuses'],
    ['1.25.5', 'a page', { status: 403, text: '<html>', type: 'text/html' }, 'no reading'],
    ['1.26.4', 'a refusal', DENIED, 'no reading'],
    ['16.0.0+gitea-1.22.0', 'a refusal', DENIED, 'no reading'],
    ['of neither', 'a refusal', DENIED, 'by its statuses'],
  ])('the run list of version %s, of which the forge answers %s: %s', async (version, _what, list, means) => {
    const { readGate, seen } = openGate(({ path, query }) => {
      if (path === '/version') return { json: { version } };
      if (path === '/actions/runs') return list;
      const isFirst = query.page === '1';
      if (path === '/actions/tasks') return { json: { workflow_runs: isFirst ? [task(4)] : null } };
      return { json: isFirst ? [job(4, 'test', 'success')] : [] };
    });
    const isRead = means === 'by its statuses';
    const reading = await readGate(GATE).catch((error: { call: string }) => error.call);
    if (isRead) expect(reading).toMatchObject({ verdict: 'success', isOpenEnded: true });
    else expect(reading).toBe('GET actions/runs');
    await readGate(GATE).catch(() => null);
    expect(seen.filter(({ path }) => path === '/actions/runs')).toHaveLength(isRead ? 1 : 2);
  });

  test('one that hides its run list while Actions is off is read by it again, and has no verdict before', async () => {
    let isOff = true;
    const { readGate } = openGate(({ path, query }) => {
      if (path === '/version') return { json: { version: '16.0.0+gitea-1.22.0' } };
      if (path === '/actions/runs')
        return isOff ? MISSING : { json: { workflow_runs: [forgejoRun(4)], total_count: 1 } };
      const isFirst = query.page === '1';
      // On again since the list was asked for.
      if (path === '/actions/tasks') return { json: { workflow_runs: isFirst ? [task(4)] : null } };
      return { json: isFirst ? [job(4, 'test', 'success')] : [] };
    });
    const run = { kind: 'running', runId: '4' };
    expect(await readGate(GATE)).toMatchObject(run);
    isOff = false;
    expect(await readGate(GATE)).toMatchObject(run);
  });

  test('a version that cannot be read decides nothing', async () => {
    const { readGate } = openGate(({ path }) =>
      path === '/version' ? { status: 502, text: '<html>', type: 'text/html' } : NO_ROUTE,
    );
    await expect(readGate(GATE)).rejects.toMatchObject({ call: 'GET version', status: 502 });
  });

  test('a hidden repository is missing, not without a run', async () => {
    const { readGate } = openGate(() => MISSING);
    await expect(readGate(GATE)).rejects.toMatchObject({ kind: 'missing' });
  });
});
