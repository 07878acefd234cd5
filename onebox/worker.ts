import { ForgePace } from '#core/adapters/forge-http/wire/forge-pace.ts';
import type { createInProcessWakes } from '#core/adapters/in-process/wake-queue.ts';
import { glanceOf, type WakeMessage } from '#core/contracts/internal/wake-message.ts';
import type { RepoId } from '#core/domain/ids.ts';
import { NO_PLANS } from '#core/domain/tenants/billing.ts';
import { workersOfOneTenant } from '#core/domain/wakes/fairness.ts';
import { askRetries } from '#core/services/notices/deliver-webhook.ts';
import { watchQueues } from '#core/services/notices/watch-queues.ts';
import { carryLandings, wishBackports } from '#core/services/pulls/backport.ts';
import { repairSetup, wishRepairs } from '#core/services/set-up/repair-setup.ts';
import { answerGlance } from '#core/services/wakes/answer-glance.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { createLookingEngine } from '#core/services/wakes/idle-look.ts';
import { forwardDelayedWake, wakeDueRepos } from '#core/services/wakes/send-wakes.ts';
import { createEngine } from './engine.ts';
import { createLooker } from './looker.ts';
import type { Metrics } from './metrics.ts';
import { setUpParts, type WorkerShared } from './surfaces.ts';

export interface WorkerParts {
  readonly shared: Omit<WorkerShared, 'queue'>;
  readonly metrics: Metrics;
  readonly workers: number;
  readonly createWakes: typeof createInProcessWakes;
}

/** Composes the worker, which answers wakes and glances with the engine of this process. */
export function composeWorker({ shared, metrics, workers, createWakes }: WorkerParts) {
  const { store, vault, send, clock, ids, log, publicUrl, queueName } = shared;
  // One pace for all that reads a forge.
  const paced = new ForgePace(clock).pace(send);
  const engine = createEngine({ store, send: paced, clock, log, metrics, publicUrl });
  const looker = createLooker(paced, clock);
  const queue = createWakes({
    answer: (wake) => answerWake(wake),
    forward: async (wake) => {
      const glance = glanceOf(wake);
      if (glance === null) await forwardDelayedWake({ store, queue, clock }, wake);
      else await queue.sendGlance(glance);
    },
    workersMax: workers,
    log,
  });
  const setUp = setUpParts({ ...shared, queue });
  const repairs = { ask: async (repoId: RepoId) => void (await repairSetup(setUp, repoId)) };
  const backports = { ask: async (repoId: RepoId) => void (await carryLandings(setUp, repoId)) };
  const dispatch = {
    store,
    leases: store,
    vault,
    queue,
    clock,
    ids,
    log,
    queueName,
    workersMax: workersOfOneTenant(workers),
    planLimits: NO_PLANS,
  };

  async function answerWake(wake: WakeMessage): Promise<void> {
    const { repoId } = wake;
    const glance = glanceOf(wake);
    if (glance !== null) {
      const result = await answerGlance(
        { store, vault, looker, queue, clock, log, planLimits: NO_PLANS },
        glance,
      );
      metrics.count('mergeyard_glances_total', { result });
      return;
    }
    const looking = createLookingEngine({ store, looker, clock, log }, engine, repoId);
    const result = await dispatchReconcile({ ...dispatch, engine: looking }, repoId);
    if (result.kind === 'reconciled') {
      await wishRepairs({ store, repairs, clock, log }, result.repo);
      await wishBackports({ store, backports, clock, log }, result.repo);
    }
    metrics.count('mergeyard_wakes_total', { result: result.kind });
  }

  let lookedAt = clock.monotonic();

  /** Wakes every repository that is due, as the timer does. */
  async function tick(): Promise<void> {
    const idleQueue = { sendWake: queue.sendIdleWake };
    try {
      log.info('tick', {
        ...(await wakeDueRepos({ store, queue: idleQueue, clock, log, planLimits: NO_PLANS })),
      });
      lookedAt = clock.monotonic();
      await watchQueues({ store, clock, log, planLimits: NO_PLANS });
      await askRetries({ store, clock, log });
    } catch (error) {
      log.error('the tick failed', { error });
    }
  }

  return { queue, answerWake, tick, lookedAt: () => lookedAt };
}
