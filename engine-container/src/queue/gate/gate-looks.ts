import type { EpochMs } from '#core/domain/ids.ts';
import { WAKE_DELAY_MS_MAX, WAKE_DELAY_MS_MIN } from '#core/domain/limits.ts';
import { HEARD_GATE_LOOK_MS, isTold, verdictEventOf } from '#core/domain/wakes/heard-events.ts';
import { runsOut } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { GateLooks } from '../record/gate-looks-state.ts';

/** Share of the time for which a gate run has been out that is waited for until the next look at it. */
const GATE_AGE_SHARE = 1 / 6;

/**
 * Next look at a gate run that has been out for `ageMs`, if no event comes before. Where events tell of verdicts the polls of
 * all gates are one line, which no look in between moves: what a poll finds was not told of.
 */
export function gateLookAt(pass: DecisionContext, ageMs: number): EpochMs {
  const { record, s } = pass;
  const often = Math.min(WAKE_DELAY_MS_MAX, Math.max(WAKE_DELAY_MS_MIN, Math.round(ageMs * GATE_AGE_SHARE)));
  if (!isVerdictTold(pass)) return s.now + often;
  const at = record.gateLooks?.at ?? s.now + HEARD_GATE_LOOK_MS;
  keep(pass, { ...record.gateLooks, at });
  return at;
}

/** A poll is over once it is due, and none is planned where no gate is out or no event is to be expected. */
export function forgetGateLook(pass: DecisionContext): void {
  const { record, s } = pass;
  const { at, ...rest } = record.gateLooks ?? {};
  if (at === undefined) return;
  if (at <= s.now || runsOut(record).length === 0 || !isVerdictTold(pass)) keep(pass, rest);
}

/** A poll found the verdict, and no event has told of it: events are not relied on until another one arrives. */
export function noteFoundVerdict(pass: DecisionContext): void {
  const { record, s } = pass;
  const { at = Number.POSITIVE_INFINITY } = record.gateLooks ?? {};
  if (s.now < at) return;
  const kind = verdictEventOf(s.repo.gate);
  keep(pass, { ...record.gateLooks, missedAt: { ...record.gateLooks?.missedAt, [kind]: s.now } });
  pass.log.push(`a poll found a verdict that no ${kind} event had told of: gates are polled often again`);
}

function isVerdictTold({ record, s }: DecisionContext): boolean {
  const kind = verdictEventOf(s.repo.gate);
  return (
    s.repo.wakeupMode === 'webhook' && isTold(s.repo.heard?.[kind], record.gateLooks?.missedAt?.[kind], s.now)
  );
}

function keep({ record }: DecisionContext, looks: GateLooks): void {
  if (looks.at === undefined && looks.missedAt === undefined) delete record.gateLooks;
  else record.gateLooks = looks;
}
