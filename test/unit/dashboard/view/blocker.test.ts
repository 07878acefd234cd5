import { BLOCK_KINDS } from '#core/domain/queue/queue-view.ts';
import { RECONCILE_ERROR_CODES } from '#core/domain/repos/repo.ts';
import { findBlocker, sayTimes } from '../../../../dashboard/view/blocker.ts';
import { sayFreeze } from '../../../../dashboard/view/freeze.ts';
import { givenActivity, givenQueue, givenStatus } from '../rows.ts';

const NOW = Date.parse('2026-11-21T10:10:00.000Z');
/** Half a minute after the last look. */
const SOON = Date.parse('2026-11-21T10:00:30.000Z');

test('every kind of block has words of its own, and none is taken for clear', () => {
  const said = BLOCK_KINDS.map((kind) =>
    findBlocker(givenActivity({ queue: givenQueue(kind) }), givenStatus(), SOON),
  );
  expect(new Set(said.map(({ text }) => text)).size).toBe(BLOCK_KINDS.length);
  expect(said.filter(({ tone }) => tone === 'clear')).toHaveLength(1);
  expect(said.filter(({ tone }) => tone === 'unknown')).toHaveLength(0);
});

test('a kind that this page does not know is unknown', () => {
  const queue = givenQueue('tomorrow' as never);
  expect(findBlocker(givenActivity({ queue }), givenStatus()).tone).toBe('unknown');
});

test('an empty queue is clear as of a look of the last quarter of an hour, and unknown after it', () => {
  const of = (minutes: number, changes: object = {}) => {
    const queue = givenQueue('empty');
    const now = Date.parse(queue.seen_at) + minutes * 60_000;
    const { tone, since } = findBlocker(givenActivity({ queue, ...changes }), givenStatus(), now);
    return [tone, since];
  };
  const { seen_at: at } = givenQueue('empty');
  const next_look_at = new Date(Date.parse(at) + 20 * 60_000).toISOString();
  expect([of(14), of(16), of(16, { next_look_at })]).toEqual([
    ['clear', null],
    ['unknown', at],
    ['unknown', at],
  ]);
  const last_reconcile = new Date(Date.parse(at) + 10 * 60_000).toISOString();
  expect([of(16, { last_reconcile }), of(16, { lease_state: 'held' })]).toEqual([
    ['clear', null],
    ['clear', null],
  ]);
});

test('no view is unknown, not an empty line', () => {
  expect(findBlocker(givenActivity({ queue: null }), givenStatus())).toMatchObject({ tone: 'unknown' });
  expect(findBlocker(givenActivity({ queue: null, last_reconcile: null }), givenStatus()).text).toMatch(
    /not looked/,
  );
});

test('a hold comes before a switched-off queue, that before a failed look, that before what was seen', () => {
  const failed = givenActivity({
    last_reconcile_error_code: 'forge_access_denied',
    last_reconcile_error: 'The forge refused.',
    last_reconcile_ok: false,
    queue: givenQueue('gate'),
  });
  const held = givenStatus({ hold_reason: 'payment_required', queue_enabled: false });
  expect(findBlocker(failed, held)).toMatchObject({ remedy: 'billing', tone: 'stop' });
  expect(findBlocker(failed, givenStatus({ queue_enabled: false }))).toMatchObject({
    remedy: 'settings',
    tone: 'quiet',
  });
  expect(findBlocker(failed, givenStatus())).toMatchObject({
    remedy: 'connections',
    text: 'The forge refused',
  });
  expect(findBlocker(givenActivity({ queue: givenQueue('gate') }), givenStatus(), SOON).text).toMatch(
    /gate run/,
  );
});

test('a landing that began after the failed look had ended is told, and one from before it is not', () => {
  const landingSince = (since: string) =>
    givenActivity({
      last_reconcile: '2026-11-21T10:07:00.000Z',
      last_reconcile_error_code: 'protection_conflict',
      last_reconcile_error: 'A rule forbids it.',
      last_reconcile_ok: false,
      queue: givenQueue('merge', { since }),
    });
  const textOf = (since: string) =>
    findBlocker(landingSince(since), givenStatus(), Date.parse('2026-11-21T10:07:10.000Z')).text;
  expect(textOf('2026-11-21T10:07:05.000Z')).toMatch(/^Proven: waiting for the forge to merge/);
  expect(textOf('2026-11-21T10:06:59.000Z')).toBe('A rule forbids it');
});

test.each(RECONCILE_ERROR_CODES)('a look that failed with %s is not called clear', (code) => {
  const activity = givenActivity({
    last_reconcile_error_code: code,
    last_reconcile_error: 'Words.',
    queue: givenQueue('staging'),
  });
  expect(findBlocker(activity, givenStatus()).tone).not.toBe('clear');
});

