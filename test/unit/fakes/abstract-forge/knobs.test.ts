import { GITEA_126_SWITCHES, NO_LAGS } from '../../../fakes/abstract-forge/world.ts';
import { openScheduled, STAGING, setUp, stage, success } from './set-up.ts';

const SECOND = 1000;

describe('readings that are behind, each by its own time', () => {
  test('a merged one is still listed as open when its base has moved already', async () => {
    const { clock, control, bot } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await clock.advance(10 * SECOND);
    const before = await control.tip('main');
    control.lags = { ...NO_LAGS, list: 4 * SECOND };
    await success(control, head);
    await clock.advance(SECOND);
    const [listed] = await bot.listOpenPullRequests();
    expect(listed).toMatchObject({ number: pr, state: 'open', merged: false });
    expect(listed?.baseTip).toBe(await control.tip('main'));
    expect(listed?.baseTip).not.toBe(before);
    expect(await bot.readPullRequest(pr)).toMatchObject({ merged: true });
    await clock.advance(4 * SECOND);
    expect(await bot.listOpenPullRequests()).toEqual([]);
  });

  test('the listed head is older than the branch, and the branch older than the pull request', async () => {
    const { clock, control, bot } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await clock.advance(10 * SECOND);
    control.lags = { ...NO_LAGS, listRefs: 3 * SECOND, branch: 5 * SECOND };
    const pushed = await control.pushToPullRequest(pr, { f: '2' });
    expect((await bot.readPullRequest(pr)).headSha).toBe(pushed);
    expect((await bot.listOpenPullRequests())[0]?.headSha).toBe(head);
    expect(await bot.readBranchTip('one')).toBe(head);
    await clock.advance(3 * SECOND);
    expect((await bot.listOpenPullRequests())[0]?.headSha).toBe(pushed);
    expect(await bot.readBranchTip('one')).toBe(head);
    await clock.advance(2 * SECOND);
    expect(await bot.readBranchTip('one')).toBe(pushed);
  });

  test('a new one is not listed yet, and what it says of itself and its statuses come later', async () => {
    const { clock, control, bot } = setUp();
    control.lags = { ...NO_LAGS, list: SECOND, pull: 2 * SECOND, status: 3 * SECOND };
    const { pr, head } = await openScheduled(control, 'one');
    await success(control, head, 'pending');
    await control.setTitle(pr, 'WIP: one');
    expect(await bot.listOpenPullRequests()).toEqual([]);
    expect(await bot.readStatuses(head)).toEqual([]);
    expect(await bot.readPullRequest(pr)).toMatchObject({ draft: false, headSha: head });
    await clock.advance(SECOND);
    expect(await bot.listOpenPullRequests()).toMatchObject([{ number: pr, draft: true }]);
    await clock.advance(SECOND);
    expect(await bot.readPullRequest(pr)).toMatchObject({ draft: true });
    await clock.advance(SECOND);
    expect(await bot.readStatuses(head)).toMatchObject([{ state: 'pending' }]);
  });
});

describe('a head that belongs to several', () => {
  test('on two bases whose rules require our context one success merges both', async () => {
    const { clock, control } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await control.pushBranch('release', await control.tip('main'));
    await control.setProtection({}, 'release');
    const twin = await control.openPullRequest({ branch: 'one', head, base: 'release' });
    await control.schedule(twin);
    await success(control, head);
    await clock.advance(SECOND);
    expect([control.isMerged(pr), control.isMerged(twin)]).toEqual([true, true]);
    expect(control.journal().filter((entry) => entry.kind === 'merge_elsewhere')).toMatchObject([
      { base: 'release', merge: { pr: twin, head } },
    ]);
  });

  test('landed and reverted, it comes again in a new pull request with its old success', async () => {
    const { clock, control } = setUp({ switches: GITEA_126_SWITCHES });
    const { pr, head } = await openScheduled(control, 'one');
    await control.schedule(pr, 'squash');
    await success(control, head);
    await clock.advance(SECOND);
    await control.pushToBase({ 'one.txt': null });
    const again = await control.openPullRequest({ branch: 'again', head });
    await control.schedule(again);
    await clock.advance(SECOND);
    expect(control.isMerged(again)).toBe(true);
  });

  test('the same head is proposed for one base once only', async () => {
    const { control } = setUp();
    const { head } = await openScheduled(control, 'one');
    await expect(control.openPullRequest({ branch: 'one', head })).rejects.toThrow('proposed');
  });
});

test('the forge merges contents as it likes, whatever a patch makes of them', async () => {
  const { clock, control } = setUp({ files: { 'lines.txt': 'a\nb\nc\nd\ne\n' } });
  const pr = await control.openPullRequest({ branch: 'one', files: { 'lines.txt': 'a\nb\nc\nd\nE\n' } });
  await control.pushToBase({ 'lines.txt': 'A\nb\nc\nd\ne\n' });
  const { commit } = await stage(control, pr, 'main', STAGING);
  control.mergeContents = () => 'made otherwise\n';
  await control.schedule(pr);
  await success(control, (await control.pull(pr)).headSha);
  await clock.advance(SECOND);
  const [merge] = control.merges();
  expect(merge?.tree).not.toBe(commit.tree);
  expect((await control.readFiles(await control.tip('main'))).get('lines.txt')).toBe('made otherwise\n');
});

