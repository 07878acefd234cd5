import { randomUUID } from 'node:crypto';
import type { ApiToken } from '#core/domain/tenants/api-token.ts';
import type { World } from './subject.ts';

export function describeTokens(world: World): void {
  const givenToken = (tenantId: string, changes: Partial<ApiToken> = {}): ApiToken => ({
    id: randomUUID(),
    tenantId,
    name: 'ci',
    createdAt: 1,
    expiresAt: Number.MAX_SAFE_INTEGER - 10 ** 12,
    scopes: [
      { scope: 'read', repoIds: null },
      { scope: 'queue:write', repoIds: ['repo-1', 'repo-2'] },
    ],
    lastUsedAt: null,
    ...changes,
  });
  const hashOf = (token: ApiToken): string => `hash-of-${token.id}`;

  describe('API tokens', () => {
    test('are found by tenant and hash as they were made, and listed oldest first', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const [late, early] = [givenToken(repo.tenantId, { createdAt: 2 }), givenToken(repo.tenantId)];
      for (const token of [late, early]) expect(await store.createApiToken(token, hashOf(token))).toBe(true);
      expect(await store.findApiToken(repo.tenantId, hashOf(late))).toEqual(late);
      expect(await store.findApiToken(randomUUID(), hashOf(late))).toBeNull();
      expect(await store.findApiToken(repo.tenantId, hashOf(late).toUpperCase())).toBeNull();
      expect(await store.listApiTokens(repo.tenantId)).toEqual([early, late]);
    });

    test('tell their last use; a use of one that is gone leaves no row', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const token = givenToken(repo.tenantId);
      await store.createApiToken(token, hashOf(token));
      await store.noteApiTokenUse(repo.tenantId, hashOf(token), 7);
      expect(await store.findApiToken(repo.tenantId, hashOf(token))).toEqual({ ...token, lastUsedAt: 7 });
      expect(await store.deleteApiToken(repo.tenantId, token.id)).toBe(true);
      await store.noteApiTokenUse(repo.tenantId, hashOf(token), 8);
      expect(await store.listApiTokens(repo.tenantId)).toEqual([]);
    });

    test('are deleted by id, once, and by their own tenant alone', async () => {
      const [{ repo }, other] = [await world.enroll(), await world.enroll()];
      const store = world.store();
      const token = givenToken(repo.tenantId);
      await store.createApiToken(token, hashOf(token));
      expect(await store.deleteApiToken(other.repo.tenantId, token.id)).toBe(false);
      expect(await store.findApiToken(repo.tenantId, hashOf(token))).toEqual(token);
      expect(await store.deleteApiToken(repo.tenantId, token.id)).toBe(true);
      expect(await store.deleteApiToken(repo.tenantId, token.id)).toBe(false);
      expect(await store.findApiToken(repo.tenantId, hashOf(token))).toBeNull();
    });

    test('none is made for a tenant that leaves, and all go with its history', async () => {
      const { repo } = await world.enroll();
      const store = world.store();
      const token = givenToken(repo.tenantId);
      await store.createApiToken(token, hashOf(token));
      await store.markTenantDeleting(repo.tenantId);
      const late = givenToken(repo.tenantId);
      expect(await store.createApiToken(late, hashOf(late))).toBe(false);
      expect(await store.createApiToken(givenToken(randomUUID()), 'hash')).toBe(false);
      expect(await store.deleteHistory(repo.tenantId, 'tokens')).toBe(1);
      expect(await store.findApiToken(repo.tenantId, hashOf(token))).toBeNull();
    });
  });
}