test('a gate that was never seen to pass asks for setup', () => {
  const repo = givenStatus();
  const protection = { ...repo.provisioning.protection, required: false };
  const ciGate = { status: 'setup_pr_open' as const, url: null };
  const provisioning = { ...repo.provisioning, protection, ci_gate: ciGate };
  for (const queue of [null, givenQueue('empty')]) {
    const activity = givenActivity({ queue, last_reconcile: new Date(NOW).toISOString() });
    expect(findBlocker(activity, { ...repo, provisioning }, NOW)).toMatchObject({
      remedy: 'setup',
      tone: 'busy',
    });
  }
  // A queue that a person set up on the forge lands without a verification.
  const ruled = { ...provisioning, protection: { ...protection, required: true } };
  const empty = givenActivity({ queue: givenQueue('empty'), last_reconcile: new Date(NOW).toISOString() });
  expect(findBlocker(empty, { ...repo, provisioning: ruled }, NOW).tone).toBe('clear');
  // What waits is told as that, whatever the setup lacks.
  const waits = givenActivity({ queue: givenQueue('gate_missing') });
  expect(findBlocker(waits, { ...repo, provisioning }, NOW).text).toContain('The gate is missing');
});

test('since and until are told when they are known, and an until that has passed is not', () => {
  const since = '2026-11-21T10:07:00.000Z';
  expect(sayTimes({ since, until: '2026-11-21T10:17:00.000Z' }, NOW)).toMatch(
    /^since .+ \(3 min\), until .+ at the latest$/,
  );
  expect(sayTimes({ since, until: '2026-11-21T10:09:00.000Z' }, NOW)).toMatch(/^since .+ \(3 min\)$/);
  expect(sayTimes({ since: null, until: null }, NOW)).toBe('');
});

test('a gate run that is begun again tells the time before which it is not', () => {
  const block = { since: '2026-11-21T10:09:00.000Z', until: '2026-11-21T10:11:00.000Z' };
  const queue = givenQueue('gate_retry', block);
  const looked = { last_reconcile: new Date(NOW).toISOString() };
  const blocker = findBlocker(givenActivity({ ...looked, queue }), givenStatus(), NOW);
  expect(sayTimes(blocker, NOW)).toMatch(/^failing since .+ \(1 min\), next try \d\d:11$/);
});

test('looks that fail tell since when, as of the last one that went well, and when the next try is', () => {
  const outage = givenActivity({
    last_reconcile_error_code: 'forge_unreachable',
    last_reconcile_error: 'The forge was silent.',
    last_reconcile: '2026-11-21T10:09:56.000Z',
    last_good_reconcile: '2026-11-21T07:10:00.000Z',
    next_look_at: '2026-11-21T10:15:00.000Z',
  });
  expect(sayTimes(findBlocker(outage, givenStatus(), NOW), NOW)).toMatch(
    /^failing since .+ \(3 h\), next try \d\d:15$/,
  );
  const never = { ...outage, last_good_reconcile: null, next_look_at: null };
  expect(sayTimes(findBlocker(never, givenStatus(), NOW), NOW)).toBe('no look has gone well yet');
});

describe('an engine that should have looked and has not', () => {
  const seen = '2026-11-21T10:00:00.000Z';
  const secondsOn = (seconds: number) => Date.parse(seen) + seconds * 1_000;
  const activity = givenActivity({ queue: givenQueue('gate') });

  test('is silent in words after a minute', () => {
    expect(findBlocker(activity, givenStatus(), secondsOn(60)).text).toMatch(/^Waiting for the gate run/);
    expect(findBlocker(activity, givenStatus(), secondsOn(61))).toMatchObject({
      tone: 'unknown',
      since: seen,
      text: expect.stringMatching(/^The engine is silent/),
    });
  });

  test('is silent also where the next timer is to come, as it always is, and the last one was to bring a look', () => {
    const at = (seconds: number) => {
      const next_look_at = new Date(secondsOn(Math.ceil(seconds / 300) * 300)).toISOString();
      return findBlocker({ ...activity, next_look_at }, givenStatus(), secondsOn(seconds)).tone;
    };
    expect([at(299), at(359), at(361), at(899)]).toEqual(['busy', 'busy', 'unknown', 'unknown']);
  });

  test.each([
    ['its next look is to come', { next_look_at: '2026-11-21T10:02:00.000Z' }],
    ['a worker is on it', { lease_state: 'held' as const }],
    ['it looked since', { last_reconcile: '2026-11-21T10:00:50.000Z' }],
    ['nothing is out', { queue: givenQueue('admission') }],
  ])('is not while %s', (_, changes) => {
    const { text } = findBlocker({ ...activity, ...changes }, givenStatus(), secondsOn(100));
    expect(text).not.toMatch(/silent/);
  });
});

