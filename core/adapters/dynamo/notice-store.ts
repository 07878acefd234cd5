import { NOTICE_KEPT_MS } from '../../domain/api-limits.ts';
import { NOTICE_KINDS, type NoticeRequest, type NoticeStore } from '../../ports/notifier.ts';
import { keyOf } from './changes.ts';
import { aliveCheck } from './checks.ts';
import { nullable, oneOf, record, text } from './codec.ts';
import { activityEvent, readRow } from './items.ts';
import { bounceClaimKey, noticeKey } from './keys.ts';
import type { Table } from './table.ts';

const noticeRow = record<NoticeRequest>({
  kind: ['kind', oneOf(NOTICE_KINDS)],
  tenantId: ['tenant_id', text],
  subject: ['subject', text],
  email: ['email', nullable(text)],
});

export function createNoticeStore(table: Table): NoticeStore {
  return {
    async requestNotice(notice) {
      const expiresAt = table.clock.now() + NOTICE_KEPT_MS;
      const Item = {
        ...noticeKey(notice.tenantId, notice.kind, notice.subject),
        ...noticeRow.write(notice),
        expires_at: expiresAt,
        ttl: Math.ceil(expiresAt / 1000),
      };
      return table.put({ Item, ConditionExpression: 'attribute_not_exists(pk)' }, 'requestNotice');
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

    async loadEvent(stored) {
      const row = await table.get(keyOf(stored), 'loadEvent');
      return row === null ? null : readRow(activityEvent, row, 'loadEvent');
    },

    async claimBounce(event) {
      const refusals = await table.transact(
        [
          aliveCheck(event.repoId),
          {
            name: 'claim',
            put: {
              Item: { ...bounceClaimKey(event.repoId, event.pr, event.head), at: event.at },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
        ],
        'claimBounce',
      );
      return refusals.size === 0;
    },
  };
}
