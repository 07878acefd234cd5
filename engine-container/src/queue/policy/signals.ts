import { SIGNALS, type Signal } from '#core/domain/queue/forecast.ts';
import { includesLogin } from '#core/domain/repos/schedule-rules.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Member } from '../record/record.ts';
import type { PullRequestView } from '../snapshot.ts';
import { countLanding } from './fanout-choice.ts';
import { learnOutcome, NO_FORECAST } from './forecast.ts';
import { countOutcome } from './policy.ts';

/** Keeps the facts of this look about a pull request; its own CI stays as it was where its statuses were not read. */
export function keepSignals({ record, s }: DecisionContext, entry: QueueEntry, view: PullRequestView): void {
  const { pull, statuses } = view;
  const kept = entry.signals ?? [];
  const ofCi = statuses?.known === true ? ciOf(statuses.value, record.context) : kept.filter(isOfCi);
  const isAgain = kept.includes('bounced_before') || record.bounced.some(({ pr }) => pr === entry.pr);
  const there: readonly (Signal | false)[] = [
    ...ofCi,
    isAgain && 'bounced_before',
    includesLogin(s.repo.bots, pull.author) && 'of_bot',
    pull.fromFork && 'from_fork',
  ];
  const signals = SIGNALS.filter((signal) => there.includes(signal));
  if (signals.length > 0) entry.signals = signals;
  else delete entry.signals;
}

const isOfCi = (signal: Signal): boolean => signal === 'ci_failed' || signal === 'ci_passed';

function ciOf(
  statuses: readonly { readonly context: string; readonly state: string }[],
  own: string,
): readonly Signal[] {
  const states = statuses.filter(({ context }) => context !== own).map(({ state }) => state);
  if (states.some((state) => state === 'failure' || state === 'error')) return ['ci_failed'];
  return states.length > 0 && states.every((state) => state === 'success') ? ['ci_passed'] : [];
}

/** A landing, in all that is learned of it. */
export function noteLanding(pass: DecisionContext, member: Member | undefined): void {
  countLanding(pass.record, member?.passedBefore);
  learn(pass, member?.signals, 'landed');
}

/** A bounce by the gate, in all that is learned of it. */
export function noteBounce(pass: DecisionContext, member: Member): void {
  pass.record.rate = countOutcome(pass.record.rate, 'bounced', member.passedBefore);
  learn(pass, member.signals, 'bounced');
}

function learn(
  { record }: DecisionContext,
  signals: readonly Signal[] = [],
  outcome: 'landed' | 'bounced',
): void {
  if (record.forecast === undefined && signals.length === 0) return;
  record.forecast = learnOutcome(record.forecast ?? NO_FORECAST, signals, outcome);
}
