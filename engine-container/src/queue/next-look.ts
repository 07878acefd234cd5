import { GATE_QUICK_LOOK_MS, LANDING_POLL_MS_MAX, WAKE_DELAY_MS_MIN } from '#core/domain/limits.ts';
import type { Action } from './actions.ts';
import { type DecisionContext, pollNoLaterThan, wakeNoLaterThan } from './decision-context.ts';
import { forgetGateLook, gateLookAt } from './gate/gate-looks.ts';
import { gateMsOf } from './policy/pace.ts';
import type { Batch, QueueRecord } from './record/record.ts';

/** First look at a gate after this share of what it usually takes: never later than that, or it would seem to take ever longer. */
const GATE_FIRST_LOOK_SHARE = 0.9;
/** The soonest look at a gate run that was just started. */
const FIRST_QUICK_LOOK_MS = 500;

/** When may something change by itself? While a gate or a merge is awaited the repo is due again soon (D-95). */
export function chooseWake(pass: DecisionContext): void {
  const { record } = pass;
  if (pass.actions.some((action) => !isQuiet(record, action))) pollNoLaterThan(pass, 0);
  if (pass.nextStartAt !== null) wakeNoLaterThan(pass, pass.nextStartAt);
  forgetGateLook(pass);
  for (const batch of record.batches) chooseWakeFor(pass, batch);
}

/** A merge takes a moment after its success, and a last word on what has landed changes nothing; all else shows at once. */
function isQuiet({ landed = [] }: QueueRecord, action: Action): boolean {
  if (action.kind !== 'post_status') return false;
  return action.purpose === 'landing' || landed.some(({ head }) => head === action.sha);
}

/** When to look again within this reconcile; null: the gate takes longer than a reconcile should wait for it. */
function quickLookMs(ageMs: number, usualMs: number | null): number | null {
  if (ageMs >= GATE_QUICK_LOOK_MS) return null;
  const dueMs = (usualMs ?? 0) * GATE_FIRST_LOOK_SHARE - ageMs;
  if (dueMs + ageMs > GATE_QUICK_LOOK_MS) return null;
  return Math.round(Math.max(FIRST_QUICK_LOOK_MS, dueMs, Math.min(3_000, ageMs)));
}

function chooseWakeFor(pass: DecisionContext, batch: Batch): void {
  const { s } = pass;
  if (batch.landing !== null && batch.landing.takeBack === null) pollNoLaterThan(pass, LANDING_POLL_MS_MAX);
  for (const node of batch.nodes) {
    if (node.state !== 'gating') continue;
    const age = s.now - (node.stagedAt ?? s.now);
    // A gate that ends within seconds is read in the reconcile that started it.
    const lookMs = quickLookMs(age, gateMsOf(pass.record.rate));
    if (lookMs !== null) pollNoLaterThan(pass, lookMs);
    wakeNoLaterThan(pass, gateLookAt(pass, age));
  }
  if (batch.landing !== null || batch.teardown !== null) wakeNoLaterThan(pass, s.now + WAKE_DELAY_MS_MIN);
}
