import type { BranchProtection } from '#core/domain/forge/forge.ts';
import {
  GARBAGE_ENTRIES_MAX,
  PENDING_STATUSES_MAX,
  QUEUE_ENTRIES_MAX,
  QUEUE_NEWCOMERS_MAX,
  TOMBSTONES_MAX,
} from '#core/domain/limits.ts';
import { known } from '#core/domain/result.ts';
import { decide } from '../../../../../engine-container/src/queue/decide.ts';
import type { DeferReason } from '../../../../../engine-container/src/queue/record/deferral.ts';
import type { QueueRecord } from '../../../../../engine-container/src/queue/record/record.ts';
import type { PullRequestView } from '../../../../../engine-container/src/queue/snapshot.ts';
import { BASE, givenRecord, headOf } from '../../../../builders/queue-record.ts';
import { givenRule, givenSnapshot, givenView, NOW } from '../../../../builders/snapshot.ts';

const RULE = givenRule({ requiredApprovals: 1 });
const FRESH = givenRecord();

/** Scheduled in the order of their numbers; listed newest first, as forges do. */
function views(count: number): PullRequestView[] {
  return Array.from({ length: count }, (_, index) => givenView(count - index));
}

function look(record: QueueRecord, pulls: readonly PullRequestView[], rule: Partial<BranchProtection> = {}) {
  const protection = known({ ...RULE, ...rule });
  return decide(givenSnapshot({ ids: [], protection, pulls: known(pulls) }), record);
}

