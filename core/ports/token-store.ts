import type { EpochMs, TenantId } from '../domain/ids.ts';
import type { ApiToken } from '../domain/tenants/api-token.ts';
import type { Secret } from '../secret.ts';

/** Null: no token of that text, or one that has ended. Throws `auth_unavailable` when the store gives no answer. */
export type ReadApiToken = (text: Secret<string>) => Promise<ApiToken | null>;

/** API tokens by the hashes of their texts: a dump of the table opens nothing. */
export interface TokenStore {
  /** False when there is no such tenant, or it leaves. */
  createApiToken(token: ApiToken, hash: string): Promise<boolean>;
  /** Null: there is none, or it was revoked. Whether it has ended is the caller's to compare. */
  findApiToken(tenantId: TenantId, hash: string): Promise<ApiToken | null>;
  /** Nothing when the token is gone. */
  noteApiTokenUse(tenantId: TenantId, hash: string, at: EpochMs): Promise<void>;
  /** Oldest first; those that ended are listed for a while. */
  listApiTokens(tenantId: TenantId): Promise<readonly ApiToken[]>;
  /** False when there was none. */
  deleteApiToken(tenantId: TenantId, id: string): Promise<boolean>;
}
