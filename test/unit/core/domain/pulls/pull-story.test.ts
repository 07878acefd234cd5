import { ESTIMATE_LANDINGS_MIN, type StoryFacts, tellPull } from '#core/domain/pulls/pull-story.ts';
import type { ActivityEvent } from '#core/domain/queue/batch.ts';
import type { QueueView } from '#core/domain/queue/queue-view.ts';
import { STANDSTILLS } from '#core/domain/queue/standstill.ts';
import { givenEvent, givenNodeRow } from '../../../../builders/store-rows.ts';

const NOW = 10_000_000;
const MINUTE_MS = 60_000;

const event = (pr: number, name: ActivityEvent['event'], at: number, reason: string | null = null) =>
  givenEvent({ pr, event: name, at, reason });

function view(...prs: readonly number[]): QueueView {
  return {
    at: NOW,
    places: prs.map((pr) => ({
      pr,
      title: `Change ${pr}`,
      head: `head-${pr}`,
      queuedAt: NOW - 2 * MINUTE_MS,
      state: 'ready',
      reason: null,
      until: null,
    })),
    more: 0,
    block: { kind: 'empty', since: null, until: null, pr: null, runUrl: null },
  };
}

function given(changes: Partial<StoryFacts> = {}): StoryFacts {
  return {
    pr: 7,
    now: NOW,
    queueEnabled: true,
    pause: null,
    view: undefined,
    events: [],
    batches: [],
    ...changes,
  };
}

/** Landings that took so many minutes each, newest first. */
const landings = (...minutes: readonly number[]): ActivityEvent[] =>
  minutes.flatMap((took, index) => {
    const at = NOW - (index + 1) * 60 * MINUTE_MS;
    return [event(100 + index, 'pr_landed', at), event(100 + index, 'pr_queued', at - took * MINUTE_MS)];
  });

