import { ForgeError } from '#core/ports/forge.ts';
import { renderPatch } from '../../../engine-container/src/staging/patch.ts';
import { planMerge } from '../../../engine-container/src/staging/three-way.ts';
import { diffTrees } from '../../../engine-container/src/staging/tree-diff.ts';
import { hashTree } from '../../../engine-container/src/staging/tree-hash.ts';
import {
  type AbstractForge,
  type AbstractForgeOptions,
  createAbstractForge,
  GATE_WORKFLOW_FILE,
  GATE_WORKFLOW_PATH,
} from '../../fakes/abstract-forge/index.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';

const STAGING = 'mq/main/staging';

function setUp(options: Omit<AbstractForgeOptions, 'clock'> = {}) {
  const clock = new VirtualClock();
  const control = createAbstractForge({ clock, ...options });
  return { clock, control, bot: control.forge };
}

async function openScheduled(control: AbstractForge, name: string): Promise<{ pr: number; head: string }> {
  const pr = await control.openPullRequest({ branch: name, files: { [`${name}.txt`]: `${name}\n` } });
  await control.schedule(pr);
  return { pr, head: (await control.pull(pr)).headSha };
}

function success(control: AbstractForge, sha: string, state: 'success' | 'pending' | 'error' = 'success') {
  return control.forge.postStatus(sha, { state, context: 'mq', description: '', targetUrl: null });
}

/** Stages one pull request on a branch's tip as the engine does; `newBranch` absent = moves the branch. */
async function stage(
  control: AbstractForge,
  pr: number,
  branch: string,
  newBranch?: string,
  message = 'stage',
) {
  const bot = control.forge;
  const pull = await bot.readPullRequest(pr);
  const tip = await control.tip(branch);
  const fork = await bot.readMergeBase(tip, pull.headSha);
  const [base, ours, theirs] = await Promise.all(
    [fork ?? '', tip, pull.headSha].map((sha) => bot.readTree(sha)),
  );
  const plan = planMerge({ base: base ?? [], ours: ours ?? [], theirs: theirs ?? [] });
  if (plan.kind === 'conflict') throw new Error('conflict in the plan');
  const commit = await bot.applyPatch({
    branch,
    ...(newBranch === undefined ? {} : { newBranch }),
    patch: renderPatch(plan.changes),
    message,
    mayConflict: plan.contentMerges.length > 0,
  });
  return { plan, commit };
}

