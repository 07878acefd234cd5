import { type Bench, quiet, startBench } from './harness.ts';

let bench: Bench;
afterEach(() => bench.close());

const timelineTypes = async (pr: number): Promise<string[]> =>
  (await bench.api('GET', `/issues/${pr}/timeline`)).body.map((entry: { type: string }) => entry.type);

async function openOne(): Promise<number> {
  const pr = await bench.forge.control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await quiet(bench);
  return pr;
}

test('one that an administrator deletes is a 404, and no list has it', async () => {
  bench = await startBench();
  const pr = await openOne();
  await bench.forge.control.schedule(pr);
  const { body } = await bench.api('GET', `/pulls/${pr}`);
  await bench.forge.control.deletePullRequest(pr);
  await bench.forge.control.postStatusAs('mq-bot', body.head.sha, 'mq', 'success');
  await quiet(bench);
  expect((await bench.api('GET', `/pulls/${pr}`)).status).toBe(404);
  expect((await bench.api('GET', `/issues/${pr}/timeline`)).status).toBe(404);
  expect((await bench.api('GET', '/pulls?state=all')).body).toEqual([]);
  expect(bench.forge.control.merges()).toEqual([]);
  const next = await bench.forge.control.openPullRequest({ branch: 'two', files: { 'two.txt': '2\n' } });
  expect(next).toBe(pr + 1);
});

test('the timeline tells schedule, cancel, push, close and merge in order', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const pr = await openOne();
  const before = await bench.api('GET', `/pulls/${pr}`);
  await bench.clock.advance(1000);
  await control.schedule(pr);
  await control.cancelSchedule(pr);
  const head = await control.pushToPullRequest(pr, { 'one.txt': '2\n' });
  await control.schedule(pr);
  await control.schedule(pr);
  await control.close(pr);
  await control.reopen(pr);
  await quiet(bench);
  await control.postStatusAs('mq-bot', head, 'mq', 'success');
  await quiet(bench);
  expect(await timelineTypes(pr)).toEqual([
    'pull_push',
    'pull_scheduled_merge',
    'pull_cancel_scheduled_merge',
    'pull_push',
    'pull_scheduled_merge',
    'pull_scheduled_merge',
    'close',
    'reopen',
    'merge_pull',
  ]);
  const { body: entries } = await bench.api('GET', `/issues/${pr}/timeline`);
  expect(JSON.parse(entries[3].body)).toEqual({ is_force_push: false, commit_ids: [head] });
  expect(entries[1]).toMatchObject({ ref_commit_sha: '', user: { login: 'dev' } });
  const after = await bench.api('GET', `/pulls/${pr}`);
  expect(Date.parse(after.body.updated_at) - Date.parse(before.body.updated_at)).toBe(1000);
});

test('an entry for a push comes after a schedule that was clicked before the forge had seen the push', async () => {
  bench = await startBench({ knobs: { pushDelayMs: 2000 } });
  const { control } = bench.forge;
  const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await bench.clock.advance(5000);
  const head = await control.pushToPullRequest(pr, { 'one.txt': '2\n' });
  expect((await control.pull(pr)).headSha).toBe(head);
  await control.schedule(pr);
  await bench.clock.advance(2000);
  expect((await timelineTypes(pr)).slice(-2)).toEqual(['pull_scheduled_merge', 'pull_push']);
});

test.each([
  ['fj15', 2],
  ['gt126', 1],
] as const)('a force push on %s', async (profile, commits) => {
  bench = await startBench({ profile });
  const { control } = bench.forge;
  const pr = await openOne();
  const first = (await control.pull(pr)).headSha;
  const second = await control.pushToPullRequest(pr, { 'one.txt': '2\n' });
  await control.forcePushPullRequest(pr, first);
  await quiet(bench);
  const { body } = await bench.api('GET', `/issues/${pr}/timeline`);
  const last = JSON.parse(body.at(-1).body);
  expect(last.is_force_push).toBe(true);
  expect(last.commit_ids).toHaveLength(commits);
  expect(last.commit_ids.at(-1)).toBe(first);
  if (profile === 'fj15') expect(last.commit_ids[0]).toBe(second);
});

