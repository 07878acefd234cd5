import type { MailboxStore } from '../../ports/mailbox-store.ts';
import { oneOf, record, text } from './codec.ts';
import { readRow } from './items.ts';
import { mailboxHash, mailboxKey } from './keys.ts';
import type { Table } from './table.ts';

const mailboxRow = record<{ readonly key: string; readonly state: 'confirmed' | 'unsubscribed' }>({
  key: ['mail_key', text],
  state: ['mail_state', oneOf(['confirmed', 'unsubscribed'])],
});

export function createMailboxStore(table: Table): MailboxStore {
  return {
    async openMailbox(tenantId, address, key) {
      const box = mailboxHash(address);
      // One write for all cases: what is stored already stays.
      const opened = await table.update(
        {
          Key: mailboxKey(tenantId, box),
          UpdateExpression:
            'SET mail_key = if_not_exists(mail_key, :key), mail_state = if_not_exists(mail_state, :confirmed)',
          ExpressionAttributeValues: { ':key': key, ':confirmed': 'confirmed' },
        },
        'openMailbox',
      );
      const row = readRow(mailboxRow, opened.ok ? opened.row : {}, 'openMailbox');
      return row.state === 'unsubscribed' ? null : { tenantId, box, key: row.key };
    },

    async leaveMailbox({ tenantId, box, key }) {
      const left = await table.update(
        {
          Key: mailboxKey(tenantId, box),
          UpdateExpression: 'SET mail_state = :unsubscribed',
          ConditionExpression: 'mail_key = :key',
          ExpressionAttributeValues: { ':unsubscribed': 'unsubscribed', ':key': key },
        },
        'leaveMailbox',
      );
      return left.ok;
    },
  };
}
