import { ENGINE_REST_AFTER_MS, ENGINE_SETTLE_MS } from '../../domain/limits.ts';
import { isOfFastClock } from '../../domain/wakes/clocks.ts';
import type { EngineFleet } from '../../ports/engine-fleet.ts';
import type { LookStore } from '../../ports/idle-look.ts';
import type { Clock, EnginePort, Log } from '../../ports/system.ts';

export interface EnginePowerDeps {
  readonly fleet: EngineFleet;
  /** The worker notes whenever a repository needs the engine (`services/wakes/idle-look.ts`). */
  readonly store: Pick<LookStore, 'loadEngineNeededAt'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

/**
 * `running`, `starting`: a queue needs it. `absent`: it was asked for and no task runs. `asleep`, `resting`: no queue needs
 * it. `unknown`: the platform or the store did not answer, and nothing was changed.
 */
export type EnginePower = 'running' | 'starting' | 'absent' | 'asleep' | 'resting' | 'unknown';

/**
 * Keeps the engine up while a repository needs it, and puts it to sleep when none has for a while: most of an idle
 * deployment's bill is this one task. Never throws: repositories are woken whether or not this works.
 */
export async function tendEngine(deps: EnginePowerDeps): Promise<EnginePower> {
  const power = await chooseEnginePower(deps).catch((error: unknown): EnginePower => {
    deps.log.error('the engine could not be tended', { error });
    return 'unknown';
  });
  // The alarm EngineDown counts these lines by their state.
  deps.log.info('engine', { state: power });
  return power;
}

async function chooseEnginePower({ fleet, store, clock }: EnginePowerDeps): Promise<EnginePower> {
  const [state, neededAt] = await Promise.all([fleet.read(), store.loadEngineNeededAt()]);
  const now = clock.now();
  // Noted anew at the next need, where a clock was set back since.
  const isNeeded =
    neededAt !== null && now - neededAt < ENGINE_REST_AFTER_MS && !isOfFastClock(neededAt, now);
  if (isNeeded) {
    // One that a person has made larger stays so until it sleeps.
    if (state.wanted < fleet.size) await fleet.setWanted(fleet.size);
    if (state.wanted === 0) return 'starting';
    return state.running > 0 ? 'running' : 'absent';
  }
  if (state.wanted === 0) return 'asleep';
  // An engine that was just woken is waited for, or is being deployed.
  if (now - state.changedAt < ENGINE_SETTLE_MS) return 'running';
  await fleet.setWanted(0);
  return 'resting';
}

/**
 * Asks for a task when the engine cannot be reached; the caller's own retry finds it. True: it is being started. False: it
 * runs, or the platform does not say.
 */
export async function wakeEngine(deps: { readonly fleet: EngineFleet; readonly log: Log }): Promise<boolean> {
  try {
    const { wanted, running } = await deps.fleet.read();
    if (wanted > 0) return running === 0;
    await deps.fleet.setWanted(deps.fleet.size);
    deps.log.info('the engine was asleep and is woken');
    return true;
  } catch (error) {
    deps.log.warn('the engine could not be woken', { error });
    return false;
  }
}

/** An engine that is woken by being called. */
export function createWakingEngine(
  engine: EnginePort,
  deps: { readonly fleet: EngineFleet; readonly log: Log },
): EnginePort {
  return {
    async reconcile(request, order) {
      const answer = await engine.reconcile(request, order);
      return answer === 'unreachable' && (await wakeEngine(deps)) ? 'starting' : answer;
    },
    async isHealthy() {
      const healthy = await engine.isHealthy();
      if (!healthy) await wakeEngine(deps);
      return healthy;
    },
  };
}
