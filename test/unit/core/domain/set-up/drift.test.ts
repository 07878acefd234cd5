import { REFUSAL_CAUSES } from '#core/domain/forge/refusal-cause.ts';
import type { QueueView } from '#core/domain/queue/queue-view.ts';
import type { ManagedRepo, ReconcileOutcome } from '#core/domain/repos/repo.ts';
import { DRIFTS, findDrifts, sayDrift } from '#core/domain/set-up/drift.ts';
import { hookStateOf } from '#core/domain/set-up/hook-seen.ts';
import type { ProtectionReason, ProvisioningRecord } from '#core/domain/set-up/provisioning.ts';
import { givenRepo } from '../../../../builders/managed-repo.ts';

const SET_UP_AT = 1_000;
const provisioning: ProvisioningRecord = {
  webhook: 'registered',
  protection: { kind: 'required', ruleName: 'main', reasons: ['merge_style_not_allowed'] },
  strayContexts: [],
  lastProvisionedAt: SET_UP_AT,
};
const GOOD: ReconcileOutcome = { ranAt: 5_000, ok: true, errorCode: null, lastGoodAt: 5_000 };
const BLOCK = { since: 3_000, until: null, pr: null, runUrl: null };
const view = (kind: QueueView['block']['kind']): QueueView => ({
  at: 5_000,
  places: [],
  more: 0,
  block: { kind, ...BLOCK },
});

function given(
  outcome: Partial<ReconcileOutcome> = {},
  changes: Partial<ManagedRepo> = {},
  seen: QueueView = view('empty'),
) {
  const ciGate = { status: 'verified', url: null, setupPr: null, probe: null } as const;
  const asSetUp = { wakeupMode: 'webhook', protectionRequested: true, ciGate, provisioning } as const;
  return { repo: givenRepo({ ...asSetUp, ...changes }), outcome: { ...GOOD, ...outcome }, view: seen };
}
const kindsOf = (...facts: Parameters<typeof given>) =>
  findDrifts(given(...facts)).map(({ kind, since }) => [kind, since]);
const rule = (reasons: readonly ProtectionReason[], at = 2_000) => ({ rule: { at, reasons } });
const hook = (state: 'working' | 'changed' | 'missing' | 'hidden', at = 4_000) => ({
  hook: { state, since: 2_500, at },
});

