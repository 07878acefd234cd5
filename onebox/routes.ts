import middy from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { HttpRoute } from '#core/adapters/http-server/http-front.ts';
import { AppError } from '#core/contracts/errors.ts';
import type { DashboardConfig } from '#core/contracts/internal/dashboard.ts';
import { CATCH_ALL_SURFACE, ROUTES } from '#core/contracts/routes/routes.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { type LimitedRoute, limitRate } from '#core/http/limit-rate.ts';
import { type HttpResponse, respondText } from '#core/http/respond.ts';
import { type Invocable, isObject, type Json } from '#core/ports/invocable.ts';
import type { createSignInRoutes } from '../lambdas/sign-in/routes.ts';
import type { OneboxConfig } from './config.ts';
import type { Finding } from './doctor.ts';
import { FIRST_START_PATH } from './first-start.ts';
import { createSurfaces, type Shared } from './surfaces.ts';

const METRICS_TYPE = 'application/openmetrics-text; version=1.0.0';

export interface OwnPages {
  readonly site: (event: APIGatewayProxyEventV2) => Promise<HttpResponse>;
  readonly health: () => Promise<HttpResponse>;
  readonly metrics: () => Promise<string>;
  readonly firstStart: () => Promise<readonly Finding[] | null>;
}

/** Every route of an installation. */
export function listRoutes(
  shared: Shared,
  signIn: ReturnType<typeof createSignInRoutes>,
  own: OwnPages,
): readonly HttpRoute[] {
  const surfaces = createSurfaces(shared);
  const api = ROUTES.filter(({ id }) => id !== 'openSocket').map(({ method, path, surface }) => ({
    key: `${method} ${path}`,
    target: asInvocable((event: APIGatewayProxyEventV2) => surfaces[surface](event, noContext())),
  }));
  // An address that is no page is answered as one of the API.
  const site = middy(own.site).use(answerWithEnvelope(shared.log));
  const page = asInvocable((event: APIGatewayProxyEventV2) => site(event, noContext()));
  const health = asInvocable(own.health);
  const unknown = asInvocable((event: APIGatewayProxyEventV2) =>
    surfaces[CATCH_ALL_SURFACE](event, noContext()),
  );
  return [
    ...api,
    ...Object.entries(signIn).map(([key, handle]) => ({ key, target: asInvocable(limit(shared, handle)) })),
    { key: 'GET /healthz', target: health },
    { key: 'HEAD /healthz', target: health },
    { key: `GET ${FIRST_START_PATH}`, target: asInvocable(limit(shared, () => answerChecks(own))) },
    {
      key: 'GET /metrics',
      target: asInvocable(async () => respondText(200, METRICS_TYPE, await own.metrics())),
    },
    { key: 'GET /', target: page },
    { key: 'GET /{page+}', target: page },
    // Who looks whether a page is up asks for its head; the server sends no body then. The API says which methods it knows.
    { key: 'HEAD /', target: page },
    { key: 'HEAD /{page+}', target: page },
    { key: 'HEAD /api/{rest+}', target: unknown },
    { key: '$default', target: unknown },
  ];
}

async function answerChecks({ firstStart }: OwnPages): Promise<HttpResponse> {
  const checks = await firstStart();
  if (checks === null) throw new AppError('not_found');
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  return { statusCode: 200, headers, body: JSON.stringify({ checks }) };
}

/**
 * Limit of the sign-in routes: a number of calls a minute for each address, as for every route without a session
 * (D-52).
 */
const SIGN_IN: LimitedRoute = { auth: 'session', errors: [] };

function limit({ store, log }: Shared, handle: (event: APIGatewayProxyEventV2) => Promise<HttpResponse>) {
  const limited = middy(async (event: APIGatewayProxyEventV2) => {
    await limitRate({ rates: store, log }, SIGN_IN, { kind: 'anonymous' }, event);
    return handle(event);
  }).use(answerWithEnvelope(log));
  return (event: APIGatewayProxyEventV2) => limited(event, noContext());
}

// biome-ignore lint/suspicious/noExplicitAny: no handler reads the platform's context; the steps keep theirs in it
const noContext = (): Context => ({}) as any;

/** Wraps a handler as a function that is invoked with JSON and answers JSON, as between processes. */
export function asInvocable(handle: (event: never) => Promise<unknown>): Invocable {
  return {
    invoke: async (event: Json): Promise<Json> => {
      const answer = await handle(event as never);
      return isObject(answer) ? answer : null;
    },
  };
}

/** Configuration of the page: how people sign in, and whether mail is sent. */
export function pageConfig({ forge, mail }: OneboxConfig): DashboardConfig {
  const label = forge.name ?? new URL(forge.url).host;
  return {
    sign_in: { kind: 'gotrue', url: '', api_key: '', provider: { id: 'forge', label } },
    sign_up: 'closed',
    sends_mail: mail !== null,
    forge: forge.url.replace(/\/+$/, ''),
    checks: FIRST_START_PATH,
  };
}