test('scheduling, cancelling and merging answer with the status codes of the forge', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  control.checkDelayMs = 10_000;
  const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  const schedule = { Do: 'merge', merge_when_checks_succeed: true };
  const call = async (method: string, body?: object): Promise<number> =>
    (await bench.api(method, `/pulls/${pr}/merge`, body)).status;
  expect(await call('POST', schedule)).toBe(405);
  await bench.clock.advance(10_000);
  expect(await call('POST', { ...schedule, Do: 'octopus' })).toBe(422);
  expect(await call('POST', schedule)).toBe(201);
  expect(await call('POST', schedule)).toBe(409);
  expect(await call('DELETE')).toBe(204);
  expect(await call('DELETE')).toBe(404);
  await control.setTitle(pr, 'WIP: not yet');
  expect((await control.pull(pr)).draft).toBe(true);
  expect(await call('POST', schedule)).toBe(405);
  await control.setTitle(pr, 'ready');
  expect(await call('POST', { Do: 'merge' })).toBe(405);
  await control.close(pr);
  expect(await call('POST', schedule)).toBe(404);
  await control.reopen(pr);
  await bench.clock.advance(10_000);
  await control.postStatusAs('mq-bot', (await control.pull(pr)).headSha, 'mq', 'success');
  expect(await call('POST', { Do: 'merge', head_commit_id: '1'.repeat(40) })).toBe(409);
  expect(await call('GET')).toBe(404);
  expect(await call('POST', { Do: 'squash' })).toBe(200);
  expect(await call('GET')).toBe(204);
  expect(await call('POST', schedule)).toBe(405);
});

test('the list pages, filters by state and shows a broken entry as null; the base filter depends on the version', async () => {
  for (const profile of ['fj15', 'gt126'] as const) {
    bench = await startBench({ profile });
    const { control } = bench.forge;
    for (const branch of ['one', 'two', 'three']) {
      await control.openPullRequest({ branch, files: { [`${branch}.txt`]: 'x\n' } });
      await bench.clock.advance(1000);
    }
    await control.retarget(3, 'release');
    bench.forge.knobs.nullPulls.add(2);
    const first = await bench.api('GET', '/pulls?state=open&limit=2&sort=oldest');
    expect(first.headers.get('x-total-count')).toBe('3');
    expect(first.headers.get('link')).toContain('rel="next"');
    expect(first.body).toMatchObject([{ number: 1 }, null]);
    const filtered = await bench.api('GET', '/pulls?base=release&base_branch=release');
    expect(filtered.body).toHaveLength(profile === 'gt126' ? 1 : 3);
    await control.close(1);
    expect((await bench.api('GET', '/pulls?state=closed')).body).toMatchObject([{ number: 1 }]);
    if (profile === 'fj15') await bench.close();
  }
});

test('base.sha is the live tip, mergeable is false while checking and for a conflict, and a lost branch closes', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const pr = await openOne();
  control.checkDelayMs = 3000;
  const tip = await control.pushToBase({ 'one.txt': 'other\n' });
  expect(await control.pull(pr)).toMatchObject({ baseTip: tip, mergeable: false });
  await bench.clock.advance(3000);
  const conflicted = await bench.api('GET', `/pulls/${pr}`);
  expect(conflicted.body).toMatchObject({ mergeable: false, state: 'open', merge_commit_sha: null });
  const head = (await control.pull(pr)).headSha;
  await control.deleteBranch('one');
  await quiet(bench);
  const gone = await bench.api('GET', `/pulls/${pr}`);
  expect(gone.body).toMatchObject({
    state: 'closed',
    merged: false,
    head: { label: 'one', ref: `refs/pull/${pr}/head`, sha: head, repo_id: gone.body.base.repo_id },
  });
});

test('a forge that delays checks makes one once the pull request is read by its number, and not for the list', async () => {
  bench = await startBench();
  const { control, knobs } = bench.forge;
  const pr = await openOne();
  knobs.delaysChecks = true;
  await control.pushToBase({ 'two.txt': '2\n' });
  await bench.clock.advance(3_600_000);
  expect((await bench.api('GET', '/pulls')).body).toMatchObject([{ number: pr, mergeable: false }]);
  expect((await bench.api('GET', '/pulls')).body).toMatchObject([{ number: pr, mergeable: false }]);
  await bench.api('GET', `/pulls/${pr}`);
  await quiet(bench);
  expect((await bench.api('GET', '/pulls')).body).toMatchObject([{ number: pr, mergeable: true }]);
});

test('a forge that failed to write a push down shows the tip of before in the list, and the new one by number', async () => {
  bench = await startBench();
  const { control, knobs } = bench.forge;
  const pr = await openOne();
  const before = await control.tip('main');
  knobs.listedTip = before;
  await control.pushToBase({ 'two.txt': '2\n' });
  await quiet(bench);
  expect((await bench.api('GET', '/pulls')).body).toMatchObject([{ number: pr, base: { sha: before } }]);
  const now = await control.tip('main');
  expect(now).not.toBe(before);
  expect((await bench.api('GET', `/pulls/${pr}`)).body).toMatchObject({ base: { sha: now } });
  expect((await bench.api('GET', '/branches/main')).body).toMatchObject({ commit: { id: now } });
});

