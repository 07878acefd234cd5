import type * as z from 'zod';
import type { RateClass } from '../../domain/api-limits.ts';
import type { ApiTokenScope } from '../../domain/tenants/api-token.ts';
import type { ErrorCode } from '../errors.ts';

/** Output and input types of a schema. */
export type Parsed<T> = T extends z.ZodType ? z.output<T> : undefined;
export type Unparsed<T> = T extends z.ZodType ? z.input<T> : never;
export type Schema = z.ZodType;

/** Where no field of a body has to be given, no body gives none. */
export function mayBeAbsent(body: Schema): boolean {
  return body.safeParse({}).success;
}

/** Functions that answer HTTP. Each is one bundle in `dist/<name>`, with rights of its own (A118). */
export type HttpSurface =
  | 'webhooks-forge'
  | 'public'
  /** Verifies and follows the payment provider's events; may only read there. */
  | 'webhooks-payments'
  /** Sells plans: the only one that may write at the payment provider. */
  | 'billing'
  | 'container-health'
  | 'admin'
  /** Seals credentials, cannot open them. */
  | 'connections'
  /** Opens credentials to call forges. */
  | 'forge-ops'
  /** Signs statements of landings; writes no row that it signs. */
  | 'evidence'
  /** Replays stored rows through the engine's decision, which takes a second of a processor; writes none. */
  | 'advice'
  /** All other Bearer routes: no key at all. */
  | 'api';

/**
 * `bearer`: a verified session. `me`: the same, but every refusal is `not_authenticated` (D-38). `session`: looks for a
 * session by itself. `admin`: admin session or `X-Admin-Key`. `operator`: the same, but every refusal is `missing_auth`.
 * `socket`: ticket or session cookie. `signature`: over the raw body, by the handler.
 */
export type RouteAuth = 'bearer' | 'me' | 'session' | 'admin' | 'operator' | 'socket' | 'signature' | 'none';

/** A JSON body of this shape, no body at all, or a text of this media type. */
export type ReplyBody = z.ZodType | null | { readonly mediaType: string };

export interface RouteSpec {
  /** Name of the operation: what handlers, clients and tests call it. */
  readonly id: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** As API Gateway writes it: `{id}` and `{number}` are one segment each. */
  readonly path: `/${string}`;
  readonly surface: HttpSurface;
  readonly auth: RouteAuth;
  /**
   * The right that an API token needs here. A route with `{id}` is about that repository; one without it shows of each
   * list only what the token may see. @default API tokens are refused
   */
  readonly scope?: ApiTokenScope;
  /** Bucket in addition to the caller's own. */
  readonly rate?: RateClass;
  /** Takes the person's own forge token in the header `X-Forge-Token`; it is never stored. */
  readonly forgeToken?: true;
  readonly query?: z.ZodType;
  /** JSON object of this shape. */
  readonly body?: z.ZodType;
  /** The same, where the handler reads and checks the body itself. */
  readonly handlerBody?: z.ZodType;
  /** Error codes of a wrong and of a missing field where they are not `invalid_field` and `missing_fields`. */
  readonly fieldErrors?: Readonly<Record<string, ErrorCode>>;
  /** By status; anything a schema does not name does not leave (A62). */
  readonly replies: Readonly<Record<number, ReplyBody>>;
  /** Codes that this route may answer beyond those of its kind of auth. */
  readonly errors: readonly ErrorCode[];
}

/** The errors that every route of a kind of auth may answer. */
const AUTH_ERRORS = {
  bearer: [
    'missing_auth',
    'unauthorized',
    'invalid_token',
    'session_required',
    'auth_unavailable',
    'rate_limited',
  ],
  me: ['not_authenticated', 'auth_unavailable', 'rate_limited'],
  session: ['auth_unavailable', 'rate_limited'],
  admin: [
    'missing_auth',
    'unauthorized',
    'invalid_token',
    'invalid_key',
    'session_required',
    'forbidden',
    'second_factor_required',
    'auth_unavailable',
    'rate_limited',
  ],
  operator: ['missing_auth', 'rate_limited'],
  socket: [
    'missing_auth',
    'invalid_token',
    'forbidden',
    'upgrade_required',
    'auth_unavailable',
    'rate_limited',
  ],
  // Limited by repo: one address of a forge delivers for all of its repositories (D-52).
  signature: [],
  none: ['rate_limited'],
} as const satisfies Readonly<Record<RouteAuth, readonly ErrorCode[]>>;

/** Every code that a route may answer. */
export function errorsOf(route: Pick<RouteSpec, 'auth' | 'errors' | 'scope'>): readonly ErrorCode[] {
  const { auth, scope, errors } = route;
  const credential: readonly ErrorCode[] = AUTH_ERRORS[auth];
  if (scope === undefined) return [...credential, ...errors];
  return [...credential.filter((code) => code !== 'session_required'), 'insufficient_scope', ...errors];
}
