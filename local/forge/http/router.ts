import type { AccessLevel, PullRecord, RepoRecord } from '../model.ts';
import { findPull, type World } from '../world.ts';

export interface Reply {
  readonly status: number;
  /** JSON unless `text` is given; absent = empty body. */
  readonly json?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Call {
  readonly world: World;
  readonly method: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: Readonly<Record<string, unknown>>;
  /** Null: no account signed in. */
  readonly user: string | null;
  /** Only routes below a repository have one. */
  readonly repo: RepoRecord;
}

export type Scope = 'repository' | 'issue' | 'user' | 'organization' | 'misc';

export interface Route {
  readonly method: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** Static name for the call log. */
  readonly label: string;
  readonly scope: Scope;
  readonly access: AccessLevel;
  readonly ofRepo: boolean;
  /** Also on an archived repository, which refuses every other write with 423. */
  readonly whenArchived: boolean;
  /** Not found where the pull requests of the repository are switched off. */
  readonly ofPulls: boolean;
  readonly run: (call: Call) => Promise<Reply> | Reply;
}

/** An answer that ends the call. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  constructor(
    readonly status: number,
    message: string,
    readonly errors?: readonly string[],
  ) {
    super(message);
  }
}

interface RouteOptions {
  readonly scope?: Scope;
  readonly access?: AccessLevel;
  readonly whenArchived?: boolean;
}

/**
 * `:name` is one path segment, `*name` the rest. Without options a route needs the repository scope and, below a
 * repository, read access for GET and write access for the others.
 */
export function route(method: string, path: string, run: Route['run'], options: RouteOptions = {}): Route {
  const names: string[] = [];
  const source = path.replace(/\./g, '\\.').replace(/([:*])(\w+)/g, (_, kind: string, name: string) => {
    names.push(name);
    return kind === ':' ? '([^/]+?)' : '(.+)';
  });
  return {
    method,
    pattern: new RegExp(`^${source}$`),
    names,
    label: `${method} ${labelPath(path)}`,
    scope: options.scope ?? 'repository',
    access: options.access ?? (method === 'GET' ? 'read' : 'write'),
    ofRepo: path.startsWith('/api/v1/repos/:owner/:repo'),
    whenArchived: options.whenArchived ?? false,
    ofPulls: path.startsWith(`${REPO}/pulls`),
    run,
  };
}

/** `pulls/{n}`, `statuses/{sha}`: no number, name or SHA of a call. */
function labelPath(path: string): string {
  if (path === REPO) return 'repo';
  const short = path.startsWith(`${REPO}/`)
    ? path.slice(REPO.length + 1)
    : path.replace(/^\/api\/(v1\/)?/, '');
  return short.replace(/[:*](\w+)/g, '{$1}');
}

export const REPO = '/api/v1/repos/:owner/:repo';

export function ok(json: unknown, headers?: Readonly<Record<string, string>>): Reply {
  return headers === undefined ? { status: 200, json } : { status: 200, json, headers };
}

export function created(json: unknown): Reply {
  return { status: 201, json };
}

export const NO_CONTENT: Reply = { status: 204 };

export function textField(call: Call, name: string): string {
  const value = call.body[name];
  return typeof value === 'string' ? value : '';
}

export function flagField(call: Call, name: string): boolean {
  return call.body[name] === true;
}

/** Login of a caller that a route's access rule has let through. */
export function callerOf(call: Call): string {
  if (call.user === null) throw new Refusal(401, 'token is required');
  return call.user;
}

export function pullOf(call: Call): PullRecord {
  const pull = findPull(call.repo, Number(call.params.n));
  if (pull === undefined) throw new Refusal(404, "The target couldn't be found.");
  return pull;
}

const PAGE_SIZE_DEFAULT = 30;
/** `[api] MAX_RESPONSE_ITEMS` as shipped. */
export const PAGE_SIZE_MAX = 50;

export interface Page {
  readonly page: number;
  readonly limit: number;
}

export function pageOf(call: Call): Page {
  const wanted = Number(call.query.get('limit') ?? '') || PAGE_SIZE_DEFAULT;
  return {
    page: Math.max(1, Number(call.query.get('page') ?? '') || 1),
    limit: Math.min(Math.max(1, wanted), PAGE_SIZE_MAX),
  };
}

/** One page with the headers the forge sends. */
export function paged<T>(
  call: Call,
  items: readonly T[],
  path: string,
): { page: readonly T[]; headers: Record<string, string> } {
  const { page, limit } = pageOf(call);
  const last = Math.max(1, Math.ceil(items.length / limit));
  const link = (to: number, rel: string): string => {
    const query = new URLSearchParams(call.query);
    query.set('page', String(to));
    return `<${call.world.rootUrl()}${path}?${query}>; rel="${rel}"`;
  };
  const links = [
    ...(page < last ? [link(page + 1, 'next'), link(last, 'last')] : []),
    ...(page > 1 ? [link(1, 'first'), link(page - 1, 'prev')] : []),
  ];
  const headers: Record<string, string> = { 'X-Total-Count': String(items.length) };
  if (links.length > 0) headers.Link = links.join(',');
  return { page: items.slice((page - 1) * limit, page * limit), headers };
}
