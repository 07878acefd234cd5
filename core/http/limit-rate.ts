import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '../contracts/errors.ts';
import { errorsOf, type RouteSpec } from '../contracts/route-spec.ts';
import { RATE_LIMITS, type RateClass } from '../domain/api-limits.ts';
import type { RateAnswer, RateStore } from '../ports/account-store.ts';
import type { Log } from '../ports/system.ts';
import type { Caller } from './api-call.ts';

export interface RateDeps {
  readonly rates: RateStore;
  readonly log: Log;
  /** Multiplies every limit, for deployments whose tenants are larger. @default 1 */
  readonly rateFactor?: number;
}

/** Takes one token from each bucket that the route has for this caller (D-52). Throws `rate_limited`. */
export async function limitRate(
  deps: RateDeps,
  route: RouteSpec,
  caller: Caller,
  event: APIGatewayProxyEventV2,
): Promise<void> {
  if (!errorsOf(route).includes('rate_limited')) return;
  const ip = event.requestContext.http.sourceIp;
  const name = caller.kind === 'user' ? `user:${caller.id}` : `ip:${ip}`;
  // Its own bucket first: a call that is refused there costs none of the caller's others.
  if (route.rate !== undefined && route.rate !== 'ip') {
    const target = event.pathParameters?.id ?? '';
    await take(deps, route.rate, `${route.rate}:${name}:${target}`);
  }
  await take(deps, caller.kind === 'user' ? 'user' : 'ip', name);
}

async function take(deps: RateDeps, rateClass: RateClass, bucket: string): Promise<void> {
  const factor = deps.rateFactor ?? 1;
  const { perMinute, burst } = RATE_LIMITS[rateClass];
  let answer: RateAnswer;
  try {
    const intervalMs = Math.max(1, Math.ceil(60_000 / (perMinute * factor)));
    answer = await deps.rates.takeToken(bucket, intervalMs, Math.ceil(burst * factor));
  } catch (error) {
    // Open, and only here: a limiter that cannot count must not take the service down.
    deps.log.warn('a rate could not be counted', { rate_class: rateClass, error });
    return;
  }
  if (answer.allowed) return;
  throw new AppError('rate_limited', { retryAfterSeconds: Math.ceil(answer.retryAfterMs / 1000) });
}
