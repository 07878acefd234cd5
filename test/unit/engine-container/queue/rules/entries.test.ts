import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { known, UNKNOWN } from '#core/domain/result.ts';
import { forgetTried } from '../../../../../engine-container/src/queue/admission/moved-heads.ts';
import { countReviews } from '../../../../../engine-container/src/queue/admission/reviews.ts';
import {
  describeDefer,
  describeEarlierBounce,
  describeRefusal,
} from '../../../../../engine-container/src/queue/words/phrases.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import {
  BASE,
  givenEntry,
  givenRecord,
  givenStagedBatch,
  headOf,
} from '../../../../builders/queue-record.ts';
import {
  givenFocus,
  givenReview,
  givenRule,
  givenSnapshot,
  givenStatus,
  givenView,
  NOW,
} from '../../../../builders/snapshot.ts';
import { tellDecision } from '../../../../support/told-decision.ts';

const OLD_HEAD = 'requeued: head changed; the queue goes on with the newer head of this pull request';

describe('pull requests in the queue', () => {
  test('a pull request that is scheduled on its head enters the queue and is staged', () => {
    const given = givenSnapshot({ pulls: known([givenView(1)]) });
    expect(tellDecision(given, givenRecord())).toMatchObject({
      events: ['pr_queued #1'],
      actions: ['stage #1 on base-0 as mq/main/staging'],
      queue: [1],
    });
  });

  test('the order is that of the schedules, then of the numbers', () => {
    const at = (id: number, second: number) =>
      givenView(id, { schedule: known({ kind: 'bound', id, at: second, by: 'dev' }) });
    const given = givenSnapshot({ pulls: known([at(1, 30), at(3, 20), at(2, 20)]) });
    expect(tellDecision(given, givenRecord())).toMatchObject({
      actions: ['stage #2 #3 #1 on base-0 as mq/main/staging'],
      queue: [2, 3, 1],
    });
  });

  test('one that comes before its twin waits while that one is in flight', () => {
    const twin = givenEntry(2, { head: 'head-1', queuedAt: 0, readyAt: null });
    const schedule = known({ kind: 'bound', id: 2, at: 0, by: 'dev' } as const);
    const given = givenSnapshot({
      pulls: known([givenView(1), givenView(2, { pull: { headSha: 'head-1' }, schedule })]),
    });
    const record = givenRecord({
      entries: [twin, givenEntry(1)],
      batches: [givenStagedBatch(1)],
      tip: BASE.sha,
    });
    const { actions, after } = tellDecision(given, record);
    expect(actions).toEqual([]);
    expect(after.entries).toMatchObject([
      { pr: 2, readyAt: null, isBehindTwin: true },
      { pr: 1, readyAt: 1 },
    ]);
  });

  test('authors take turns while the list cannot be read, by what is kept of them', () => {
    const authors = ['agent', 'agent', 'agent', 'agent', 'agent', 'agent', 'ann'];
    const entries = authors.map((author, index) => givenEntry(index + 1, { author }));
    expect(tellDecision(givenSnapshot({ pulls: UNKNOWN }), givenRecord({ entries }))).toMatchObject({
      actions: ['stage #1 #7 on base-0 as mq/main/staging'],
    });
  });

  test('what has passed of an author who crowds the line alone ends no batch', () => {
    const authors = [...Array(6).fill('agent'), 'ann'];
    const views = authors.map((author, index) => givenView(index + 1, { pull: { author } }));
    const entries = authors.map((author, index) =>
      givenEntry(index + 1, { author, passedOnStaleBase: index === 0 }),
    );
    const staged = (pulls: typeof views) =>
      tellDecision(
        givenSnapshot({ pulls: known(pulls) }),
        givenRecord({ entries: entries.slice(0, pulls.length) }),
      ).actions;
    expect(staged(views.slice(0, 6))).toEqual(['stage #1 #2 #3 #4 #5 #6 on base-0 as mq/main/staging']);
    expect(staged(views)).toEqual(['stage #1 #7 on base-0 as mq/main/staging']);
  });

  test('what has passed and was held back twice is staged without others behind it', () => {
    const staged = (timesHeldBack: number) =>
      tellDecision(
        givenSnapshot({ pulls: known([1, 2, 3].map((pr) => givenView(pr))) }),
        givenRecord({
          entries: [
            givenEntry(1, { passedOnStaleBase: true }),
            givenEntry(2, { passedOnStaleBase: true, timesHeldBack }),
            givenEntry(3),
          ],
        }),
      ).actions;
    expect(staged(1)).toEqual(['stage #1 #2 #3 on base-0 as mq/main/staging']);
    expect(staged(2)).toEqual(['stage #1 #2 on base-0 as mq/main/staging']);
  });

  test('a newer head was never held back', () => {
    const entry = givenEntry(1, { passedOnStaleBase: true, timesHeldBack: 2 });
    forgetTried(entry);
    expect([entry.passedOnStaleBase, entry.timesHeldBack]).toEqual([false, undefined]);
  });

  test('a pull request without a schedule is left alone', () => {
    const given = givenSnapshot({ pulls: known([givenView(1, { schedule: known({ kind: 'none' }) })]) });
    expect(tellDecision(given, givenRecord())).toMatchObject({ actions: [], events: [], queue: [] });
  });

  test('a draft is left alone, and leaves when it becomes one', () => {
    const given = givenSnapshot({ pulls: known([givenView(1, { pull: { draft: true } })]) });
    expect(tellDecision(given, givenRecord())).toMatchObject({ actions: [], events: [], queue: [] });
    expect(tellDecision(given, givenRecord({ entries: [givenEntry(1)] }))).toMatchObject({
      events: ['pr_skipped #1: draft'],
      actions: ['pending on head-1: not queued: it was turned into a draft'],
      queue: [],
    });
  });

  test('a pull request whose schedule is cancelled leaves the queue', () => {
    const given = givenSnapshot({ pulls: known([givenView(1, { schedule: known({ kind: 'none' }) })]) });
    expect(tellDecision(given, givenRecord({ entries: [givenEntry(1)] }))).toMatchObject({
      events: ['pr_skipped #1: auto_merge_cancelled'],
      actions: ['pending on head-1: not queued: its auto-merge was cancelled'],
      queue: [],
    });
  });

  test.each([
    ['closed', { state: 'closed' as const }, 'closed', ['it was closed'], []],
    ['sent to another branch', { baseRef: 'next' }, 'retargeted', ['it now targets another branch'], []],
    [
      'merged past the queue, which is an alarm',
      { state: 'closed' as const, merged: true },
      'merged_outside_the_queue',
      [],
      ['unverified_landing #1'],
    ],
  ])('a pull request leaves the queue that is %s', (_name, pull, reason, words, alarms) => {
    const given = givenSnapshot({ focus: new Map([[1, known(givenFocus(1, { pull }))]]) });
    expect(tellDecision(given, givenRecord({ entries: [givenEntry(1)] }))).toMatchObject({
      events: [`pr_skipped #1: ${reason}`],
      actions: words.map((each) => `pending on head-1: not queued: ${each}`),
      alarms,
      queue: [],
    });
  });

  test.each([
    ['the list of pull requests', { pulls: UNKNOWN }],
    ['the schedule', { pulls: known([givenView(1, { schedule: UNKNOWN })]) }],
    ['the pull request that left the list', { focus: new Map([[1, UNKNOWN]]) }],
  ])('an unknown reading forgets no pull request: %s', (_name, changes) => {
    const decided = tellDecision(
      givenSnapshot(changes),
      givenRecord({ entries: [givenEntry(1, { readyAt: null })] }),
    );
    expect(decided).toMatchObject({ events: [], queue: [1] });
  });
});

