import type { RouteSpec } from '#core/contracts/route-spec.ts';
import { ROUTES } from '#core/contracts/routes.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

export interface GeneratedRequest {
  readonly route: RouteSpec | null;
  readonly method: string;
  /** With its id in place; without query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Text as sent; undefined = none. */
  readonly body: string | undefined;
}

/** What requests are made of; ids grow as answers come back. */
export interface Material {
  readonly tokens: readonly string[];
  readonly adminKey: string;
  readonly instanceUrls: readonly string[];
  readonly botLogins: readonly string[];
  readonly forgeTokens: readonly string[];
  readonly slugs: readonly string[];
  readonly connectionIds: string[];
  readonly repoIds: string[];
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
/** May hold the caller for seconds: seldom asked. */
const SLOW: readonly string[] = [
  'reconcileRepo',
  'verifyGate',
  'openSetupPull',
  'discoverRepos',
  'provisionRepo',
];
const MALFORMED_IDS: readonly string[] = [
  ...['x', '0', '..%2f..', '%00', '%F0%9F%92%A9', 'a'.repeat(2_100), 'null', '__proto__', "'or'1", '%22'],
];

/** Values that have broken parsers before. */
const JUNK: readonly string[] = [
  ...['null', 'true', 'false', '0', '-1', '1', '1.5', '1e400', '-0', '16', '17', '""', '"x"', '[]', '{}'],
  ...['[[]]', '{"a":1}', '"\\ud800"', '"\\u0000"', '"\u202e"', '"<script>"', '9007199254740993', '"3"'],
  ...['{"__proto__":{"x":1}}', '{"constructor":{"prototype":{}}}', '"https://127.0.0.1"', '"a/b"', '"mq/x"'],
  JSON.stringify('x'.repeat(300)),
  JSON.stringify('\u00e9'.repeat(100)),
  `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
];

const BODY_FORMS: readonly string[] = [
  ...['', '{', '[]', 'null', '"x"', '1', '{"a":1,"a":2}', '{"__proto__":{"polluted":1}}', '\ufeff{}'],
  ...[
    `{"a":"${'x'.repeat(70_000)}"}`,
    `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    '{"a":1}x',
    '{a:1}',
  ],
];

const MEDIA_TYPES: readonly string[] = [
  ...['application/json', 'application/json; charset=utf-8', 'application/merge-patch+json', 'text/plain'],
  ...['application/x-www-form-urlencoded', 'multipart/form-data', 'APPLICATION/JSON', 'application/jsonx'],
];

/** One request: mostly a route's own, often almost right, sometimes nothing of the kind. */
export function generateRequest(random: SeededRandom, material: Material): GeneratedRequest {
  const routes = ROUTES as readonly RouteSpec[];
  let route = pick(random, routes);
  if (SLOW.includes(route.id) && random.chance(0.9)) route = pick(random, routes);
  const path = route.path.replace('{id}', () => pickId(random, material, route));
  const method = random.chance(0.04) ? pick(random, METHODS) : route.method;
  const sentPath = random.chance(0.02) ? `${path}${pick(random, ['/', '/x', '.json', '//'])}` : path;
  const body = pickBody(random, material, route);
  return {
    route: matchRoute(method, sentPath),
    method,
    path: sentPath,
    query: pickQuery(random, route),
    headers: { ...pickHeaders(random, material, route), ...(body === undefined ? {} : pickType(random)) },
    body,
  };
}

