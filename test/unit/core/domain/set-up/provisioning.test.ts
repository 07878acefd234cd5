import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import {
  type ProtectionObservation,
  type RuleSeen,
  UNPROVISIONED,
  viewProvisioning,
} from '#core/domain/set-up/provisioning.ts';

const SEEN_AT = 1_000;
const MISSING: RuleSeen = { at: SEEN_AT, reasons: ['rule_missing'] };

function viewAfter(
  kind: ProtectionObservation['kind'],
  triedAt: number,
  seen: RuleSeen | undefined,
  reasons: ProtectionObservation['reasons'] = [],
  gate: 'verified' | 'setup_pr_open' = 'verified',
) {
  const provisioning = {
    ...UNPROVISIONED.provisioning,
    protection: { kind, ruleName: null, reasons },
    lastProvisionedAt: triedAt,
  };
  const place = { statusContext: DEFAULT_SERVICE_NAME, baseBranch: 'main' };
  const asked = { wakeupMode: 'poll', protectionRequested: true } as const;
  const ciGate = { ...UNPROVISIONED.ciGate, status: gate };
  return viewProvisioning({ ...UNPROVISIONED, ...place, ...asked, provisioning, ciGate }, seen).protection;
}

/** On a real forge the rule counted as asked for although there was none, until the next look. */
test.each(['not_tried', 'unproven_gate', 'denied', 'failed'] as const)(
  'an attempt that wrote no rule (%s) leaves standing what was seen before it',
  (kind) => {
    const { required, detail } = viewAfter(kind, SEEN_AT + 1, MISSING);
    expect(required).toBe(false);
    expect(detail).toContain('rule_missing');
  },
);

test('a rule that is written once the gate is verified asks for no step, and is told as not there', () => {
  for (const reason of ['rule_missing', 'context_not_required'] as const) {
    const seen: RuleSeen = { at: SEEN_AT, reasons: [reason] };
    const view = viewAfter('unproven_gate', SEEN_AT - 1, seen, [], 'setup_pr_open');
    expect([view.status, view.required]).toEqual(['awaiting_ci_gate', false]);
    expect(view.detail).toMatch(/^awaiting_ci_gate: [^.]*$/);
  }
});

test('an attempt that wrote the rule is newer than what was seen before it', () => {
  expect(viewAfter('required', SEEN_AT + 1, MISSING).required).toBe(true);
});

test('a look after the attempt is newer than it', () => {
  expect(viewAfter('required', SEEN_AT - 1, MISSING).required).toBe(false);
});

test('without an attempt that wrote it and without a look nothing is known', () => {
  expect(viewAfter('unproven_gate', SEEN_AT, undefined).required).toBeNull();
});

/** On a real forge a rule by pattern came to govern, and "protect", which it made fail, was shown as if the status were asked for. */
test.each([
  ['false, as was seen before it', MISSING, false],
  ['not known, whatever was seen before it', { at: SEEN_AT, reasons: [] }, null],
] as const)('a refused attempt does not say that the status is asked for: %s', (_what, seen, required) => {
  const view = viewAfter('refused', SEEN_AT + 1, seen, ['rule_unclear']);
  expect(view.required).toBe(required);
  expect(view.detail).toContain('rule_unclear');
});

test('after a change of the status context nothing is known of a rule that was looked at for the earlier one', () => {
  for (const reasons of [[], ['context_not_required']] as const) {
    const ofEarlier: RuleSeen = { at: SEEN_AT, context: 'earlier', reasons };
    const { required, detail } = viewAfter('not_tried', SEEN_AT - 1, ofEarlier);
    expect([required, detail]).toEqual([null, null]);
    const ofThis = { ...ofEarlier, context: DEFAULT_SERVICE_NAME };
    expect(viewAfter('not_tried', SEEN_AT - 1, ofThis).required).toBe(reasons.length === 0);
  }
});