test('a pull request that was deleted on the forge leaves the queue after five minutes of that answer', () => {
  const given = givenSnapshot({ gone: new Set([1]) });
  const deletedFor = (ms: number) =>
    tellDecision(given, givenRecord({ entries: [givenEntry(1, { goneSince: NOW - ms })] }));
  expect(deletedFor(4 * 60_000)).toMatchObject({ events: [], queue: [1], wakeInMs: 60_000 });
  expect(deletedFor(5 * 60_000)).toMatchObject({ events: ['pr_skipped #1: deleted'], queue: [] });
});

test('one that could not be read for long is not deleted by the first answer that it is not there', () => {
  const given = givenSnapshot({ gone: new Set([1]) });
  const unread = givenRecord({ entries: [givenEntry(1, { unreadSince: NOW - 29 * 60_000 })] });
  expect(tellDecision(given, unread)).toMatchObject({ events: [], queue: [1], wakeInMs: 300_000 });
});

test('one that left the list and cannot be read leaves the queue after half an hour of that', () => {
  const given = givenSnapshot({ focus: new Map([[1, UNKNOWN]]) });
  const unreadFor = (minutes: number) =>
    tellDecision(given, givenRecord({ entries: [givenEntry(1, { unreadSince: NOW - minutes * 60_000 })] }));
  expect(unreadFor(29)).toMatchObject({ events: [], queue: [1] });
  expect(unreadFor(30)).toMatchObject({ events: ['pr_skipped #1: left_the_queue'], queue: [] });
});