describe('bounds of the record', () => {
  const all = views(QUEUE_ENTRIES_MAX + 300);

  test('so many enter the queue per look, the earliest schedules first, and another look follows at once', () => {
    const first = look(FRESH, all, { requiredApprovals: 0 });
    expect(first.record.entries.map(({ pr }) => pr)).toEqual(
      Array.from({ length: QUEUE_NEWCOMERS_MAX }, (_, index) => index + 1),
    );
    expect(first.events.filter(({ event }) => event === 'pr_queued')).toHaveLength(QUEUE_NEWCOMERS_MAX);
    expect([first.refresh, first.pollMs]).toEqual([true, 0]);
  });

  test('while many statuses wait to be written no pull request enters, and nothing is listed anew for it', () => {
    const first = look(FRESH, all);
    expect(first.record.pendingStatuses).toHaveLength(QUEUE_NEWCOMERS_MAX);
    expect([first.refresh, first.pollMs]).toEqual([false, 0]);
    expect(look(first.record, all).record.entries).toHaveLength(QUEUE_NEWCOMERS_MAX);
    const drained = {
      ...first.record,
      pendingStatuses: first.record.pendingStatuses.slice(0, PENDING_STATUSES_MAX / 2),
    };
    expect(look(drained, all).record.entries.length).toBeGreaterThan(QUEUE_NEWCOMERS_MAX);
    expect(look(drained, all).refresh).toBe(false);
    expect(look({ ...drained, pendingStatuses: [] }, all, { requiredApprovals: 0 }).refresh).toBe(true);
  });

  test('the queue has an end; a pull request beyond it enters as others leave, and no author is told twice', () => {
    let record = FRESH;
    const queued: number[] = [];
    const step = (pulls: readonly PullRequestView[]) => {
      const decision = look(record, pulls);
      queued.push(...decision.events.flatMap(({ event, pr }) => (event === 'pr_queued' ? [pr] : [])));
      // The statuses are written.
      record = { ...decision.record, pendingStatuses: [] };
      return decision;
    };
    for (let looks = 0; looks < 8; looks += 1) step(all);
    expect(record.entries).toHaveLength(QUEUE_ENTRIES_MAX);
    expect(record.entries.at(-1)?.pr).toBe(QUEUE_ENTRIES_MAX);
    expect(step(all).pollMs).toBeNull();
    const cancelled = all.map((view) =>
      view.pull.number <= 10 ? { ...view, schedule: known({ kind: 'none' as const }) } : view,
    );
    for (let looks = 0; looks < 3; looks += 1) step(cancelled);
    expect(record.entries).toHaveLength(QUEUE_ENTRIES_MAX);
    expect(record.entries[0]?.pr).toBe(11);
    expect(record.entries.at(-1)?.pr).toBe(QUEUE_ENTRIES_MAX + 10);
    expect(queued).toHaveLength(new Set(queued).size);
  });

  test('what is open is not searched for in the queue, whether it is in it or not', () => {
    const { record } = look(FRESH, all);
    const queued = new Set(record.entries.map(({ pr }) => pr));
    const find = Array.prototype.find as (this: unknown[], ...args: unknown[]) => unknown;
    const searchesOf = (pulls: readonly PullRequestView[]): number => {
      let searches = 0;
      const spy = jest.spyOn(Array.prototype, 'find').mockImplementation(function (
        this: unknown[],
        ...args: unknown[]
      ) {
        if (this.length === queued.size) searches += 1;
        return find.apply(this, args);
      });
      look(record, pulls);
      spy.mockRestore();
      return searches;
    };
    expect(searchesOf(all)).toBe(0);
  });

  test('of a line that is set aside, none is searched for in all that is set aside', () => {
    const count = 100;
    const beside = 37;
    const pulls = views(count);
    const { record } = look(FRESH, pulls, { requiredApprovals: 0 });
    const ofAll = (reason: DeferReason, baseTree: string) =>
      record.entries.map(({ pr, head }) => ({ pr, head, reason, baseTree, until: null }));
    const deferred = [...ofAll('conflict', BASE.tree), ...ofAll('conflict_ahead', 'ahead').slice(0, beside)];
    let searches = 0;
    const spies = (['find', 'some', 'filter'] as const).map((name) => {
      const search = Array.prototype[name] as (this: unknown[], ...args: unknown[]) => never;
      return jest.spyOn(Array.prototype, name).mockImplementation(function (
        this: unknown[],
        ...args: unknown[]
      ) {
        if (this.length === count + beside) searches += 1;
        return search.apply(this, args);
      });
    });
    look({ ...record, batches: [], pendingStatuses: [], deferred }, pulls, { requiredApprovals: 0 });
    for (const spy of spies) spy.mockRestore();
    expect(searches).toBeGreaterThan(0);
    expect(searches).toBeLessThan(count / 4);
  });

  test('refusals wait to be said while no more statuses can wait, and each is said once', () => {
    let record = FRESH;
    const said: number[] = [];
    for (let looks = 0; looks < 200; looks += 1) {
      const decision = look(record, views(900));
      expect(decision.record.pendingStatuses.length).toBeLessThanOrEqual(PENDING_STATUSES_MAX);
      const posts = decision.actions.flatMap((action) => (action.kind === 'post_status' ? [action] : []));
      said.push(...posts.map(({ pr }) => pr));
      const written = new Set(posts.map(({ sha }) => sha));
      record = {
        ...decision.record,
        pendingStatuses: decision.record.pendingStatuses.filter(({ sha }) => !written.has(sha)),
      };
      if (posts.length === 0 && decision.pollMs === null) break;
    }
    expect(said).toHaveLength(900);
    expect(new Set(said).size).toBe(900);
  });

  test('of what is gone the newest is remembered; of what is open everything', () => {
    const count = TOMBSTONES_MAX + 40;
    const remembered = Array.from({ length: count }, (_, index) => ({
      pr: index + 1,
      head: headOf(index + 1),
      scheduleId: 1,
    }));
    const garbage = Array.from({ length: GARBAGE_ENTRIES_MAX + 5 }, (_, index) => ({
      branch: `mq/${index}`,
      notBefore: NOW + 1,
      runKey: null,
    }));
    const mergeTimeoutCounts = remembered.map(({ pr, head }) => ({ pr, head, count: 1 }));
    const { record } = look({ ...FRESH, bounced: remembered, mergeTimeoutCounts, garbage }, views(10));
    const kept = [
      ...Array.from({ length: 10 }, (_, index) => index + 1),
      ...remembered.slice(40).map(({ pr }) => pr),
    ];
    expect(record.bounced.map(({ pr }) => pr)).toEqual(kept);
    expect(record.mergeTimeoutCounts).toHaveLength(TOMBSTONES_MAX + 10);
    expect(record.garbage).toHaveLength(GARBAGE_ENTRIES_MAX);
    expect(record.garbage[0]?.branch).toBe('mq/5');
  });
});
