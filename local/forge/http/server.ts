import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ForgeCallRecord } from '../control.ts';
import { accessOf, findRepo, findUser, hasAccess, type World } from '../world.ts';
import { DEPENDENCY_ROUTES } from './api-dependencies.ts';
import { FILE_ROUTES } from './api-files.ts';
import { GIT_ROUTES } from './api-git.ts';
import { HOOK_ROUTES } from './api-hooks.ts';
import { LABEL_ROUTES } from './api-labels.ts';
import { MISC_ROUTES } from './api-misc.ts';
import { PEOPLE_ROUTES } from './api-people.ts';
import { PULL_ROUTES } from './api-pulls.ts';
import { RULE_ROUTES } from './api-rules.ts';
import { RUN_ROUTES } from './api-runs.ts';
import { checkScope, readToken } from './auth.ts';
import { type Call, Refusal, type Reply, type Route } from './router.ts';

const ROUTES: readonly Route[] = [
  ...MISC_ROUTES,
  ...PEOPLE_ROUTES,
  ...PULL_ROUTES,
  ...DEPENDENCY_ROUTES,
  ...LABEL_ROUTES,
  ...GIT_ROUTES,
  ...FILE_ROUTES,
  ...RULE_ROUTES,
  ...RUN_ROUTES,
  ...HOOK_ROUTES,
];

/** Larger than any patch or file of a test, small enough to be read at once. */
const BODY_BYTES_MAX = 64 * 1024 * 1024;

export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_BYTES_MAX) throw new Refusal(413, 'request too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function patchOf(body: Buffer): string {
  try {
    const { content } = JSON.parse(body.toString('utf8')) as { readonly content?: unknown };
    return typeof content === 'string' ? content : '';
  } catch {
    return '';
  }
}

/** Without the parameter by which a client keeps caches out (decision 0346), which no forge reads. */
function askedPath({ pathname, search }: URL): string {
  const query = search.slice(1).split('&');
  const asked = query.filter((each) => each !== '' && !each.startsWith('_=')).join('&');
  return asked === '' ? pathname : `${pathname}?${asked}`;
}

interface Served {
  readonly label: string;
  readonly by: string;
  readonly reply: Reply;
}

/** Answers one API call, faults included, and writes it down. */
export async function serveApi(
  world: World,
  calls: ForgeCallRecord[],
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
): Promise<void> {
  const method = request.method ?? 'GET';
  const body = await readBody(request);
  const path = askedPath(url);
  const about = url.pathname.endsWith('/diffpatch') ? { about: patchOf(body) } : {};
  const fault = world.knobs.fault({ method, path, ...about });
  const served =
    fault !== null && fault.when !== 'after'
      ? { label: labelOf(method, url.pathname), by: loginOf(world, request), reply: { status: fault.status } }
      : await world.background.exclusive(() => answer(world, request, url, method, body));
  const status = fault?.status ?? served.reply.status;
  calls.push({
    at: world.timers.now(),
    method,
    call: served.label,
    write: method !== 'GET',
    status,
    by: served.by,
  });
  response.setHeader('Date', new Date(world.timers.now()).toUTCString());
  // Status 0: the connection breaks.
  if (fault?.status === 0) response.destroy();
  else if (fault !== null) {
    const type = fault.html === true ? 'text/html; charset=utf-8' : 'application/json;charset=utf-8';
    const text =
      fault.body ?? (fault.html === true ? '<!DOCTYPE html><title>proxy</title>' : '{"message":"","url":""}');
    response.writeHead(fault.status, { 'Content-Type': type }).end(text);
  } else send(response, inRange(served.reply, request.headers.range));
}

/** Texts are files to a forge: it gives the last bytes alone where they are asked for. */
function inRange(reply: Reply, range: string | undefined): Reply {
  const bytes = Buffer.from(reply.text ?? '');
  const wanted = Number(/^bytes=-(\d+)$/.exec(range ?? '')?.[1] ?? Number.POSITIVE_INFINITY);
  if (reply.text === undefined || bytes.length === 0 || !Number.isFinite(wanted)) return reply;
  const begin = Math.max(0, bytes.length - wanted);
  const contentRange = `bytes ${begin}-${bytes.length - 1}/${bytes.length}`;
  const headers = { ...reply.headers, 'Content-Range': contentRange };
  return { status: 206, text: bytes.subarray(begin).toString('utf8'), headers };
}

function send(response: ServerResponse, reply: Reply): void {
  const text = reply.text ?? (reply.json === undefined ? '' : JSON.stringify(reply.json));
  const type = reply.text === undefined ? 'application/json;charset=utf-8' : 'text/plain;charset=utf-8';
  response.writeHead(reply.status, { ...(text === '' ? {} : { 'Content-Type': type }), ...reply.headers });
  response.end(text);
}