describe('a head that moves', () => {
  const moved = givenView(1, {
    pull: { headSha: 'new-head' },
    schedule: known({ kind: 'moved', id: 1, at: 1 }),
  });

  test.each([
    [undefined, 'the queue asks the forge who pushed it, and goes on by itself if they may merge'],
    [
      'push',
      'by a push that renews no schedule; approve this head, or cancel its auto-merge and schedule again',
    ],
    ['outside', 'from outside the repository; it goes on by itself once this head has an official approval'],
  ] as const)(
    'is not bound before its schedule is renewed: both heads say so, nothing is staged (%s)',
    (why, way) => {
      const reading = { kind: 'moved', id: 1, at: 1, ...(why === undefined ? {} : { why }) } as const;
      const given = givenSnapshot({ pulls: known([{ ...moved, schedule: known(reading) }]) });
      expect(tellDecision(given, givenRecord({ entries: [givenEntry(1)] }))).toMatchObject({
        events: ['pr_requeued #1: head_changed'],
        actions: [
          `error on head-1: ${OLD_HEAD}`,
          `error on new-head: requeued: head changed${why === undefined ? ';' : ''} ${way}`,
        ],
        queue: [1],
      });
    },
  );

  test('whose push the forge does not show says after two minutes what its author has to do', () => {
    const asked = givenView(1, { schedule: known({ kind: 'moved', id: 1, at: 1, why: 'asking' }) });
    const given = givenSnapshot({ pulls: known([asked]) });
    const givenAfter = (ms: number) => {
      const moved = { readyAt: null, scheduleId: 0, staleScheduleId: 1, movedWhy: 'asking' } as const;
      return tellDecision(given, givenRecord({ entries: [givenEntry(1, { ...moved, movedAt: NOW - ms })] }));
    };
    expect(givenAfter(60_000)).toMatchObject({ actions: [], wakeInMs: 60_000 });
    expect(givenAfter(120_000).actions).toEqual([
      'error on head-1: requeued: head changed, and the forge does not show by whose push; cancel its auto-merge and schedule again',
    ]);
  });

  test('of two with one head, the refusal of the other is said over the words about the move', () => {
    const twin = givenView(2, { pull: { headSha: 'head-1' } });
    const refused = givenEntry(2, { head: 'head-1', readyAt: null, refusedFor: 'approvals_missing' });
    const given = givenSnapshot({
      pulls: known([moved, twin]),
      protection: known(givenRule({ requiredApprovals: 1 })),
    });
    const { actions } = tellDecision(given, givenRecord({ entries: [givenEntry(1), refused] }));
    expect(actions.filter((action) => action.includes('on head-1:'))).toEqual([
      expect.stringMatching(/^error on head-1: refused: required approvals are missing/),
    ]);
  });

  test('that was bounced under this very schedule says so again, once the forge says who pushed', () => {
    const bound = { kind: 'bound', id: 7, at: 900, by: 'dev', isPushedBefore: true } as const;
    const given = givenSnapshot({ pulls: known([givenView(1, { schedule: known(bound) })]) });
    const asking = { readyAt: null, scheduleId: 0, movedAt: NOW - 1_000, staleScheduleId: 7 };
    const bounced = [{ pr: 1, head: 'head-1', scheduleId: 7 }];
    const entries = [givenEntry(1, { ...asking, movedWhy: 'asking' })];
    expect(tellDecision(given, givenRecord({ entries, bounced })).actions).toEqual([
      `error on head-1: ${describeEarlierBounce()}`,
    ]);
  });

  test('is bound by the next schedule, and keeps its place within a day', () => {
    const again = givenView(1, {
      pull: { headSha: 'new-head' },
      schedule: known({ kind: 'bound', id: 9, at: 900, by: 'dev' }),
    });
    const waiting = givenEntry(1, {
      head: 'new-head',
      scheduleId: 0,
      readyAt: null,
      movedAt: NOW - 1_000,
      staleScheduleId: 1,
    });
    const given = givenSnapshot({ pulls: known([again, givenView(2)]) });
    expect(tellDecision(given, givenRecord({ entries: [waiting, givenEntry(2)] }))).toMatchObject({
      actions: ['stage #1 #2 on base-0 as mq/main/staging'],
      queue: [1, 2],
    });
    const later = { ...waiting, movedAt: NOW - 25 * 60 * 60_000 };
    expect(tellDecision(given, givenRecord({ entries: [later, givenEntry(2)] })).queue).toEqual([2, 1]);
  });
});