describe('automatic merge', () => {
  test.each<
    [
      name: string,
      options: Omit<AbstractForgeOptions, 'clock'>,
      act: (control: AbstractForge, pr: number, head: string, clock: VirtualClock) => Promise<void>,
      merged: boolean,
    ]
  >([
    ['on a success', {}, async (f, _, head) => success(f, head), true],
    ['not on a pending', {}, async (f, _, head) => success(f, head, 'pending'), false],
    [
      'not on a success of another context',
      {},
      async (f, _, head) => f.postStatusAs('ci', head, 'build', 'success'),
      false,
    ],
    ['not on a success of another commit', {}, async (f) => success(f, await f.tip('main')), false],
    [
      'on a success of anybody',
      {},
      async (f, _, head) => f.postStatusAs('somebody', head, 'mq', 'success'),
      true,
    ],
    [
      'not once the newest status is an error',
      {},
      async (f, _, head) => {
        await success(f, head);
        await success(f, head, 'error');
      },
      false,
    ],
    [
      'not for a cancelled schedule',
      {},
      async (f, pr, head) => {
        await success(f, head);
        await f.cancelSchedule(pr);
      },
      false,
    ],
    [
      'not for a head that moved on',
      {},
      async (f, pr, head) => {
        await success(f, head);
        await f.pushToPullRequest(pr, { x: 'x' });
      },
      false,
    ],
    [
      'not for a draft',
      {},
      async (f, pr, head) => {
        await f.setTitle(pr, 'WIP: later');
        await success(f, head);
      },
      false,
    ],
    [
      'not for a closed one, and the schedule survives that',
      {},
      async (f, pr, head) => {
        await f.close(pr);
        await success(f, head);
        expect(f.isScheduled(pr)).toBe(true);
      },
      false,
    ],
    [
      'on a success after reopening',
      {},
      async (f, pr, head) => {
        await f.close(pr);
        await f.reopen(pr);
        await success(f, head);
      },
      true,
    ],
    [
      'never where a trigger is lost, until the next',
      {},
      async (f, _, head, clock) => {
        f.mergeBehaviour = () => ({ kind: 'lost' });
        await success(f, head);
        await clock.advance(60_000);
        expect(f.merges()).toEqual([]);
        f.mergeBehaviour = () => ({ kind: 'now' });
        await success(f, head);
      },
      true,
    ],
    [
      'with an approval that comes last',
      {},
      async (f, pr, head, clock) => {
        await f.setProtection({ requiredApprovals: 1 });
        await success(f, head);
        await clock.advance(60_000);
        expect(f.merges()).toEqual([]);
        await f.review(pr, 'ann', 'approve');
      },
      true,
    ],
    [
      'not with too few approvals',
      {},
      async (f, pr, head) => {
        await f.setProtection({ requiredApprovals: 2 });
        await f.review(pr, 'ann', 'approve');
        await success(f, head);
      },
      false,
    ],
    [
      'not with an approval that became stale',
      {},
      async (f, pr, _, clock) => {
        await f.setProtection({ requiredApprovals: 1, ignoreStaleApprovals: true });
        await f.review(pr, 'ann', 'approve');
        const head = await f.pushToPullRequest(pr, { x: 'x' });
        await clock.advance(0);
        await success(f, head);
      },
      false,
    ],
    [
      'once a rejection is dismissed',
      {},
      async (f, pr, head, clock) => {
        await f.setProtection({ blockOnRejectedReviews: true });
        await f.review(pr, 'ann', 'reject');
        await success(f, head);
        await clock.advance(60_000);
        expect(f.merges()).toEqual([]);
        await f.dismissReviews(pr);
      },
      true,
    ],
    [
      'not for an outdated branch where the rule says so',
      {},
      async (f, _, head) => {
        await f.setProtection({ blockOnOutdatedBranch: true });
        await f.pushToBase({ other: '1' });
        await success(f, head);
      },
      false,
    ],
    [
      'with required globs all satisfied',
      {},
      async (f, _, head) => {
        await f.setProtection({ requiredContexts: ['mq', 'ci/*'] });
        await f.postStatusAs('ci', head, 'ci/a/b', 'success');
        await success(f, head);
      },
      true,
    ],
    [
      'not with one status of a glob red',
      {},
      async (f, _, head) => {
        await f.setProtection({ requiredContexts: ['mq', 'ci/*'] });
        await f.postStatusAs('ci', head, 'ci/a', 'success');
        await f.postStatusAs('ci', head, 'ci/b', 'failure');
        await success(f, head);
      },
      false,
    ],
    [
      'on any success where nothing is protected',
      {},
      async (f, _, head) => {
        await f.removeProtection();
        await f.postStatusAs('ci', head, 'build', 'success');
      },
      true,
    ],
    [
      'after a conflict check that swallowed the success',
      {},
      async (f, _, head) => {
        f.checkDelayMs = 5000;
        await f.pushToBase({ other: '1' });
        await success(f, head);
      },
      true,
    ],
    [
      'not after that check in old versions',
      { switches: { recheckTriggers: false } },
      async (f, _, head) => {
        f.checkDelayMs = 5000;
        await f.pushToBase({ other: '1' });
        await success(f, head);
      },
      false,
    ],
    [
      'not when scheduled after the success',
      {},
      async (f, pr, head) => {
        await f.cancelSchedule(pr);
        await success(f, head);
        await f.schedule(pr);
      },
      false,
    ],
    [
      'when scheduled after the success where scheduling triggers',
      { switches: { scheduleTriggers: true } },
      async (f, pr, head) => {
        await f.cancelSchedule(pr);
        await success(f, head);
        await f.schedule(pr);
      },
      true,
    ],
    [
      'not where the head conflicts',
      {},
      async (f, pr, _, clock) => {
        const head = await f.pushToPullRequest(pr, { 'README.md': 'theirs\n' });
        await f.pushToBase({ 'README.md': 'ours\n' });
        await clock.advance(1000);
        await success(f, head);
      },
      false,
    ],
  ])('%s', async (_, options, act, merged) => {
    const { clock, control } = setUp(options);
    const { pr, head } = await openScheduled(control, 'one');
    await act(control, pr, head, clock);
    await clock.advance(60_000);
    const pull = await control.pull(pr);
    expect(pull.merged).toBe(merged);
    expect(control.merges().map((merge) => merge.pr)).toEqual(merged ? [pr] : []);
    if (merged) expect(control.isScheduled(pr)).toBe(false);
  });

  test('a slow one merges in the end, once, whatever is posted meanwhile', async () => {
    const { clock, control } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    control.mergeBehaviour = () => ({ kind: 'slow', ms: 90_000 });
    await success(control, head);
    await clock.advance(60_000);
    await success(control, head);
    expect((await control.pull(pr)).merged).toBe(false);
    await clock.advance(31_000);
    expect((await control.pull(pr)).merged).toBe(true);
    await clock.advance(600_000);
    expect(control.merges()).toHaveLength(1);
  });

  test('a slow one notices a push meanwhile, unless the forge is old', async () => {
    for (const mergesUncheckedHead of [false, true]) {
      const { clock, control } = setUp({ switches: { mergesUncheckedHead } });
      const { pr, head } = await openScheduled(control, 'one');
      control.mergeBehaviour = () => ({ kind: 'slow', ms: 90_000 });
      await success(control, head);
      await clock.advance(30_000);
      const newer = await control.pushToPullRequest(pr, { x: 'x' });
      await clock.advance(90_000);
      expect(control.merges().map((merge) => merge.head)).toEqual(mergesUncheckedHead ? [newer] : []);
    }
  });

  test('a merge that fails takes the schedule with it where the row goes first, and leaves no trace', async () => {
    for (const rowDeletedBeforeMerge of [true, false]) {
      const { clock, control, bot } = setUp({ switches: { rowDeletedBeforeMerge } });
      const { pr, head } = await openScheduled(control, 'one');
      const before = await bot.readTimeline(pr);
      control.mergeFails = () => true;
      await success(control, head);
      await clock.advance(60_000);
      expect(control.isScheduled(pr)).toBe(!rowDeletedBeforeMerge);
      expect(await bot.readTimeline(pr)).toEqual(before);
    }
  });

  test('a fork is merged only for a scheduler who may write to it', async () => {
    for (const [user, forkPermission, merged] of [
      ['dev', true, false],
      ['guest', true, true],
      ['dev', false, true],
    ] as const) {
      const { clock, control } = setUp({ switches: { forkPermission } });
      const pr = await control.openPullRequest({
        branch: 'one',
        files: { f: '1' },
        fork: true,
        author: 'guest',
      });
      await control.scheduleAs(user, pr);
      expect(await control.pull(pr)).toMatchObject({ fromFork: true, mergeable: true });
      await success(control, (await control.pull(pr)).headSha);
      await clock.advance(60_000);
      expect((await control.pull(pr)).merged).toBe(merged);
    }
  });

  test('one success opens two pull requests with the same head', async () => {
    const { clock, control } = setUp();
    const { head } = await openScheduled(control, 'one');
    await control.pushBranch('release', await control.tip('main'));
    const twin = await control.openPullRequest({ branch: 'two', files: { x: 'x' } });
    await control.forcePushPullRequest(twin, head);
    await control.retarget(twin, 'release');
    await control.schedule(twin);
    await success(control, head);
    await clock.advance(60_000);
    expect((await control.pull(1)).merged && (await control.pull(twin)).merged).toBe(true);
  });
});