test('a pull request that the forge calls a conflict passes no check and is not merged', async () => {
  const { control, bot } = setUp({ files: { 'lines.txt': 'a\nb\nc\nd\ne\n' } });
  control.mergeContents = () => null;
  const pr = await control.openPullRequest({ branch: 'one', files: { 'lines.txt': 'a\nb\nc\nd\nE\n' } });
  await control.pushToBase({ 'lines.txt': 'A\nb\nc\nd\ne\n' });
  expect(await bot.readPullRequest(pr)).toMatchObject({ mergeable: false });
  expect((await stage(control, pr, 'main', STAGING)).commit).not.toBe('conflict');
});

test('a forge that delays checks makes one once the pull request is read by its number, and not for the list', async () => {
  const { clock, control, bot } = setUp();
  const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': '1\n' } });
  control.delaysChecks = true;
  await control.pushToBase({ 'two.txt': '2\n' });
  await clock.advance(3600 * SECOND);
  expect(await bot.listOpenPullRequests()).toMatchObject([{ number: pr, mergeable: false }]);
  control.checkDelayMs = 2 * SECOND;
  expect(await bot.readPullRequest(pr)).toMatchObject({ mergeable: false });
  await clock.advance(2 * SECOND);
  expect(await bot.listOpenPullRequests()).toMatchObject([{ number: pr, mergeable: true }]);
});

test('a call that was given up is carried out as late as it is told', async () => {
  const { clock, control, bot } = setUp();
  const tip = await control.tip('main');
  control.isLate = () => true;
  control.lateEffectMs = 120 * SECOND;
  await expect(bot.createBranch('late', tip)).rejects.toThrow();
  await clock.advance(119 * SECOND);
  expect(await control.branches()).toEqual(['main']);
  await clock.advance(SECOND);
  expect(await control.branches()).toEqual(['late', 'main']);
});

test('its stamps are those of its own clock', async () => {
  const { clock, control, bot } = setUp();
  control.clockAheadMs = -90 * SECOND;
  const { pr } = await openScheduled(control, 'one');
  expect((await bot.readTimeline(pr)).entries.at(-1)?.at).toBe(clock.now() - 90 * SECOND);
  expect((await bot.readPullRequest(pr)).updatedAt).toBe(clock.now() - 90 * SECOND);
});

test('a fault is told what patch it would strike', async () => {
  const { control } = setUp();
  const pr = await control.openPullRequest({ branch: 'one', files: { 'cursed.txt': 'x\n' } });
  control.fault = ({ about }) => (about?.includes('cursed.txt') === true ? { status: 503 } : null);
  await expect(stage(control, pr, 'main', STAGING)).rejects.toThrow();
});

describe('names', () => {
  test('a branch of the name of a tag is refused, and one below a branch as well', async () => {
    const { control, bot } = setUp();
    const tip = await control.tip('main');
    await control.pushTag('mq/tagged', tip);
    await control.pushBranch('mq', tip);
    expect(await bot.createBranch('mq/tagged', tip)).toBe(false);
    expect(await bot.createBranch('mq/main/staging', tip)).toBe(false);
  });

  test('a patch for a branch below another fails as any patch does', async () => {
    const { control } = setUp();
    const pr = await control.openPullRequest({ branch: 'one', files: { f: '1' } });
    await control.pushBranch('mq', await control.tip('main'));
    await expect(stage(control, pr, 'main', STAGING)).rejects.toThrow('unreachable');
  });
});

test.each([
  ['a trigger for other branches', 'on:\n  push:\n    branches: [main]\njobs: {gate: {steps: []}}\n'],
  ['no trigger at all', 'jobs: {gate: {steps: []}}\n'],
  ['no workflow', '{{{\n'],
])('an edited gate with %s never starts', async (_, source) => {
  const { clock, control, bot } = setUp({ files: { '.forgejo/workflows/mq-gate.yaml': source } });
  await bot.createBranch(STAGING, await control.tip('main'));
  await clock.advance(10 * SECOND);
  expect(control.runs()).toEqual([]);
});

test('Gitea never reads the folder that is Forgejo’s alone', async () => {
  const workflow = "on: {push: {branches: ['mq/**']}}\n";
  const { clock, control, bot } = setUp({
    switches: GITEA_126_SWITCHES,
    files: { '.gitea/workflows/mq-gate.yaml': null, '.forgejo/workflows/mq-gate.yaml': workflow },
  });
  await bot.createBranch(STAGING, await control.tip('main'));
  await clock.advance(10 * SECOND);
  expect(control.runs()).toEqual([]);
});
