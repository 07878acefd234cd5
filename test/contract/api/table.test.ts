import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_TABLE, type ErrorCode } from '#core/contracts/errors.ts';
import { PullStoryView } from '#core/contracts/pulls/pull-story.ts';
import { GIVEN_SETTINGS } from '#core/contracts/repos/repo-settings.ts';
import { errorsOf, type RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES, type Route } from '#core/contracts/routes/routes.ts';
import { TenantExport } from '#core/contracts/tenants/account.ts';
import { TokenView } from '#core/contracts/tenants/api-token.ts';
import { ForgeRepoView } from '#core/contracts/tenants/connection.ts';
import endpoints from './endpoints.json';

interface Endpoint {
  readonly method: string;
  readonly path: string;
  readonly fields: readonly string[];
  readonly responses: readonly { readonly status: number; readonly code?: string }[];
}

/** Paths of the contract's list that the API does not serve: those of the container, and those of no route. */
const NOT_ROUTES: readonly string[] = [
  'GET /api/v1/forge/repos',
  'ANY /api/v1/tenants/*',
  'ANY <any other path or method on the public host>',
  'POST /internal/reconcile',
  'GET|PUT|PATCH|DELETE|HEAD|OPTIONS /internal/reconcile',
  'GET /healthz (container)',
  'ANY <any other container path>',
];

const listed = (endpoints as readonly Endpoint[]).map((each) => ({
  ...each,
  key: `${each.method} ${each.path.replaceAll(/<(id|number)>/g, '{$1}')}`,
}));

/** `200`, `404 not_found`: every answer of a route as one text. */
function answersOf(route: RouteSpec): string[] {
  const failures = errorsOf(route).map((code) => `${ERROR_TABLE[code].status} ${code}`);
  return [...new Set([...Object.keys(route.replies), ...failures])].sort();
}

describe('the route table', () => {
  test('names exactly the endpoints of the contract', () => {
    const routes = ROUTES.map((route) => `${route.method} ${route.path}`);
    expect(new Set(routes).size).toBe(routes.length);
    expect(routes.sort()).toEqual(
      listed
        .map(({ key }) => key)
        .filter((key) => !NOT_ROUTES.includes(key))
        .sort(),
    );
  });

  test.each(ROUTES.map((route) => [`${route.method} ${route.path}`, route] as const))(
    '%s may answer exactly what the contract lists',
    (key, route) => {
      const endpoint = listed.find((each) => each.key === key);
      const expected = endpoint?.responses.map(({ status, code }) =>
        code === undefined ? String(status) : `${status} ${code}`,
      );
      expect(answersOf(route)).toEqual([...new Set(expected)].sort());
    },
  );

  test.each(
    ROUTES.filter((route): route is typeof route & RouteSpec => 'body' in route || 'query' in route).map(
      (route) => [`${route.method} ${route.path}`, route as RouteSpec] as const,
    ),
  )('%s takes the fields that the contract lists', (key, route) => {
    const schema = (route.body ?? route.query) as unknown as { readonly shape: Record<string, unknown> };
    const endpoint = listed.find((each) => each.key === key);
    expect(Object.keys(schema.shape)).toEqual(expect.arrayContaining([...(endpoint?.fields ?? ['none'])]));
  });

  test('every code of the error table is some route’s, and with its own status', () => {
    const used = new Set<ErrorCode>(ROUTES.flatMap((route: RouteSpec) => errorsOf(route)));
    const inContract = new Map(
      listed.flatMap(({ responses }) => responses.map(({ code, status }) => [code, status] as const)),
    );
    for (const [code, { status }] of Object.entries(ERROR_TABLE)) {
      expect([code, status]).toEqual([code, inContract.get(code)]);
      // Where no route matches, no route can answer it.
      expect([code, used.has(code as ErrorCode)]).toEqual([code, code !== 'method_not_allowed']);
    }
    for (const code of inContract.keys()) {
      if (code !== undefined) expect(Object.keys(ERROR_TABLE)).toContain(code);
    }
  });
});