describe('mergeable', () => {
  test('is false while a check runs and true again once it has ended', async () => {
    const { clock, control } = setUp();
    const { pr } = await openScheduled(control, 'one');
    expect((await control.pull(pr)).mergeable).toBe(true);
    const forkPoint = await control.tip('main');
    control.checkDelayMs = 3000;
    const tip = await control.pushToBase({ other: '1' });
    expect(await control.pull(pr)).toMatchObject({ mergeable: false, baseTip: tip, mergeBase: forkPoint });
    await clock.advance(2999);
    expect((await control.pull(pr)).mergeable).toBe(false);
    await clock.advance(1);
    expect((await control.pull(pr)).mergeable).toBe(true);
  });

  test('stays false for a conflict, comes back when the base takes the change back', async () => {
    const { control } = setUp({ files: { f: 'a\nb\nc\n' } });
    const pr = await control.openPullRequest({ branch: 'one', files: { f: 'a\nB\nc\n' } });
    await control.pushToBase({ f: 'a\nX\nc\n' });
    expect((await control.pull(pr)).mergeable).toBe(false);
    await expect(control.schedule(pr)).rejects.toThrow('cannot be merged');
    await control.pushToBase({ f: 'a\nb\nc\n' });
    expect((await control.pull(pr)).mergeable).toBe(true);
  });

  test('is true for a head that the base already holds, which is never merged', async () => {
    const { clock, control } = setUp();
    const { pr } = await openScheduled(control, 'one');
    await control.forcePushPullRequest(pr, await control.tip('main'));
    expect((await control.pull(pr)).mergeable).toBe(true);
    await success(control, await control.tip('main'));
    await clock.advance(60_000);
    expect((await control.pull(pr)).merged).toBe(false);
  });

  test('counts lines as git does: apart they merge, touching they conflict', async () => {
    for (const [theirs, mergeable] of [
      ['1\n2\n3\n4\nfive\n', true],
      ['1\n2\nthree\n4\n5\n', false],
      ['1\ntwo\n3\n4\n5\n', true],
    ] as const) {
      const { control } = setUp({ files: { f: '1\n2\n3\n4\n5\n' } });
      const pr = await control.openPullRequest({ branch: 'one', files: { f: theirs } });
      await control.pushToBase({ f: '1\ntwo\n3\n4\n5\n' });
      expect((await control.pull(pr)).mergeable).toBe(mergeable);
    }
  });
});

