import { PROFILE_NAMES, type ProfileName } from '../../../local/forge/profiles.ts';
import { type Bench, quiet, startBench } from './harness.ts';

let bench: Bench;
afterEach(() => bench.close());

async function openTwo(style: 'merge' | 'squash' | 'rebase'): Promise<readonly [number, number]> {
  const { control } = bench.forge;
  const first = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  const second = await control.openPullRequest({ branch: 'two', files: { 'two.txt': '2\n' } });
  await control.pushToPullRequest(second, { 'two-more.txt': '2\n' });
  await quiet(bench);
  await control.schedule(first, style);
  await control.schedule(second, style);
  return [first, second];
}

const post = async (pr: number, state: string): Promise<void> => {
  const { headSha } = await bench.forge.control.pull(pr);
  const answer = await bench.api('POST', `/statuses/${headSha}`, { state, context: 'mq', description: 'd' });
  expect(answer.status).toBe(201);
  expect(answer.body.status).toBe(state);
};

describe.each(['merge', 'squash', 'rebase'] as const)('two pull requests landed with %s', (style) => {
  test('one after the other, each on the tip the one before made', async () => {
    bench = await startBench();
    const { control } = bench.forge;
    const start = await control.tip('main');
    const [first, second] = await openTwo(style);
    for (const pr of [first, second]) {
      await post(pr, 'success');
      await quiet(bench);
      expect(await control.pull(pr)).toMatchObject({ merged: true, state: 'closed' });
    }
    const [one, two] = control.merges();
    expect(one).toMatchObject({ pr: first, firstParent: start });
    expect(two).toMatchObject({ pr: second, firstParent: one?.mergeCommit });
    expect(await control.tip('main')).toBe(two?.mergeCommit);
    const files = await control.readFiles(`${two?.mergeCommit}`);
    expect([...files.keys()]).toEqual(expect.arrayContaining(['one.txt', 'two.txt', 'two-more.txt']));
    const commit = await bench.api('GET', `/git/commits/${two?.mergeCommit}`);
    const parents = commit.body.parents.map((parent: { sha: string }) => parent.sha);
    const { headSha } = await control.pull(second);
    if (style === 'merge') expect(parents).toEqual([one?.mergeCommit, headSha]);
    if (style === 'squash') expect(parents).toEqual([one?.mergeCommit]);
    if (style === 'rebase') {
      const before = await bench.api('GET', `/git/commits/${parents[0]}`);
      expect(before.body.parents.map((parent: { sha: string }) => parent.sha)).toEqual([one?.mergeCommit]);
    }
    const peeled = await bench.api('GET', `/git/trees/${two?.mergeCommit}%5E%7Btree%7D`);
    expect(peeled.body.sha).toBe(two?.tree);
  });
});

type Trigger =
  | 'status while checking'
  | 'status'
  | 'approval'
  | 'dismissal'
  | 'recheck'
  | 'scheduling'
  | 'warning';

/** Section 3.5 of the forge facts: what makes a scheduled pull request merge, by version. */
const RULES: readonly (readonly [Trigger, Readonly<Record<ProfileName, boolean>>])[] = [
  ['status', { fj11: true, fj15: true, fj16: true, gt125: true, gt126: true, gt127: true }],
  ['warning', { fj11: false, fj15: false, fj16: false, gt125: false, gt126: false, gt127: false }],
  ['approval', { fj11: true, fj15: true, fj16: true, gt125: true, gt126: true, gt127: true }],
  ['dismissal', { fj11: true, fj15: true, fj16: true, gt125: true, gt126: true, gt127: true }],
  [
    'status while checking',
    { fj11: false, fj15: false, fj16: false, gt125: false, gt126: false, gt127: false },
  ],
  ['recheck', { fj11: true, fj15: true, fj16: true, gt125: true, gt126: true, gt127: true }],
  ['scheduling', { fj11: false, fj15: false, fj16: false, gt125: true, gt126: true, gt127: true }],
];
const CASES = RULES.flatMap(([trigger, by]) =>
  PROFILE_NAMES.map((name) => [trigger, name, by[name]] as const),
);

