import { CONTAINER_HEALTH_CACHED_MS } from '#core/domain/api-limits.ts';
import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCached } from '#core/services/health.ts';

/**
 * Asks the engine itself, with nothing of a tenant in it: a fresh install without repos must be able to be healthy (D-73).
 * This function has no identity, no table and no key, only the way to the engine.
 */
export function createContainerHealth(deps: {
  readonly isHealthy: () => Promise<boolean>;
  readonly clock: Pick<Clock, 'monotonic'>;
}): () => Promise<HttpResponse> {
  const isHealthy = createCached(deps.isHealthy, CONTAINER_HEALTH_CACHED_MS, deps.clock);
  return async () =>
    (await isHealthy())
      ? respondJson(200, { ok: true })
      : respondJson(503, { ok: false, dependency: 'container' });
}
