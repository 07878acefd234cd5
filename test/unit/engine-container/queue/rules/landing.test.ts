import type { PullRequest } from '#core/domain/forge/forge.ts';
import { SUCCESS_TRIES_MAX, TAKING_BACK_TRIES_MAX } from '#core/domain/limits.ts';
import { known, UNKNOWN } from '#core/domain/result.ts';
import type { Landing } from '../../../../../engine-container/src/queue/record/landing-state.ts';
import type { Batch, QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import type { FocusView, Snapshot } from '../../../../../engine-container/src/queue/snapshot.ts';
import { describeRefusal } from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import {
  BASE,
  givenEntry,
  givenEvidence,
  givenLanding,
  givenNode,
  givenRecord,
  givenStagedBatch,
  stagedAt,
} from '../../../../builders/queue-record.ts';
import {
  givenFocus,
  givenPull,
  givenRule,
  givenSnapshot,
  givenStatus,
  givenView,
  NOW,
} from '../../../../builders/snapshot.ts';
import { tellDecision } from '../../../../support/told-decision.ts';

const PROVEN_1 = 'success on head-1: proven: in a batch of 2 that passed the gate as a whole; landing 1 of 2';
const LANDED_1 =
  'pending on head-1: landed: merged by the queue; a new pull request with this commit is tested again';
const LEFT_BEHIND_1 =
  'error on head-1b: not landed: an earlier head of this pull request was merged; open a new pull request for what was pushed since';
const UNVERIFIED_1 = 'pending on head-1: landed: merged, but not as it was proven, so the queue has stopped';
const BASE_MOVED_1 = 'pending on head-1: requeued: the base branch moved; tested again on the new base';
const TIMED_OUT =
  'pending on head-1: requeued: the forge did not complete a merge of its batch in time; tested again';

/** A batch of #1 and #2 that passed its gate. */
function givenProven(batch: Partial<Batch> = {}, changes: Partial<QueueRecord> = {}): QueueRecord {
  const nodes = [givenNode({ state: 'done', verdict: 'success', ...stagedAt(2) })];
  return givenRecord({
    entries: [givenEntry(1), givenEntry(2)],
    batches: [givenStagedBatch(2, { nodes, ...batch })],
    tip: BASE.sha,
    evidence: [givenEvidence(2, 'success')],
    ...changes,
  });
}

const givenAwaited = (landing: Partial<Landing> = {}): QueueRecord =>
  givenProven({ landing: givenLanding({ postedAt: NOW, ...landing }) });

/** A look in which #1 is seen like this, `ms` after its `success` was posted. */
function givenLook(
  first: Partial<Omit<FocusView, 'pull'>> & { readonly pull?: Partial<PullRequest> } = {},
  changes: Partial<Snapshot> = {},
): Snapshot {
  return givenSnapshot({
    pulls: known([givenView(1), givenView(2)]),
    focus: new Map([[1, known(givenFocus(1, first))]]),
    ...changes,
  });
}

describe('a success is posted', () => {
  test('on the head that was staged, while everything is as it was', () => {
    expect(tellDecision(givenLook(), givenProven()).actions).toEqual([PROVEN_1]);
  });

  test('once: while its merge is awaited nothing else lands', () => {
    expect(tellDecision(givenLook(), givenAwaited())).toMatchObject({ actions: [], lookInMs: 500 });
  });

  describe('never beside another queue', () => {
    const rival = { pr: 9, at: NOW, enabledAt: 0 };

    test('also not in the look that finds it', () => {
      const pull = givenPull(9, { merged: true, state: 'closed', mergeCommitSha: BASE.sha });
      const statuses = known([givenStatus({ description: 'proven: by the other one' })]);
      const outsideMove = { from: 'base-before', to: BASE.sha, since: NOW, own: [] };
      const look = givenLook({}, { outsidePulls: known([{ pull, statuses }]) });
      expect(tellDecision(look, givenProven({}, { outsideMove }))).toMatchObject({
        actions: [],
        ended: ['#1 requeued: invalidated', '#2 requeued: invalidated'],
        after: { rival: { pr: 9 } },
      });
      expect(tellDecision(look, { ...givenAwaited(), outsideMove }).actions).toEqual([BASE_MOVED_1]);
    });

    test('also not behind a merge that came after the first was taken back', () => {
      const takeBack = { reason: 'base_advanced', postedAt: NOW - 500 } as const;
      const record = {
        ...givenProven({ teardown: 'base_advanced', landing: givenLanding({ takeBack }) }),
        rival,
      };
      const next = givenFocus(2, { pull: { baseTip: 'merge-1' } });
      const merged = { merged: true, state: 'closed' as const, mergeCommitSha: 'merge-1' };
      const merge = known({ commit: { sha: 'merge-1', tree: 'tree-1' }, standsOnTip: true });
      const focus = new Map([
        [1, known(givenFocus(1, { pull: merged, merge }))],
        [2, known(next)],
      ]);
      expect(tellDecision(givenLook({}, { focus }), record)).toMatchObject({
        actions: [LANDED_1],
        events: ['pr_landed #1', 'pr_requeued #2: base_advanced'],
      });
    });
  });

  test('not before what is still to be said on that head is written', () => {
    const waiting = { pr: 1, sha: 'head-1', context: 'mq', state: 'pending' as const };
    const pendingStatuses = [{ ...waiting, description: 'earlier words', targetUrl: null }];
    expect(tellDecision(givenLook(), givenProven({}, { pendingStatuses })).actions).toEqual([
      'pending on head-1: earlier words',
    ]);
  });

  test.each([
    [4_000, 6_000],
    [10_000, null],
    [300_000, null],
  ])(
    'where its own push stands before a schedule of %d ms ago: %s ms later than now (null: at once)',
    (age, waitMs) => {
      const at = NOW - age;
      const entries = [givenEntry(1, { queuedAt: at, readyAt: NOW - 2_000, scheduleId: 1 }), givenEntry(2)];
      const look = (id: number) => {
        const schedule = { kind: 'bound', id, at, isPushedBefore: true } as const;
        const readings = [{ pr: 1, head: 'head-1', updatedAt: NOW, reviews: null, schedule }];
        return tellDecision(givenLook({}, { readings }), givenProven({}, { entries }));
      };
      expect(look(1)).toMatchObject(
        waitMs === null ? { actions: [PROVEN_1] } : { actions: [], wakeInMs: waitMs },
      );
      expect(look(8)).toMatchObject({ actions: [], wakeInMs: 8_000 });
    },
  );

  test.each([300_000, 5_000])(
    'not within 10 s of the first look at a head that was scheduled %d ms ago: a push may be written down late',
    (age) => {
      const entries = [givenEntry(1, { queuedAt: NOW - age, readyAt: NOW - 2_000 }), givenEntry(2)];
      expect(tellDecision(givenLook(), givenProven({}, { entries }))).toMatchObject({
        actions: [],
        wakeInMs: 8_000,
      });
    },
  );

  test.each<[string, Parameters<typeof givenLook>[0]]>([
    ['its head moved', { pull: { headSha: 'new-head' } }],
    ['it became a draft', { pull: { draft: true } }],
    ['it was closed', { pull: { state: 'closed' } }],
    ['it was sent to another branch', { pull: { baseRef: 'next' } }],
    ['its schedule was cancelled', { schedule: known({ kind: 'none' }) }],
  ])('not when %s since: the batch ends and its members keep their places', (_name, first) => {
    expect(tellDecision(givenLook(first, { full: false }), givenProven())).toMatchObject({
      actions: [],
      ended: ['#1 requeued: invalidated', '#2 requeued: invalidated'],
      events: ['pr_requeued #1: candidate_changed', 'pr_requeued #2: candidate_changed'],
      queue: [1, 2],
    });
  });

  test('not where its own reading contradicts the list: both have ten seconds to agree before it is staged again', () => {
    const look = givenLook({ schedule: known({ kind: 'none' }) });
    expect(tellDecision(look, givenProven())).toMatchObject({
      actions: ['stage #2 on base-0 as mq/main/staging'],
      events: ['pr_requeued #1: candidate_changed', 'pr_requeued #2: candidate_changed'],
      after: { entries: [{ pr: 1, contradictedAt: NOW }, {}] },
    });
  });

  test.each([
    [undefined, 30],
    [1, 60],
    [3, 240],
    [9, 360],
  ])(
    'not where the forge shows two heads for good: after %s times it is set aside for %i minutes',
    (times, minutes) => {
      const twoHeads = { head: 'head-1', other: 'other-1', ...(times === undefined ? {} : { times }) };
      const record = givenProven({}, { entries: [givenEntry(1, { twoHeads }), givenEntry(2)] });
      expect(tellDecision(givenLook({ pull: { headSha: 'other-1' } }), record).after).toMatchObject({
        deferred: [{ pr: 1, reason: 'heads_differ', until: NOW + minutes * 60_000 }],
        entries: [{ twoHeads: { times: (times ?? 0) + 1 } }, {}],
      });
    },
  );

  test('not on a base that moved since', () => {
    const look = givenLook({ pull: { baseTip: 'base-1' } }, { full: false });
    expect(tellDecision(look, givenProven())).toMatchObject({
      actions: [],
      events: ['pr_requeued #1: base_advanced', 'pr_requeued #2: base_advanced'],
    });
  });

  test.each<[string, Snapshot]>([
    ['the pull request', givenLook({}, { focus: new Map([[1, UNKNOWN]]) })],
    ['its schedule', givenLook({ schedule: UNKNOWN })],
    ['the rule of the base', givenLook({}, { protection: UNKNOWN })],
    ['whether it would open another pull request', givenLook({ opensAnother: UNKNOWN })],
  ])('not while %s is unknown, and nothing is given up for that', (_name, look) => {
    expect(tellDecision(look, givenProven())).toMatchObject({
      actions: [],
      events: [],
      nodes: ['r (0, 2] done running'],
    });
  });

  test('not before it was asked whether it would open another pull request: the next look comes at once', () => {
    const { opensAnother: _, ...unasked } = givenFocus(1);
    const focus = new Map([[1, known(unasked)]]);
    expect(tellDecision(givenLook({}, { focus }), givenProven())).toMatchObject({
      actions: [],
      events: [],
      lookInMs: 0,
    });
  });

  test('not where it would open a pull request to another branch: it is refused', () => {
    expect(
      tellDecision(givenLook({ opensAnother: known('twin_elsewhere') }, { full: false }), givenProven()),
    ).toMatchObject({
      actions: [
        'error on head-1: refused: this commit also heads a pull request to another branch that asks for this status; add a commit to one of them',
      ],
      ended: ['#1 refused: invalidated', '#2 requeued: invalidated'],
    });
  });

  test('not where the rule no longer asks for it', () => {
    const protection = known(givenRule({ requiredContexts: ['other'] }));
    expect(tellDecision(givenLook({}, { protection, full: false }), givenProven())).toMatchObject({
      actions: [],
      error: 'protection_conflict',
    });
  });

  test('not while the forge calls it not mergeable: it is looked at for three minutes, then held until the forge calls it mergeable', () => {
    const look = givenLook({ pull: { mergeable: false } }, { full: false });
    expect(tellDecision(look, givenProven())).toMatchObject({ actions: [], events: [], wakeInMs: 180_000 });
    expect(tellDecision(look, givenProven({ unmergeableSince: NOW - 180_000 }))).toMatchObject({
      actions: [
        'pending on head-1: waiting: the forge does not call it mergeable: a conflict that git does not find, or a check that goes on; staged once it does',
      ],
      ended: ['#1 requeued: error', '#2 requeued: error'],
      after: { deferred: [{ pr: 1, reason: 'not_mergeable', until: NOW + 60 * 60_000 }] },
    });
  });
});

describe('the merge that is awaited', () => {
  const mergedAs = (tree: string) => ({
    pull: { state: 'closed' as const, merged: true },
    merge: known({ commit: { sha: 'merge-1', tree }, standsOnTip: true }),
  });

  test('is a landing when its tree is the proven one: the success is taken back at once', () => {
    const look = givenLook(mergedAs('tree-1'), { full: false });
    expect(tellDecision(look, givenAwaited())).toMatchObject({
      actions: [LANDED_1],
      events: ['pr_landed #1'],
      alarms: [],
      queue: [2],
      lookInMs: 0,
      after: { tip: 'merge-1', halted: null },
    });
  });

  test('tells the head that was pushed while the forge merged that it is not in the base', () => {
    const look = givenLook(mergedAs('tree-1'), { full: false });
    const record = { ...givenAwaited(), entries: [givenEntry(1, { head: 'head-1b' }), givenEntry(2)] };
    expect(tellDecision(look, record)).toMatchObject({ actions: [LANDED_1, LEFT_BEHIND_1], queue: [2] });
    const unproven = givenLook(mergedAs('tree-x'), { full: false });
    expect(tellDecision(unproven, record).actions).toEqual([UNVERIFIED_1]);
  });

  test('is what the base shows next, also where an engine whose clock is ahead saw the base before it', () => {
    const nodes = [givenNode({ state: 'done', verdict: 'success', ...stagedAt(1) })];
    const batch = givenStagedBatch(1, { nodes, landing: givenLanding({ postedAt: NOW }) });
    const record = givenRecord({
      entries: [givenEntry(1)],
      batches: [batch],
      tip: BASE.sha,
      evidence: [givenEvidence(1, 'success')],
      baseSeen: { sha: BASE.sha, tree: BASE.tree, at: NOW + 32_000 },
    });
    const { after } = tellDecision(givenLook(mergedAs('tree-1'), { full: false }), record);
    expect(after.baseSeen).toMatchObject({ sha: 'merge-1', tree: 'tree-1' });
    const base = known({ sha: 'merge-1', tree: 'tree-1' });
    expect(tellDecision(givenSnapshot({ base, pulls: known([]) }), after).alarms).toEqual([]);
  });

  test('halts the queue when its tree is another one', () => {
    const look = givenLook(mergedAs('tree-x'), { full: false });
    expect(tellDecision(look, givenAwaited())).toMatchObject({
      actions: [UNVERIFIED_1],
      events: ['pr_landed #1: unverified', 'pr_requeued #2: base_advanced'],
      alarms: ['tree_mismatch #1'],
      error: 'tree_mismatch',
      after: { halted: { pr: 1, mergeCommit: 'merge-1' } },
    });
  });

  test('and takes the place of the refusal that another one with its head was told, which is told anew if it comes again', () => {
    const look = givenLook(mergedAs('tree-1'), { full: false });
    const says = 'refused: changes nothing on top of the base branch';
    const said = { head: 'head-1', state: 'error' as const, description: says };
    const twin = givenEntry(3, { head: 'head-1', said, refusedBefore: { head: 'head-1', says } });
    const record = { ...givenAwaited(), entries: [givenEntry(1), givenEntry(2), twin] };
    const { entries } = tellDecision(look, record).after;
    expect(entries.find(({ pr }) => pr === 3)).not.toHaveProperty('refusedBefore');
  });

  test('is no landing while its commit could not be read', () => {
    const look = givenLook({ ...mergedAs('tree-1'), merge: UNKNOWN }, { full: false });
    expect(tellDecision(look, givenAwaited())).toMatchObject({ actions: [], events: [], queue: [1, 2] });
  });

  test('is asked for again: the same success after 15 seconds', () => {
    const at = (ms: number) => givenLook({}, { now: NOW + ms, full: false });
    expect(tellDecision(at(14_999), givenAwaited()).actions).toEqual([]);
    expect(tellDecision(at(15_000), givenAwaited()).actions).toEqual([PROVEN_1]);
    expect(tellDecision(at(15_000), givenAwaited({ nudges: 1 })).actions).toEqual([]);
  });

  test('and is not written in the look that takes it back: the queue is switched off or paused', () => {
    const look = (repo: Parameters<typeof givenRepo>[0]) =>
      tellDecision(givenLook({}, { now: NOW + 15_000, full: false, repo: givenRepo(repo) }), givenAwaited());
    const pause = { kind: 'pause', reason: null, since: NOW, until: null } as const;
    for (const repo of [{ queueEnabled: false }, { pause }])
      expect(look(repo).actions.filter((action) => action.startsWith('success'))).toEqual([]);
  });

  test('is not asked for again while an approval is missing that was there', () => {
    const look = givenLook({}, { now: NOW + 15_000, full: false });
    const waiting = givenEntry(1, { readyAt: null });
    const record = { ...givenAwaited(), entries: [waiting, givenEntry(2)] };
    expect(tellDecision(look, record).actions).toEqual([]);
  });

  test('is given up after ten minutes: the success is taken back', () => {
    const look = givenLook({}, { now: NOW + 10 * 60_000, full: false });
    expect(tellDecision(look, givenAwaited({ nudges: 4 }))).toMatchObject({
      actions: [TIMED_OUT],
      events: [],
      nodes: ['r (0, 2] done running'],
    });
  });

  describe('of one that the forge calls not mergeable since its success was posted', () => {
    const looked = { nudges: 4, unmergeableSince: NOW + 2_000 };
    const at = (ms: number, mergeable = false) =>
      givenLook({ pull: { mergeable } }, { now: NOW + ms, full: false });
    const NOT_MERGEABLE =
      'pending on head-1: waiting: the forge does not call it mergeable: a conflict that git does not find, or a check that goes on; staged once it does';

    test('is awaited for three minutes: a slow check may end with it', () => {
      expect(tellDecision(at(181_999), givenAwaited(looked))).toMatchObject({ actions: [] });
    });

    test('is given up after them: the success is taken back, and others do not wait for the time-out', () => {
      expect(tellDecision(at(182_000), givenAwaited(looked))).toMatchObject({
        actions: [NOT_MERGEABLE],
        events: [],
      });
    });

    test('is awaited on when the forge calls it mergeable again', () => {
      const { after, actions } = tellDecision(at(182_000, true), givenAwaited(looked));
      expect(actions).toEqual([]);
      expect(after.batches[0]?.landing).not.toHaveProperty('unmergeableSince');
    });

    test('sets it aside after the grace period, and is no time-out of it', () => {
      const takeBack = { reason: 'merge_conflict' as const, postedAt: NOW + 182_000 };
      const record = givenProven({
        teardown: 'merge_conflict',
        landing: givenLanding({ postedAt: NOW, ...looked, takeBack }),
      });
      expect(tellDecision(at(202_000), record)).toMatchObject({
        actions: [NOT_MERGEABLE],
        ended: ['#1 requeued: error', '#2 requeued: error'],
        after: {
          mergeTimeoutCounts: [],
          deferred: [{ pr: 1, reason: 'not_mergeable', until: NOW + 202_000 + 60 * 60_000 }],
        },
      });
    });
  });

  test('is given up when the queue is switched off', () => {
    const look = givenLook({}, { repo: givenRepo({ queueEnabled: false }) });
    expect(tellDecision(look, givenAwaited()).actions).toEqual([
      'pending on head-1: not queued: the queue of this repository is switched off or on hold',
      'pending on head-2: not queued: the queue of this repository is switched off or on hold',
    ]);
  });

  test('is given up when another status context is set', () => {
    const look = givenLook({}, { repo: givenRepo({ statusContext: 'other' }) });
    expect(tellDecision(look, givenAwaited()).actions).toEqual([
      'pending on head-1: requeued: the queue now uses another status context',
    ]);
  });

  test('of an intent that may not have been posted is posted, when all is as it was', () => {
    expect(tellDecision(givenLook(), givenAwaited({ postedAt: null })).actions).toEqual([PROVEN_1]);
  });
});

describe('another pull request with the same head that merged', () => {
  const merged = (standsOnTip: boolean | null) =>
    givenFocus(3, {
      pull: { state: 'closed', merged: true, headSha: 'head-1' },
      merge: known({ commit: { sha: 'merge-3', tree: 'tree-1' }, standsOnTip }),
    });
  const look = (standsOnTip: boolean | null) =>
    givenLook(
      {},
      {
        now: NOW + 1_000,
        focus: new Map([
          [1, known(givenFocus(1))],
          [3, known(merged(standsOnTip))],
        ]),
      },
    );

  test('is the landing, because one success opens both', () => {
    expect(tellDecision(look(true), givenAwaited()).after.landedNumbers).toEqual([3]);
  });

  test('is not the landing when it landed before: after a revert its tree may be the proven one again', () => {
    const record = { ...givenAwaited(), landedNumbers: [3] };
    expect(tellDecision(look(null), record)).toMatchObject({
      alarms: [],
      after: { landedNumbers: [3], batches: [{ landing: { pr: 1 } }] },
    });
  });
});

describe('a success that was taken back', () => {
  const takeBack = { reason: 'merge_timeout' as const, postedAt: NOW };
  const at = (
    ms: number,
    first: Parameters<typeof givenLook>[0] = {},
    blockers: Snapshot['blockers'] = known(givenView(1)),
  ) => givenLook(first, { now: NOW + ms, full: false, ...(blockers === undefined ? {} : { blockers }) });
  const withSchedule = (schedule: 'scheduled' | 'lost') => ({
    ...givenAwaited({ takeBack: { ...takeBack, schedule } }),
    batches: givenAwaited({ takeBack: { ...takeBack, schedule } }).batches.map((batch) => ({
      ...batch,
      teardown: 'merge_timeout' as const,
    })),
  });

  test('may still merge within the grace period: a merge then is a landing', () => {
    expect(tellDecision(at(19_999), givenAwaited({ takeBack }))).toMatchObject({ actions: [], wakeInMs: 1 });
    const merged = at(10_000, {
      pull: { state: 'closed', merged: true },
      merge: known({ commit: { sha: 'merge-1', tree: 'tree-1' }, standsOnTip: true }),
    });
    expect(tellDecision(merged, givenAwaited({ takeBack })).events).toEqual(['pr_landed #1']);
  });

  test('after it the forge is asked whether it still has the schedule', () => {
    expect(tellDecision(at(20_000), givenAwaited({ takeBack })).actions).toEqual([
      'ask whether #1 is still scheduled',
    ]);
  });

  test('a pull request whose schedule the forge lost leaves, without blame', () => {
    expect(tellDecision(at(20_000), withSchedule('lost'))).toMatchObject({
      actions: [
        'pending on head-1: waiting: the forge dropped the schedule and did not merge; schedule it again (nothing is wrong with this change)',
      ],
      ended: ['#1 skipped: error', '#2 requeued: error'],
      queue: [2],
    });
  });

  test('the first time-out on a head: it keeps its place and is tested again', () => {
    expect(tellDecision(at(20_000), withSchedule('scheduled'))).toMatchObject({
      actions: [TIMED_OUT],
      ended: ['#1 requeued: error', '#2 requeued: error'],
      queue: [1, 2],
      after: {
        mergeTimeoutCounts: [{ pr: 1, head: 'head-1', count: 1 }],
        entries: [{ pr: 1, retestAfter: NOW + 20_000 }, {}],
      },
    });
  });

  test('the second time-out on one head bounces it', () => {
    const mergeTimeoutCounts = [{ pr: 1, head: 'head-1', count: 1 }];
    expect(tellDecision(at(20_000), { ...withSchedule('scheduled'), mergeTimeoutCounts })).toMatchObject({
      actions: [
        'error on head-1: bounced: the forge twice did not complete its merge; cancel auto-merge and schedule again (fast-forward-only needs the tip of the base)',
      ],
      events: ['pr_bounced #1: merge_timeout', 'pr_requeued #2: merge_timeout'],
      ended: ['#1 bounced: error', '#2 requeued: error'],
    });
  });

  test('a block of the merge is told instead, and is no time-out', () => {
    const blocked = known({ ...givenView(1), dependencies: known({ open: 1, hidden: 0 }) });
    expect(tellDecision(at(20_000, {}, blocked), withSchedule('scheduled'))).toMatchObject({
      actions: [
        'error on head-1: refused: an issue or pull request that it depends on is open; the queue looks again by itself',
      ],
      events: ['pr_refused #1: open_dependencies', 'pr_requeued #2: merge_timeout'],
      ended: ['#1 refused: error', '#2 requeued: error'],
      after: { mergeTimeoutCounts: [], entries: [{ pr: 1, readyAt: null, isBlocked: true }, {}] },
    });
  });

  test('a possible block that cannot be read is waited for, then nothing is held against the pull request', () => {
    const mergeTimeoutCounts = [{ pr: 1, head: 'head-1', count: 1 }];
    const unclear = known({ ...givenView(1), dependencies: UNKNOWN });
    const record = { ...withSchedule('scheduled'), mergeTimeoutCounts };
    expect(tellDecision(at(79_999, {}, unclear), record)).toMatchObject({ actions: [], ended: [] });
    expect(tellDecision(at(80_000, {}, unclear), record)).toMatchObject({
      actions: [TIMED_OUT],
      ended: ['#1 requeued: error', '#2 requeued: error'],
      after: { mergeTimeoutCounts, entries: [{ pr: 1, readyAt: null, isBlocked: true }, {}] },
    });
  });

  test.each(['namesake', 'keptHead'] as const)(
    'a time-out does not count where the forge does not tell of what else may be why (%s)',
    (unread) => {
      const mergeTimeoutCounts = [{ pr: 1, head: 'head-1', count: 1 }];
      const record = { ...withSchedule('scheduled'), mergeTimeoutCounts };
      const look = { ...at(20_000), [unread]: UNKNOWN };
      expect(tellDecision(look, record)).toMatchObject({ actions: [], ended: [] });
      expect(tellDecision({ ...at(80_000), [unread]: UNKNOWN }, record)).toMatchObject({
        actions: [TIMED_OUT],
        ended: ['#1 requeued: error', '#2 requeued: error'],
        after: {
          mergeTimeoutCounts,
          bounced: [],
          entries: [{ pr: 1, isBlocked: true, mergeTimedOut: 'waits' }, {}],
        },
      });
    },
  );

  test('says how its pull request left as soon as that is known: its auto-merge was cancelled, or it became a draft', () => {
    const taken = { reason: 'candidate_changed' as const, postedAt: NOW };
    const given = (view: Parameters<typeof givenView>[1]) =>
      tellDecision(
        givenSnapshot({
          now: NOW + 1_000,
          pulls: known([givenView(1, view), givenView(2)]),
          focus: new Map([[1, known(givenFocus(1, { schedule: known({ kind: 'none' }) }))]]),
        }),
        givenAwaited({ takeBack: taken }),
      ).actions;
    expect(given({ schedule: known({ kind: 'none' }) })).toContain(
      'pending on head-1: not queued: its auto-merge was cancelled',
    );
    expect(given({ pull: { draft: true } })).toContain(
      'pending on head-1: not queued: it was turned into a draft',
    );
    expect(given({}).filter((each) => each.includes('on head-1'))).toEqual([]);
  });

  test('keeps the words of a refusal where its pull request is set aside because it cannot be read', () => {
    const pulls = known([givenView(1, { opensAnother: known('twin_elsewhere') }), givenView(2)]);
    const look = givenLook({}, { now: NOW + 20_000, pulls, focus: new Map([[1, UNKNOWN]]) });
    const refused = givenEntry(1, { readyAt: null, refusedFor: 'twin_elsewhere' });
    const record = { ...givenAwaited({ takeBack }), entries: [refused, givenEntry(2)] };
    expect(tellDecision(look, record)).toMatchObject({
      actions: [
        `error on head-1: ${describeRefusal('twin_elsewhere')}`,
        'stage #2 on base-0 as mq/main/staging',
      ],
      after: { deferred: [{ pr: 1, reason: 'staging_failed' }] },
    });
  });

  test('sets aside one on which no success could be written, also where it cannot be read at the end', () => {
    const look = givenLook({}, { now: NOW + 200_000, focus: new Map([[1, UNKNOWN]]) });
    const end = { reason: 'staging_failed', postedAt: NOW } as const;
    const record = givenProven({
      landing: givenLanding({ postedAt: null, asked: SUCCESS_TRIES_MAX, answered: 0, takeBack: end }),
      teardown: 'staging_failed',
    });
    expect(tellDecision(look, record).after).toMatchObject({
      deferred: [{ pr: 1, reason: 'staging_failed', isUnwritten: true }],
    });
  });

  test('keeps the words of the refusal of another pull request that has the same head', () => {
    const pulls = known([
      givenView(3, { pull: { headSha: 'head-1' }, opensAnother: known('twin_elsewhere') }),
    ]);
    const look = givenLook({}, { now: NOW + 20_000, pulls });
    const refused = givenEntry(3, { head: 'head-1', readyAt: null, refusedFor: 'twin_elsewhere' });
    const record = {
      ...givenAwaited({ takeBack: { reason: 'candidate_changed', postedAt: NOW } }),
      entries: [refused],
    };
    expect(tellDecision(look, record).actions).toEqual([
      `error on head-1: ${describeRefusal('twin_elsewhere')}`,
    ]);
  });

  test('that cannot be written, and opens nothing any more, ends the landing; its proof is kept for a late merge', () => {
    const unscheduled = givenView(1, { schedule: known({ kind: 'none' }) });
    const look = givenSnapshot({ pulls: known([unscheduled, givenView(2)]) });
    const stuck = { takesBack: true, failures: TAKING_BACK_TRIES_MAX, told: true } as const;
    const status = {
      pr: 1,
      sha: 'head-1',
      context: 'mq',
      state: 'pending',
      description: 'requeued',
    } as const;
    const record = {
      ...givenAwaited({ takeBack: { reason: 'candidate_changed', postedAt: null } }),
      entries: [givenEntry(2)],
      pendingStatuses: [{ ...status, targetUrl: null, ...stuck }],
    };
    expect(tellDecision(look, record).after).toMatchObject({
      givenUp: [{ pr: 1, head: 'head-1', tree: 'tree-1', baseBefore: BASE.sha }],
    });
  });

  test('merged after it was given up, while a newer head was pushed: it has landed, and that head is told that it has not', () => {
    const givenUp = [{ pr: 1, head: 'head-1', tree: 'tree-1', baseBefore: BASE.sha, at: NOW - 1_000 }];
    const record = givenRecord({ entries: [givenEntry(1, { head: 'head-1b' })], givenUp });
    const pull = { state: 'closed' as const, merged: true, headSha: 'head-1b' };
    const merge = known({ commit: { sha: 'merge-1', tree: 'tree-1' }, standsOnTip: true });
    const look = givenLook({ pull, merge }, { pulls: known([]) });
    expect(tellDecision(look, record)).toMatchObject({
      actions: [LANDED_1, LEFT_BEHIND_1],
      events: ['pr_landed #1'],
      alarms: [],
      queue: [],
    });
  });

  test('a time-out on another head of it does not count', () => {
    const mergeTimeoutCounts = [{ pr: 1, head: 'older-head', count: 1 }];
    expect(
      tellDecision(at(20_000), { ...withSchedule('scheduled'), mergeTimeoutCounts }).after.mergeTimeoutCounts,
    ).toEqual([{ pr: 1, head: 'head-1', count: 1 }]);
  });
});