async function fire(trigger: Trigger, pr: number): Promise<void> {
  const { control } = bench.forge;
  const green = async (): Promise<void> => post(pr, 'success');
  switch (trigger) {
    case 'status':
      await control.schedule(pr);
      return green();
    case 'warning':
      await control.schedule(pr);
      return post(pr, 'warning');
    case 'approval':
      await control.setProtection({ requiredApprovals: 1 });
      await quiet(bench);
      await control.schedule(pr);
      await green();
      await quiet(bench);
      expect((await control.pull(pr)).merged).toBe(false);
      return control.review(pr, 'ann', 'approve');
    case 'dismissal':
      await control.setProtection({ blockOnRejectedReviews: true });
      await control.review(pr, 'ann', 'reject');
      await quiet(bench);
      await control.schedule(pr);
      await green();
      await quiet(bench);
      expect((await control.pull(pr)).merged).toBe(false);
      return control.dismissReviews(pr);
    case 'status while checking':
      // The check never ends within this test.
      control.checkDelayMs = 1_000_000;
      await control.schedule(pr);
      await control.pushToBase({ 'base.txt': 'b\n' });
      return green();
    case 'recheck':
      control.checkDelayMs = 5000;
      await control.schedule(pr);
      await control.pushToBase({ 'base.txt': 'b\n' });
      await green();
      await quiet(bench);
      expect((await control.pull(pr)).merged).toBe(false);
      return bench.clock.advance(5000);
    case 'scheduling':
      await green();
      await quiet(bench);
      return control.schedule(pr);
  }
}

test.each(CASES)('trigger "%s" on %s merges: %s', async (trigger, profile, merges) => {
  bench = await startBench({ profile });
  const pr = await bench.forge.control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await quiet(bench);
  await fire(trigger, pr);
  await quiet(bench);
  expect((await bench.forge.control.pull(pr)).merged).toBe(merges);
});

test('before 11.0.3 nothing happens after the conflict check', async () => {
  bench = await startBench({ profile: 'fj11', overrides: { recheckAfterConflictCheck: false } });
  const pr = await bench.forge.control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await quiet(bench);
  await fire('recheck', pr);
  await quiet(bench);
  expect((await bench.forge.control.pull(pr)).merged).toBe(false);
  await post(pr, 'success');
  await quiet(bench);
  expect((await bench.forge.control.pull(pr)).merged).toBe(true);
});

test.each([
  [true, false],
  [false, true],
])(
  'a merge that fails with row-deleted-first=%s leaves the schedule: %s',
  async (rowDeletedBeforeMerge, kept) => {
    bench = await startBench({ overrides: { rowDeletedBeforeMerge } });
    const pr = await bench.forge.control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
    await quiet(bench);
    await bench.api('PATCH', '', { allow_rebase: false });
    // A style outside the allowed ones is taken at scheduling and fails at the merge.
    const scheduled = await bench.api('POST', `/pulls/${pr}/merge`, {
      Do: 'rebase',
      merge_when_checks_succeed: true,
    });
    expect(scheduled.status).toBe(201);
    await post(pr, 'success');
    await quiet(bench);
    expect((await bench.forge.control.pull(pr)).merged).toBe(false);
    const cancel = await bench.api('DELETE', `/pulls/${pr}/merge`);
    expect(cancel.status).toBe(kept ? 204 : 404);
    const timeline = await bench.api('GET', `/issues/${pr}/timeline`);
    const types = timeline.body.map((entry: { type: string }) => entry.type);
    expect(types.filter((type: string) => type === 'pull_cancel_scheduled_merge')).toHaveLength(kept ? 1 : 0);
  },
);

test('a pull request is marked as merged with a commit that its base holds, where the repository allows that', async () => {
  bench = await startBench({});
  const { control } = bench.forge;
  const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await quiet(bench);
  const tip = await control.tip('main');
  const { headSha } = await control.pull(pr);
  const mark = (commit: string) =>
    bench.api('POST', `/pulls/${pr}/merge`, { Do: 'manually-merged', MergeCommitID: commit });
  expect((await mark(tip)).status).toBe(405);
  await bench.api('PATCH', '', { allow_manual_merge: true });
  expect((await mark(headSha)).status).toBe(409);
  expect((await mark(tip)).status).toBe(200);
  expect(await control.pull(pr)).toMatchObject({ merged: true, state: 'closed', mergeCommitSha: tip });
  expect(await control.tip('main')).toBe(tip);
});

