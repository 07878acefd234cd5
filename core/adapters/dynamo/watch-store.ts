import { GSI1 } from '../../contracts/internal/table.ts';
import { NOTICE_CLAIM_KEPT_MS, NOTICE_KEPT_MS } from '../../domain/api-limits.ts';
import type { NoticeRequest, WatchStore } from '../../ports/notifier.ts';
import { aliveCheck } from './checks.ts';
import { text } from './rows/codec.ts';
import { noticeKey, tellingClaimKey, WATCH_PARTITION } from './rows/keys.ts';
import { noticeRow } from './rows/notice-row.ts';
import { readRow } from './rows/read-row.ts';
import type { Table } from './table/table.ts';

/** Hex digits of an id that give its place among all ids, which are random. */
const ID_DIGITS = 8;

export function createWatchStore(table: Table): WatchStore {
  return {
    async listWatchedRepos(limit, from) {
      const begin = Math.floor(from * 16 ** ID_DIGITS)
        .toString(16)
        .padStart(ID_DIGITS, '0');
      const read = (side: '>=' | '<', rowsMax: number) =>
        table.query(
          {
            IndexName: GSI1.name,
            KeyConditionExpression: `gsi1pk = :watch AND gsi1sk ${side} :begin`,
            ExpressionAttributeValues: { ':watch': WATCH_PARTITION, ':begin': begin },
          },
          rowsMax,
          'listWatchedRepos',
        );
      const behind = await read('>=', limit);
      const around = behind.length < limit ? await read('<', limit - behind.length) : [];
      return [...behind, ...around].map((row) => ({
        tenantId: readRow(text, row.tenant_id, 'listWatchedRepos'),
        repoId: readRow(text, row.gsi1sk, 'listWatchedRepos'),
      }));
    },

    async requestTrouble(tenantId, trouble) {
      const now = table.clock.now();
      const expiresAt = now + NOTICE_CLAIM_KEPT_MS;
      const subject = JSON.stringify([trouble.repoId, trouble.topic, trouble.name, trouble.since]);
      const notice: NoticeRequest = { kind: 'trouble', tenantId, subject, email: null, trouble, at: now };
      const refusals = await table.transact(
        [
          aliveCheck(trouble.repoId),
          {
            name: 'claim',
            put: {
              Item: {
                ...tellingClaimKey(trouble.repoId, trouble.topic, trouble.name, String(trouble.since)),
                at: now,
                expires_at: expiresAt,
                ttl: Math.ceil(expiresAt / 1000),
              },
              ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
              ExpressionAttributeValues: { ':now': now },
            },
          },
          {
            name: 'notice',
            put: {
              Item: {
                ...noticeKey(tenantId, notice.kind, subject),
                ...noticeRow.write(notice),
                expires_at: now + NOTICE_KEPT_MS,
                ttl: Math.ceil((now + NOTICE_KEPT_MS) / 1000),
              },
            },
          },
        ],
        'requestTrouble',
      );
      return refusals.size === 0;
    },
  };
}