describe('the story of one pull request', () => {
  test('nothing is told of a number that the queue never met', () => {
    expect(tellPull(given({ events: [event(8, 'pr_landed', NOW)], view: view(8) }))).toBeNull();
  });

  describe('after a clock that ran ahead was put right', () => {
    const AHEAD_MS = 120 * MINUTE_MS;
    /** As they were stored, oldest first: each with how far its clock ran ahead. Given newest first, as the store does. */
    const history = (...stored: readonly (readonly [ActivityEvent['event'], number, (string | null)?])[]) =>
      stored
        .map(([name, ahead, reason = null], index) => ({
          ...event(7, name, NOW - (10 - index) * MINUTE_MS + ahead, reason),
          stored: String(index),
        }))
        .toSorted((one, other) => other.at - one.at);
    const staged = [
      ['pr_queued', AHEAD_MS],
      ['pr_staged', AHEAD_MS],
    ] as const;

    test('one that has landed is told as landed, and not as staged for ever', () => {
      const events = history(...staged, ['pr_landed', 0]);
      for (const now of [NOW, NOW + 2 * AHEAD_MS])
        for (const seen of [view(8), undefined])
          expect(tellPull(given({ now, events, view: seen }))).toMatchObject({
            code: 'landed',
            inQueue: false,
            since: NOW - 8 * MINUTE_MS,
          });
    });

    test('one that the queue does not hold any more is told by its way out', () => {
      const events = history(...staged, ['pr_skipped', 0, 'closed']);
      expect(tellPull(given({ events, view: view(8) }))).toMatchObject({ code: 'closed', inQueue: false });
      // It may stand behind the places that are kept, or nothing is known of these.
      for (const seen of [{ ...view(8), more: 1 }, undefined])
        expect(tellPull(given({ events, view: seen }))).toMatchObject({ code: 'staged', inQueue: true });
    });

    test('one that was scheduled again is told by its place, whatever was stored before', () => {
      const events = history(...staged, ['pr_skipped', 0, 'closed'], ['pr_queued', 0]);
      expect(tellPull(given({ events, view: view(7) }))).toMatchObject({ code: 'ready', place: 1 });
      expect(tellPull(given({ events, view: view(8) }))).toMatchObject({ code: 'staged', inQueue: true });
    });

    test('where the record was lost and its writes are counted anew, the newest time tells', () => {
      const lost = history(['pr_queued', 0], ['pr_landed', 0]).map((each) => ({
        ...each,
        stored: each.event === 'pr_landed' ? '1' : '9',
      }));
      expect(tellPull(given({ events: lost, view: view(8) }))).toMatchObject({ code: 'landed' });
    });
  });

  test('one in the queue has its place and a code; a queue that is off says so first', () => {
    expect(tellPull(given({ view: view(5, 7) }))).toMatchObject({ inQueue: true, place: 2, code: 'ready' });
    expect(tellPull(given({ view: view(7), queueEnabled: false }))).toMatchObject({ code: 'queue_disabled' });
  });

  test('where no look gets through, nothing is said to go on by itself, and what others have to do stays', () => {
    const codeIn = (place: Partial<QueueView['places'][number]>) => {
      const seen = view(7);
      const places = seen.places.map((each) => ({ ...each, ...place }));
      return tellPull(given({ view: { ...seen, places }, stopped: 'shut_out' }))?.code;
    };
    expect(codeIn({})).toBe('queue_stopped');
    expect(codeIn({ state: 'staged' })).toBe('queue_stopped');
    expect(codeIn({ state: 'waiting', reason: 'not_admitted' })).toBe('queue_stopped');
    expect(codeIn({ state: 'waiting', reason: 'other_checks' })).toBe('queue_stopped');
    // The runner may have taken the gate run since: a runner is nothing to look for.
    expect(codeIn({ state: 'staged', reason: 'runner_wait' })).toBe('queue_stopped');
    expect(codeIn({ state: 'waiting', reason: 'conflict' })).toBe('conflict');
    // Behind the places that are kept, its last event tells.
    const behind = tellPull(
      given({ events: [event(7, 'pr_queued', NOW)], view: view(8), stopped: 'shut_out' }),
    );
    expect([behind?.code, behind?.next]).toEqual(['queue_stopped', expect.stringMatching(/by itself\.$/)]);
  });

  test('where a branch rule keeps the queue from landing, another check is waited for no more, and the rule is named', () => {
    const storyOf = (place: Partial<QueueView['places'][number]>) => {
      const seen = view(7);
      const places = seen.places.map((each) => ({ ...each, ...place }));
      return tellPull(given({ view: { ...seen, places }, stopped: 'rule' }));
    };
    for (const place of [
      {},
      { state: 'waiting', reason: 'not_admitted' },
      { state: 'staged', reason: 'runner_wait' },
    ] as const)
      expect(storyOf(place)).toMatchObject({
        code: 'queue_stopped',
        next: expect.stringMatching(/which branch rule keeps the queue from landing/),
      });
    expect(storyOf({ state: 'refused', reason: 'approvals_missing' })?.code).toBe('approvals_missing');
  });

  test('where a branch has the name of one of the queue, those that wait are told so, and what is staged goes on', () => {
    const storyOf = (
      state: 'waiting' | 'staged',
      reason: string | null,
      phase: 'waiting_gate' | 'waiting_merge' | null = null,
    ) => {
      const seen = view(7);
      const places = seen.places.map((each) => ({ ...each, state, reason }));
      const batches = phase === null ? [] : [givenNodeRow({ prs: [7], outcome: 'running', phase })];
      return tellPull(given({ view: { ...seen, places }, stopped: 'name', batches }));
    };
    expect(storyOf('staged', null)).toMatchObject({ code: 'staged', next: null });
    expect(storyOf('staged', null, 'waiting_gate')?.next).toBeNull();
    // A tag of the name of the base keeps what is proven from landing.
    expect(storyOf('staged', null, 'waiting_merge')?.next).toMatch(/which branch or tag stands in the way/);
    expect(storyOf('waiting', 'queue_stopped')).toMatchObject({
      code: 'queue_stopped',
      next: expect.stringMatching(/rename or delete it\. The queue then goes on by itself\.$/),
    });
  });

  test('one that is merged, while its history is read yet, is told as landing and not as waiting for its gate run', () => {
    const events = [event(7, 'pr_staged', NOW)];
    const codeIn = (row: Parameters<typeof givenNodeRow>[0]) =>
      tellPull(
        given({
          events,
          view: view(8),
          batches: [givenNodeRow({ prs: [7, 8], outcome: 'running', ...row })],
        }),
      )?.code;
    expect(codeIn({ phase: 'waiting_merge' })).toBe('landing');
    expect(codeIn({ phase: 'waiting_gate' })).toBe('staged');
  });

  test('one whose gate run does not begin is told what its owner has to do, and that nothing goes on by itself', () => {
    const { places, ...rest } = view(7);
    const staged = { ...rest, places: places.map((each) => ({ ...each, state: 'staged' as const })) };
    const storyOf = (standstill: StoryFacts['standstill'], runUrl: string | null = null) =>
      tellPull(
        given({
          view: staged,
          batches: [givenNodeRow({ prs: [7], outcome: 'running', runUrl })],
          ...(standstill === undefined ? {} : { standstill }),
        }),
      );
    const found = { cause: 'gate_not_started', since: NOW - 11 * MINUTE_MS, usualMs: null } as const;
    expect(storyOf(found)).toMatchObject({ code: 'staged', next: STANDSTILLS.gate_not_started.next });
    expect(storyOf(undefined)?.next).toBeNull();
    expect(storyOf({ ...found, cause: 'gate_slow' })?.next).toBeNull();
    // Of another batch.
    expect(storyOf(found, 'https://forge.test/run/1')?.next).toBeNull();
  });

  test('of a head that changed it says the words of that head, with their step', () => {
    const [place] = view(7).places;
    if (place === undefined) throw new Error('no place');
    const says =
      'requeued: head changed, and the forge does not show it; cancel its auto-merge and schedule again';
    const storyOf = (more: object) => {
      const places = [{ ...place, state: 'waiting' as const, reason: 'head_changed', ...more }];
      return tellPull(given({ view: { ...view(7), places } }));
    };
    const next = 'Cancel its auto-merge and schedule again.';
    expect(storyOf({ says })).toMatchObject({ code: 'head_changed', words: says, next });
    expect(storyOf({})).toMatchObject({ code: 'head_changed', words: null, next: null });
  });

  test('in a pause it says the words that its status says, and no others', () => {
    const owner = { kind: 'pause', reason: 'audit', since: NOW - 1, until: null } as const;
    const pause = { ...owner, isFreeze: false };
    const [place] = view(7).places;
    if (place === undefined) throw new Error('no place');
    const paused = { ...view(7), places: [{ ...place, state: 'waiting' as const, reason: 'paused' }] };
    const words = 'paused: audit (by the owner of this queue, until resumed)';
    expect(tellPull(given({ pause, view: paused }))).toMatchObject({ code: 'paused', place: 1, words });
    expect(tellPull(given({ pause, view: view(7) }))).toMatchObject({ code: 'ready', words: null });
    const freeze = { kind: 'pause', reason: 'night', since: NOW - 1, until: NOW + 60_000 } as const;
    const both = {
      ...freeze,
      isFreeze: true,
      drain: { ...owner, kind: 'drain', reason: 'release' },
    } as const;
    const wordsOf = (isExempt: object) => {
      const places = [{ ...place, state: 'waiting' as const, reason: 'paused', ...isExempt }];
      return tellPull(given({ pause: both, view: { ...paused, places } }))?.words;
    };
    expect(wordsOf({})).toMatch(/^paused: night \(freeze window/);
    expect(wordsOf({ isExempt: true })).toBe('paused: release (by the owner of this queue, until resumed)');
  });

  test('one that waits for a runner names the labels that the forge tells of', () => {
    const seen = view(7);
    const [place] = seen.places;
    if (place === undefined) throw new Error('no place');
    const places = [{ ...place, state: 'staged' as const, reason: 'runner_wait' }];
    const waiting = (labels: readonly string[]) =>
      tellPull(given({ view: { ...seen, places, block: { ...seen.block, kind: 'runner', labels } } }));
    expect(waiting([])).toMatchObject({ code: 'runner_wait', words: null, next: null });
    expect(waiting(['gpu'])).toMatchObject({
      words: 'staged: the gate run of its batch waits for a runner with the label "gpu"',
      next: 'If that lasts, check that a runner with the label "gpu" is online and free, or change runs-on in the gate workflow.',
    });
    expect(tellPull(given({ view: { ...seen, places } }))).toMatchObject({ words: null, next: null });
  });

  test('one that was bounced is not in the queue although the forge still keeps its schedule, and takes no place', () => {
    const [first, ...rest] = view(5, 7, 8).places;
    if (first === undefined) throw new Error('no place');
    const seen = { ...view(), places: [{ ...first, state: 'bounced' } as const, ...rest] };
    expect(tellPull(given({ pr: 5, view: seen }))).toMatchObject({
      inQueue: false,
      place: null,
      code: 'bounced',
    });
    expect(tellPull(given({ view: seen }))).toMatchObject({ inQueue: true, place: 1 });
  });

  test('a fork whose merge never came is told without the blame of a bounce', () => {
    const [place] = view(7).places;
    if (place === undefined) throw new Error('no place');
    const seen = {
      ...view(7),
      places: [{ ...place, state: 'bounced' as const, reason: 'fork_merge_timeout' }],
    };
    expect(tellPull(given({ view: seen }))).toMatchObject({ inQueue: false, code: 'fork_merge_timeout' });
  });

  test('why one was bounced is told as its status tells it, while the forge keeps its schedule', () => {
    const [place] = view(7).places;
    if (place === undefined) throw new Error('no place');
    const seen = { ...view(7), places: [{ ...place, state: 'bounced' as const }] };
    const bounce = (reason: string) => [event(7, 'pr_bounced', NOW, reason), event(7, 'pr_queued', NOW - 1)];
    expect(tellPull(given({ view: seen, events: bounce('gate_failed') }))?.code).toBe('gate_failed');
    expect(tellPull(given({ view: seen, events: bounce('merge_timeout') }))?.code).toBe(
      'bounced_merge_timeout',
    );
  });

  test.each([
    ['pr_bounced', 'gate_failed', 'gate_failed', false],
    ['pr_bounced', 'merge_timeout', 'bounced_merge_timeout', false],
    ['pr_skipped', 'draft', 'draft', false],
    ['pr_landed', null, 'landed', false],
    ['pr_requeued', 'base_advanced', 'base_advanced', true],
    ['pr_refused', 'of a newer service', null, false],
  ] as const)('after %s %s it is told with the code %s', (name, reason, code, inQueue) => {
    const events = [event(7, name, NOW - 1, reason), event(7, 'pr_queued', NOW - 2)];
    expect(tellPull(given({ events }))).toMatchObject({ code, inQueue, place: null, since: NOW - 1 });
  });

  test('the estimate is the median of the repository’s own landings less the time waited, with its error', () => {
    const events = landings(10, 12, 11, 14, 10);
    expect(tellPull(given({ view: view(7), events }))?.estimate).toEqual({
      ms: 9 * MINUTE_MS,
      errorMs: 3 * MINUTE_MS,
      landings: ESTIMATE_LANDINGS_MIN,
    });
  });

  test('one that has waited longer than nine in ten is promised nothing: the error would not hold', () => {
    const events = landings(10, 12, 11, 14, 10);
    const having = (minutes: number) => {
      const { places } = view(7);
      const waits = places.map((place) => ({ ...place, queuedAt: NOW - minutes * MINUTE_MS }));
      return tellPull(given({ view: { ...view(7), places: waits }, events }))?.estimate ?? null;
    };
    expect(having(14)).toEqual({ ms: 0, errorMs: 3 * MINUTE_MS, landings: 5 });
    expect(having(15)).toBeNull();
  });

  test('nothing is promised before enough landings, or while a person has to act', () => {
    expect(tellPull(given({ view: view(7), events: landings(10, 12) }))?.estimate).toBeNull();
    const places = view(7).places.map(
      (place) => ({ ...place, state: 'waiting', reason: 'conflict' }) as const,
    );
    const events = landings(10, 12, 11, 14, 10);
    expect(tellPull(given({ view: { ...view(7), places }, events }))?.estimate).toBeNull();
  });

  test('the node is the smallest that runs, and a receipt that several rows hold is told once', () => {
    const receipt = {
      baseBefore: 'b',
      head: 'h',
      stagedSha: 's',
      tree: 't',
      runUrl: null,
      mergeCommit: 'm',
      landedAt: NOW,
    };
    const actions = [
      { pr: 7, action: 'landed', stagingSha: 's', gateVerdict: 'success', cursor: 0, receipt } as const,
    ];
    const batches = [
      givenNodeRow({ nodeId: 'r', prs: [7, 8], actions }),
      givenNodeRow({ nodeId: 'r.1', prs: [7], actions }),
      givenNodeRow({ nodeId: 'other', prs: [8] }),
    ];
    expect(tellPull(given({ batches }))).toMatchObject({
      node: { nodeId: 'r.1' },
      attempts: [{ nodeId: 'r' }, { nodeId: 'r.1' }],
      receipts: [receipt],
    });
  });
});