test.each([
  ['fj15', false],
  ['gt126', true],
] as const)('a maintainer schedules a fork pull request on %s; it merges: %s', async (profile, merges) => {
  bench = await startBench({ profile });
  const { control } = bench.forge;
  const pr = await control.openPullRequest({
    branch: 'one',
    files: { 'one.txt': '1\n' },
    fork: true,
    author: 'outsider',
  });
  await quiet(bench);
  expect(await control.pull(pr)).toMatchObject({ fromFork: true, mergeable: true });
  await control.schedule(pr);
  await post(pr, 'success');
  await quiet(bench);
  expect((await control.pull(pr)).merged).toBe(merges);
});

test('a lost trigger is gone, a slow one comes late, and a schedule survives a push', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  await quiet(bench);
  await control.schedule(pr);
  control.mergeBehaviour = () => ({ kind: 'lost' });
  await post(pr, 'success');
  await quiet(bench);
  expect((await control.pull(pr)).merged).toBe(false);
  const head = await control.pushToPullRequest(pr, { 'one.txt': '2\n' });
  await quiet(bench);
  control.mergeBehaviour = () => ({ kind: 'slow', ms: 3000 });
  await post(pr, 'success');
  await bench.clock.advance(2999);
  expect((await control.pull(pr)).merged).toBe(false);
  await bench.clock.advance(1);
  expect(await control.pull(pr)).toMatchObject({ merged: true, headSha: head });
});

test('the same story on a virtual clock gives the same commits, ids and entries', async () => {
  const tell = async (): Promise<unknown> => {
    bench = await startBench();
    const { control } = bench.forge;
    const [first, second] = await openTwo('merge');
    for (const pr of [first, second]) {
      await post(pr, 'success');
      await bench.clock.advance(1500);
    }
    const { body } = await bench.api('GET', `/issues/${second}/timeline`);
    return { merges: control.merges(), ids: body.map((entry: { id: number }) => entry.id) };
  };
  const once = await tell();
  await bench.close();
  expect(await tell()).toEqual(once);
  expect(bench.forge.control.merges()).toHaveLength(2);
});

test('a head that is proposed for two bases with rules merges into both by one success', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const first = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  const { headSha } = await control.pull(first);
  await control.pushBranch('release', await control.tip('main'));
  await control.setProtection({ requiredContexts: ['mq'] }, 'release');
  const twin = await control.openPullRequest({ branch: 'one', head: headSha, base: 'release' });
  const again = await control.openPullRequest({ branch: 'two', head: headSha, base: 'release' });
  expect((await control.pull(again)).headSha).toBe(headSha);
  await quiet(bench);
  await control.schedule(first);
  await control.schedule(twin);
  await post(first, 'success');
  await quiet(bench);
  expect(await control.pull(first)).toMatchObject({ merged: true });
  expect(await control.pull(twin)).toMatchObject({ merged: true });
  expect(await control.pull(again)).toMatchObject({ merged: false });
});

test('no branch is made of the name of a tag', async () => {
  bench = await startBench();
  const { control } = bench.forge;
  const tip = await control.tip('main');
  await control.pushTag('mq/tagged', tip);
  const answer = await bench.api('POST', '/branches', { new_branch_name: 'mq/tagged', old_ref_name: tip });
  expect(answer.status).toBe(409);
});

test('a fault is told what patch it would strike', async () => {
  bench = await startBench();
  const seen: unknown[] = [];
  bench.forge.control.fault = ({ about }) => {
    seen.push(about);
    return { status: 503 };
  };
  await bench.api('POST', '/diffpatch', { branch: 'main', sha: 'x', content: 'a patch\n', message: '' });
  expect(seen).toEqual(['a patch\n']);
});
