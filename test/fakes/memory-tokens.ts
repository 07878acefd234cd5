import type { EpochMs, TenantId } from '#core/domain/ids.ts';
import type { ApiToken } from '#core/domain/tenants/api-token.ts';
import type { TokenStore } from '#core/ports/token-store.ts';
import { MemoryMailboxes } from './memory-mailboxes.ts';

/** API tokens, over the memory rows. */
export class MemoryTokens extends MemoryMailboxes implements TokenStore {
  createApiToken(token: ApiToken, hash: string): Promise<boolean> {
    return this.call('createApiToken', () => {
      const tenant = this.tenants.get(token.tenantId);
      if (tenant === undefined || tenant.deleting) return false;
      this.tokens.set(`${token.tenantId} ${hash}`, { ...token });
      return true;
    });
  }

  findApiToken(tenantId: TenantId, hash: string): Promise<ApiToken | null> {
    return this.call('findApiToken', () => this.tokens.get(`${tenantId} ${hash}`) ?? null);
  }

  noteApiTokenUse(tenantId: TenantId, hash: string, at: EpochMs): Promise<void> {
    return this.call('noteApiTokenUse', () => {
      const token = this.tokens.get(`${tenantId} ${hash}`);
      if (token !== undefined) this.tokens.set(`${tenantId} ${hash}`, { ...token, lastUsedAt: at });
    });
  }

  listApiTokens(tenantId: TenantId): Promise<readonly ApiToken[]> {
    return this.call('listApiTokens', () =>
      [...this.tokens.values()]
        .filter((token) => token.tenantId === tenantId)
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    );
  }

  deleteApiToken(tenantId: TenantId, id: string): Promise<boolean> {
    return this.call('deleteApiToken', () => {
      const found = [...this.tokens].find(([, token]) => token.tenantId === tenantId && token.id === id);
      return found !== undefined && this.tokens.delete(found[0]);
    });
  }
}
