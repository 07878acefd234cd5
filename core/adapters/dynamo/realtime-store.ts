import type { RealtimeStore } from '../../ports/account-store.ts';
import { notLeaving } from './account-store.ts';
import { readPrefix } from './read-repos.ts';
import { text } from './rows/codec.ts';
import { SOCKET_SORT_PREFIX, socketKey, socketPartition, tenantSocketKey, ticketKey } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Table } from './table/table.ts';

export function createRealtimeStore(table: Table): RealtimeStore {
  return {
    async saveTicket(ticketHash, tenantId, expiresAt) {
      const Item = {
        ...ticketKey(ticketHash),
        tenant_id: tenantId,
        expires_at: expiresAt,
        ttl: toSeconds(expiresAt),
      };
      await table.put({ Item, ConditionExpression: 'attribute_not_exists(pk)' }, 'saveTicket');
    },

    async redeemTicket(ticketHash) {
      // Our clock decides, not the sweep of expired rows (A93); the condition makes one of many redeemers the winner.
      const row = await table.remove(
        {
          Key: ticketKey(ticketHash),
          ConditionExpression: 'expires_at > :now',
          ExpressionAttributeValues: { ':now': table.clock.now() },
        },
        'redeemTicket',
      );
      return row === null ? null : readRow(text, row.tenant_id, 'redeemTicket');
    },

    async addSocket(tenantId, socketId, expiresAt) {
      const times = { expires_at: expiresAt, ttl: toSeconds(expiresAt) };
      const refusals = await table.transact(
        [
          notLeaving(tenantId),
          { name: 'list', put: { Item: { ...tenantSocketKey(tenantId, socketId), ...times } } },
          { name: 'socket', put: { Item: { ...socketKey(socketId), tenant_id: tenantId, ...times } } },
        ],
        'addSocket',
      );
      return refusals.size === 0;
    },

    async removeSocket(socketId) {
      const row = await table.remove({ Key: socketKey(socketId) }, 'removeSocket');
      if (row === null) return;
      const tenantId = readRow(text, row.tenant_id, 'removeSocket');
      // Where this fails, the next ping finds the socket gone (`removeSocketOf`).
      await table.remove({ Key: tenantSocketKey(tenantId, socketId) }, 'removeSocket');
    },

    async removeSocketOf(tenantId, socketId, expiresBefore) {
      const settled =
        expiresBefore === undefined
          ? {}
          : {
              ConditionExpression: 'attribute_not_exists(pk) OR expires_at < :before',
              ExpressionAttributeValues: { ':before': expiresBefore },
            };
      await table.transact(
        [
          { name: 'socket', delete: { Key: socketKey(socketId), ...settled } },
          { name: 'list', delete: { Key: tenantSocketKey(tenantId, socketId), ...settled } },
        ],
        'removeSocketOf',
      );
    },

    async listSockets(tenantId) {
      const rows = await readPrefix(table, socketPartition(tenantId), SOCKET_SORT_PREFIX, 'listSockets');
      const now = table.clock.now();
      return rows
        .filter((row) => typeof row.expires_at === 'number' && row.expires_at > now)
        .map((row) => readRow(text, row.sk, 'listSockets').slice(SOCKET_SORT_PREFIX.length));
    },
  };
}

function toSeconds(at: number): number {
  return Math.ceil(at / 1000);
}