describe('native merge', () => {
  async function landTwo(style: 'merge' | 'squash' | 'rebase') {
    const { clock, control, bot } = setUp();
    const from = await control.tip('main');
    const one = await control.openPullRequest({ branch: 'one', files: { one: '1' }, from });
    const two = await control.openPullRequest({ branch: 'two', files: { two: '2' }, from });
    await control.pushToPullRequest(two, { three: '3' });
    for (const pr of [one, two]) {
      await control.schedule(pr, style);
      await success(control, (await control.pull(pr)).headSha);
      await clock.advance(1000);
    }
    const [first, second] = control.merges();
    if (first === undefined || second === undefined) throw new Error('not merged');
    expect(await control.tip('main')).toBe(second.mergeCommit);
    expect(second.firstParent).toBe(first.mergeCommit);
    expect([...(await control.readFiles(second.mergeCommit)).keys()]).toEqual([
      '.forgejo/workflows/mq-gate.yaml',
      'README.md',
      'one',
      'three',
      'two',
    ]);
    return { second, commit: await bot.readCommit(second.mergeCommit), first, head: second.head, bot };
  }

  test('merge joins two parents', async () => {
    const { commit, first, head } = await landTwo('merge');
    expect(commit.parents).toEqual([first.mergeCommit, head]);
  });

  test('squash makes one commit of the whole head', async () => {
    const { commit, first } = await landTwo('squash');
    expect(commit.parents).toEqual([first.mergeCommit]);
  });

  test('rebase replays each commit', async () => {
    const { commit, first, bot } = await landTwo('rebase');
    const [parent] = commit.parents;
    if (parent === undefined) throw new Error('no parent');
    expect((await bot.readCommit(parent)).parents).toEqual([first.mergeCommit]);
  });

  test('rebase keeps the commit of a head on top of the base', async () => {
    const { clock, control } = setUp();
    const { head, pr } = await openScheduled(control, 'one');
    await control.schedule(pr, 'rebase');
    await success(control, head);
    await clock.advance(1000);
    expect(await control.tip('main')).toBe(head);
  });

  test('rebase loses a line of the base that the head added and took back, merge keeps it', async () => {
    for (const [style, line] of [
      ['merge', true],
      ['rebase', false],
    ] as const) {
      const { clock, control } = setUp({ files: { f: '1\n2\n3\n' } });
      const pr = await control.openPullRequest({ branch: 'one', files: { f: '1\n2\n3\nnew\n' } });
      await control.pushToPullRequest(pr, { f: '1\n2\n3\n', g: 'g' });
      await control.pushToBase({ f: '1\n2\n3\nnew\n' });
      await control.schedule(pr, style);
      await success(control, (await control.pull(pr)).headSha);
      await clock.advance(1000);
      const files = await control.readFiles(await control.tip('main'));
      expect(files.get('f')?.includes('new')).toBe(line);
    }
  });

  test('by hand needs no status', async () => {
    const { control } = setUp();
    const { pr } = await openScheduled(control, 'one');
    const merged = await control.mergeByHand(pr);
    expect(await control.pull(pr)).toMatchObject({ merged: true, state: 'closed', mergeCommitSha: merged });
  });
});

