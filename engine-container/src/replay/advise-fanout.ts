import { setImmediate } from 'node:timers/promises';
import {
  ADVICE_MS_MAX,
  ADVICE_PULLS_MAX,
  ADVICE_PULLS_MIN,
  ADVICE_RUNS_MIN,
  ADVICE_SLICE_DECISIONS,
} from '#core/domain/api-limits.ts';
import type { TenantId } from '#core/domain/ids.ts';
import {
  ADVISED_FANOUTS,
  chooseFanout,
  type FanoutAdvice,
  type FanoutReplay,
  type NoAdviceReason,
} from '#core/domain/queue/fanout-advice.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { type FiguresDeps, readFigureRows } from '#core/services/reads/read-figures.ts';
import { loadOwnRepo } from '#core/services/repos/owned.ts';
import { replay } from './replay.ts';
import { percentileOf, planReplay, type ReplayPlan } from './replay-plan.ts';

/**
 * Which fan-out the last weeks of a branch speak for: what arrived, what the gate said and how long it took, once more
 * through the decision of the engine with each fan-out. Stored rows alone are read, and nothing is written.
 */
export async function adviseFanout(deps: FiguresDeps, tenantId: TenantId, id: string): Promise<FanoutAdvice> {
  const repo = await loadOwnRepo(deps.store, tenantId, id);
  const read = await readFigureRows(deps, tenantId, repo.id);
  const plan = planReplay(read?.events ?? [], read?.rows ?? [], ADVICE_PULLS_MAX);
  const [restsOn, since] = [plan.stays.length, plan.stays[0]?.at ?? null];
  const asked = { current: storedFanout(repo), restsOn, since };
  const without = (reason: NoAdviceReason): FanoutAdvice => ({
    ...asked,
    advised: null,
    reason,
    replays: [],
  });
  if (read === null) return without('too_many_rows');
  if (plan.stays.length < ADVICE_PULLS_MIN) return without('too_few_pull_requests');
  if (plan.runs.length < ADVICE_RUNS_MIN) return without('gate_times_unknown');
  const replays = await replayAll(plan, repo, deps.clock);
  if (replays === null) return without('out_of_time');
  const advised = chooseFanout(replays);
  if (advised === null) return without('none_landed');
  return { ...asked, advised, reason: null, replays };
}

/** Null: the engine chooses, or the settings file of the branch may set another. */
function storedFanout({ fanoutAuto, settingsFile, bisectFanout }: ManagedRepo): number | null {
  return fanoutAuto || settingsFile ? null : bisectFanout;
}

/** Null: one of them did not come to its end in time. */
async function replayAll(
  plan: ReplayPlan,
  repo: ManagedRepo,
  clock: FiguresDeps['clock'],
): Promise<readonly FanoutReplay[] | null> {
  const until = clock.now() + ADVICE_MS_MAX;
  const stored = storedFanout(repo);
  const fanouts = [...new Set([...ADVISED_FANOUTS, ...(stored === null ? [] : [stored])])].sort(
    (one, other) => one - other,
  );
  const replays: FanoutReplay[] = [];
  for (const fanout of fanouts) {
    const steps = replay(plan, repo, fanout, DEFAULT_SERVICE_NAME);
    let step = steps.next();
    for (let count = 1; step.done !== true; count += 1) {
      if (count % ADVICE_SLICE_DECISIONS === 0) await setImmediate();
      if (clock.now() > until) return null;
      step = steps.next();
    }
    if (step.value === null) return null;
    const { waits, runs } = step.value;
    const meanMs = waits.length === 0 ? null : waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
    const [p50Ms, p95Ms] = [percentileOf(waits, 0.5), percentileOf(waits, 0.95)];
    replays.push({ fanout, landed: waits.length, runs, p50Ms, p95Ms, meanMs });
  }
  return replays;
}
