import type { GateReading } from '#core/domain/forge/forge.ts';
import { type ForgeSubject, fakeOf, type Needs, RepoDriver } from './subject.ts';

const GATE = 'queue-gate.yml';

function workflow(name: string, branches: string, run = 'true', condition = 'true'): string {
  return [
    ...(name === '' ? [] : [`name: ${name}`]),
    'on:',
    '  push:',
    `    branches: [${branches}]`,
    'jobs:',
    '  check:',
    '    runs-on: docker',
    `    if: ${condition}`,
    '    steps:',
    `      - run: "${run}"`,
    '',
  ].join('\n');
}

/** Runs of the gate: which one is evidence, and how it ends. */
export function gateSuite(subject: () => ForgeSubject, needs: Needs): void {
  const staging = 'mq/main/staging';
  const file = (): string => `${subject().workflowDir}/${GATE}`;

  /** The forge cuts the space off that comes after a name. */
  const namelessContext = () =>
    subject().facts.namesJobsByFile ? `${GATE} / check (push)` : '/ check (push)';

  async function createGated(more: Readonly<Record<string, string>> = {}): Promise<RepoDriver> {
    return RepoDriver.create(subject(), { [file()]: workflow('The gate', "'mq/**'"), ...more });
  }

  /** A commit that no other branch has, staged. */
  async function stage(repo: RepoDriver, branch = staging): Promise<string> {
    return repo.commit('bot', { 'staged.txt': `${Math.random()}\n` }, { newBranch: branch });
  }

  test('no run, then one that waits or runs, attributed to commit and branch', async () => {
    const { fake } = subject();
    if (fake !== null) fake.knobs.judge = () => 'hold';
    // A quick run may first be seen finished, on any version.
    const lasting = workflow('The gate', "'mq/**'", 'sleep 10');
    const repo = await RepoDriver.create(subject(), { [file()]: lasting });
    const main = (await repo.forge.readBranchTip('main')) ?? '';
    expect(await repo.forge.readGate(main, 'main', file())).toEqual({ kind: 'none' });
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind !== 'none',
    );
    expect(reading.kind).toBe('running');
    if (reading.kind === 'running') expect(reading.url).toMatch(/\/actions\/runs\/\d+$/);
    expect(await repo.forge.readGate(main, staging, file())).toEqual({ kind: 'none' });
  });

  needs('fake').each([
    ['success', 'success'],
    ['failure', 'failure'],
    ['cancelled', 'cancelled'],
  ] as const)('a run that ends in %s', async (judged, verdict) => {
    const fake = fakeOf(subject());
    fake.knobs.judge = () => judged;
    const repo = await createGated();
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ kind: 'finished', verdict });
  });

  needs('runner').each([
    ['true', 'success'],
    ['false', 'failure'],
  ] as const)('a runner that runs "%s": %s', async (run, verdict) => {
    const { fake } = subject();
    if (fake !== null) fake.knobs.judge = () => verdict;
    const repo = await RepoDriver.create(subject(), { [file()]: workflow('The gate', "'mq/**'", run) });
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ kind: 'finished', verdict });
    await repo.forge.deleteBranch(staging);
    expect(await repo.forge.readGate(sha, staging, file())).toEqual(reading);
  });

  needs('runner')('a commit with a message of megabytes is told with its run by Forgejo', async () => {
    const { fake } = subject();
    if (fake !== null) fake.knobs.judge = () => 'success';
    const repo = await createGated();
    const { sha } = (
      await repo.must('bot', 'POST', '/contents', {
        branch: 'main',
        new_branch: staging,
        message: `A change\n\n${'long words '.repeat(250_000)}`,
        files: [{ operation: 'create', path: 'x.txt', content: 'eAo=' }],
      })
    ).commit;
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ verdict: 'success' });
    // A fake writes all of its state after each change. Of a real forge the repository may be another account's.
    if (fake !== null) await repo.must('bot', 'DELETE', '');
  });

  needs('runner')('a gate without a name of its own passes', async () => {
    const { fake } = subject();
    if (fake !== null) fake.knobs.judge = () => 'success';
    const repo = await RepoDriver.create(subject(), { [file()]: workflow('', "'mq/**'") });
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ kind: 'finished', verdict: 'success' });
    const [status] = await repo.forge.listStatusHistory(sha);
    expect(status).toMatchObject({ context: namelessContext() });
  });

  needs('runner')('a run whose conditions skip each job proves nothing, and says so', async () => {
    const skipping = workflow('The gate', "'mq/**'", 'true', 'false');
    const repo = await RepoDriver.create(subject(), { [file()]: skipping });
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ kind: 'finished', verdict: 'error', isSkipped: true });
    const [status] = await repo.until(
      () => repo.forge.listStatusHistory(sha),
      (rows) => rows[0] !== undefined && rows[0].state !== 'pending',
    );
    expect(status).toMatchObject({
      state: subject().facts.stateOfSkippedJob,
      description: subject().facts.wordsOfSkippedJob,
    });
  });

  needs('runner')(
    'a workflow without a name: the contexts of its jobs begin with a slash, or with its file',
    async () => {
      const { fake } = subject();
      if (fake !== null) fake.knobs.judge = () => 'success';
      const nameless = workflow('', "'mq/**'").replace(/^name:.*\n/, '');
      const repo = await RepoDriver.create(subject(), { [file()]: nameless });
      const sha = await stage(repo);
      const reading = await repo.until(
        () => repo.forge.readGate(sha, staging, file()),
        (found) => found.kind === 'finished',
      );
      expect(reading).toMatchObject({ verdict: 'success' });
      expect(await repo.forge.readStatuses(sha)).toMatchObject([{ context: namelessContext() }]);
    },
  );

  needs('fake').each(['success', 'failure'] as const)('two jobs of one name: %s', async (judged) => {
    const fake = fakeOf(subject());
    fake.knobs.judge = () => judged;
    const twice = `${workflow('The gate', "'mq/**'")}  again:\n    name: check\n    runs-on: docker\n    steps: []\n`;
    const repo = await RepoDriver.create(subject(), { [file()]: twice });
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ verdict: judged });
  });

  needs('fake')('a run in error is never a success', async () => {
    const fake = fakeOf(subject());
    fake.knobs.judge = () => 'error';
    const repo = await createGated();
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(['error', 'failure']).toContain(reading.kind === 'finished' ? reading.verdict : '');
  });

  needs('runner')('runs of another branch or another workflow are no evidence (A12)', async () => {
    const { fake } = subject();
    if (fake !== null) fake.knobs.judge = () => 'success';
    const repo = await createGated({
      [`${subject().workflowDir}/other.yml`]: workflow('The gate', "'elsewhere'"),
    });
    const sha = await stage(repo, 'mq/main/decoy');
    await repo.until(
      () => repo.forge.readGate(sha, 'mq/main/decoy', file()),
      (found) => found.kind === 'finished',
    );
    // Not before: of two jobs of one name on one commit that end alike, Forgejo 11 tells of the first alone.
    await repo.forge.createBranch('elsewhere', sha);
    await repo.until(
      () => repo.forge.readGate(sha, 'elsewhere', 'other.yml'),
      (found) => found.kind === 'finished',
    );
    expect(await repo.forge.readGate(sha, staging, file())).toEqual({ kind: 'none' });
    expect(await repo.forge.readGate(sha, 'elsewhere', file())).toEqual({ kind: 'none' });
    expect(await repo.forge.readGate(sha, 'mq/main/decoy', 'other.yml')).toEqual({ kind: 'none' });
  });

  needs('runner')('a workflow of that name in a folder below is no evidence (A12)', async () => {
    const { fake, workflowDir } = subject();
    if (fake !== null) fake.knobs.judge = () => 'success';
    // The last ones are called like the path of the gate itself.
    const folders = ['deeper', '.gitea/workflows', '.github/workflows', '.forgejo/workflows'];
    const files = folders.map((folder, at) => [
      `${workflowDir}/${folder}/${GATE}`,
      workflow(`Below ${at}`, "'mq/**'"),
    ]);
    const repo = await RepoDriver.create(subject(), Object.fromEntries(files));
    const sha = await stage(repo);
    await repo.until(
      () => repo.forge.listStatusHistory(sha),
      (rows) =>
        folders.every((_, at) =>
          rows.some(({ context, state }) => context === `Below ${at} / check (push)` && state === 'success'),
        ),
    );
    expect(await repo.forge.readGate(sha, staging, file())).toEqual({ kind: 'none' });
  });

  needs('runner')(
    'the list of runs leaves out the pull requests from a branch where it is asked to',
    async () => {
      const repo = await createGated();
      const sha = await stage(repo);
      await repo.must('bot', 'POST', '/pulls', { head: staging, base: 'main', title: 'Staged' });
      await repo.until(
        () => repo.forge.readGate(sha, staging, file()),
        (found) => found.kind !== 'none',
      );
      const told = async (more: string) => {
        // A version without that list answers with no JSON.
        if (!subject().listsRuns) return 0;
        const { status, json } = await repo.api('bot', 'GET', `/actions/runs?head_sha=${sha}${more}`);
        return status === 200 ? (json.workflow_runs[0].pull_requests ?? []).length : 0;
      };
      expect(await told('&event=push&exclude_pull_requests=true')).toBe(0);
      expect(await told('&event=push')).toBe(subject().facts.runsTellPulls ? 1 : 0);
    },
  );

  test('a status that a person with write access makes up is no evidence', async () => {
    const repo = await createGated();
    const sha = await repo.commit('bot', { 'x.txt': 'x\n' }, { newBranch: 'quiet' });
    await repo.must('bot', 'POST', `/statuses/${sha}`, {
      state: 'success',
      context: 'The gate / check (push)',
      description: 'Successful in 1s',
      target_url: `/${repo.slug}/actions/runs/1/jobs/0`,
    });
    expect(await repo.forge.readGate(sha, 'quiet', file())).toEqual({ kind: 'none' });
  });

  test('a job status has no author', async () => {
    const repo = await createGated();
    const sha = await stage(repo);
    const statuses = await repo.until(
      () => repo.forge.readStatuses(sha),
      (found) => found.length > 0,
    );
    expect(statuses).toMatchObject([{ context: 'The gate / check (push)', creator: '' }]);
  });

  needs('runner')('a second push of the branch has a run of its own', async () => {
    const { fake } = subject();
    const red = workflow('The gate', "'mq/**'", 'false');
    if (fake !== null) fake.knobs.judge = (files) => (files.get(file()) === red ? 'failure' : 'success');
    const repo = await createGated();
    const first = await repo.commit('bot', { [file()]: red }, { newBranch: staging });
    await repo.until(
      () => repo.forge.readGate(first, staging, file()),
      (found) => found.kind === 'finished',
    );
    const files = { [file()]: workflow('The gate', "'mq/**'"), 'staged.txt': 'good\n' };
    const second = await repo.commit('bot', files, { branch: staging });
    const reading = await repo.until(
      () => repo.forge.readGate(second, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ verdict: 'success' });
    expect(await repo.forge.readGate(first, staging, file())).toMatchObject({ verdict: 'failure' });
  });

  needs('person')('a run that the push of another account began is no run of ours', async () => {
    const { fake, listsRuns } = subject();
    if (!listsRuns) return;
    if (fake !== null) fake.knobs.judge = () => 'hold';
    const repo = await createGated();
    const sha = await stage(repo);
    const read = (startedBy?: 'us') => repo.forge.readGate(sha, staging, file(), startedBy);
    const ours = await repo.until(
      () => read(),
      (found) => found.kind !== 'none',
    );
    await repo.must('person', 'POST', '/branches', { new_branch_name: 'kept', old_ref_name: staging });
    await repo.must('person', 'DELETE', `/branches/${encodeURIComponent(staging)}`);
    await repo.must('person', 'POST', '/branches', { new_branch_name: staging, old_ref_name: 'kept' });
    const runOf = (found: GateReading) => (found.kind === 'none' ? null : found.runId);
    const theirs = await repo.until(
      () => read(),
      (found) => runOf(found) !== runOf(ours),
    );
    expect(runOf(await read('us'))).toBe(runOf(ours));
    expect(runOf(theirs)).not.toBeNull();
  });

  needs('runner')('a run that the push of another account began alone is told as one', async () => {
    const { fake, listsRuns, access } = subject();
    if (!listsRuns || access.tokens.person === undefined) return;
    if (fake !== null) fake.knobs.judge = () => 'success';
    const repo = await createGated();
    const sha = await stage(repo, 'quiet');
    await repo.must('person', 'POST', '/branches', { new_branch_name: staging, old_ref_name: 'quiet' });
    await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    const ours = await repo.forge.readGate(sha, staging, file(), 'us');
    expect(ours).toEqual({ kind: 'none', isOfOthers: true });
  });

  needs('runner')('the gate of a branch that is deleted meanwhile is still readable', async () => {
    const { fake } = subject();
    if (fake !== null) fake.knobs.judge = () => 'success';
    const repo = await createGated();
    const sha = await stage(repo);
    await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind !== 'none',
    );
    await repo.forge.deleteBranch(staging);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(reading).toMatchObject({ verdict: 'success' });
  });

  test('cancelling, where this version can', async () => {
    const { fake, cancelsRuns } = subject();
    if (fake !== null) fake.knobs.judge = () => 'hold';
    const repo = await createGated();
    const sha = await stage(repo);
    const reading = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind !== 'none',
    );
    if (reading.kind === 'none') throw new Error('no run');
    expect(await repo.forge.cancelGateRun(reading.runId)).toBe(cancelsRuns);
    if (!cancelsRuns) return;
    const ended = await repo.until(
      () => repo.forge.readGate(sha, staging, file()),
      (found) => found.kind === 'finished',
    );
    expect(ended).toMatchObject({ verdict: 'cancelled' });
    expect(await repo.forge.cancelGateRun(reading.runId)).toBe(true);
    // A run that has ended is no error (forge facts, 8).
    const again = await repo.api('bot', 'POST', `/actions/runs/${reading.runId}/cancel`);
    expect(again.status).toBe(204);
    expect(await repo.forge.readGate(sha, staging, file())).toEqual(ended);
  });

  test('a message that says skip ci starts no run', async () => {
    const repo = await createGated();
    const sha = (await repo.forge.readBranchTip('main')) ?? '';
    const { commit } = await repo.must('bot', 'POST', '/contents', {
      branch: 'main',
      new_branch: staging,
      message: 'staged [skip ci]',
      files: [{ operation: 'create', path: 'x.txt', content: Buffer.from('x').toString('base64') }],
    });
    for (let looks = 0; looks < 5; looks += 1) await repo.subject.wait();
    expect(commit.sha).not.toBe(sha);
    expect(await repo.forge.readGate(commit.sha, staging, file())).toEqual({ kind: 'none' });
  });
}