describe('staging', () => {
  test('a patch makes the tree that the plan says and that the merge makes', async () => {
    const { clock, control } = setUp({ files: { 'd/a': '1', 'x y': '1', gone: '1', exec: '1', link: '1' } });
    const pr = await control.openPullRequest({
      branch: 'one',
      files: {
        'd/a': null,
        d: 'now a file',
        'x y': '2',
        gone: null,
        exec: { content: '1', mode: '100755' },
        link: { content: 'd', mode: '120000' },
        'tab\there "ü"': 'new',
        sub: { content: 'c'.repeat(40), mode: '160000' },
      },
    });
    await control.pushToBase({ other: '1' });
    const { plan, commit } = await stage(control, pr, 'main', STAGING);
    if (plan.kind !== 'plan' || plan.result === null || commit === 'conflict') throw new Error('not staged');
    expect(commit.tree).toBe(hashTree(plan.result));
    expect(commit.parents).toEqual([await control.tip('main')]);
    expect(await control.tip(STAGING)).toBe(commit.sha);
    await control.schedule(pr, 'squash');
    await success(control, (await control.pull(pr)).headSha);
    await clock.advance(1000);
    expect(control.merges()[0]?.tree).toBe(commit.tree);
  });

  test('a content merge is left to the forge', async () => {
    const { clock, control } = setUp({ files: { f: '1\n2\n3\n4\n5\n' } });
    const pr = await control.openPullRequest({ branch: 'one', files: { f: 'one\n2\n3\n4\n5\n' } });
    await control.pushToBase({ f: '1\n2\n3\n4\nfive\n' });
    const { plan, commit } = await stage(control, pr, 'main', STAGING);
    if (commit === 'conflict') throw new Error('not staged');
    expect(plan).toMatchObject({ contentMerges: ['f'], result: null });
    expect((await control.readFiles(commit.sha)).get('f')).toBe('one\n2\n3\n4\nfive\n');
    await control.schedule(pr);
    await success(control, (await control.pull(pr)).headSha);
    await clock.advance(1000);
    expect(control.merges()[0]?.tree).toBe(commit.tree);
  });

  test('a content merge that cannot be made is a conflict, asked for twice', async () => {
    const { control } = setUp({ files: { f: '1\n2\n3\n' } });
    const pr = await control.openPullRequest({ branch: 'one', files: { f: '1\ntwo\n3\n' } });
    await control.pushToBase({ f: '1\nzwei\n3\n' });
    control.clearCalls();
    expect((await stage(control, pr, 'main', STAGING)).commit).toBe('conflict');
    expect(control.calls().filter((call) => call.write)).toMatchObject([
      { call: 'POST diffpatch', status: 500 },
      { call: 'POST diffpatch', status: 500 },
    ]);
    expect(await control.branches()).not.toContain(STAGING);
  });

  test('the patch between two trees re-stages a prefix as one commit', async () => {
    const { control, bot } = setUp();
    const from = await control.tip('main');
    const prs = [];
    for (const name of ['a', 'b'])
      prs.push(await control.openPullRequest({ branch: name, files: { [name]: name }, from }));
    const [a = 0, b = 0] = prs;
    await stage(control, a, 'main', 'work');
    const { commit } = await stage(control, b, 'work');
    if (commit === 'conflict') throw new Error('not staged');
    const patch = renderPatch(diffTrees(await bot.readTree(from), await bot.readTree(commit.sha)));
    const again = await bot.applyPatch({
      branch: 'main',
      newBranch: STAGING,
      patch,
      message: 'm',
      mayConflict: false,
    });
    expect(again).toMatchObject({ tree: commit.tree, parents: [from] });
  });

  test.each<[name: string, patch: string]>([
    ['nothing', ''],
    ['a text hunk', 'diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-1\n+2\n'],
    [
      'an object that nobody has',
      `diff --git a/n b/n\nnew file mode 100644\nindex ${'0'.repeat(40)}..${'9'.repeat(40)}\nBinary files /dev/null and b/n differ\n`,
    ],
    ['a path that is not there', 'diff --git a/n b/n\nold mode 100644\nnew mode 100755\n'],
  ])('a patch with %s does not apply', async (_, patch) => {
    const { bot } = setUp();
    const request = { branch: 'main', newBranch: STAGING, patch, message: 'm', mayConflict: false };
    await expect(bot.applyPatch(request)).rejects.toMatchObject({ kind: 'unreachable', status: 500 });
  });

  test('branches exclude each other like paths', async () => {
    const { control, bot } = setUp();
    const tip = await control.tip('main');
    expect(await bot.createBranch(STAGING, tip)).toBe(true);
    expect(await bot.createBranch(STAGING, tip)).toBe(false);
    expect(await bot.createBranch(`${STAGING}/x`, tip)).toBe(false);
    expect(await bot.createBranch(`${STAGING}-x`, tip)).toBe(true);
    await bot.deleteBranch(STAGING);
    await bot.deleteBranch(STAGING);
    expect(await bot.readBranchTip(STAGING)).toBeNull();
    await expect(bot.deleteBranch('main')).rejects.toMatchObject({ kind: 'denied' });
  });
});

