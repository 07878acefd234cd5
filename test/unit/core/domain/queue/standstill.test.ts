import { DAY_MS } from '#core/domain/api-limits.ts';
import type { Block, QueuePlace } from '#core/domain/queue/queue-view.ts';
import { findStandstill, type StandstillFacts } from '#core/domain/queue/standstill.ts';
import type { ReconcileErrorCode } from '#core/domain/repos/repo.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';
import { givenNodeRow } from '../../../../builders/store-rows.ts';
import { givenQueueView } from '../../../../builders/told-queue.ts';

const MINUTE = 60_000;
const NOW = 100 * DAY_MS;
const PLACE: QueuePlace = {
  pr: 7,
  title: 'Waits',
  head: 'h',
  queuedAt: NOW - 3 * DAY_MS,
  state: 'staged',
  reason: null,
  until: null,
};

function given(block: Partial<Block>, changes: Partial<StandstillFacts> = {}): StandstillFacts {
  const whole = {
    kind: 'gate',
    since: null,
    until: null,
    pr: null,
    runUrl: 'https://f/run',
    ...block,
  } as const;
  return {
    repo: givenRepo(),
    isOnHold: false,
    now: NOW,
    batches: gateRuns(5, 20 * MINUTE),
    view: givenQueueView({ at: NOW, places: [PLACE], block: whole }),
    outcome: { ranAt: NOW, ok: true, errorCode: null },
    ...changes,
  };
}

const WAIT: Block = { kind: 'gate', since: 1, until: null, pr: null, runUrl: null };

const gateRuns = (count: number, tookMs: number) =>
  Array.from({ length: count }, (_, index) =>
    givenNodeRow({
      id: `node-${index}`,
      outcome: 'success',
      phase: null,
      gateVerdict: 'success',
      createdAt: NOW - DAY_MS,
      resolvedAt: NOW - DAY_MS + tookMs,
    }),
  );
const since = (minutes: number) => NOW - minutes * MINUTE;

