import { NOTICE_CLAIM_KEPT_MS, NOTICE_KEPT_MS } from '../../domain/api-limits.ts';
import type { RepoId } from '../../domain/ids.ts';
import type { NoticeStore } from '../../ports/notifier.ts';
import { aliveCheck } from './checks.ts';
import { keyOf } from './rows/changes.ts';
import { activityEvent } from './rows/event-items.ts';
import { bounceClaimKey, noticeKey, tellingClaimKey } from './rows/keys.ts';
import { noticeRow } from './rows/notice-row.ts';
import { readRow } from './rows/read-row.ts';
import type { Table } from './table/table.ts';

export function createNoticeStore(table: Table): NoticeStore {
  return {
    async requestNotice(notice) {
      const now = table.clock.now();
      const expiresAt = now + NOTICE_KEPT_MS;
      const Key = noticeKey(notice.tenantId, notice.kind, notice.subject);
      const put = {
        Item: {
          ...Key,
          ...noticeRow.write(notice),
          expires_at: expiresAt,
          ttl: Math.ceil(expiresAt / 1000),
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      };
      if (await table.put(put, 'requestNotice')) return true;
      // A request that has ended is never taken, and makes way. Deleted first: the mapping takes new rows alone.
      const ended = await table.remove(
        {
          Key,
          ConditionExpression: 'expires_at <= :now',
          ExpressionAttributeValues: { ':now': now },
        },
        'requestNotice',
      );
      return ended !== null && table.put(put, 'requestNotice');
    },

    async takeNotice(stored) {
      // The delete makes one of many takers the one who sends; a crash after it loses the notice, which is meant.
      const row = await table.remove(
        {
          Key: keyOf(stored),
          ConditionExpression: 'expires_at > :now',
          ExpressionAttributeValues: { ':now': table.clock.now() },
        },
        'takeNotice',
      );
      return row === null ? null : readRow(noticeRow, row, 'takeNotice');
    },

    async loadNotice(stored) {
      const row = await table.get(keyOf(stored), 'loadNotice');
      return row === null ? null : readRow(noticeRow, row, 'loadNotice');
    },

    async loadEvent(stored) {
      const row = await table.get(keyOf(stored), 'loadEvent');
      return row === null ? null : readRow(activityEvent, row, 'loadEvent');
    },

    claimBounce: (event) =>
      claim(table, event.repoId, 'claimBounce', {
        ...bounceClaimKey(event.repoId, event.pr, event.head),
        at: event.at,
      }),

    claimTelling(topic, event) {
      const expiresAt = table.clock.now() + NOTICE_CLAIM_KEPT_MS;
      return claim(table, event.repoId, 'claimTelling', {
        ...tellingClaimKey(event.repoId, topic, String(event.pr), event.head, event.reason ?? ''),
        at: event.at,
        expires_at: expiresAt,
        ttl: Math.ceil(expiresAt / 1000),
      });
    },
  };
}

async function claim(
  table: Table,
  repoId: RepoId,
  operation: string,
  Item: Record<string, unknown>,
): Promise<boolean> {
  const put = {
    Item,
    // One that has ended stays readable until the sweep (trap 10).
    ConditionExpression: 'attribute_not_exists(pk) OR expires_at <= :now',
    ExpressionAttributeValues: { ':now': table.clock.now() },
  };
  return (await table.transact([aliveCheck(repoId), { name: 'claim', put }], operation)).size === 0;
}