describe('gate', () => {
  const SECOND = 1000;

  test('one run per push to mq/**, read by commit, branch and file', async () => {
    const { clock, control, bot } = setUp();
    const tip = await control.tip('main');
    await bot.createBranch('work', tip);
    await bot.createBranch(STAGING, tip);
    expect(await bot.readGate(tip, STAGING, GATE_WORKFLOW_FILE)).toEqual({ kind: 'none' });
    await clock.advance(SECOND);
    expect(control.runs()).toMatchObject([{ branch: STAGING, sha: tip, state: 'running' }]);
    expect(await bot.readGate(tip, STAGING, GATE_WORKFLOW_PATH)).toMatchObject({ kind: 'running' });
    expect(await bot.readGate(tip, 'mq/main/other', GATE_WORKFLOW_FILE)).toEqual({ kind: 'none' });
    expect(await bot.readGate(tip, STAGING, 'other.yaml')).toEqual({ kind: 'none' });
    await clock.advance(control.gateDurationMs);
    expect(await bot.readGate(tip, STAGING, GATE_WORKFLOW_FILE)).toMatchObject({ verdict: 'success' });
  });

  test('a newer push on the same branch cancels the older run', async () => {
    const { clock, control } = setUp();
    const pr = await control.openPullRequest({ branch: 'one', files: { f: '1' } });
    await stage(control, pr, 'main', STAGING);
    await clock.advance(SECOND);
    await control.pushBranch(STAGING, await control.tip('main'));
    await clock.advance(SECOND);
    expect(control.runs().map((run) => run.state)).toEqual(['cancelled', 'running']);
  });

  test.each<[name: string, act: (control: AbstractForge) => Promise<void>]>([
    ['the branch is deleted too early', async (f) => f.deleteBranch(STAGING)],
    [
      'the judge says never',
      async (f) => {
        f.judge = () => 'never';
      },
    ],
  ])('no run where %s', async (_, act) => {
    const { clock, control, bot } = setUp();
    await bot.createBranch(STAGING, await control.tip('main'));
    await act(control);
    await clock.advance(10 * SECOND);
    expect(control.runs()).toEqual([]);
  });

  test('no run where the tree has no workflow', async () => {
    const { clock, control, bot } = setUp({ files: { [GATE_WORKFLOW_PATH]: null } });
    await bot.createBranch(STAGING, await control.tip('main'));
    await clock.advance(10 * SECOND);
    expect(control.runs()).toEqual([]);
  });

  test('no run where the message asks for none', async () => {
    const { clock, control } = setUp();
    const pr = await control.openPullRequest({ branch: 'one', files: { f: '1' } });
    await stage(control, pr, 'main', STAGING, 'quiet [skip ci]');
    await clock.advance(10 * SECOND);
    expect(control.runs()).toEqual([]);
  });

  test('the judge sees the files, a held run waits for its end, a run can be cancelled', async () => {
    const { clock, control, bot } = setUp();
    const seen: unknown[] = [];
    control.judge = (files, run) => {
      seen.push(files.get('README.md'), run.branch);
      return 'hold';
    };
    await bot.createBranch(STAGING, await control.tip('main'));
    await clock.advance(3_600_000);
    expect(seen).toEqual(['# app\n', STAGING]);
    const [run] = control.runs();
    expect(run?.state).toBe('running');
    await control.finishRun(run?.id ?? '', 'failure');
    expect(control.runs()[0]?.state).toBe('failure');
    expect(await bot.cancelRun(run?.id ?? '')).toBe(true);
    expect(control.runs()[0]?.state).toBe('failure');
    expect(await bot.cancelRun('999')).toBe(false);
  });
});