describe('a queue that stands still is noticed', () => {
  test('a gate run is told past 1.5 times what is usual, and not before', () => {
    expect(findStandstill(given({ since: since(30) }))).toBeNull();
    expect(findStandstill(given({ since: since(31) }))).toEqual({
      cause: 'gate_slow',
      since: since(31),
      usualMs: 20 * MINUTE,
    });
  });

  test('a quick gate is not told for taking some minutes', () => {
    expect(findStandstill(given({ since: since(9) }, { batches: gateRuns(9, MINUTE) }))).toBeNull();
  });

  test('before enough gate runs have taught what is usual it is told after one and a half hours', () => {
    const batches = gateRuns(4, MINUTE);
    expect(findStandstill(given({ since: since(90) }, { batches }))).toBeNull();
    expect(findStandstill(given({ since: since(91) }, { batches }))).toMatchObject({ usualMs: null });
  });

  test('a gate run that never begins: a runner label that no runner has, a full pool, a renamed workflow', () => {
    const { cause } = findStandstill(given({ since: since(11), runUrl: null })) ?? {};
    expect(cause).toBe('gate_not_started');
  });

  test.each(['staging', 'merge', 'revoke', 'gate_retry'] as const)(
    'a %s of minutes is the forge’s',
    (kind) => {
      expect(findStandstill(given({ kind, since: since(9) }))).toBeNull();
      expect(findStandstill(given({ kind, since: since(11) }))).toMatchObject({ cause: 'forge_slow' });
    },
  );

  test('a required check or a review that does not come for a day is people’s', () => {
    expect(findStandstill(given({ kind: 'admission', since: since(60) }))).toBeNull();
    expect(findStandstill(given({ kind: 'admission', since: since(25 * 60) }))).toMatchObject({
      cause: 'people',
    });
  });

  test('a forge that fails on each of several is told within minutes, on one alone after a day', () => {
    const failed: QueuePlace = { ...PLACE, state: 'waiting', reason: 'staging_failed' };
    const other: QueuePlace = { ...failed, pr: 8 };
    const of = (minutes: number, places: readonly QueuePlace[]) => {
      const block = { ...WAIT, kind: 'admission', since: since(minutes) } as const;
      return findStandstill(given({}, { view: givenQueueView({ at: NOW, places, block }) }))?.cause ?? null;
    };
    expect([of(9, [failed, other]), of(11, [failed, other])]).toEqual([null, 'forge_slow']);
    expect([of(11, [failed]), of(25 * 60, [failed])]).toEqual([null, 'forge_slow']);
    expect(of(11, [failed, { ...other, reason: 'not_approved' }])).toBeNull();
    expect(of(11, [failed, { ...other, state: 'bounced', reason: 'bounced' }])).toBeNull();
  });

  test('a forge that cannot be read for an hour, though no schedule is known: one may wait there', () => {
    const view = givenQueueView({ at: NOW, places: [], block: { ...WAIT, kind: 'empty' } });
    const of = (minutes: number, errorCode: ReconcileErrorCode) =>
      findStandstill(
        given({}, { view, outcome: { ranAt: NOW, ok: false, errorCode, lastGoodAt: since(minutes) } }),
      )?.cause ?? null;
    expect([of(59, 'forge_unreachable'), of(61, 'forge_unreachable')]).toEqual([null, 'looks_fail']);
    expect([of(61, 'forge_access_denied'), of(61, 'gate_missing')]).toEqual([null, null]);
  });

  test('a pause without an end that is older than a day may be forgotten; one with an end is not', () => {
    const pause = { kind: 'pause', reason: null, since: since(25 * 60), until: null } as const;
    const of = (changes: object) =>
      findStandstill(
        given({ kind: 'paused_by_owner' }, { repo: givenRepo({ pause: { ...pause, ...changes } }) }),
      );
    expect(of({})).toEqual({ cause: 'paused', since: pause.since, usualMs: null });
    expect([of({ until: NOW + 1 }), of({ since: since(60) })]).toEqual([null, null]);
  });

  test('an expired token or a forge that is away: looks that fail for a quarter of an hour', () => {
    const outcome = {
      ranAt: NOW,
      ok: false,
      errorCode: 'forge_access_denied',
      lastGoodAt: since(16),
    } as const;
    expect(findStandstill(given({}, { outcome }))).toMatchObject({ cause: 'looks_fail', since: since(16) });
    expect(findStandstill(given({}, { outcome: { ...outcome, lastGoodAt: since(14) } }))).toBeNull();
  });

  test.each(['gate', 'runner'] as const)('of a %s only what the last good look saw is said', (kind) => {
    const told = (errorCode: ReconcileErrorCode, begun: number, seen: number) => {
      const outcome = { ranAt: NOW, ok: false, errorCode, lastGoodAt: since(seen) };
      return findStandstill(given({ kind, since: since(begun), runUrl: null }, { outcome }))?.cause ?? null;
    };
    const cause = kind === 'gate' ? 'gate_not_started' : 'no_runner';
    // Begun 14 minutes ago, last read a minute after that: it may have moved since.
    expect([told('forge_access_denied', 14, 13), told('forge_unreachable', 14, 13)]).toEqual([null, null]);
    // Last read after 13 minutes of waiting.
    expect(told('forge_unreachable', 25, 12)).toBe(cause);
    expect(told('gate_infrastructure', 14, 13)).toBe(cause);
  });

  test('a queue that no look has come to for three ticks', () => {
    const view = givenQueueView({ ...given({}).view, at: since(16) });
    const outcome = { ranAt: since(16), ok: true, errorCode: null };
    expect(findStandstill(given({}, { view, outcome }))).toMatchObject({
      cause: 'not_looked',
      since: since(16),
    });
  });

  test('a queue that is empty, off, held, unknown, or holds bounced ones only, does not stand still', () => {
    const late = { ranAt: since(600), ok: true, errorCode: null };
    const bounced = givenQueueView({
      places: [{ ...PLACE, state: 'bounced' }],
      block: WAIT,
    });
    const all = [
      given({}, { view: givenQueueView({ at: since(600) }), outcome: late }),
      given({ since: since(600) }, { repo: givenRepo({ queueEnabled: false }) }),
      given({ since: since(600) }, { isOnHold: true }),
      given({}, { view: undefined, outcome: late }),
      given({}, { view: bounced, outcome: late }),
    ];
    expect(all.map(findStandstill)).toEqual([null, null, null, null, null]);
  });
});

test('a queue whose looks failed does not stand still once a landing has begun after the last of them', () => {
  const outcome = {
    ranAt: NOW - MINUTE,
    ok: false,
    errorCode: 'forge_access_denied',
    lastGoodAt: NOW - DAY_MS,
  } as const;
  const causeOf = (since: number) => findStandstill(given({ kind: 'merge', since }, { outcome }))?.cause;
  expect(causeOf(NOW - 2 * MINUTE)).toBe('looks_fail');
  expect(causeOf(NOW - 30_000)).toBeUndefined();
});
