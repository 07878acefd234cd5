import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { AppError } from '../contracts/errors.ts';
import { errorsOf, type HttpSurface, type RouteSpec } from '../contracts/routes/route-spec.ts';
import { ROUTES, type Route, type RouteId } from '../contracts/routes/routes.ts';
import { withOrigin } from '../contracts/tenants/change-origin.ts';
import { canonicalId, type RepoId } from '../domain/ids.ts';
import { grantOf } from '../domain/tenants/api-token.ts';
import { StoreError } from '../ports/store.ts';
import type { ApiCall, ApiContext, ApiHandlers, Caller } from './api-call.ts';
import { type AuthDeps, authenticate, requireAdmin } from './authenticate.ts';
import { answerWithEnvelope } from './error-middleware.ts';
import {
  arrivalOf,
  createFailedLoginLimit,
  createSpentShares,
  limitRate,
  type RateDeps,
} from './limit-rate.ts';
import { noteOperator, noteRefusedOperator } from './note-operator.ts';
import type { NoteSignIn } from './note-sign-in.ts';
import { parseInput } from './parse-request.ts';
import { readHeader } from './read-header.ts';
import { type HttpResponse, respondEmpty, respondJson, respondText } from './respond.ts';
import { viewerNetwork } from './viewer-address.ts';

export interface SurfaceDeps extends AuthDeps, RateDeps {
  /** Routes that this deployment does not have: whatever is sent to them, they are not there (D-21). @default none */
  readonly switchedOff?: readonly RouteId[];
  /** @default sign-ins are not noted */
  readonly noteSignIn?: NoteSignIn;
}

type Step = MiddlewareObj<APIGatewayProxyEventV2, HttpResponse, Error, ApiContext>;