test('a stop for a wrong tree shows what landed, what was proven and what to do', () => {
  const evidence = {
    merge_commit: 'aaaaaaaaaaaa',
    landed_tree: 'bbbbbbbbbbbb',
    proven_tree: 'cccccccccccc',
    base_before: 'dddddddddddd',
  };
  const queue = givenQueue('tree_mismatch', { pr: 8, evidence });
  const stopped = givenActivity({ queue, last_reconcile_error_code: 'tree_mismatch' });
  expect(findBlocker(stopped, null)).toMatchObject({
    tone: 'stop',
    remedy: 'settings',
    text: 'Stopped: #8 landed as aaaaaaaaaa with tree bbbbbbbbbb; the gate had proven tree cccccccccc on dddddddddd. Check the base branch, revert what is wrong, then switch the queue off and on',
  });
});

describe('a pause of the owner', () => {
  const since = '2026-01-01T00:00:00.000Z';
  const paused = (kind: 'pause' | 'drain', until: string | null = null) =>
    givenStatus({ pause: { kind, reason: 'audit', since, until } });
  const later = Date.parse('2026-01-01T01:00:00.000Z');

  test('stands before all else that is waited for', () => {
    const activity = givenActivity({ queue: givenQueue('gate') });
    expect(findBlocker(activity, paused('pause'), later)).toMatchObject({
      tone: 'stop',
      since,
      remedy: 'settings',
      text: 'Paused by its owner: audit. Nothing lands, and no pull request loses its place',
    });
  });

  test('a drain is told once nothing is in flight any more', () => {
    const running = givenActivity({ queue: givenQueue('gate') });
    const idle = givenActivity({ queue: givenQueue('paused_by_owner') });
    expect(findBlocker(running, paused('drain'), later).text).toMatch(/^Waiting for the gate run/);
    expect(findBlocker(idle, paused('drain'), later).text).toMatch(/^Drained by its owner: audit/);
  });

  test('what was bounced does not count among those that wait', () => {
    const place = { pr: 1, title: 'x', priority: 'normal' as const, queued_at: since, until: null };
    const line = [
      { ...place, state: 'bounced' as const, reason: 'bounced' },
      { ...place, pr: 2, state: 'refused' as const, reason: 'approvals_missing' },
    ];
    const activity = givenActivity({ queue: givenQueue('admission', {}, line) });
    expect(findBlocker(activity, givenStatus(), later).text).toBe(
      'The one pull request in the queue may not be staged yet',
    );
  });

  test('one whose end has passed is over', () => {
    const activity = givenActivity({ queue: givenQueue('empty') });
    expect(findBlocker(activity, paused('pause', '2026-01-01T00:59:00.000Z'), later).tone).toBe('clear');
  });
});

test('a queue that stands still says since when, what is usual, and what to do', () => {
  const standstill = {
    cause: 'gate_slow',
    since: '2026-01-01T00:00:00.000Z',
    usual_seconds: 720,
    says: 'The gate takes longer than it usually does',
    next: 'Open the gate run.',
  } as const;
  const queue = givenQueue('gate', { run_url: 'https://forge.example.org/run' });
  expect(findBlocker(givenActivity({ standstill, queue }), givenStatus())).toMatchObject({
    tone: 'stop',
    since: standstill.since,
    runUrl: 'https://forge.example.org/run',
    text: 'It stands still. The gate takes longer than it usually does, which is 12 min at most for 95 in 100. Open the gate run',
  });
});

test.each(['stopped', 'looks_fail'] as const)(
  'a queue that stands still (%s) shows the error of the last look itself, and does not only point at it',
  (cause) => {
    const says = { says: 'Nothing lands', next: 'See the error of the last look.', usual_seconds: null };
    const standstill = { cause, since: '2026-01-01T00:00:00.000Z', ...says };
    const error = 'The gate is missing: merge the setup pull request.';
    const activity = givenActivity({ standstill, last_reconcile_error: error });
    expect(findBlocker(activity, givenStatus()).text).toBe(
      'It stands still. Nothing lands. The gate is missing: merge the setup pull request',
    );
  },
);

test('a freeze window that holds is told with its end, unless something exempt is in flight; one that is to come is not', () => {
  const freeze = { reason: 'weekend', since: '2026-11-21T10:00:00.000Z', until: '2026-11-23T07:00:00.000Z' };
  const held = findBlocker(givenActivity({ freeze }), givenStatus(), NOW);
  expect(held).toMatchObject({ tone: 'stop', remedy: 'settings', until: freeze.until });
  expect(held.text).toMatch(/^Frozen: weekend\. /);
  const running = givenActivity({ freeze, queue: givenQueue('gate'), lease_state: 'held' });
  expect(findBlocker(running, givenStatus(), NOW).text).toMatch(/gate run/);
  const later = { ...freeze, since: '2026-11-22T10:00:00.000Z' };
  expect(findBlocker(givenActivity({ freeze: later }), givenStatus(), NOW).tone).toBe('clear');
  expect(sayFreeze(later, NOW)).toMatch(/^The next one is from .*: weekend\.$/);
});
