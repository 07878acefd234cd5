import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import {
  type ProtectionObservation,
  type RuleSeen,
  UNPROVISIONED,
  viewProvisioning,
} from '#core/domain/set-up/provisioning.ts';

const SEEN_AT = 1_000;
const MISSING: RuleSeen = { at: SEEN_AT, reasons: ['rule_missing'] };

function viewAfter(kind: ProtectionObservation['kind'], triedAt: number, seen: RuleSeen | undefined) {
  const provisioning = {
    ...UNPROVISIONED.provisioning,
    protection: { kind, ruleName: null, reasons: [] },
    lastProvisionedAt: triedAt,
  };
  const place = { statusContext: DEFAULT_SERVICE_NAME, baseBranch: 'main' };
  const asked = { wakeupMode: 'poll', protectionRequested: true } as const;
  return viewProvisioning({ ...UNPROVISIONED, ...place, ...asked, provisioning }, seen).protection;
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

test('an attempt that wrote the rule is newer than what was seen before it', () => {
  expect(viewAfter('required', SEEN_AT + 1, MISSING).required).toBe(true);
});

test('a look after the attempt is newer than it', () => {
  expect(viewAfter('required', SEEN_AT - 1, MISSING).required).toBe(false);
});

test('without an attempt that wrote it and without a look nothing is known', () => {
  expect(viewAfter('unproven_gate', SEEN_AT, undefined).required).toBeNull();
});