interface AnyReply {
  readonly status: number;
  readonly body?: unknown;
  readonly text?: string;
  readonly cookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

const BY_KEY: ReadonlyMap<string, Route> = new Map(
  ROUTES.map((route) => [`${route.method} ${route.path}`, route]),
);

/** The contract has it answer 404 by every method that it does not take, and by all while it is switched off (D-21). */
const NEVER_TOLD: RouteId = 'listForgeRepos';
const PATTERNS = ROUTES.filter((route) => route.id !== NEVER_TOLD).map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The router of one function: the gateway has chosen the route, the table says everything else about it. */
export function createSurface<Surface extends HttpSurface>(
  deps: SurfaceDeps,
  handlers: ApiHandlers<Surface>,
) {
  const byId: Readonly<Record<string, unknown>> = handlers;
  async function answer(event: APIGatewayProxyEventV2, context: ApiContext): Promise<HttpResponse> {
    const { route, caller, input } = context;
    const handle = route === undefined ? undefined : byId[route.id];
    if (route === undefined || caller === undefined || typeof handle !== 'function') {
      throw new AppError('not_found');
    }
    const call: ApiCall = {
      caller,
      tenantId: caller.kind === 'user' ? caller.id : '',
      id: event.pathParameters?.id ?? '',
      number: event.pathParameters?.number ?? '',
      repoIds: reposOf(route, caller),
      body: input?.body,
      query: input?.query,
      event,
    };
    if (caller.kind !== 'user') return respond(route, await handle(call));
    const network = viewerNetwork(arrivalOf(event), deps.edgeStamp ?? '');
    const origin = { tenantId: caller.id, person: caller.person ?? caller.id, network };
    return respond(route, await withOrigin(origin, () => handle(call)));
  }
  return middy(answer)
    .use(answerWithEnvelope(deps.log, deps.requiredStamp))
    .use(nameStoreFailures())
    .use(findRoute(deps.switchedOff ?? []))
    .use(checkCaller(deps))
    .use(readInput());
}

function findRoute(switchedOff: readonly RouteId[]): Step {
  return {
    before: ({ event, context }) => {
      const route = BY_KEY.get(event.routeKey);
      if (route === undefined) throw refuseUnrouted(event.rawPath);
      if (switchedOff.includes(route.id)) throw new AppError('not_found');
      context.route = route;
    },
  };
}

/** Nothing is there, or not by this method. */
function refuseUnrouted(path: string): AppError {
  const allow = PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
  return allow.length === 0 ? new AppError('not_found') : new AppError('method_not_allowed', { allow });
}

function checkCaller(deps: SurfaceDeps): Step {
  const failures = createFailedLoginLimit(deps);
  const spent = createSpentShares(deps);
  return {
    before: async ({ event, context }) => {
      const { route } = context;
      if (route === undefined) return;
      failures.refuseBlocked(route, arrivalOf(event));
      if (errorsOf(route).includes('rate_limited')) spent.refuse(readHeader(event.headers, 'authorization'));
      const caller = await identify(deps, failures, route, event);
      await limitRate(deps, route, caller, event, spent);
      refuseMereUser(deps, route, caller, event);
      refuseMereReader(route, caller);
      refuseBeyondScope(route, caller, event.pathParameters?.id);
      noteOperator(deps, route, caller, event);
      await deps.noteSignIn?.(caller, viewerNetwork(arrivalOf(event), deps.edgeStamp ?? ''));
      context.caller = caller;
    },
  };
}

/** After the caller's share was taken: a refusal costs as much as an answer. */
function refuseMereUser(
  deps: SurfaceDeps,
  route: Route,
  caller: Caller,
  event: APIGatewayProxyEventV2,
): void {
  if (route.auth !== 'admin') return;
  try {
    requireAdmin(caller);
  } catch (error) {
    noteRefusedOperator(deps, route, error, event);
    throw error;
  }
}

/** A ticket opens a socket, which only shows; the mails of an author are about no row of the tenant. */
const FOR_READERS: readonly RouteId[] = ['createTicket', 'setAuthorNotices'];

/** Some identity providers tell people apart who may look and people who may change. */
function refuseMereReader(route: Route, caller: Caller): void {
  if (caller.kind !== 'user' || caller.mayChange !== false) return;
  if (route.method !== 'GET' && !FOR_READERS.includes(route.id)) throw new AppError('forbidden');
}

/** An id that the token does not name is refused before it is looked up: whether it is there is not told. */
function refuseBeyondScope(route: RouteSpec, caller: Caller, id: string | undefined): void {
  if (caller.kind !== 'user' || caller.token === undefined) return;
  const grant = route.scope === undefined ? null : grantOf(caller.token.scopes, route.scope);
  if (grant === null) {
    const message = `This API token lacks the scope ${route.scope}, which this takes.`;
    throw new AppError('insufficient_scope', { message });
  }
  if (grant.repoIds === null || id === undefined) return;
  const known = canonicalId(id);
  if (known === null || !grant.repoIds.includes(known)) {
    const message = `The scope ${grant.scope} of this API token is for other repositories.`;
    throw new AppError('insufficient_scope', { message });
  }
}

/** Null: all of the tenant. */
function reposOf(route: RouteSpec, caller: Caller): readonly RepoId[] | null {
  if (caller.kind !== 'user' || caller.token === undefined) return null;
  const grant = route.scope === undefined ? null : grantOf(caller.token.scopes, route.scope);
  return grant === null ? [] : grant.repoIds;
}

async function identify(
  deps: SurfaceDeps,
  failures: ReturnType<typeof createFailedLoginLimit>,
  route: Route,
  event: APIGatewayProxyEventV2,
): Promise<Caller> {
  try {
    return await authenticate(deps, route, event);
  } catch (error) {
    noteRefusedOperator(deps, route, error, event);
    await failures.count(route, arrivalOf(event), error);
    throw error;
  }
}

function readInput(): Step {
  return {
    before: ({ event, context }) => {
      if (context.route !== undefined) context.input = parseInput(context.route, event);
    },
  };
}

/** A store that failed is the route's own code, where the contract gives it one. */
function nameStoreFailures(): Step {
  return {
    onError: (request) => {
      const { route } = request.context;
      if (!(request.error instanceof StoreError) || route === undefined) return;
      if (errorsOf(route).includes('db_error')) request.error = new AppError('db_error');
    },
  };
}

/** Only what the table names leaves (A62): the schema of this status is an allow-list. */
function respond(route: RouteSpec, reply: AnyReply): HttpResponse {
  const shape = route.replies[reply.status];
  if (shape === undefined) throw new Error(`${route.id} has no reply ${reply.status}`);
  const response =
    shape === null
      ? respondEmpty(reply.status)
      : 'mediaType' in shape
        ? respondText(reply.status, shape.mediaType, reply.text ?? '')
        : respondJson(reply.status, shape.parse(reply.body));
  return {
    ...response,
    headers: { ...response.headers, ...reply.headers },
    ...(reply.cookies === undefined ? {} : { cookies: [...reply.cookies] }),
  };
}
