import type { AbstractForge, AbstractForgeOptions } from '../../../fakes/abstract-forge/index.ts';
import type { VirtualClock } from '../../../support/virtual-clock.ts';
import { openScheduled, setUp, success } from './set-up.ts';

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
      'on a success of any account',
      {},
      async (f, _, head) => f.postStatusAs('another-account', head, 'mq', 'success'),
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

  test('a slow one notices a push meanwhile, unless an administrator scheduled it', async () => {
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

  test('the check of another pull request does not make up for a lost trigger', async () => {
    const { clock, control } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    control.mergeBehaviour = () => ({ kind: 'lost' });
    await success(control, head);
    control.mergeBehaviour = () => ({ kind: 'now' });
    const other = await control.openPullRequest({ branch: 'two', files: { y: 'y' } });
    await control.pushToPullRequest(other, { y: 'z' });
    await clock.advance(60_000);
    expect((await control.pull(pr)).merged).toBe(false);
    await control.pushToBase({ z: 'z' });
    await clock.advance(60_000);
    expect((await control.pull(pr)).merged).toBe(true);
  });

  test('a trigger is for the head it was for', async () => {
    const { clock, control } = setUp();
    const { pr, head } = await openScheduled(control, 'one');
    await success(control, head);
    control.mergeBehaviour = () => ({ kind: 'lost' });
    await success(control, await control.pushToPullRequest(pr, { x: 'x' }));
    await clock.advance(60_000);
    expect((await control.pull(pr)).merged).toBe(false);
  });

  test('a merge that fails takes the schedule with it where the row goes first, and leaves no trace', async () => {
    for (const rowDeletedBeforeMerge of [true, false]) {
      const { clock, control, bot } = setUp({ switches: { rowDeletedBeforeMerge } });
      const { pr, head } = await openScheduled(control, 'one');
      const { entries: before } = await bot.readTimeline(pr);
      control.mergeFails = () => true;
      await success(control, head);
      await clock.advance(60_000);
      expect(control.isScheduled(pr)).toBe(!rowDeletedBeforeMerge);
      expect((await bot.readTimeline(pr)).entries).toEqual(before);
    }
  });

  test('a merge that fails is tried again by a forge that keeps the schedule, as long as the success stands', async () => {
    for (const [rowDeletedBeforeMerge, isTakenBack, merged] of [
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ] as const) {
      const { clock, control } = setUp({ switches: { rowDeletedBeforeMerge } });
      const { pr, head } = await openScheduled(control, 'one');
      control.mergeFails = () => true;
      await success(control, head);
      await clock.advance(60_000);
      if (isTakenBack) await control.postStatusAs('mq-bot', head, 'mq', 'pending');
      control.mergeFails = () => false;
      await clock.advance(60_000);
      expect((await control.pull(pr)).merged).toBe(merged);
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