function find(method: string, path: string): { route: Route; values: readonly string[] } | null {
  for (const route of ROUTES) {
    const match = route.method === method ? route.pattern.exec(path) : null;
    if (match !== null) return { route, values: match.slice(1) };
  }
  return null;
}

function labelOf(method: string, path: string): string {
  return find(method, path)?.route.label ?? `${method} unknown`;
}

function loginOf(world: World, request: IncomingMessage): string {
  try {
    return readToken(world, request)?.login ?? '';
  } catch {
    return '';
  }
}

async function answer(
  world: World,
  request: IncomingMessage,
  url: URL,
  method: string,
  body: Buffer,
): Promise<Served> {
  const found = find(method, url.pathname);
  const label = found?.route.label ?? `${method} unknown`;
  let by = '';
  try {
    const token = readToken(world, request);
    by = token?.login ?? '';
    if (found === null) {
      const known = ROUTES.some((route) => route.pattern.test(url.pathname));
      throw new Refusal(known ? 405 : 404, known ? 'Method Not Allowed' : 'Not Found');
    }
    if (token !== null) checkScope(token, found.route, world.profile.kind);
    if (token === null && method !== 'GET') throw new Refusal(401, 'token is required');
    const moved = redirectOf(world, found, url, method, token?.login ?? null);
    if (moved !== null) return { label, by, reply: moved };
    const reply = await found.route.run(callOf(world, found, url, method, body, token?.login ?? null));
    if (method !== 'GET') world.store.changed();
    return { label, by, reply };
  } catch (error) {
    return { label, by, reply: refusalReply(world, error, by) };
  }
}

/** A former name, for as long as no other repository has taken it. */
function redirectOf(
  world: World,
  found: { route: Route; values: readonly string[] },
  url: URL,
  method: string,
  user: string | null,
): Reply | null {
  const [owner = '', name = ''] = found.values.map(decode);
  if (!found.route.ofRepo || findRepo(world, owner, name) !== undefined) return null;
  const repo = world.state.repos.find((each) => each.owner === owner && each.formerNames?.includes(name));
  if (repo === undefined) return null;
  if (world.profile.hidesFormerNames && accessOf(world, repo, user) === 'none') return null;
  const rest = url.pathname.split('/').slice(6);
  const location = ['/api/v1/repos', repo.owner, repo.name, ...rest].join('/') + url.search;
  const headers = { Location: location, 'Content-Type': 'text/html; charset=utf-8' };
  return {
    status: world.profile.movedStatusCode,
    text: method === 'GET' ? `<a href="${location}">Moved</a>.\n\n` : '',
    headers,
  };
}

function callOf(
  world: World,
  found: { route: Route; values: readonly string[] },
  url: URL,
  method: string,
  body: Buffer,
  user: string | null,
): Call {
  const params = Object.fromEntries(
    found.route.names.map((name, at) => [name, decode(found.values[at] ?? '')]),
  );
  const shared = { world, method, params, query: url.searchParams, body: parseBody(body), user };
  if (!found.route.ofRepo)
    return {
      ...shared,
      get repo(): never {
        throw new Error('not below a repository');
      },
    };
  const repo = findRepo(world, params.owner ?? '', params.repo ?? '');
  if (repo === undefined || accessOf(world, repo, user) === 'none') {
    throw new Refusal(404, "The target couldn't be found.");
  }
  if (!hasAccess(world, repo, user, found.route.access)) {
    throw new Refusal(
      403,
      found.route.access === 'admin'
        ? 'user should be an owner or a collaborator with admin write of a repository'
        : 'user should have a permission to write to a repo',
    );
  }
  if (repo.pullsOff && found.route.ofPulls) throw new Refusal(404, 'Not Found');
  if (repo.archived && method !== 'GET' && !found.route.whenArchived)
    throw new Refusal(423, `${repo.owner}/${repo.name} is archived`);
  return { ...shared, repo };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Refusal(400, 'invalid URL escape');
  }
}

function parseBody(body: Buffer): Readonly<Record<string, unknown>> {
  if (body.length === 0) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(body.toString('utf8'));
  } catch {
    throw new Refusal(422, 'invalid JSON');
  }
  if (parsed === null || typeof parsed !== 'object' || Array.isArray(parsed))
    throw new Refusal(422, 'not an object');
  return parsed as Readonly<Record<string, unknown>>;
}

/** A 500 tells its reason to site administrators only. */
function refusalReply(world: World, error: unknown, by: string): Reply {
  const status = error instanceof Refusal ? error.status : 500;
  const known = error instanceof Error ? error.message : 'failed';
  const message = status === 500 && findUser(world, by)?.siteAdmin !== true ? '' : known;
  const url = `${world.rootUrl()}/api/swagger`;
  const errors = error instanceof Refusal && status === 404 ? { errors: error.errors ?? [] } : {};
  return { status, json: { message, url, ...errors } };
}