test('a branch with the name of a commit answers in its place where statuses are asked for by name, and not by the commit alone', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const before = await control.tip('main');
  await control.pushToBase({ 'two.txt': '2\n' });
  const asked = await control.tip('main');
  await control.postStatusAs('ci', before, 'ci', 'success');
  await control.pushBranch(asked, before);
  const listed = async (path: string) => (await bench.api('GET', path)).body;
  expect(await listed(`/commits/${asked}/statuses`)).toMatchObject([{ context: 'ci', status: 'success' }]);
  expect(await listed(`/commits/${asked}/status`)).toMatchObject({ sha: before, state: 'success' });
  expect(await listed(`/statuses/${asked}`)).toEqual([]);
});

test('a token that is wrong, lacks the scope or lacks the permission', async () => {
  bench = await startBench();
  const pr = await openOne();
  expect((await bench.api('GET', '/pulls', undefined, 'nonsense')).status).toBe(401);
  const readOnly = bench.forge.addToken('mq-bot', ['read:repository']);
  const refused = await bench.api('POST', `/statuses/${'1'.repeat(40)}`, { state: 'success' }, readOnly);
  expect(refused.status).toBe(403);
  expect(refused.body.message).toContain('required scope(s): [write:repository]');
  expect((await bench.api('GET', `/issues/${pr}/timeline`, undefined, readOnly)).status).toBe(403);
  expect((await bench.api('GET', '/branch_protections', undefined, bench.tokenOf('dev'))).status).toBe(403);
  bench.forge.addUser('stranger');
  const stranger = bench.tokenOf('stranger');
  expect((await bench.api('POST', '/branches', { new_branch_name: 'x' }, stranger)).status).toBe(403);
  expect((await bench.api('GET', '/api/v1/user', undefined, stranger)).body.login).toBe('stranger');
  expect((await bench.api('GET', '/api/v1/repos/acme/none')).status).toBe(404);
});

test('branches: create at a commit, clash, unknown commit, lease update where the version has it', async () => {
  bench = await startBench({ profile: 'gt126' });
  const { control } = bench.forge;
  const pr = await openOne();
  const { headSha, baseTip } = await control.pull(pr);
  const create = async (name: string, ref: string): Promise<number> =>
    (await bench.api('POST', '/branches', { new_branch_name: name, old_ref_name: ref })).status;
  expect(await create('mq/main/staging', headSha)).toBe(201);
  expect(await create('mq/main/staging', headSha)).toBe(409);
  expect(await create('mq/main/staging/x', headSha)).toBe(409);
  expect(await create('other', '1'.repeat(40))).toBe(500);
  expect(await create('other', `refs/pull/${pr}/head`)).toBe(201);
  const move = async (old: string, force: boolean): Promise<number> =>
    (
      await bench.api('PUT', '/branches/mq/main/staging', {
        new_commit_id: baseTip,
        old_commit_id: old,
        force,
      })
    ).status;
  expect(await move(baseTip, true)).toBe(422);
  expect(await move(headSha, false)).toBe(422);
  expect(await move(headSha, true)).toBe(204);
  expect((await bench.api('GET', '/branches/mq%2Fmain%2Fstaging')).body.commit.id).toBe(baseTip);
  expect((await bench.api('DELETE', '/branches/mq/main/staging')).status).toBe(204);
  expect((await bench.api('DELETE', '/branches/mq/main/staging')).status).toBe(404);
  expect((await bench.api('DELETE', '/branches/main')).status).toBe(403);
  const fork = await bench.api('GET', `/commits?sha=${headSha}&not=main`);
  expect(fork.body.map((commit: { sha: string }) => commit.sha)).toEqual([headSha]);
  expect((await bench.api('GET', `/compare/main...one`)).body.total_commits).toBe(1);
});

test.each([
  ['fj15', { mode: true, rename: true }],
  ['gt126', { mode: false, rename: false }],
] as const)(
  '%s: is a mode beside contents, or a rename beside an edit, mergeable to the check: %j',
  async (profile, mergeable) => {
    bench = await startBench({ profile });
    const { control } = bench.forge;
    const text = (edited: string) =>
      `${Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n')}\n${edited}\n`;
    await control.pushToBase({ 'run.sh': text('a'), 'old.txt': text('a') });
    const from = await control.tip('main');
    const mode = await control.openPullRequest({
      branch: 'mode',
      from,
      files: { 'run.sh': { content: text('a'), mode: '100755' } },
    });
    const rename = await control.openPullRequest({
      branch: 'rename',
      from,
      files: { 'old.txt': null, 'new.txt': text('a') },
    });
    await quiet(bench);
    expect([(await control.pull(mode)).mergeable, (await control.pull(rename)).mergeable]).toEqual([
      true,
      true,
    ]);
    await control.pushToBase({ 'run.sh': text('b'), 'old.txt': text('b') });
    await quiet(bench);
    const told = {
      mode: (await control.pull(mode)).mergeable,
      rename: (await control.pull(rename)).mergeable,
    };
    expect(told).toEqual(mergeable);
  },
);