const text = readFileSync(join(__dirname, '../../../docs/contract.md'), 'utf8');

describe('the contract names every route', () => {
  const paths = new Set(ROUTES.map((route) => route.path));
  const named = [...text.matchAll(/`(?:[A-Z]+ )?(…?\/[^`?\s]+)/g)].map(([, path = '']) => path);
  /** `…/pause` is short for the one path with that end. */
  const endWith = (end: string) => [...paths].filter((path) => path.endsWith(end));
  const written = new Set(
    named.flatMap((path) => {
      if (!path.startsWith('…')) return [path];
      const found = endWith(path.slice(1));
      return found.length === 1 ? found : [];
    }),
  );

  test.each([...paths])('%s', (path) => {
    expect([...written]).toContain(path);
  });
});

describe('the contract names every field of an answer where it tells of it (A62)', () => {
  const flagless = ({ shape }: { readonly shape: object }) =>
    Object.keys(shape).filter((name) => !name.endsWith('_truncated'));

  test.each([
    ['the story of a pull request', /^`GET \S+\/pulls\/\{number\}` gives [\s\S]*?(?=^`GET )/m, PullStoryView],
    ['a repository that a connection sees', /^\| POST `\S+\/discover` .*$/m, ForgeRepoView],
    ['the export', /^The export has:$[\s\S]*?(?=^Offboarding)/m, TenantExport],
    ['an API token', /^4\. A program: [\s\S]*?(?=^5\. )/m, TokenView],
  ])('%s', (_name, place, schema) => {
    const [told = ''] = place.exec(text) ?? [];
    expect(flagless(schema).filter((name) => !new RegExp(`\\b${name}\\b`).test(told))).toEqual([]);
  });
});

describe('the contract names every setting of a repository', () => {
  const [patch = ''] = /^PATCH takes .*$/m.exec(text) ?? [];

  test.each(Object.keys(GIVEN_SETTINGS))('%s has a row with its meaning, and a PATCH takes it', (name) => {
    expect(text).toMatch(new RegExp(`^\\| [^|]*\`${name}\`[^|]*\\| \\S`, 'm'));
    expect(patch).toContain(`\`${name}\``);
  });
});

type ScopedId = Extract<Route, { readonly scope: string }>['id'];

/** The words with which the contract names each route that an API token opens. */
const TOLD_OF_SCOPES: Readonly<Record<ScopedId, string>> = {
  listRepos: 'repositories',
  readQueueStatus: 'queue status',
  readActivity: 'activity',
  readEvents: 'history',
  readFigures: 'statistics',
  readFanoutAdvice: 'advice on the fan-out',
  readPull: 'story of a pull request',
  readGateLog: 'log of its gate run',
  readPullEvidence: 'statements of landings',
  readCommitEvidence: 'statements of landings',
  readGateTemplate: 'gate template',
  listDeliveries: 'deliveries of notices',
  pauseRepo: 'pause',
  drainRepo: 'drain',
  resumeRepo: 'resume',
  reconcileRepo: 'reconcile',
  enqueuePull: 'schedule of a pull request',
  dequeuePull: 'schedule of a pull request',
  updateRepo: 'PATCH',
  setNoticeWebhook: 'webhook of notices',
  removeNoticeWebhook: 'webhook of notices',
  testNotices: 'test of notices',
  askConfirmation: 'confirmation of the address',
  provisionRepo: 'provision',
  protectRepo: 'protect',
  openSetupPull: 'setup-pr',
  verifyGate: 'verify of the gate',
};

describe('the contract says what each scope of an API token opens', () => {
  const scoped = ROUTES.flatMap((route: RouteSpec) =>
    route.scope === undefined ? [] : [[route.id, route.scope, TOLD_OF_SCOPES[route.id as ScopedId]] as const],
  );

  test.each(scoped)('%s takes %s: "%s"', (_id, scope, words) => {
    const [, told = ''] = new RegExp(`\`${scope}\`: ([^\`]+)\\.`).exec(text) ?? [];
    expect(told).toContain(words);
  });
});
