import { AppError } from '#core/contracts/errors.ts';
import { toAuthorNoticesView } from '#core/contracts/notices/author-notices.ts';
import { readForgeToken } from '#core/contracts/pulls/enqueue.ts';
import type { RouteIdOf } from '#core/contracts/routes/routes.ts';
import {
  ListForgeReposBody,
  toCreatedConnection,
  toForgeRepoView,
  toPatchedConnection,
  toRotatedConnection,
} from '#core/contracts/tenants/connection.ts';
import type { ApiHandlers } from '#core/http/api-call.ts';
import { readRawBody } from '#core/http/lambda-http.ts';
import { parseFields, parseJsonObject } from '#core/http/parse-request.ts';
import { Secret } from '#core/secret.ts';
import {
  type ConnectionDeps,
  changeConnection,
  storeConnection,
} from '#core/services/connections/connections.ts';
import { listSeenRepos } from '#core/services/connections/discover.ts';
import { type AuthorDeps, setAuthorNotices } from '#core/services/notices/author-notices.ts';

/** The listing without a session is there only where a deployment asks for it (D-21). */
export function switchedOffRoutes(legacyListing: boolean): readonly RouteIdOf<'connections'>[] {
  return legacyListing ? [] : ['listForgeRepos'];
}

export function createConnectionRoutes(deps: ConnectionDeps & AuthorDeps): ApiHandlers<'connections'> {
  return {
    createConnection: async ({ tenantId, body }) => {
      const stored = await storeConnection(deps, tenantId, {
        instanceUrl: body.instance_url,
        botLogin: body.bot_login,
        token: new Secret(body.token),
      });
      return stored.kind === 'created'
        ? { status: 201, body: toCreatedConnection(stored.connection) }
        : { status: 200, body: toRotatedConnection(stored) };
    },
    updateConnection: async ({ tenantId, id, body }) => {
      const changed = await changeConnection(deps, tenantId, id, {
        token: body.token === undefined ? undefined : new Secret(body.token),
        botLogin: body.bot_login,
      });
      return { status: 200, body: toPatchedConnection(changed) };
    },
    setAuthorNotices: async ({ tenantId, caller, body, event }) => {
      const { person = null, forge = null } = caller.kind === 'user' ? caller : {};
      const wanted = { ...body, instanceUrl: body.instance_url, token: readForgeToken(event.headers) };
      const logins = await setAuthorNotices(deps, { tenantId, person, forge }, wanted);
      return { status: 200, body: toAuthorNoticesView(forge, logins) };
    },
    listForgeRepos: async ({ event }) => {
      const body = parseFields({}, ListForgeReposBody, readLegacyFields(readRawBody(event)));
      if ((await deps.checkTarget(body.instance_url)) === 'refused') {
        throw new AppError('invalid_field', { field: 'instance_url' });
      }
      const repos = await listSeenRepos(deps.openAccount, body.instance_url, new Secret(body.token));
      return { status: 200, body: { repos: repos.map(toForgeRepoView) } };
    },
  };
}

/** This route has no code for a body that is none; what it lacks then is every field. */
function readLegacyFields(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return parseJsonObject(bytes);
  } catch {
    return {};
  }
}
