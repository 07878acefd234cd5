import { randomUUID } from 'node:crypto';
import type { RepoId } from '../../domain/ids.ts';
import { LEASE_TAKEOVER_GRACE_MS } from '../../domain/limits.ts';
import type { LeaseGrant, LeaseState } from '../../domain/wakes/lease.ts';
import type { LeaseStore } from '../../ports/store.ts';
import { leaseKey } from './rows/keys.ts';
import { leaseRow } from './rows/lease-item.ts';
import { readRow } from './rows/read-row.ts';
import type { Table } from './table/table.ts';

export function createLeaseStore(table: Table): LeaseStore {
  async function readLease(repoId: RepoId): Promise<LeaseGrant | null> {
    const row = await table.get(leaseKey(repoId), 'readLease');
    if (row === null) return null;
    const lease = readRow(leaseRow, row, 'readLease');
    if (lease.owner === undefined || lease.expiresAt <= table.clock.now()) return null;
    return { fence: lease.fence, expiresAt: lease.expiresAt };
  }

  return {
    async acquireLease(repoId, owner, purpose, ttlMs) {
      const now = table.clock.now();
      const expiresAt = now + ttlMs;
      // Names this very request: when its answer is lost and the client sends it again, the lease is known as its own.
      const requestId = randomUUID();
      const result = await table.update(
        {
          Key: leaseKey(repoId),
          UpdateExpression:
            'SET #owner = :owner, purpose = :purpose, expires_at = :expires, request_id = :request ADD #fence :one',
          ConditionExpression: 'attribute_not_exists(#owner) OR expires_at <= :takeover',
          ExpressionAttributeNames: { '#owner': 'owner', '#fence': 'fence' },
          ExpressionAttributeValues: {
            ':owner': owner,
            ':purpose': purpose,
            ':expires': expiresAt,
            ':request': requestId,
            ':one': 1,
            ':takeover': now - LEASE_TAKEOVER_GRACE_MS,
          },
        },
        'acquireLease',
      );
      if (result.ok) return { fence: readRow(leaseRow, result.row, 'acquireLease').fence, expiresAt };
      const { request_id: holder, fence } = result.blocking;
      return holder?.S === requestId ? { fence: Number(fence?.N), expiresAt } : 'held';
    },

    async releaseLease(repoId, grant) {
      // Refused when the lease has moved on; then there is nothing to release.
      await table.update(
        {
          Key: leaseKey(repoId),
          UpdateExpression: 'SET expires_at = :zero REMOVE #owner',
          ConditionExpression: '#fence = :fence',
          ExpressionAttributeNames: { '#owner': 'owner', '#fence': 'fence' },
          ExpressionAttributeValues: { ':fence': grant.fence, ':zero': 0 },
        },
        'releaseLease',
      );
    },

    async shortenLease(repoId, grant, expiresAt) {
      // Refused when the lease has moved on or ends sooner; then there is nothing to shorten.
      await table.update(
        {
          Key: leaseKey(repoId),
          UpdateExpression: 'SET expires_at = :end',
          ConditionExpression: '#fence = :fence AND attribute_exists(#owner) AND expires_at > :end',
          ExpressionAttributeNames: { '#owner': 'owner', '#fence': 'fence' },
          ExpressionAttributeValues: { ':fence': grant.fence, ':end': expiresAt },
        },
        'shortenLease',
      );
    },

    readLease,

    async readLeaseState(repoId): Promise<LeaseState> {
      try {
        return (await readLease(repoId)) === null ? 'idle' : 'held';
      } catch {
        return 'unknown';
      }
    },
  };
}