describe('what is not as it was set up', () => {
  test('a repository on which all is as it was made has no drift, and neither has one of which nothing was seen', () => {
    expect(kindsOf(hook('working'))).toEqual([]);
    expect(findDrifts({ ...given(), outcome: undefined, view: undefined })).toEqual([]);
  });

  test.each([
    ['rule_missing', 'protection'],
    ['direct_push_allowed', 'protection'],
    ['bypass_allowed', 'protection'],
    ['unprotected_files', 'protection'],
    ['context_not_required', 'required_context'],
    ['all_statuses_required', 'required_context'],
  ] as const)('a rule in which the engine sees %s is a drift of %s', (reason, kind) => {
    expect(kindsOf(rule([reason]))).toEqual([[kind, 2_000]]);
  });

  test('a look at the rule for an earlier status context is no drift of this one', () => {
    const { rule: seen } = rule(['context_not_required']);
    const { statusContext } = givenRepo();
    expect(kindsOf({ rule: { ...seen, context: 'earlier' } })).toEqual([]);
    expect(kindsOf({ rule: { ...seen, context: statusContext } })).toHaveLength(1);
  });

  test('a base that was moved past the queue is one that people alone put right', () => {
    expect(findDrifts(given({}, {}, { ...view('empty'), unprovenSince: 4_500 }))).toEqual([
      { kind: 'unproven_base', since: 4_500, onlyPeople: true },
    ]);
  });

  test('what the rule was set up with, or was seen before the set-up, or was never asked for, is none', () => {
    expect(kindsOf(rule(['merge_style_not_allowed']))).toEqual([]);
    expect(kindsOf(rule(['rule_missing'], SET_UP_AT - 1))).toEqual([]);
    expect(kindsOf(rule(['rule_missing']), { protectionRequested: false })).toEqual([]);
  });

  test('a rule over the branches of the queue is a drift, also where the service does not manage the rule of the base', () => {
    expect(kindsOf(rule(['staging_protected']))).toEqual([['own_branches', 2_000]]);
    expect(kindsOf(rule(['staging_protected']), { protectionRequested: false })).toEqual([
      ['own_branches', 2_000],
    ]);
    expect(kindsOf(rule(['staging_protected'], SET_UP_AT - 1))).toEqual([]);
  });

  test('a base that is gone is the one drift of it: its rule went along', () => {
    const gone = { ok: false, errorCode: 'base_missing' } as const;
    expect(kindsOf({ ...gone, ...rule(['rule_missing']) })).toEqual([['base', 5_000]]);
    const { lastGoodAt: _, ...never } = GOOD;
    expect(findDrifts({ ...given(), outcome: { ...never, ...gone } })).toEqual([]);
  });

  test('a hook that is gone or does not work is a drift of a repository that is woken by it', () => {
    expect(kindsOf(hook('missing'))).toEqual([['webhook_missing', 2_500]]);
    expect(kindsOf(hook('changed'))).toEqual([['webhook_changed', 2_500]]);
    expect(kindsOf(hook('hidden'))).toEqual([]);
    expect(kindsOf(hook('missing', SET_UP_AT - 1))).toEqual([]);
    expect(kindsOf(hook('missing'), { wakeupMode: 'poll' })).toEqual([]);
  });

  test('rights that were there once and are not are a drift; those of a repository that never worked are none', () => {
    const denied = { ok: false, errorCode: 'forge_access_denied' } as const;
    expect(kindsOf({ ...denied, lastGoodAt: 4_500 })).toEqual([['rights', 4_500]]);
    const { lastGoodAt: _, ...never } = GOOD;
    expect(findDrifts({ ...given(), outcome: { ...never, ...denied } })).toEqual([]);
  });

  test('rights that the forge refuses with a reason are told with the reason and its own step', () => {
    const denied = { ok: false, errorCode: 'forge_access_denied', lastGoodAt: 4_500 } as const;
    const [archived] = findDrifts(given({ ...denied, refusal: 'archived' }));
    expect(archived).toEqual({ kind: 'rights', since: 4_500, refusal: 'archived' });
    expect(sayDrift({ kind: 'rights', refusal: 'archived' })).toEqual(REFUSAL_CAUSES.archived);
    expect(sayDrift({ kind: 'rights' })).toEqual(DRIFTS.rights);
  });

  test('a repository that was given away has the step without which it cannot be enrolled again', () => {
    expect(sayDrift({ kind: 'rights', refusal: 'moved' }).next).toMatch(
      /^Give the bot access to the repository there, add it here/,
    );
  });

  test('a gate that was verified and is gone from the base is a drift, and all are told in one order', () => {
    expect(kindsOf({}, {}, view('gate_missing'))).toEqual([['gate_file', 3_000]]);
    const all = kindsOf(
      { ...rule(['context_not_required', 'rule_missing']), ...hook('changed') },
      {},
      view('gate_missing'),
    );
    expect(all.map(([kind]) => kind)).toEqual([
      'protection',
      'required_context',
      'webhook_changed',
      'gate_file',
    ]);
  });

  test('a gate by statuses has no file on the base that could be gone', () => {
    const gate = { gate: 'statuses', gateContexts: ['ci/test'], gateAuthors: ['ci'] } as const;
    expect(kindsOf({}, gate, view('gate_missing'))).toEqual([]);
  });

  test('each kind says what is wrong and what to do', () => {
    for (const { says, next } of [...Object.values(DRIFTS), ...Object.values(REFUSAL_CAUSES)])
      expect([says, next].join()).toMatch(/^[ -~]{40,}$/);
  });
});

describe('the hook among those of the forge', () => {
  const own = {
    url: 'https://mq.example/api/v1/webhooks/forge?r=abc',
    isJson: true,
    active: true,
    branchFilter: '*',
    events: ['push', 'pull_request', 'issue_comment', 'release', 'status'],
  };

  test.each([
    ['working', [own]],
    ['working', [{ ...own, active: false }, own]],
    ['missing', []],
    ['missing', [{ ...own, url: 'https://mq.example/api/v1/webhooks/forge?r=xabc' }]],
    ['changed', [{ ...own, active: false }]],
    ['changed', [{ ...own, isJson: false }]],
    ['changed', [{ ...own, branchFilter: 'main' }]],
    ['changed', [{ ...own, events: ['push'] }]],
    ['hidden', null],
  ] as const)('is %s: %j', (state, hooks) => {
    expect(hookStateOf('abc', hooks)).toBe(state);
  });
});
