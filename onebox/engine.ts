import type { DynamoStore } from '#core/adapters/dynamo/store.ts';
import { createEngineForge } from '#core/adapters/forge-http/engine-forge.ts';
import { countBytes } from '#core/adapters/http-guard/count-bytes.ts';
import type { HttpSend } from '#core/adapters/http-guard/http-send.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { ENGINE_TIMEOUT_MS } from '#core/domain/limits.ts';
import type { Clock, EnginePort, Log } from '#core/ports/system.ts';
import { createReconciler } from '../engine-container/src/reconcile/reconciler.ts';
import type { Metrics } from './metrics.ts';

export interface EngineParts {
  readonly store: DynamoStore;
  /** Sends to forges, at the pace that each forge has asked for. */
  readonly send: HttpSend;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Address of the installation, without a slash at its end. */
  readonly publicUrl: string;
}

/** The engine within this process. It keeps its own deadlines; a reconcile that passes them is treated as lost. */
export function createEngine({ store, send, clock, log, metrics, publicUrl }: EngineParts): EnginePort {
  const runReconcile = createReconciler({
    store,
    clock,
    log,
    ids: createUuidIds(),
    serviceUrl: publicUrl,
    // A copy of the data folder, or of the whole machine, may have been put back.
    mayBeOlder: true,
    forgeFor: (request, held, mayRead, onCall, onAnswer) =>
      createEngineForge(held, {
        instanceUrl: request.instanceUrl,
        slug: request.repoSlug,
        token: request.token,
        send: countBytes(send, onCall, onAnswer),
        clock,
        mayRead,
      }),
  });
  return {
    async reconcile(request, order) {
      const startedAt = clock.monotonic();
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'lost'>((resolve) => {
        timer = setTimeout(() => resolve('lost'), ENGINE_TIMEOUT_MS);
      });
      try {
        const answer = await Promise.race([runReconcile(request, order), late]);
        metrics.observe('mergeyard_reconcile_seconds', (clock.monotonic() - startedAt) / 1000);
        metrics.count('mergeyard_reconciles_total', { answer });
        return answer;
      } catch (error) {
        log.error('the engine failed', { error });
        metrics.count('mergeyard_reconciles_total', { answer: 'failed' });
        return 'failed';
      } finally {
        clearTimeout(timer);
      }
    },
    isHealthy: async () => true,
  };
}
