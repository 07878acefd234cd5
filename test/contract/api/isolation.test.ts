import { randomUUID } from 'node:crypto';
import type { RouteSpec } from '#core/contracts/routes/route-spec.ts';
import { ROUTES } from '#core/contracts/routes/routes.ts';
import { API_TOKEN_SCOPES } from '#core/domain/tenants/api-token.ts';
import {
  ADMIN_KEY,
  ApiWorld,
  FORGE_TOKEN,
  TENANT_A,
  TENANT_B,
  TOKEN_A,
  TOKEN_ADMIN,
  TOKEN_B,
} from '../../support/api-world.ts';
import { giveHistory } from '../../support/given-history.ts';

/** Every route with an id, in the table's own words: a new one is in the matrix by being in the table. */
const WITH_ID = (ROUTES as readonly RouteSpec[]).filter((route) => route.path.includes('{id}'));

/** What a session reads of its whole account: lists, feed, export, figures. */
const WHOLE = (ROUTES as readonly RouteSpec[]).filter(
  ({ method, path, auth }) => method === 'GET' && !path.includes('{') && (auth === 'bearer' || auth === 'me'),
);

/** A body that the route accepts, so that the id is what decides. */
const BODIES: Readonly<Record<string, unknown>> = {
  updateConnection: { token: FORGE_TOKEN },
  updateRepo: { bisect_fanout: 2 },
  protectRepo: { enabled: false },
  pauseRepo: {},
  drainRepo: {},
  enqueuePull: { head: 'a'.repeat(40) },
  setNoticeWebhook: { url: 'https://hooks.example.org/x' },
};

const QUERIES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  readCommitEvidence: { commit: 'a'.repeat(40) },
};

/** The answer of each route to its owner, in a world whose forge accepts the log-in and refuses all else. */
const OWN: Readonly<Record<string, readonly [status: number, code?: string]>> = {
  updateConnection: [200],
  deleteConnection: [204],
  discoverRepos: [200],
  updateRepo: [200],
  deleteRepo: [204],
  // Its repository has no address for notices; with one: `mailbox.test.ts`.
  askConfirmation: [404, 'not_found'],
  readFigures: [200],
  readFanoutAdvice: [200],
  setNoticeWebhook: [200],
  removeNoticeWebhook: [204],
  listDeliveries: [200],
  testNotices: [404, 'not_found'],
  provisionRepo: [200],
  protectRepo: [200],
  pauseRepo: [200],
  drainRepo: [200],
  resumeRepo: [200],
  reconcileRepo: [200],
  // Without a forge token of the person; with one: `enqueue.test.ts`.
  enqueuePull: [400, 'forge_token_required'],
  dequeuePull: [400, 'forge_token_required'],
  readGateTemplate: [200],
  // Its own repository has no pull request of that number; with one: `pulls.test.ts`.
  readEvents: [200],
  readPull: [404, 'not_found'],
  readGateLog: [200],
  // Nothing is signed here; with a key: `evidence.test.ts`.
  readPullEvidence: [404, 'evidence_not_configured'],
  readCommitEvidence: [404, 'evidence_not_configured'],
  openSetupPull: [502, 'forge_unreachable'],
  verifyGate: [502, 'forge_unreachable'],
  // A repository is no token; the token's own: `tokens.test.ts`.
  deleteToken: [404, 'not_found'],
};

const CALLERS = {
  signed_out: {},
  tenant_a: { token: TOKEN_A },
  tenant_b: { token: TOKEN_B },
  admin_session: { token: TOKEN_ADMIN },
  admin_key: { headers: { 'x-admin-key': ADMIN_KEY } },
  expired: { token: 'expired.session.token' },
} as const;
type Caller = keyof typeof CALLERS | keyof typeof API_TOKENS;

/** Made with each world. Of one repository: A's own, and nothing else. */
const API_TOKENS = {
  api_token_a: { session: TOKEN_A, ownOnly: false },
  api_token_b: { session: TOKEN_B, ownOnly: false },
  api_token_of_one: { session: TOKEN_A, ownOnly: true },
} as const;
const isApiToken = (caller: Caller): caller is keyof typeof API_TOKENS => caller in API_TOKENS;
const CALLER_NAMES = [...Object.keys(CALLERS), ...Object.keys(API_TOKENS)] as Caller[];

const IDS = ['a', 'b', 'random', 'malformed', 'deleted', 'other_kind'] as const;
type IdKind = (typeof IDS)[number];

/** A token is refused before the id is looked at where the route takes none; ids of all kinds are the sessions' to try. */
function idsOf(route: RouteSpec, caller: Caller): readonly IdKind[] {
  if (!isApiToken(caller)) return IDS;
  return route.scope === undefined ? ['a'] : ['a', 'b', 'random'];
}

const cells = WITH_ID.flatMap((route) =>
  CALLER_NAMES.flatMap((caller) => idsOf(route, caller).map((id) => [route.id, caller, id, route] as const)),
);

