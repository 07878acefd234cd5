import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { CONTAINER_HEALTH_CACHED_MS } from '#core/domain/api-limits.ts';
import { limitRate, type RateDeps } from '#core/http/limit-rate.ts';
import { type HttpResponse, respondJson } from '#core/http/respond.ts';
import type { Clock } from '#core/ports/system.ts';
import { createCached } from '#core/services/operation/cached.ts';

export interface ContainerHealthDeps extends RateDeps {
  readonly isHealthy: () => Promise<boolean>;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** As the table of routes has it, which would bring all schemas along. */
const ROUTE = { auth: 'none', errors: [] } as const;

/**
 * Asks the engine itself, with nothing of a tenant in it: a fresh install without repos must be able to be healthy (D-73).
 * This function has no identity and no key; of the table it has the rates of addresses, and the way to the engine.
 */
export function createContainerHealth(
  deps: ContainerHealthDeps,
): (event: APIGatewayProxyEventV2) => Promise<HttpResponse> {
  const isHealthy = createCached(deps.isHealthy, CONTAINER_HEALTH_CACHED_MS, deps.clock);
  return async (event) => {
    await limitRate(deps, ROUTE, { kind: 'anonymous' }, event);
    return (await isHealthy())
      ? respondJson(200, { ok: true })
      : respondJson(503, { ok: false, dependency: 'container' });
  };
}
