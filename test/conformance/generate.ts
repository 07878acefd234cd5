import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import {
  BODY_FIELDS,
  BROKEN_BODIES,
  type FieldValues,
  JUNK,
  MALFORMED_IDS,
  type MadeToken,
  type Material,
  makeUuid,
  ODD_BODIES,
  pick,
  pickRecent,
} from './values.ts';

/**
 * The demand on the answer beyond "listed". `unauthenticated`: 401. `forbidden`: no success. `refused`: 400 before anything
 * happens. `accepted`: no refusal of the body's form.
 */
export type Expected = 'unauthenticated' | 'forbidden' | 'refused' | 'accepted' | null;

export interface GeneratedRequest {
  /** The route that the gateway chooses; null for none. */
  readonly route: RouteSpec | null;
  readonly method: string;
  /** With its id in place; without query. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Text as sent; undefined = none. */
  readonly body: string | undefined;
  readonly expected: Expected;
}

export interface GenerateOptions {
  /** How often a route that may hold its caller for seconds is asked where it is drawn, 0..1. @default 1 */
  readonly slowShare?: number;
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD'] as const;
const SLOW: readonly string[] = [
  'reconcileRepo',
  'verifyGate',
  'openSetupPull',
  'discoverRepos',
  'provisionRepo',
];
/** Calls that delete are drawn less often, calls that create more often. */
const SELDOM: readonly string[] = ['deleteConnection', 'deleteRepo', 'offboardTenant'];
const FILLING: readonly string[] = ['createConnection', 'enrollRepo', 'updateRepo'];
const MEDIA_TYPES = ['application/json; charset=utf-8', 'application/merge-patch+json', 'APPLICATION/JSON'];
const WRONG_TYPES = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'application/jsonx',
  'x',
];

/** One request: mostly a route's own, often almost right, sometimes nothing of the kind. */
export function generateRequest(
  random: SeededRandom,
  material: Material,
  options: GenerateOptions = {},
): GeneratedRequest {
  const route = pickRoute(random, options.slowShare ?? 1);
  const path = route.path
    .replace('{id}', () => pickId(random, material, route))
    .replace('{number}', () => random.pick(['1', '7', '0', 'x', '12345678901']));
  const method = random.chance(0.03) ? pick(random, METHODS) : route.method;
  const sentPath = random.chance(0.02) ? `${path}${pick(random, ['/', '/x', '.json', '//'])}` : path;
  const chosen = matchRoute(method, sentPath);
  const credential = pickCredential(random, material, route, path);
  const body = pickBody(random, material, route);
  const type = body.text === undefined ? null : pickType(random);
  const expected =
    chosen !== route
      ? null
      : credential.valid !== false && credential.token !== undefined && !mayAsk(credential.token, route, path)
        ? 'forbidden'
        : foretell(route, credential.valid, body, type);
  return {
    route: chosen,
    method,
    path: sentPath,
    query: pickQuery(random, material, route),
    headers: {
      ...credential.headers,
      ...pickForgeToken(random, material, route),
      ...(type === null ? {} : { 'content-type': type.name }),
    },
    body: body.text,
    expected,
  };
}

function pickRoute(random: SeededRandom, slowShare: number): RouteSpec {
  const routes = ROUTES as readonly RouteSpec[];
  if (random.chance(0.12))
    return pick(
      random,
      routes.filter(({ id }) => FILLING.includes(id)),
    );
  const route = pick(random, routes);
  const again = SLOW.includes(route.id) ? 1 - slowShare : SELDOM.includes(route.id) ? 0.8 : 0;
  return random.chance(again) ? pickRoute(random, slowShare) : route;
}

const PATTERNS = (ROUTES as readonly RouteSpec[]).map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/[.]/g, '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}));

/** The route that the gateway chooses, null for none. */
export function matchRoute(method: string, path: string): RouteSpec | null {
  return PATTERNS.find(({ route, pattern }) => route.method === method && pattern.test(path))?.route ?? null;
}

/** Rows of the kind that a route is about. */
function idsOf(material: Material, route: RouteSpec): readonly string[] {
  if (route.path.includes('/connections/')) return material.connectionIds;
  return route.path.includes('/tokens/') ? material.apiTokens.map(({ id }) => id) : material.repoIds;
}

function pickId(random: SeededRandom, material: Material, route: RouteSpec): string {
  const own = idsOf(material, route);
  const kind = random.int(10);
  if (kind < 7) return pickRecent(random, own);
  if (kind < 8) return pick(random, MALFORMED_IDS);
  if (kind < 9) return pickRecent(random, material.connectionIds);
  return makeUuid(random);
}

interface Body {
  readonly text: string | undefined;
  readonly kind: 'good' | 'bad' | 'odd';
}