describe('isolation: every route with an id x every caller x every kind of id (A86)', () => {
  async function prepare(
    route: RouteSpec,
  ): Promise<{ world: ApiWorld; ids: Readonly<Record<IdKind, string>>; repoOfA: string }> {
    const world = new ApiWorld();
    const [a, b, gone] = [
      await world.enroll(TENANT_A, { slug: 'acme/a' }),
      await world.enroll(TENANT_B, { slug: 'acme/b' }),
      await world.enroll(TENANT_A, { slug: 'acme/gone' }, { botUsername: 'gone-bot' }),
    ];
    await world.as(TOKEN_A)('DELETE', `/api/v1/connections/${gone.connection.id}`);
    const isConnection = route.path.includes('/connections/');
    const pick = (pair: typeof a) => (isConnection ? pair.connection.id : pair.repo.id);
    return {
      world,
      repoOfA: a.repo.id,
      ids: {
        a: pick(a),
        b: pick(b),
        random: randomUUID(),
        malformed: 'x%2f..',
        deleted: pick(gone),
        other_kind: isConnection ? a.repo.id : a.connection.id,
      },
    };
  }

  const rowsOf = (world: ApiWorld, tenant: string) =>
    Promise.all([world.store.listRepos(tenant), world.store.listConnections(tenant)]);

  const credentialsOf = async (world: ApiWorld, caller: Caller, own: string) => {
    if (!isApiToken(caller)) return CALLERS[caller];
    const { session, ownOnly } = API_TOKENS[caller];
    const scopes = API_TOKEN_SCOPES.map((scope) => ({ scope, repo_ids: ownOnly ? [own] : null }));
    const made = await world.as(session)('POST', '/api/v1/tokens', { name: 'x', expires_in_days: 1, scopes });
    return { token: made.json.token as string };
  };

  const ask = (
    world: ApiWorld,
    route: RouteSpec,
    id: string,
    credentials: Awaited<ReturnType<typeof credentialsOf>>,
  ) =>
    world.call(route.method, route.path.replace('{id}', id).replace('{number}', '1'), {
      ...credentials,
      ...(BODIES[route.id] === undefined ? {} : { body: BODIES[route.id] }),
      query: QUERIES[route.id] ?? {},
    });

  test.each(cells)('%s as %s with id %s', async (_id, caller, kind, route) => {
    const { world, ids, repoOfA } = await prepare(route);
    const credentials = await credentialsOf(world, caller, repoOfA);
    const isA = ['tenant_a', 'api_token_a', 'api_token_of_one'].includes(caller);
    const isB = ['tenant_b', 'api_token_b'].includes(caller);
    const stranger = isA ? TENANT_B : TENANT_A;
    const before = await rowsOf(world, stranger);
    const answer = await ask(world, route, ids[kind], credentials);
    expect(await rowsOf(world, stranger)).toEqual(before);
    if (caller === 'signed_out' || caller === 'admin_key') {
      expect([answer.status, answer.code]).toEqual([401, 'missing_auth']);
      return;
    }
    if (caller === 'expired') {
      expect([answer.status, answer.code]).toEqual([401, 'invalid_token']);
      return;
    }
    if (isApiToken(caller) && route.scope === undefined) {
      expect([answer.status, answer.code]).toEqual([401, 'session_required']);
      return;
    }
    const isOwn = (isA && kind === 'a') || (isB && kind === 'b');
    if (isOwn) {
      const [status, code] = OWN[route.id] ?? [];
      expect([answer.status, answer.code]).toEqual([status, code]);
      return;
    }
    const random = await ask(world, route, randomUUID(), credentials);
    expect([answer.status, answer.text, answer.headers]).toEqual([
      random.status,
      random.text,
      random.headers,
    ]);
    const refusal = caller === 'api_token_of_one' ? [403, 'insufficient_scope'] : [404, 'not_found'];
    expect([answer.status, answer.code]).toEqual(refusal);
  });

  test.each(WHOLE.map((route) => [route.id, route] as const))(
    '%s without an id holds nothing of another tenant (A87)',
    async (_id, route) => {
      const world = new ApiWorld();
      const own = await world.enroll(TENANT_A, { slug: 'acme/own' });
      const other = await world.enroll(TENANT_B, { slug: 'beta/theirs' }, { botUsername: 'bot-of-b' });
      for (const { repo } of [own, other]) await giveHistory(world, repo);
      for (const session of [TOKEN_A, TOKEN_B]) {
        const scopes = [{ scope: 'read', repo_ids: null }];
        const name = session === TOKEN_A ? 'token-of-a' : 'token-of-b';
        await world.as(session)('POST', '/api/v1/tokens', { name, expires_in_days: 1, scopes });
      }
      const { status, text } = await world.as(TOKEN_A)('GET', route.path);
      expect(status).toBe(200);
      for (const theirs of [
        TENANT_B,
        other.repo.id,
        other.connection.id,
        'beta/theirs',
        'bot-of-b',
        'token-of-b',
      ])
        expect(text).not.toContain(theirs);
    },
  );

  test('the matrix has every route with an id, and they are not few', () => {
    expect(WITH_ID.map((route) => route.id).sort()).toEqual(Object.keys(OWN).sort());
    const scoped = WITH_ID.filter(({ scope }) => scope !== undefined).length;
    expect(cells).toHaveLength(WITH_ID.length * 6 * 6 + scoped * 3 * 3 + (WITH_ID.length - scoped) * 3);
  });
});
