import { AppError } from '../../contracts/errors.ts';
import { hashApiToken, makeApiToken, parseApiToken } from '../../contracts/tenants/api-token-text.ts';
import { API_TOKEN_USE_NOTED_MS, API_TOKENS_MAX, DAY_MS } from '../../domain/api-limits.ts';
import { canonicalId, type TenantId } from '../../domain/ids.ts';
import type { ApiToken, ScopeGrant } from '../../domain/tenants/api-token.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import type { EnrollmentStore } from '../../ports/store.ts';
import type { Clock, Ids, Log } from '../../ports/system.ts';
import type { ReadApiToken, TokenStore } from '../../ports/token-store.ts';
import { recordChange } from './audit.ts';

export interface TokenDeps {
  readonly store: Pick<AccountStore, 'appendAudit'> & Pick<EnrollmentStore, 'createTenant' | 'listRepos'>;
  readonly tokens: TokenStore;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly log: Log;
}

export interface WantedToken {
  readonly name: string;
  readonly days: number;
  readonly scopes: readonly ScopeGrant[];
}

/** The text is in no row and no log: this answer is the only one that has it. */
export async function createToken(
  deps: TokenDeps,
  tenantId: TenantId,
  { name, days, scopes }: WantedToken,
): Promise<{ readonly token: ApiToken; readonly text: string }> {
  const { store, tokens } = deps;
  const now = deps.clock.now();
  await refuseForeignRepos(deps, tenantId, scopes);
  const live = (await tokens.listApiTokens(tenantId)).filter(({ expiresAt }) => expiresAt > now);
  if (live.length >= API_TOKENS_MAX) throw new AppError('token_limit_exceeded');
  await store.createTenant(tenantId, now);
  const text = makeApiToken(tenantId);
  const token: ApiToken = {
    id: deps.ids.uuid(),
    tenantId,
    name,
    scopes,
    createdAt: now,
    expiresAt: now + days * DAY_MS,
    lastUsedAt: null,
  };
  if (!(await tokens.createApiToken(token, hashApiToken(text)))) throw new AppError('not_found');
  await recordChange(deps, tenantId, 'token.create', token.id);
  return { token, text };
}

/** The next call with it is refused. */
export async function deleteToken(deps: TokenDeps, tenantId: TenantId, id: string): Promise<void> {
  const known = canonicalId(id);
  const gone = known !== null && (await deps.tokens.deleteApiToken(tenantId, known));
  if (!gone) throw new AppError('not_found');
  await recordChange(deps, tenantId, 'token.revoke', known);
}

async function refuseForeignRepos(
  { store }: TokenDeps,
  tenantId: TenantId,
  scopes: readonly ScopeGrant[],
): Promise<void> {
  const named = scopes.flatMap(({ repoIds }) => repoIds ?? []);
  if (named.length === 0) return;
  const repos = await store.listRepos(tenantId);
  const own = new Set(repos.filter((repo) => !repo.tombstone).map(({ id }) => id));
  if (!named.every((id) => own.has(id))) throw new AppError('not_found');
}

export interface TokenReaderDeps {
  readonly store: Pick<TokenStore, 'findApiToken' | 'noteApiTokenUse'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Log;
}

export function createTokenReader({ store, clock, log }: TokenReaderDeps): ReadApiToken {
  return async (text) => {
    const parsed = parseApiToken(text.reveal());
    if (parsed === null) return null;
    const { tenantId, hash } = parsed;
    let token: ApiToken | null;
    try {
      token = await store.findApiToken(tenantId, hash);
    } catch (error) {
      log.error('an API token could not be looked up', { error });
      throw new AppError('auth_unavailable');
    }
    const now = clock.now();
    if (token === null || token.expiresAt <= now) return null;
    if (token.lastUsedAt === null || token.lastUsedAt + API_TOKEN_USE_NOTED_MS <= now) {
      try {
        await store.noteApiTokenUse(tenantId, hash, now);
      } catch (error) {
        log.warn('the use of an API token could not be noted', { tenant_id: tenantId, error });
      }
    }
    return token;
  };
}
