import { headSettlesAt } from '../../../engine-container/src/queue/admission/eligibility.ts';
import { decide } from '../../../engine-container/src/queue/decide.ts';
import { fold } from '../../../engine-container/src/queue/fold.ts';
import type { SpeculationPolicy } from '../../../engine-container/src/queue/policy/policy.ts';
import type { OutcomeRate } from '../../../engine-container/src/queue/policy/rate.ts';
import type { Batch, QueueRecord } from '../../../engine-container/src/queue/record/record.ts';
import type { ConfirmBounce } from '../../../engine-container/src/queue/snapshot.ts';
import { givenRecord } from '../../builders/queue-record.ts';
import { createSeededRandom } from '../../support/seeded-random.ts';
import { SymbolicForge } from './symbolic-forge.ts';
import {
  ciDurationMs,
  type PlannedPullRequest,
  planPullRequests,
  type Scenario,
  wakeAfter,
} from './workload.ts';

export interface Measurement {
  readonly runs: number;
  /** Runs that began: one that is cancelled while it waits for a runner took none. */
  readonly begun: number;
  readonly landed: number;
  /** Sojourn times in CI durations, good pull requests only. */
  readonly landTimes: readonly number[];
  readonly bounceTimes: readonly number[];
  /** The same times by number. */
  readonly landedAfter: ReadonlyMap<number, number>;
  readonly wrongBounces: number;
  readonly good: number;
  readonly superseded: number;
  /** Runs that were out at the same time, at most. */
  readonly mostRuns: number;
  /** Neither landed, nor bounced, nor in conflict with what has landed. */
  readonly lost: number;
  readonly bounced: readonly number[];
  readonly merged: readonly number[];
  /** Runs with a head in their tree that failed and was scheduled again as it was. */
  readonly runsAgain: number;
  /** Times that a failure which was known was told again. */
  readonly toldAgain: number;
  readonly unproven: number;
  readonly red: number;
}

/** `bisect_fanout: auto`. */
export interface AutoBudget {
  readonly runsPer100Landed: number;
}

export interface MeasureOptions {
  readonly scenario: Scenario;
  /** A number, or the budget that the engine chooses one within. */
  readonly fanout: number | AutoBudget;
  readonly seed: number;
  /** Without the outcomes that a repo in use has behind it. */
  readonly cold: boolean;
  /** Another policy than the fan-out stands for. */
  readonly policy?: SpeculationPolicy;
  readonly confirmBounce?: ConfirmBounce;
  /** Another plan than the scenario's. */
  readonly planned?: readonly PlannedPullRequest[];
  /** A bounced pull request of `author` is scheduled again as it is, so many minutes later and so many times. */
  readonly loop?: { readonly author: string; readonly everyMinutes: number; readonly times: number };
  /** Sees each record before it is decided on. */
  readonly inspect?: (record: QueueRecord) => void;
  /** Sees each batch that has ended. */
  readonly inspectEnded?: (batch: Batch) => void;
}

const MINUTE_MS = 60_000;
/** Outcomes of the same repo before the first arrival, as the reference policies have them. */
const HISTORY_OUTCOMES = 200;
const PASSES_MAX = 100_000;

