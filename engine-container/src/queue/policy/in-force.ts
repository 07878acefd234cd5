import type { PullRequestNumber } from '#core/domain/ids.ts';
import { type DecisionContext, entryOf } from '../decision-context.ts';
import { BASE_FANOUT } from './auto-fanout.ts';
import { factorOf, withSignals } from './forecast.ts';
import { runnersOf } from './pace.ts';
import { goodChance, policyOf, type SpeculationPolicy } from './policy.ts';
import { NO_HISTORY } from './rate.ts';

export function policyFor(pass: DecisionContext): SpeculationPolicy {
  return pass.s.policy ?? policyOf(fanoutOf(pass));
}

/** Gate runs at once that the owner allows, or that the engine has chosen in their place (A28). */
export function fanoutOf({ record, s }: DecisionContext): number {
  const { fanoutAuto, bisectFanout } = s.repo;
  return fanoutAuto ? (record.autoFanout?.inForce ?? BASE_FANOUT) : bisectFanout;
}

/** Gate runs that may be out at once: what the owner allows (A28), and no more than the runners take. */
export function gateRunsMax(pass: DecisionContext): number {
  const fanout = fanoutOf(pass);
  if (!policyFor(pass).pieces.learning) return fanout;
  const { rate, runnersSeen = Number.POSITIVE_INFINITY } = pass.record;
  return Math.min(fanout, runnersOf(rate), runnersSeen);
}

/** Chance that a pull request is good, by what the repo has taught and what it has passed itself. */
export function chanceOfGood(pass: DecisionContext, subject: { readonly pr: PullRequestNumber }): number {
  const entry = entryOf(pass.record, subject.pr);
  return goodChance(policyFor(pass).pieces.learning ? pass.record.rate : NO_HISTORY, {
    passedOnStaleBase: entry?.passedOnStaleBase ?? false,
    failureProbability: entry?.failureProbability?.chance ?? null,
  });
}

/** Chance that a pull request is good, also by what was known of it before any gate run: it sizes batches, places cuts and says what may be built on. It orders and judges nothing (decision 0245). */
export function forecastOfGood(pass: DecisionContext, subject: { readonly pr: PullRequestNumber }): number {
  const good = chanceOfGood(pass, subject);
  const entry = entryOf(pass.record, subject.pr);
  const { forecast } = pass.record;
  const isKnown = entry === undefined || entry.passedOnStaleBase || entry.failureProbability !== null;
  if (isKnown || forecast === undefined || !policyFor(pass).pieces.forecasts) return good;
  return 1 - withSignals(1 - good, factorOf(forecast, entry.signals ?? []));
}
