import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '../contracts/errors.ts';
import type { RouteSpec } from '../contracts/routes/route-spec.ts';
import type { Caller } from './api-call.ts';
import { arrivalOf, type RateDeps } from './limit-rate.ts';
import { viewerNetwork } from './viewer-address.ts';

type NotedRoute = Pick<RouteSpec, 'id' | 'auth'>;

/** Read by people and counted by alarms: the words stand in `lib/http-functions.ts` and in the runbook too. */
const OPERATOR_LINES = {
  keyUsed: 'the admin key was used',
  read: 'an operator read',
  refused: 'an operator was refused',
} as const;

const isForOperators = ({ auth }: NotedRoute): boolean => auth === 'admin' || auth === 'operator';

/**
 * Who read what over all tenants, when and from where. In the function's log, which it can add to and not change. The shared
 * key names no person: what it reads is told to a person.
 */
export function noteOperator(
  deps: Pick<RateDeps, 'log' | 'edgeStamp'>,
  route: NotedRoute,
  caller: Caller,
  event: APIGatewayProxyEventV2,
): void {
  if (!isForOperators(route)) return;
  const facts = factsOf(deps, route, event);
  if (caller.kind === 'admin_key') deps.log.warn(OPERATOR_LINES.keyUsed, facts);
  if (caller.kind === 'user') deps.log.info(OPERATOR_LINES.read, { ...facts, operator: caller.id });
}

/** Never the credential that was refused. */
export function noteRefusedOperator(
  deps: Pick<RateDeps, 'log' | 'edgeStamp'>,
  route: NotedRoute,
  refusal: unknown,
  event: APIGatewayProxyEventV2,
): void {
  if (!isForOperators(route) || !(refusal instanceof AppError)) return;
  deps.log.warn(OPERATOR_LINES.refused, { ...factsOf(deps, route, event), code: refusal.code });
}

function factsOf(deps: Pick<RateDeps, 'edgeStamp'>, route: NotedRoute, event: APIGatewayProxyEventV2) {
  return {
    request_id: event.requestContext.requestId,
    read: route.id,
    from: viewerNetwork(arrivalOf(event), deps.edgeStamp ?? ''),
  };
}