describe('words that have stopped being true are replaced at once', () => {
  const view = givenView(1);
  const told = (entry: Partial<Parameters<typeof givenEntry>[1]>, more = {}) =>
    tellDecision(
      givenSnapshot({ pulls: known([view]), repo: givenRepo({ batchLingerSeconds: 3_600 }) }),
      givenRecord({ entries: [givenEntry(1, entry)], ...more }),
    ).actions.filter((action) => !action.startsWith('stage'));
  const QUEUED = 'pending on head-1: queued: it has its place again; the queue goes on by itself';
  const error = { head: 'head-1', state: 'error', description: 'refused: of before' } as const;

  test('of a refusal, a renewed head or a bounce that is over', () => {
    expect(told({ said: error })).toEqual([QUEUED]);
    expect(told({ said: { ...error, state: 'pending', description: 'waiting: of before' } })).toEqual([
      QUEUED,
    ]);
  });

  test('and not where another pull request with this head is refused', () => {
    const opened = givenView(2, { pull: { headSha: 'head-1' }, opensAnother: known('twin_elsewhere') });
    const entries = [
      givenEntry(1, { said: error }),
      givenEntry(2, { head: 'head-1', readyAt: null, refusedFor: 'twin_elsewhere' }),
    ];
    const given = givenSnapshot({
      pulls: known([view, opened]),
      repo: givenRepo({ batchLingerSeconds: 3_600 }),
    });
    expect(tellDecision(given, givenRecord({ entries })).actions).not.toContain(QUEUED);
  });

  test.each([
    ['nothing was said', {}, {}],
    ['said of another head', { said: { ...error, head: 'older' } }, {}],
    ['the queue goes on by itself', { said: { ...error, state: 'pending', description: 'requeued: x' } }, {}],
    ['it is bounced still', { said: error }, { bounced: [{ pr: 1, head: 'head-1', scheduleId: 1 }] }],
  ] as const)('and not where %s', (_name, entry, record) => {
    expect(told(entry, record)).toEqual([]);
  });
});

