import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { HttpSurface, Parsed, RouteSpec, Schema, Unparsed } from '../contracts/routes/route-spec.ts';
import type { Route, RouteById, RouteId, RouteIdOf } from '../contracts/routes/routes.ts';
import type { RepoId, TenantId } from '../domain/ids.ts';
import type { ApiToken } from '../domain/tenants/api-token.ts';
import type { AdminWithheld, ForgeLogin, SessionFacts } from '../ports/identity.ts';

/** Who calls, once verified. */
export type Caller =
  | {
      readonly kind: 'user';
      readonly id: TenantId;
      readonly isAdmin: boolean;
      /** Why `isAdmin` is false of an administrator. @default nothing is withheld */
      readonly adminWithheld?: AdminWithheld;
      /** False: may see everything of the tenant and change nothing. @default true */
      readonly mayChange?: boolean;
      /** @default the provider does not tell */
      readonly session?: SessionFacts;
      /** Name of the person, where several share the tenant; `token:` with its id for an API token. @default the tenant is the person */
      readonly person?: string;
      /** The session is one of a forge, and this is the person's login there. @default it is not */
      readonly forge?: ForgeLogin;
      /** The API token that this is, and not a session. */
      readonly token?: Pick<ApiToken, 'id' | 'scopes'>;
    }
  | { readonly kind: 'admin_key' }
  /** The holder of the secret between worker and engine. */
  | { readonly kind: 'container' }
  | { readonly kind: 'anonymous' };

type BodyOf<R> = R extends { readonly body: infer Body } ? Parsed<Body> : undefined;
type QueryOf<R> = R extends { readonly query: infer Query } ? Parsed<Query> : undefined;

/** The input of a handler: validated, and nothing else of the request unless it asks for the event. */
export interface ApiCall<Body = unknown, Query = unknown> {
  readonly caller: Caller;
  /** Tenant of a Bearer route; empty on all others. */
  readonly tenantId: TenantId;
  /** `{id}` of the path; empty where there is none. */
  readonly id: string;
  /** `{number}` of the path, as it was sent; empty where there is none. */
  readonly number: string;
  /** Repositories that the caller may hear of in a list; null: all of the tenant. */
  readonly repoIds: readonly RepoId[] | null;
  readonly body: Body;
  readonly query: Query;
  readonly event: APIGatewayProxyEventV2;
}

interface ReplyExtras {
  /** Values of `Set-Cookie`. */
  readonly cookies?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
}

type ReplyFor<Status, Body> = Body extends Schema
  ? { readonly status: Status; readonly body: Unparsed<Body> } & ReplyExtras
  : Body extends null
    ? { readonly status: Status } & ReplyExtras
    : { readonly status: Status; readonly text: string } & ReplyExtras;

type ReplyOf<R extends RouteSpec> = {
  [Status in keyof R['replies']]: ReplyFor<Status, R['replies'][Status]>;
}[keyof R['replies']];

export type ApiHandler<Id extends RouteId> = (
  call: ApiCall<BodyOf<RouteById<Id>>, QueryOf<RouteById<Id>>>,
) => Promise<ReplyOf<RouteById<Id>>>;

/** One handler per route of a surface: a missing one does not compile. */
export type ApiHandlers<Surface extends HttpSurface> = {
  readonly [Id in RouteIdOf<Surface>]: ApiHandler<Id>;
};

/** The facts that the steps before the handler leave for those after them. */
export interface ApiContext extends Context {
  route?: Route;
  caller?: Caller;
  input?: { readonly body: unknown; readonly query: unknown };
}
