import { type Bench, quiet, startBench } from './harness.ts';

let bench: Bench;
afterEach(() => bench.close());

async function open(): Promise<{ pr: number; head: string }> {
  const pr = await bench.forge.control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await quiet(bench);
  return { pr, head: (await bench.forge.control.pull(pr)).headSha };
}

const tryMerge = async (pr: number): Promise<string> =>
  (await bench.api('POST', `/pulls/${pr}/merge`, { Do: 'merge' })).body?.message ?? 'merged';

const setContexts = (contexts: readonly string[]) =>
  bench.api('PATCH', '/branch_protections/main', { status_check_contexts: contexts });

const PASS = 'merged';
const FAIL = 'Not all required status checks successful';

test.each([
  ['exact name', ['mq'], { mq: 'success' }, PASS],
  ['other name', ['mq'], { 'mq ': 'success' }, PASS],
  ['missing', ['mq', 'lint'], { mq: 'success' }, FAIL],
  ['star crosses slashes', ['ci*'], { 'ci/a/b': 'success' }, PASS],
  ['star sees one red', ['ci*'], { 'ci/a': 'success', 'ci/b': 'failure' }, FAIL],
  ['pending', ['mq'], { mq: 'pending' }, FAIL],
  ['warning', ['mq'], { mq: 'warning' }, FAIL],
  ['skipped alone', ['mq'], { mq: 'skipped' }, PASS],
  ['a word that it does not know', ['mq'], { mq: 'banana' }, PASS],
  ['skipped beside failure', ['ci*'], { 'ci/a': 'skipped', 'ci/b': 'failure' }, FAIL],
  ['skipped beside success', ['ci*'], { 'ci/a': 'skipped', 'ci/b': 'success' }, PASS],
  ['escaped star is a star', ['a\\*b'], { 'a*b': 'success' }, PASS],
  ['escaped star is no glob', ['a\\*b'], { axb: 'success' }, FAIL],
  ['alternatives', ['{mq,gate}'], { gate: 'success' }, PASS],
  ['empty list, all green', [], { any: 'success' }, PASS],
  ['empty list, one red', [], { any: 'success', other: 'error' }, FAIL],
  ['empty list, skipped alone', [], { any: 'skipped' }, FAIL],
  ['empty list, none', [], {}, FAIL],
] as const)('required contexts, %s', async (_, contexts, statuses, expected) => {
  bench = await startBench();
  await setContexts(contexts);
  await quiet(bench);
  const { pr, head } = await open();
  for (const [context, state] of Object.entries(statuses)) {
    await bench.api('POST', `/statuses/${head}`, { state, context });
  }
  expect(await tryMerge(pr)).toBe(expected);
});

test('only the newest status of a context counts, and rows are never changed', async () => {
  bench = await startBench();
  const { pr, head } = await open();
  for (const state of ['success', 'error', 'pending']) {
    await bench.api('POST', `/statuses/${head}`, { state, context: 'mq', description: ` ${state} ` });
  }
  expect(await tryMerge(pr)).toBe(FAIL);
  const history = await bench.api('GET', `/statuses/${head}?sort=oldest`);
  expect(history.body.map((row: { status: string }) => row.status)).toEqual(['success', 'error', 'pending']);
  const combined = await bench.api('GET', `/commits/${head}/status`);
  expect(combined.body).toMatchObject({ state: 'pending', total_count: 1, sha: head });
  expect(combined.body.statuses).toMatchObject([
    { status: 'pending', description: 'pending', creator: { login: 'mq-bot' } },
  ]);
  expect((await bench.api('POST', `/statuses/${'1'.repeat(40)}`, { state: 'success' })).status).toBe(404);
});