describe('admission: nothing is spent on what the forge would not merge', () => {
  const needsApproval = known(givenRule({ requiredApprovals: 1 }));
  const REFUSED =
    'error on head-1: refused: required approvals are missing on this head; the queue looks again by itself';

  test('a pull request that lacks an approval is refused, once', () => {
    const given = givenSnapshot({ protection: needsApproval, pulls: known([givenView(1)]) });
    const first = tellDecision(given, givenRecord());
    expect(first).toMatchObject({
      events: ['pr_queued #1', 'pr_refused #1: approvals_missing'],
      actions: [REFUSED],
    });
    expect(tellDecision(given, { ...first.after, pendingStatuses: [] })).toMatchObject({
      events: [],
      actions: [],
    });
  });

  test('one that is approved then is staged', () => {
    const reviews = known(countReviews([givenReview(headOf(1))], headOf(1)));
    const given = givenSnapshot({ protection: needsApproval, pulls: known([givenView(1, { reviews })]) });
    const refused = givenEntry(1, { readyAt: null, refusedFor: 'approvals_missing' });
    expect(tellDecision(given, givenRecord({ entries: [refused] })).actions).toEqual([
      'stage #1 on base-0 as mq/main/staging',
    ]);
  });

  test('reviews that could not be read neither admit nor refuse', () => {
    const pulls = known([givenView(1, { reviews: UNKNOWN })]);
    expect(tellDecision(givenSnapshot({ protection: needsApproval, pulls }), givenRecord())).toMatchObject({
      events: ['pr_queued #1'],
      actions: [],
    });
  });

  test('reviews that cannot be read for 20 minutes: its author is told, once', () => {
    const pulls = known([givenView(1, { reviews: UNKNOWN })]);
    const unclear = { head: headOf(1), since: NOW - 20 * 60_000 };
    const waiting = givenEntry(1, { readyAt: null, unclear });
    const given = givenSnapshot({ protection: needsApproval, pulls });
    const first = tellDecision(given, givenRecord({ entries: [waiting] }));
    expect(first.events).toEqual(['pr_refused #1: unclear']);
    expect(tellDecision(given, { ...first.after, pendingStatuses: [] }).actions).toEqual([]);
  });

  test('the words of a refusal hold while it cannot be known whether it has ended', () => {
    const pulls = known([givenView(1, { reviews: UNKNOWN })]);
    const unclear = { head: headOf(1), since: NOW - 20 * 60_000 };
    const refused = givenEntry(1, { readyAt: null, refusedFor: 'approvals_missing', unclear });
    expect(
      tellDecision(givenSnapshot({ protection: needsApproval, pulls }), givenRecord({ entries: [refused] })),
    ).toMatchObject({ actions: [], events: [] });
  });

  test.each([
    [4, []],
    [5, [`pending on ${headOf(1)}: ${PULL_CODES.not_admitted.says}`]],
  ])(
    '%i minutes after its schedule one that another required check keeps out is told %j',
    (minutes, actions) => {
      const protection = known(givenRule({ requiredContexts: ['mq', 'lint'] }));
      const statuses = known([givenStatus({ context: 'lint', state: 'failure' })]);
      const schedule = known({ kind: 'bound' as const, id: 1, at: NOW - minutes * 60_000, by: 'dev' });
      const pulls = known([givenView(1, { statuses, schedule })]);
      expect(tellDecision(givenSnapshot({ protection, pulls }), givenRecord())).toMatchObject({
        events: ['pr_queued #1'],
        actions,
      });
    },
  );

  test('of two with the same head the earlier one is staged, the other waits', () => {
    const pulls = known([givenView(1), givenView(2, { pull: { headSha: headOf(1) } })]);
    expect(tellDecision(givenSnapshot({ pulls }), givenRecord())).toMatchObject({
      actions: ['stage #1 on base-0 as mq/main/staging'],
      queue: [1, 2],
    });
  });

  test.each([
    ['there is no rule', null],
    ['the rule does not ask for the status of the queue', givenRule({ requiredContexts: ['mq*'] })],
    [
      'the rule asks for another check instead, that has not passed',
      givenRule({ requiredContexts: ['old'] }),
    ],
  ])('nothing is staged where %s', (_name, rule) => {
    const given = givenSnapshot({ protection: known(rule), pulls: known([givenView(1)]) });
    expect(tellDecision(given, givenRecord())).toMatchObject({
      actions: [],
      error: 'protection_conflict',
      queue: [1],
    });
  });

  test('a queue that is off and has nothing to undo says nothing', () => {
    const repo = givenRepo({ queueEnabled: false });
    const given = givenSnapshot({ repo, pulls: known([givenView(1)]) });
    expect(tellDecision(given, givenRecord())).toMatchObject({ actions: [], events: [], queue: [] });
  });
});