const PATTERNS = (ROUTES as readonly RouteSpec[]).map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/[.]/g, '\\.').replace('{id}', '[^/]+')}$`),
}));

/** The route that the gateway chooses, null for none. */
export function matchRoute(method: string, path: string): RouteSpec | null {
  return PATTERNS.find(({ route, pattern }) => route.method === method && pattern.test(path))?.route ?? null;
}

function pick<T>(random: SeededRandom, choices: readonly T[]): T {
  const chosen = choices[random.int(choices.length)];
  if (chosen === undefined) throw new RangeError('nothing to choose from');
  return chosen;
}

function pickId(random: SeededRandom, material: Material, route: RouteSpec): string {
  const own = route.path.includes('/connections/') ? material.connectionIds : material.repoIds;
  const kind = random.int(10);
  if (kind < 6 && own.length > 0) return pick(random, own);
  if (kind < 7) return pick(random, MALFORMED_IDS);
  if (kind < 8 && material.connectionIds.length > 0) return pick(random, material.connectionIds);
  return uuid(random);
}

function uuid(random: SeededRandom): string {
  const hex = Array.from({ length: 32 }, () => random.int(16).toString(16)).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** A body that the route would take. */
function validFields(random: SeededRandom, material: Material, route: RouteSpec): Record<string, unknown> {
  switch (route.id) {
    case 'createConnection':
    case 'listForgeRepos':
      return {
        instance_url: pick(random, material.instanceUrls),
        token: pick(random, material.forgeTokens),
        bot_login: pick(random, material.botLogins),
      };
    case 'updateConnection':
      return { token: pick(random, material.forgeTokens) };
    case 'enrollRepo':
      return {
        connection_id:
          material.connectionIds.length > 0 ? pick(random, material.connectionIds) : uuid(random),
        repo_slug: pick(random, material.slugs),
        base_branch: 'main',
        status_context: 'mq',
        merge_style: 'squash',
        automerge: false,
        wakeup_mode: 'poll',
      };
    case 'updateRepo':
      return {
        bisect_fanout: 1 + random.int(16),
        batch_linger_seconds: random.int(100),
        batch_target: random.int(10),
        queue_enabled: random.chance(0.7),
        wakeup_mode: pick(random, ['poll', 'webhook']),
        status_context: pick(random, ['mq', 'ci/mq']),
        notification: pick(random, [null, { email: 'a@example.org' }]),
      };
    case 'protectRepo':
      return { enabled: random.chance(0.5) };
    case 'startCheckout':
    case 'changePlan':
      return { tier: pick(random, ['pro', 'team']) };
    default:
      return { confirm: 'nobody' };
  }
}

function pickBody(random: SeededRandom, material: Material, route: RouteSpec): string | undefined {
  if (route.method === 'GET') return random.chance(0.05) ? '{}' : undefined;
  if (random.chance(0.1)) return pick(random, BODY_FORMS);
  if (route.body === undefined && random.chance(0.7)) return undefined;
  const fields = validFields(random, material, route);
  const entries = Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)] as const);
  const parts = entries.map(([name, text]) => `${JSON.stringify(name)}:${text}`);
  const mutation = random.int(6);
  const at = random.int(Math.max(1, parts.length));
  const name = JSON.stringify(entries[at]?.[0] ?? 'x');
  if (mutation === 1) parts[at] = `${name}:${pick(random, JUNK)}`;
  if (mutation === 2) parts.splice(at, 1);
  if (mutation === 3) parts.push(`"extra":${pick(random, JUNK)}`);
  if (mutation === 4) parts.push(`${name}:${pick(random, JUNK)}`);
  return `{${parts.join(',')}}`;
}

function pickType(random: SeededRandom): Record<string, string> {
  if (random.chance(0.92)) return { 'content-type': 'application/json' };
  return { 'content-type': pick(random, MEDIA_TYPES) };
}

function pickQuery(random: SeededRandom, route: RouteSpec): Record<string, string> {
  if (random.chance(0.05)) return { access_token: pick(random, ['x', 'y']), __proto__x: '1' };
  if (route.query === undefined) return {};
  const numbers = ['1', '100', '101', '0', '-1', '1.5', 'x', '', '1e3', '99999999999999999999'];
  return {
    ...(random.chance(0.6)
      ? { q: pick(random, ['', 'app', 'x'.repeat(200), 'x'.repeat(201), '%', '💩']) }
      : {}),
    ...(random.chance(0.6) ? { limit: pick(random, numbers) } : {}),
    ...(random.chance(0.6) ? { offset: pick(random, numbers) } : {}),
  };
}

function pickHeaders(random: SeededRandom, material: Material, route: RouteSpec): Record<string, string> {
  if (route.auth === 'admin' || route.auth === 'operator') {
    if (random.chance(0.5)) return { 'x-admin-key': random.chance(0.8) ? material.adminKey : 'wrong' };
  }
  const kind = random.int(20);
  if (kind === 0) return {};
  if (kind === 1) return { authorization: 'Basic eDp5' };
  if (kind === 2) return { authorization: 'Bearer junk' };
  if (kind === 3) return { authorization: `Bearer ${'x'.repeat(3_000)}` };
  if (route.auth === 'signature') return { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` };
  return {
    authorization: `Bearer ${pick(random, material.tokens)}`,
    ...(random.chance(0.03) ? { 'x-api-key': 'k', cookie: '__Host-session=x', upgrade: 'websocket' } : {}),
  };
}
