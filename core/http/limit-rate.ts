import { createHash } from 'node:crypto';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError, ERROR_TABLE } from '../contracts/errors.ts';
import { errorsOf, type RouteSpec } from '../contracts/routes/route-spec.ts';
import { RATE_LIMITS, type RateClass } from '../domain/api-limits.ts';
import { canonicalId } from '../domain/ids.ts';
import type { RateAnswer, RateStore } from '../ports/account-store.ts';
import type { Log } from '../ports/system.ts';
import type { Caller } from './api-call.ts';
import { readHeader } from './read-header.ts';
import { type Arrival, viewerNetwork } from './viewer-address.ts';

/** Names that are remembered at once; beyond it the oldest is forgotten, and counted by the store again. */
const REMEMBERED_MAX = 10_000;

export interface RateDeps {
  readonly rates: RateStore;
  readonly log: Log;
  /** Multiplies every limit, for deployments whose tenants are larger. @default 1 */
  readonly rateFactor?: number;
  /** Proves that a request came through the distribution. @default none does */
  readonly edgeStamp?: string;
  /** Without this stamp a request finds nothing. @default none is asked for */
  readonly requiredStamp?: string;
  /** Epoch ms. @default Date.now */
  readonly now?: () => number;
}

type Person = Pick<Extract<Caller, { kind: 'user' }>, 'id' | 'person'>;

export type LimitedRoute = Pick<RouteSpec, 'auth' | 'scope' | 'errors' | 'rate'>;

/** Takes one token from each bucket that the route has for this caller (D-52). Throws `rate_limited`. */
export async function limitRate(
  deps: RateDeps,
  route: LimitedRoute,
  caller: Caller,
  event: APIGatewayProxyEventV2,
  spent?: SpentShares,
): Promise<void> {
  if (!errorsOf(route).includes('rate_limited')) return;
  const name =
    caller.kind === 'user'
      ? `user:${caller.id}`
      : `ip:${viewerNetwork(arrivalOf(event), deps.edgeStamp ?? '')}`;
  // Its own bucket first: a call that is refused there costs none of the caller's others.
  if (route.rate !== undefined && route.rate !== 'ip') {
    // Another spelling of an id is no other thing, and what is no id names nothing.
    const target = canonicalId(event.pathParameters?.id ?? '') ?? '';
    await take(deps, route.rate, `${route.rate}:${name}:${target}`);
  }
  if (caller.kind !== 'user') return take(deps, 'ip', name);
  // A program that asks without pause must not keep the person's own pages from being shown.
  const own = caller.token === undefined ? shareOf(caller) : `tokens:${caller.id}`;
  await take(deps, 'user', own, (ms) => spent?.note(readHeader(event.headers, 'authorization'), ms));
}

/** Each person has a rate of their own: of several people who share a tenant none can use up what the others have. */
const shareOf = ({ id, person }: Person): string => `user:${id}${person === undefined ? '' : `:${person}`}`;

/** The share of one user at a door that has no route of the table. Throws `rate_limited`. */
export async function takeUserShare(
  deps: RateDeps,
  person: Person,
  spent: SpentShares,
  credential: string,
): Promise<void> {
  await take(deps, 'user', shareOf(person), (ms) => spent.note(credential, ms));
}

/**
 * Credentials whose user has no share left: until there is one again this instance answers by itself. Who they are of is
 * known from the provider alone, and asking it at each call would let one session use up what it answers to all.
 */
export function createSpentShares(deps: Pick<RateDeps, 'now'>) {
  const blocks = createBlocks(deps.now ?? Date.now);
  const nameOf = (credential: string): string => createHash('sha256').update(credential).digest('base64url');
  return {
    /** Before a credential is looked at. Throws `rate_limited`. */
    refuse(credential: string | undefined): void {
      if (credential !== undefined) blocks.refuse(nameOf(credential));
    },
    note(credential: string | undefined, ms: number): void {
      if (credential !== undefined) blocks.set(nameOf(credential), ms);
    },
  };
}

export type SpentShares = ReturnType<typeof createSpentShares>;

export function arrivalOf(event: APIGatewayProxyEventV2): Arrival {
  return { headers: event.headers, sourceIp: event.requestContext.http.sourceIp };
}

/**
 * Refused credentials of one address, limited like every call without a session (D-52). While an address has none left this
 * instance answers by itself: neither the store nor the identity provider is asked for it.
 */
export function createFailedLoginLimit(deps: RateDeps) {
  const blocks = createBlocks(deps.now ?? Date.now);
  return {
    /** Before a credential is looked at. Throws `rate_limited`. */
    refuseBlocked(route: LimitedRoute, arrival: Arrival): void {
      if (!errorsOf(route).includes('rate_limited')) return;
      blocks.refuse(viewerNetwork(arrival, deps.edgeStamp ?? ''));
    },
    /** After a refusal; throws `rate_limited` in its place once the address had too many of them. */
    async count(route: LimitedRoute, arrival: Arrival, refusal: unknown): Promise<void> {
      if (!(refusal instanceof AppError) || ERROR_TABLE[refusal.code].status !== 401) return;
      if (!errorsOf(route).includes('rate_limited')) return;
      const ip = viewerNetwork(arrival, deps.edgeStamp ?? '');
      const answer = await ask(deps, 'ip', `ip:${ip}`);
      if (answer.allowed) return;
      blocks.set(ip, answer.retryAfterMs);
      throw limited(answer.retryAfterMs);
    },
  };
}

function createBlocks(now: () => number) {
  const until = new Map<string, number>();
  return {
    refuse(name: string): void {
      const leftMs = (until.get(name) ?? 0) - now();
      if (leftMs > 0) throw limited(leftMs);
      until.delete(name);
    },
    set(name: string, ms: number): void {
      until.set(name, now() + ms);
      const [oldest] = until.keys();
      if (until.size > REMEMBERED_MAX && oldest !== undefined) until.delete(oldest);
    },
  };
}

function limited(ms: number): AppError {
  return new AppError('rate_limited', { retryAfterSeconds: Math.ceil(ms / 1000) });
}

async function take(
  deps: RateDeps,
  rateClass: RateClass,
  bucket: string,
  onRefusal: (ms: number) => void = () => undefined,
): Promise<void> {
  const answer = await ask(deps, rateClass, bucket);
  if (answer.allowed) return;
  onRefusal(answer.retryAfterMs);
  throw limited(answer.retryAfterMs);
}

async function ask(deps: RateDeps, rateClass: RateClass, bucket: string): Promise<RateAnswer> {
  const factor = deps.rateFactor ?? 1;
  const { perMinute, burst } = RATE_LIMITS[rateClass];
  try {
    const intervalMs = Math.max(1, Math.ceil(60_000 / (perMinute * factor)));
    return await deps.rates.takeToken(bucket, intervalMs, Math.ceil(burst * factor));
  } catch (error) {
    // Open, and only here: a limiter that cannot count must not take the service down.
    deps.log.warn('a rate could not be counted', { rate_class: rateClass, error });
    return { allowed: true };
  }
}