describe('a success that the record does not know of', () => {
  const open = (creator: string) =>
    givenSnapshot({ pulls: known([givenView(1, { statuses: known([givenStatus({ creator })]) })]) });

  test('is taken back before its pull request is staged', () => {
    expect(tellDecision(open('mq-bot'), givenRecord())).toMatchObject({
      actions: ['error on head-1: not proven: an earlier success no longer holds on this base'],
      alarms: [],
    });
  });

  test('is an alarm where another account wrote it', () => {
    expect(tellDecision(open('stranger'), givenRecord()).alarms).toEqual(['foreign_status_writer #1']);
  });

  test.each(['error', 'failure', 'pending'] as const)(
    'is none where another account wrote %s, which opens no merge: no alarm, and it is not written over',
    (state) => {
      const statuses = known([givenStatus({ creator: 'stranger', state })]);
      const given = givenSnapshot({ pulls: known([givenView(1, { statuses })]) });
      expect(tellDecision(given, givenRecord())).toMatchObject({
        actions: ['stage #1 on base-0 as mq/main/staging'],
        alarms: [],
      });
    },
  );

  test('taken back while its bounced pull request was a draft, gives way to the words of the bounce', () => {
    const description = 'not proven: an earlier success no longer holds on this base';
    const statuses = known([givenStatus({ state: 'error', creator: 'mq-bot', description })]);
    const bounced = givenRecord({ bounced: [{ pr: 1, head: 'head-1', scheduleId: 1 }] });
    // Where no success stands, the forge is not asked who the bot is.
    const given = givenSnapshot({ pulls: known([givenView(1, { statuses })]), botLogin: UNKNOWN });
    expect(tellDecision(given, bounced).actions).toEqual([`error on head-1: ${describeEarlierBounce()}`]);
  });
});

describe('words that a late write of the queue put in the place of newer ones', () => {
  const late = known([givenStatus({ state: 'pending', description: 'requeued: tested again' })]);
  const look = givenSnapshot({ pulls: known([givenView(1, { statuses: late })]) });
  const bounced = [{ pr: 1, head: 'head-1', scheduleId: givenEntry(1).scheduleId }];

  test('a bounce is told again', () => {
    expect(tellDecision(look, givenRecord({ entries: [givenEntry(1)], bounced })).actions).toEqual([
      `error on head-1: ${describeEarlierBounce()}`,
    ]);
  });

  test('a refusal is told again', () => {
    const entries = [givenEntry(1, { readyAt: null, refusedFor: 'twin_elsewhere' })];
    const view = givenView(1, { statuses: late, opensAnother: known('twin_elsewhere') });
    const given = givenSnapshot({ pulls: known([view]) });
    expect(tellDecision(given, givenRecord({ entries })).actions).toEqual([
      `error on head-1: ${describeRefusal('twin_elsewhere')}`,
    ]);
  });

  test('what is set aside is told again', () => {
    const aside = { pr: 1, head: 'head-1', reason: 'conflict', baseTree: BASE.tree, until: null } as const;
    const record = givenRecord({ entries: [givenEntry(1)], deferred: [aside] });
    expect(tellDecision(look, record).actions).toEqual([`error on head-1: ${describeDefer('conflict')}`]);
  });

  test('nothing is told while another pull request with this head is in the queue', () => {
    const other = givenView(2, { pull: { headSha: 'head-1' } });
    const given = givenSnapshot({ pulls: known([givenView(1, { statuses: late }), other]) });
    const entries = [givenEntry(1), givenEntry(2, { head: 'head-1' })];
    expect(tellDecision(given, givenRecord({ entries, bounced })).actions).not.toContain(
      `error on head-1: ${describeEarlierBounce()}`,
    );
  });
});