test('PATCH keeps what is absent and replaces lists whole; a glob rule is replaced by a plain one', async () => {
  bench = await startBench();
  const first = await bench.api('PATCH', '/branch_protections/main', {
    required_approvals: 2,
    status_check_contexts: ['mq', 'ci'],
  });
  expect(first.body).toMatchObject({ required_approvals: 2, apply_to_admins: true });
  const second = await bench.api('PATCH', '/branch_protections/main', {
    status_check_contexts: ['mq'],
    required_approvals: null,
  });
  expect(second.body).toMatchObject({
    required_approvals: 2,
    status_check_contexts: ['mq'],
    enable_status_check: true,
  });
  expect((await bench.api('POST', '/branch_protections', { rule_name: 'main' })).status).toBe(403);
  expect((await bench.api('POST', '/branch_protections', {})).status).toBe(400);
  const wrongUser = { rule_name: 'x', merge_whitelist_usernames: ['ghost'] };
  expect((await bench.api('POST', '/branch_protections', wrongUser)).status).toBe(422);
  const glob = await bench.api('POST', '/branch_protections', {
    rule_name: 'release/**',
    required_approvals: 5,
  });
  expect(glob.status).toBe(201);
  await bench.api('POST', '/branches', { new_branch_name: 'plain/a' });
  expect((await bench.api('POST', '/branches', { new_branch_name: 'release/a/b' })).status).toBe(500);
  expect((await bench.api('GET', '/branch_protections/release%2F**')).body.required_approvals).toBe(5);
  expect((await bench.api('DELETE', '/branch_protections/release%2F**')).status).toBe(204);
  expect((await bench.api('GET', '/branches/main')).body).toMatchObject({
    protected: true,
    effective_branch_protection_name: 'main',
    user_can_push: false,
    required_approvals: 2,
  });
});

test('approvals, rejections, stale ones and authors', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const { pr, head } = await open();
  await control.setProtection({
    requiredApprovals: 1,
    ignoreStaleApprovals: true,
    blockOnRejectedReviews: true,
  });
  await quiet(bench);
  await control.postStatusAs('mq-bot', head, 'mq', 'success');
  expect(await tryMerge(pr)).toBe('Does not have enough approvals');
  await expect(control.review(pr, 'dev', 'approve')).rejects.toThrow('own pull request');
  await control.review(pr, 'ann', 'reject');
  await control.review(pr, 'ben', 'approve');
  expect(await tryMerge(pr)).toBe('There are requested changes');
  await control.review(pr, 'ann', 'approve');
  const { body: reviews } = await bench.api('GET', `/pulls/${pr}/reviews`);
  expect(reviews.map((review: { official: boolean }) => review.official)).toEqual([false, true, true]);
  const next = await control.pushToPullRequest(pr, { 'one.txt': 'changed\n' });
  await quiet(bench);
  await control.postStatusAs('mq-bot', next, 'mq', 'success');
  expect(await tryMerge(pr)).toBe('Does not have enough approvals');
  const { body: stale } = await bench.api('GET', `/pulls/${pr}/reviews`);
  expect(stale.every((review: { stale: boolean }) => review.stale)).toBe(true);
});

test('a branch that is behind is blocked where the rule says so', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const { pr, head } = await open();
  await control.setProtection({ blockOnOutdatedBranch: true });
  await control.pushToBase({ 'base.txt': 'b\n' });
  await quiet(bench);
  await control.postStatusAs('mq-bot', head, 'mq', 'success');
  expect(await tryMerge(pr)).toBe('The head branch is behind the base branch');
});

test('an administrator may force only past a rule that does not apply to administrators', async () => {
  bench = await startBench();
  const { pr } = await open();
  const force = () => bench.api('POST', `/pulls/${pr}/merge`, { Do: 'merge', force_merge: true });
  expect((await force()).status).toBe(405);
  await bench.api('PATCH', '/branch_protections/main', { apply_to_admins: false });
  await quiet(bench);
  expect((await force()).status).toBe(200);
});

test('files that a rule names as unprotected are pushed past it, and no others (seen on fj16 and gt126)', async () => {
  bench = await startBench();
  await bench.api('PATCH', '/branch_protections/main', { unprotected_file_patterns: 'docs/**' });
  const write = async (path: string) => {
    const file = { branch: 'main', content: 'eA==', message: path };
    return (await bench.api('POST', `/contents/${path}`, file)).status;
  };
  expect([await write('code.txt'), await write('docs/a.txt')]).toEqual([403, 201]);
});