function pickBody(random: SeededRandom, material: Material, route: RouteSpec): Body {
  if (route.id === 'acceptForgeEvent') return pickDelivery(random, material);
  const fields = BODY_FIELDS[route.id];
  if (route.body === undefined || fields === undefined) {
    if (random.chance(0.8)) return { text: undefined, kind: 'odd' };
    return { text: pick(random, [...BROKEN_BODIES, ...ODD_BODIES]), kind: 'odd' };
  }
  if (random.chance(0.06)) return { text: pick(random, BROKEN_BODIES), kind: 'bad' };
  if (random.chance(0.06)) return { text: pick(random, ODD_BODIES), kind: 'odd' };
  if (random.chance(0.02)) return { text: '', kind: 'odd' };
  return mutate(random, material, route, fields);
}

function mutate(
  random: SeededRandom,
  material: Material,
  route: RouteSpec,
  fields: Readonly<Record<string, FieldValues>>,
): Body {
  const parts: [name: string, text: string][] = [];
  for (const [name, values] of Object.entries(fields)) {
    const value = values.good(random, material);
    const wanted = values.required === true || random.chance(route.method === 'PATCH' ? 0.3 : 0.4);
    if (value !== '' && wanted) parts.push([name, value]);
  }
  const write = (): string => `{${parts.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  const kind = random.int(12);
  const [name, values] = pick(random, Object.entries(fields));
  const others = parts.filter(([each]) => each !== name);
  switch (kind) {
    case 0:
    case 1:
    case 2:
      parts.splice(0, parts.length, ...others, [name, pick(random, values.bad)]);
      return { text: write(), kind: 'bad' };
    case 3:
      parts.splice(0, parts.length, ...others);
      return { text: write(), kind: values.required === true ? 'bad' : 'good' };
    case 4:
      parts.push(['extra', pick(random, JUNK)]);
      return { text: write(), kind: 'good' };
    case 5:
      // Twice the same name: the last one counts, as in every parser of this kind.
      parts.push([name, pick(random, values.bad)]);
      return { text: write(), kind: 'bad' };
    case 6:
      parts.splice(0, parts.length, ...others, [name, pick(random, JUNK)]);
      return { text: write(), kind: 'odd' };
    case 7:
      parts.push(['__proto__', pick(random, ['{"polluted":1}', 'null', '[]', '"x"'])]);
      return { text: write(), kind: 'good' };
    default:
      return { text: write(), kind: 'good' };
  }
}

function pickDelivery(random: SeededRandom, material: Material): Body {
  const { hook } = material;
  if (hook !== null && random.chance(0.5)) return { text: hook.body, kind: 'odd' };
  return {
    text: pick(random, [...BROKEN_BODIES, ...ODD_BODIES, '{"repository":{"full_name":"a/b"}}']),
    kind: 'odd',
  };
}

interface MediaType {
  readonly name: string;
  readonly isJson: boolean;
}

function pickType(random: SeededRandom): MediaType {
  if (random.chance(0.94)) return { name: 'application/json', isJson: true };
  return random.chance(0.5)
    ? { name: pick(random, MEDIA_TYPES), isJson: true }
    : { name: pick(random, WRONG_TYPES), isJson: false };
}

function pickQuery(random: SeededRandom, material: Material, route: RouteSpec): Record<string, string> {
  if (random.chance(0.05)) return { access_token: pick(random, ['x', 'y']), __proto__x: '1' };
  if (route.auth === 'socket' && random.chance(0.5)) {
    return { ticket: pick(random, ['', 'x', 'a'.repeat(64), 'A'.repeat(64)]) };
  }
  if (route.query === undefined) return {};
  if (route.path.includes('/mail/')) return pickLink(random, material);
  if (route.path.endsWith('/evidence'))
    return { commit: pick(random, ['a'.repeat(40), 'A'.repeat(40), 'HEAD', '', '0'.repeat(64), '\u0000']) };
  const numbers = ['1', '100', '101', '0', '-1', '1.5', 'x', '', '1e3', '0x1', '٣', '99999999999999999999'];
  return {
    ...(random.chance(0.6)
      ? { q: pick(random, ['', 'app', 'x'.repeat(200), 'x'.repeat(201), '%', '💩', '\u0000', '.*']) }
      : {}),
    ...(random.chance(0.6) ? { limit: pick(random, numbers) } : {}),
    ...(random.chance(0.6) ? { offset: pick(random, numbers) } : {}),
    ...(route.path.endsWith('/events') ? pickEvents(random, numbers) : {}),
  };
}

function pickEvents(random: SeededRandom, numbers: readonly string[]): Record<string, string> {
  return {
    ...(random.chance(0.4) ? { event: pick(random, ['pr_landed', 'PR_LANDED', '', 'x']) } : {}),
    ...(random.chance(0.4) ? { pr: pick(random, numbers) } : {}),
    ...(random.chance(0.4)
      ? { before: pick(random, ['0'.repeat(26), '9'.repeat(26), '9'.repeat(27), '']) }
      : {}),
  };
}

/** A link of a mail, seldom of a tenant that exists. */
function pickLink(random: SeededRandom, material: Material): Record<string, string> {
  const link = {
    tenant: pick(random, [pick(random, material.tenantIds), makeUuid(random), 'x', '']),
    box: pick(random, ['a'.repeat(64), 'A'.repeat(64), 'x', '']),
    key: pick(random, ['a'.repeat(32), 'k'.repeat(32), '%00', '']),
  };
  const left = random.chance(0.1) ? pick(random, ['tenant', 'box', 'key'] as const) : null;
  return Object.fromEntries(Object.entries(link).filter(([name]) => name !== left));
}

/** A person's own token for the forge, or a text that is none. */
function pickForgeToken(random: SeededRandom, material: Material, route: RouteSpec): Record<string, string> {
  if (!random.chance(route.forgeToken === true ? 0.85 : 0.01)) return {};
  const wrong = ['', ' ', 'x y', '\u00e9', 'x'.repeat(5_000), `token ${'f'.repeat(40)}`];
  return {
    'x-forge-token': random.chance(0.75) ? pick(random, material.forgeTokens) : pick(random, wrong),
  };
}

interface Credential {
  readonly headers: Readonly<Record<string, string>>;
  /** The API token that is sent. */
  readonly token?: MadeToken;
  /** Null: the route asks for none. */
  readonly valid: boolean | null;
}

function pickCredential(
  random: SeededRandom,
  material: Material,
  route: RouteSpec,
  path: string,
): Credential {
  const noise = random.chance(0.03)
    ? {
        'x-api-key': 'k',
        cookie: '__Host-session=x',
        upgrade: 'websocket',
        origin: 'https://evil.example.org',
      }
    : {};
  if (route.auth === 'signature') {
    const { hook } = material;
    const wrong = [
      'sha256=',
      `sha256=${'0'.repeat(64)}`,
      `sha1=${'0'.repeat(40)}`,
      `SHA256=${'a'.repeat(64)}`,
      'x',
    ];
    const signature = hook !== null && random.chance(0.4) ? hook.signature : pick(random, wrong);
    const event = pick(random, ['push', 'pull_request', 'issue_comment', 'release', 'status', 'x']);
    const named = random.chance(0.9) ? { 'x-hub-signature-256': signature } : {};
    return {
      headers: { ...named, ...(random.chance(0.9) ? { 'x-forgejo-event': event } : {}) },
      valid: null,
    };
  }
  const asks =
    route.auth === 'bearer' || route.auth === 'me' || route.auth === 'admin' || route.auth === 'operator';
  if ((route.auth === 'admin' || route.auth === 'operator') && random.chance(0.5)) {
    const right = random.chance(0.8);
    return {
      headers: {
        ...noise,
        'x-admin-key': right ? material.adminKey : pick(random, ['wrong', 'x'.repeat(5_000)]),
      },
      valid: right,
    };
  }
  if (route.auth === 'operator' && random.chance(0.3)) {
    const stamp = `v1.${1_767_225_600 + random.int(100)}.f0-${'0'.repeat(32)}.${'a'.repeat(64)}`;
    return { headers: { ...noise, 'x-container-auth': stamp }, valid: false };
  }
  const kind = random.int(24);
  const wrong = [
    '',
    'Basic eDp5',
    'Bearer',
    'Bearer ',
    'Bearer junk',
    `Bearer ${'x'.repeat(3_000)}`,
    'bearer a b',
    'Bearer %00',
  ];
  if (kind === 0) return { headers: noise, valid: asks ? false : null };
  if (kind === 1)
    return { headers: { ...noise, authorization: pick(random, wrong) }, valid: asks ? false : null };
  if (material.apiTokens.length > 0 && kind < 4) {
    const made = pick(random, random.chance(0.8) ? material.apiTokens.slice(-4) : material.apiTokens);
    const headers = { ...noise, authorization: `Bearer ${made.text}` };
    if (!asks) return { headers, valid: null };
    return { headers, valid: made.revoked || route.scope === undefined ? false : null, token: made };
  }
  const valid = route.auth === 'bearer' || route.auth === 'me' ? true : null;
  const owner = material.owners.get(/[0-9a-f-]{36}/.exec(path)?.[0] ?? '');
  const authorization =
    owner !== undefined && random.chance(0.6) ? owner : `Bearer ${pick(random, material.tokens)}`;
  return { headers: { ...noise, authorization }, valid };
}

/** The scope of the route is given for the repository that the path names. */
function mayAsk({ scopes }: MadeToken, { scope, path: shape }: RouteSpec, path: string): boolean {
  const grant = scopes.find((each) => each.scope === scope);
  if (grant === undefined) return false;
  if (grant.repo_ids === null || !shape.includes('{id}')) return true;
  return grant.repo_ids.some((id) => path.toLowerCase().includes(id));
}

function foretell(route: RouteSpec, valid: boolean | null, body: Body, type: MediaType | null): Expected {
  if (valid === false) return 'unauthenticated';
  if (valid !== true || route.body === undefined) return null;
  if (body.text === undefined || body.text === '') return null;
  if (type !== null && !type.isJson) return 'refused';
  return body.kind === 'bad' ? 'refused' : body.kind === 'good' ? 'accepted' : null;
}