describe('a head that a lagging list showed late', () => {
  const schedule = { kind: 'bound', id: 45, at: NOW, by: 'dev' } as const;
  const look = (isPushedBefore: boolean) =>
    givenSnapshot({
      pulls: known([
        givenView(1, {
          pull: { headSha: 'new-head' },
          schedule: known({ ...schedule, ...(isPushedBefore ? { isPushedBefore: true as const } : {}) }),
        }),
      ]),
    });
  const record = givenRecord({ entries: [givenEntry(1, { head: 'old-head', scheduleId: 45 })] });

  test('is scheduled when the timeline has its push before the schedule', () => {
    expect(tellDecision(look(true), record).after.entries).toMatchObject([
      { pr: 1, head: 'new-head', scheduleId: 45, movedAt: null },
    ]);
  });

  test('is not while the timeline tells nothing of its push', () => {
    expect(tellDecision(look(false), record).after.entries).toMatchObject([
      { pr: 1, head: 'new-head', scheduleId: 0, staleScheduleId: 45 },
    ]);
  });
});

test.each([
  ['set aside', describeDefer('removes_gate') ?? ''],
  ['bounced', describeEarlierBounce()],
])('words about a move are followed by those of another one with the same head that is %s', (what, words) => {
  const pulls = known([
    givenView(1, { pull: { headSha: 'new-head' } }),
    givenView(2, { pull: { headSha: 'head-1' } }),
  ]);
  const aside = { pr: 2, head: 'head-1', reason: 'removes_gate', baseTree: BASE.tree, until: null } as const;
  const record = givenRecord({
    entries: [givenEntry(1), givenEntry(2, { head: 'head-1' })],
    deferred: what === 'bounced' ? [] : [aside],
    bounced: what === 'bounced' ? [{ pr: 2, head: 'head-1', scheduleId: givenEntry(2).scheduleId }] : [],
  });
  const { actions } = tellDecision(givenSnapshot({ pulls }), record);
  expect(actions.filter((action) => action.includes('on head-1'))).toEqual([`error on head-1: ${words}`]);
});

describe('work that is left on the forge', () => {
  const pendingStatuses = Array.from({ length: 25 }, (_, index) => ({
    pr: index + 1,
    sha: headOf(index + 1),
    context: 'mq',
    state: 'pending' as const,
    description: 'waiting',
    targetUrl: null,
  }));

  test('statuses are written in order, twenty in one look', () => {
    expect(tellDecision(givenSnapshot(), givenRecord({ pendingStatuses })).actions).toEqual(
      pendingStatuses.slice(0, 20).map(({ sha }) => `pending on ${sha}: waiting`),
    );
  });

  test('a branch is deleted once its time has come and no node uses it; its run is cancelled before', () => {
    const garbage = [
      { branch: 'mq/main/staging-a', notBefore: NOW, runKey: 'run-a' },
      { branch: 'mq/main/staging-b', notBefore: NOW + 7_000, runKey: null },
    ];
    expect(tellDecision(givenSnapshot(), givenRecord({ garbage }))).toMatchObject({
      actions: ['cancel run-a', 'delete mq/main/staging-a'],
      wakeInMs: 7_000,
    });
  });
});