/** One seed of one scenario at one fan-out: the queue, from the first arrival until every pull request has landed or is out. */
export function measure(options: MeasureOptions): Measurement {
  const { scenario, fanout, seed, cold, policy } = options;
  const planned = options.planned ?? planPullRequests(scenario, seed);
  const truth = new Map(planned.map((each) => [each.number, each]));
  const forge = new SymbolicForge(scenario, planned, createSeededRandom(seed + 77));
  const ciMs = ciDurationMs(scenario);
  const bounced = new Map<number, number>();
  const rescheduled: { readonly number: number; readonly at: number }[] = [];
  const superseded = new Set<string>();
  const loops = new Map<number, number>();
  let toldAgain = 0;
  let record: QueueRecord = givenRecord();
  if (!cold) record = { ...record, rate: historyOf(scenario), ...forecastOf(scenario) };
  let arrived = 0;
  let now = 0;
  let nextStartAt = Number.POSITIVE_INFINITY;

  // Blamed rightly: it is bad, or what it fails with has landed.
  const isGuilty = (each: PlannedPullRequest): boolean =>
    each.bad ||
    planned.some(
      (other) =>
        forge.mergedAt.has(other.number) &&
        (each.clashes.includes(other.number) || other.clashes.includes(each.number)),
    );

  const reconcile = (): void => {
    let full = true;
    for (let pass = 0; pass < PASSES_MAX; pass += 1) {
      options.inspect?.(record);
      const seen = forge.snapshot(now, record, fanout, full);
      const snapshot = {
        ...seen,
        ...(policy === undefined ? {} : { policy }),
        ...(options.confirmBounce === undefined ? {} : { confirmBounce: options.confirmBounce }),
      };
      const decision = decide(snapshot, record);
      record = decision.record;
      // Only a full look says when the next batch may start.
      if (seen.full) nextStartAt = decision.nextStartAt ?? Number.POSITIVE_INFINITY;
      full = decision.refresh || record.batches.length === 0;
      for (const batch of decision.closedBatches) options.inspectEnded?.(batch);
      for (const node of decision.closedBatches.flatMap((batch) => batch.nodes))
        if (node.outcome === 'superseded' && node.sha !== null && node.gateSource === null)
          superseded.add(node.id);
      for (const event of decision.events) {
        if (event.event !== 'pr_bounced') continue;
        const each = truth.get(event.pr);
        if (each === undefined) continue;
        bounced.set(event.pr, now);
        if (event.reason === 'verdict_known') toldAgain += 1;
        const done = loops.get(event.pr) ?? 0;
        const { loop } = options;
        if (loop !== undefined && each.author === loop.author && done < loop.times) {
          loops.set(event.pr, done + 1);
          forge.again.add(event.pr);
          rescheduled.push({ number: event.pr, at: now + loop.everyMinutes * MINUTE_MS });
          continue;
        }
        // A pull request that fails with what has landed would fail again, for ever.
        if (isGuilty(each) || scenario.requeue === undefined) continue;
        // Its words ask for a change, or for another landing, which need not come.
        if (event.reason === 'retest_spent') forge.push(event.pr);
        rescheduled.push({ number: event.pr, at: now + scenario.requeue * MINUTE_MS });
      }
      for (const action of decision.actions) {
        const folded = fold(snapshot, record, action, forge.perform(now, action), now);
        record = folded.record;
        options.inspect?.(record);
        full ||= folded.refresh;
      }
      if (decision.actions.length === 0 && decision.pollMs !== 0) return;
    }
    throw new Error('a reconcile did not come to rest');
  };

  for (;;) {
    const nextArrival = planned[arrived]?.arrivesAtMs ?? Number.POSITIVE_INFINITY;
    const nextAgain = Math.min(...rescheduled.map((each) => each.at), Number.POSITIVE_INFINITY);
    const nextRetry = Math.min(
      ...record.deferred.map((deferred) => deferred.until ?? Number.POSITIVE_INFINITY),
      Number.POSITIVE_INFINITY,
    );
    const next = Math.min(
      nextArrival,
      nextSettled(record, now),
      nextAgain,
      forge.nextEnd(now),
      nextStartAt > now ? nextStartAt : Number.POSITIVE_INFINITY,
      nextRetry > now ? nextRetry : Number.POSITIVE_INFINITY,
    );
    if (!Number.isFinite(next)) break;
    now = Math.max(now, wakeAfter(scenario, next));
    while ((planned[arrived]?.arrivesAtMs ?? Number.POSITIVE_INFINITY) <= now) {
      const each = planned[arrived];
      if (each !== undefined) forge.schedule(each, each.arrivesAtMs);
      arrived += 1;
    }
    for (const again of rescheduled.filter((each) => each.at <= now)) {
      const each = truth.get(again.number);
      if (each !== undefined) forge.schedule(each, now);
      rescheduled.splice(rescheduled.indexOf(again), 1);
    }
    reconcile();
  }
  const told = planned.filter((each) => bounced.has(each.number));
  const bounceTimes = told
    .filter(isGuilty)
    .map((each) => ((bounced.get(each.number) ?? 0) - each.arrivesAtMs) / ciMs);
  const lost = planned.filter((each) => {
    const conflicts = planned.some(
      (other) =>
        forge.mergedAt.has(other.number) &&
        (each.conflicts.includes(other.number) || other.conflicts.includes(each.number)),
    );
    return !forge.mergedAt.has(each.number) && !bounced.has(each.number) && !conflicts;
  });
  const good = planned.filter((each) => !each.bad).length;
  const landedAfter = new Map(
    [...forge.mergedAt].map(([number, at]) => [number, (at - (truth.get(number)?.arrivesAtMs ?? 0)) / ciMs]),
  );
  return {
    runs: forge.runs.length,
    begun: forge.runs.filter((run) => run.cancelledAt === null || run.cancelledAt > run.startsAt).length,
    landed: forge.mergedAt.size,
    landTimes: [...landedAfter.values()],
    landedAfter,
    bounceTimes,
    wrongBounces: told.filter((each) => !isGuilty(each)).length,
    lost: lost.length,
    bounced: [...bounced.keys()],
    merged: [...forge.mergedAt.keys()],
    good,
    superseded: superseded.size,
    mostRuns: forge.mostRuns,
    runsAgain: forge.runsAgain,
    toldAgain,
    unproven: forge.unproven,
    red: forge.red,
  };
}

/** A batch that is proven without a run waits until the timelines show every push to its heads. */
function nextSettled(record: QueueRecord, now: number): number {
  const { batches, entries, readings } = record;
  const isOut = batches.some(({ nodes }) => nodes.some(({ state }) => state === 'gating'));
  if (batches.length === 0 || isOut) return Number.POSITIVE_INFINITY;
  const settleAt = entries.map((entry) => headSettlesAt(entry, readings)).filter((at) => at > now);
  return Math.min(...settleAt, Number.POSITIVE_INFINITY);
}

/** What the own CI of as many said. */
function forecastOf({ signal, p = 0 }: Scenario): Pick<QueueRecord, 'forecast'> {
  if (signal === undefined) return {};
  const [landed, bounced] = [HISTORY_OUTCOMES * (1 - p), HISTORY_OUTCOMES * p];
  const failed = { landed: landed * signal.good, bounced: bounced * signal.bad };
  const passed = { landed: landed - failed.landed, bounced: bounced - failed.bounced };
  return { forecast: { landed, bounced, with: { ci_failed: failed, ci_passed: passed } } };
}

function historyOf(scenario: Scenario): OutcomeRate {
  const bad = scenario.p ?? (scenario.culprits ?? 0) / scenario.n;
  const flake = scenario.f ?? 0;
  return {
    landed: HISTORY_OUTCOMES * (1 - bad),
    bounced: HISTORY_OUTCOMES * bad,
    steady: HISTORY_OUTCOMES * (1 - flake),
    flaked: HISTORY_OUTCOMES * flake,
    paces: [{ ms: ciDurationMs(scenario), runs: 5 }],
  };
}

export function percentile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
}