describe('timeline and statuses', () => {
  test('entries keep their order, a second click leaves a second entry, the row outlives a push', async () => {
    const { clock, control, bot } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await clock.advance(2500);
    await control.schedule(pr, 'squash');
    const newer = await control.pushToPullRequest(pr, { x: 'x' });
    await control.setTitle(pr, 'other');
    await control.cancelSchedule(pr);
    await control.cancelSchedule(pr);
    const timeline = await bot.readTimeline(pr);
    expect(timeline.map((entry) => [entry.kind, entry.newHead])).toEqual([
      ['pushed', head],
      ['scheduled', null],
      ['scheduled', null],
      ['pushed', newer],
      ['other', null],
      ['cancelled', null],
    ]);
    expect(timeline.map((entry) => entry.id)).toEqual(
      timeline.map((entry) => entry.id).sort((a, b) => a - b),
    );
    expect(timeline[2]?.at).toBe(Date.UTC(2026, 0, 1) + 2000);
  });

  test('the entry of a push may come later than the push', async () => {
    const { clock, control, bot } = setUp({ delays: { pushEntryMs: 4000 } });
    const { pr } = await openScheduled(control, 'one');
    const head = await control.pushToPullRequest(pr, { x: 'x' });
    expect((await bot.readPullRequest(pr)).headSha).toBe(head);
    expect((await bot.readTimeline(pr)).at(-1)?.kind).toBe('scheduled');
    await clock.advance(4000);
    expect((await bot.readTimeline(pr)).at(-1)).toMatchObject({ kind: 'pushed', newHead: head });
  });

  test('the newest status of a context counts, with its creator', async () => {
    const { control, bot } = setUp();
    const { head } = await openScheduled(control, 'one');
    await success(control, head, 'pending');
    await control.postStatusAs('eve', head, 'mq', 'success', 'mine');
    expect(await bot.readStatuses(head)).toMatchObject([{ context: 'mq', state: 'success', creator: 'eve' }]);
    expect(control.statusHistory(head)).toHaveLength(2);
    expect(await control.status(head, 'mq')).toEqual({
      state: 'success',
      description: 'mine',
      creator: 'eve',
    });
    await expect(success(control, 'f'.repeat(40))).rejects.toMatchObject({ kind: 'missing' });
  });

  test('deleting a branch closes what comes from it', async () => {
    const { control } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await control.deleteBranch('one');
    expect(await control.pull(pr)).toMatchObject({
      state: 'closed',
      headSha: head,
      headRef: `refs/pull/${pr}/head`,
    });
  });
});

