import { createSeededRandom } from '../../../support/seeded-random.ts';
import { ciDurationMs, type PlannedPullRequest, type Scenario } from '../workload.ts';
import { type ModelQueue, ModelWorld } from './world.ts';

/** What is compared; times in gate durations. */
export interface Figures {
  readonly runs: number;
  readonly landed: number;
  readonly landTimes: readonly number[];
  readonly wrongBounces: number;
  readonly good: number;
  readonly unproven: number;
  readonly red: number;
}

/** One modelled queue on one plan of a workload. */
export function playModel(
  scenario: Scenario,
  planned: readonly PlannedPullRequest[],
  seed: number,
  queue: ModelQueue,
): Figures {
  const world = new ModelWorld(scenario, planned, createSeededRandom(seed + 77));
  world.play(queue);
  const gateMs = ciDurationMs(scenario);
  const arrivedAt = new Map(planned.map((pr) => [pr.number, pr.arrivesAtMs]));
  return {
    runs: world.begun,
    landed: world.landedAt.size,
    landTimes: [...world.landedAt].map(([number, at]) => (at - (arrivedAt.get(number) ?? 0)) / gateMs),
    wrongBounces: world.wrongBounces,
    good: planned.filter((pr) => !pr.bad).length,
    unproven: world.unproven,
    red: world.red,
  };
}
