import { API_TOKEN_KEPT_MS } from '../../domain/api-limits.ts';
import type { TenantId } from '../../domain/ids.ts';
import { API_TOKEN_SCOPES, type ApiToken, type ScopeGrant } from '../../domain/tenants/api-token.ts';
import type { TokenStore } from '../../ports/token-store.ts';
import { stayingTenant } from './account-store.ts';
import { type Codec, defaulted, listOf, nullable, oneOf, record, seen, text, whole } from './rows/codec.ts';
import { tokenKey, tokenPartition } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import { type Row, Table, type TableConfig } from './table/table.ts';

const scopeGrant = record<ScopeGrant>({
  scope: ['scope', oneOf(API_TOKEN_SCOPES)],
  repoIds: ['repo_ids', nullable(listOf(text))],
});
/** Without a scope that only a newer release knows: the token gives less then, and can be seen and revoked. */
const scopeGrants: Codec<readonly ScopeGrant[]> = {
  write: listOf(scopeGrant).write,
  read: (raw) =>
    listOf(seen(scopeGrant))
      .read(raw)
      .filter((grant) => grant !== undefined),
};

const tokenRow = record<ApiToken>({
  id: ['token_id', text],
  tenantId: ['tenant_id', text],
  name: ['name', text],
  scopes: ['scopes', scopeGrants],
  createdAt: ['created_at', whole],
  expiresAt: ['expires_at', whole],
  lastUsedAt: ['last_used_at', defaulted(nullable(whole), null)],
});

/** Store of API tokens, apart from the other stores, so that only functions that answer to API tokens carry it. */
export function createTokenStore(config: TableConfig): TokenStore {
  const table = new Table(config);
  return {
    async createApiToken(token, hash) {
      const Item = {
        ...tokenKey(token.tenantId, hash),
        ...tokenRow.write(token),
        ttl: Math.ceil((token.expiresAt + API_TOKEN_KEPT_MS) / 1000),
      };
      const refusals = await table.transact(
        [
          stayingTenant(token.tenantId),
          { name: 'token', put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
        ],
        'createApiToken',
      );
      return refusals.size === 0;
    },

    async findApiToken(tenantId, hash) {
      const row = await table.get(tokenKey(tenantId, hash), 'findApiToken');
      return row === null ? null : readRow(tokenRow, row, 'findApiToken');
    },

    async noteApiTokenUse(tenantId, hash, at) {
      await table.update(
        {
          Key: tokenKey(tenantId, hash),
          UpdateExpression: 'SET last_used_at = :at',
          // Without it a token that was revoked meanwhile would leave half a row.
          ConditionExpression: 'attribute_exists(pk)',
          ExpressionAttributeValues: { ':at': at },
        },
        'noteApiTokenUse',
      );
    },

    async listApiTokens(tenantId) {
      const rows = await readTokens(table, tenantId, 'listApiTokens');
      return rows
        .map((row) => readRow(tokenRow, row, 'listApiTokens'))
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
    },

    async deleteApiToken(tenantId, id) {
      const rows = await readTokens(table, tenantId, 'deleteApiToken');
      const found = rows.find((row) => row.token_id === id);
      if (found === undefined) return false;
      const { pk, sk } = found as { readonly pk: string; readonly sk: string };
      return (await table.remove({ Key: { pk, sk } }, 'deleteApiToken')) !== null;
    },
  };
}

function readTokens(table: Table, tenantId: TenantId, operation: string): Promise<readonly Row[]> {
  return table.query(
    {
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': tokenPartition(tenantId) },
    },
    Number.POSITIVE_INFINITY,
    operation,
  );
}