describe('faults', () => {
  test.each([
    [{ status: 0 }, 'unreachable', true],
    [{ status: 500 }, 'unreachable', true],
    [{ status: 200, html: true }, 'unreachable', true],
    [{ status: 200, body: '{"half": ' }, 'unreachable', true],
    [{ status: 403, html: true }, 'unreachable', false],
    [{ status: 403 }, 'denied', false],
    [{ status: 404 }, 'missing', false],
    [{ status: 422 }, 'rejected', false],
    [{ status: 423 }, 'archived', false],
    [{ status: 429 }, 'rate_limited', false],
  ] as const)('%j on a write', async (fault, kind, effectUnknown) => {
    const { control } = setUp();
    const { head } = await openScheduled(control, 'one');
    control.fault = () => fault;
    const error = await success(control, head).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ForgeError);
    expect(error).toMatchObject({ kind, effectUnknown, call: 'POST statuses/{sha}' });
    expect(control.statusHistory(head)).toEqual([]);
  });

  test('an answer can be lost after the effect, and an effect can come late', async () => {
    const { clock, control } = setUp();
    const { head } = await openScheduled(control, 'one');
    control.fault = (call) => (call.method === 'POST' ? { status: 502, when: 'after' } : null);
    await expect(success(control, head, 'pending')).rejects.toMatchObject({ effectUnknown: true });
    expect(control.statusHistory(head)).toHaveLength(1);
    control.fault = () => null;
    control.isLate = () => true;
    await expect(success(control, head)).rejects.toMatchObject({ effectUnknown: true, status: null });
    expect(control.statusHistory(head)).toHaveLength(1);
    await clock.advance(15_000);
    expect(control.statusHistory(head)).toHaveLength(2);
  });

  test('the log names each call without its numbers', async () => {
    const { control, bot } = setUp();
    const { pr } = await openScheduled(control, 'one');
    const paths: string[] = [];
    control.fault = (call) => {
      paths.push(call.path);
      return null;
    };
    await bot.readPullRequest(pr);
    await bot.readBranchTip('absent');
    expect(paths).toEqual([
      '/api/v1/repos/acme/app/pulls/1',
      '/api/v1/repos/acme/app/branches/absent',
      '/api/v1/repos/acme/app/',
    ]);
    expect(control.calls().map(({ call, status, by, write }) => ({ call, status, by, write }))).toEqual([
      { call: 'GET pulls/{n}', status: 200, by: 'mq-bot', write: false },
      { call: 'GET branches/{branch}', status: 404, by: 'mq-bot', write: false },
      { call: 'GET repo', status: 200, by: 'mq-bot', write: false },
    ]);
    control.clearCalls();
    expect(control.calls()).toEqual([]);
  });
});
