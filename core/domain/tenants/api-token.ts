import type { EpochMs, RepoId, TenantId } from '../ids.ts';

/** The rights that a token can have. None of them reaches the account, its sessions and tokens, its plan or other tenants. */
export const API_TOKEN_SCOPES = ['read', 'queue:write', 'settings:write'] as const;
export type ApiTokenScope = (typeof API_TOKEN_SCOPES)[number];

export interface ScopeGrant {
  readonly scope: ApiTokenScope;
  /** Null: all repositories of the tenant, also later ones. */
  readonly repoIds: readonly RepoId[] | null;
}

/** A right of its own, for a program. Its text is shown once and stored as a hash. */
export interface ApiToken {
  /** Names the token in lists and in the audit log; no credential. */
  readonly id: string;
  readonly tenantId: TenantId;
  readonly name: string;
  /** Each scope once. */
  readonly scopes: readonly ScopeGrant[];
  readonly createdAt: EpochMs;
  readonly expiresAt: EpochMs;
  /** To the hour; null: never used. */
  readonly lastUsedAt: EpochMs | null;
}

/** Null: the token does not have the scope at all. */
export function grantOf(scopes: readonly ScopeGrant[], scope: ApiTokenScope): ScopeGrant | null {
  return scopes.find((each) => each.scope === scope) ?? null;
}
