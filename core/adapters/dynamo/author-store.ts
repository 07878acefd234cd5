import { PULL_TOPICS } from '../../domain/notices/notice-topics.ts';
import type { AuthorNotices, AuthorStore } from '../../ports/author-store.ts';
import { ownLogin, stayingTenant } from './account-store.ts';
import { listOfKnown, nullable, record, text, whole } from './rows/codec.ts';
import { authorGuardKey, authorKey, authorPartition } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Step, Table } from './table/table.ts';

const authorRow = record<AuthorNotices>({
  tenantId: ['tenant_id', text],
  person: ['person', nullable(text)],
  instanceUrl: ['instance_url', text],
  login: ['login', text],
  email: ['email', text],
  topics: ['topics', listOfKnown(PULL_TOPICS)],
  provenAt: ['proven_at', whole],
});
const guardRow = record<{ readonly tenantId: string }>({ tenantId: ['tenant_id', text] });

/**
 * The wishes of authors. A wish is a row of its tenant and is deleted with it. A second row leads from the hash of the
 * login to the wish, and is deleted with the wish.
 */
export function createAuthorStore(table: Table): AuthorStore {
  return {
    async saveAuthorNotices(notices, endsAt) {
      const guard = authorGuardKey(notices.instanceUrl, notices.login);
      const key = authorKey(notices);
      if (guard === null || key === null) return false;
      const ttl = Math.ceil(endsAt / 1000);
      const refusals = await table.transact(
        [
          stayingTenant(notices.tenantId),
          { name: 'notices', put: { Item: { ...key, ...authorRow.write(notices) } } },
          { name: 'login', put: { Item: { ...guard, ...guardRow.write(notices), ttl } } },
        ],
        'saveAuthorNotices',
      );
      return refusals.size === 0;
    },

    async removeAuthorNotices(notices) {
      const key = authorKey(notices);
      if (key === null) return;
      const login: Step = { name: 'login', delete: ownLogin(notices.tenantId, key) };
      const wish: Step = { name: 'notices', delete: { Key: key } };
      const refusals = await table.transact([login, wish], 'removeAuthorNotices');
      // A newer proof of another account has the login, or the row has ended by time.
      if (refusals.size > 0) await table.remove({ Key: key }, 'removeAuthorNotices');
    },

    async listAuthorNotices(tenantId) {
      const rows = await table.query(
        {
          KeyConditionExpression: 'pk = :pk',
          ExpressionAttributeValues: { ':pk': authorPartition(tenantId) },
        },
        // All of them: who is not listed could not end the mails.
        Number.POSITIVE_INFINITY,
        'listAuthorNotices',
      );
      return rows.map((row) => readRow(authorRow, row, 'listAuthorNotices'));
    },

    async findAuthorNotices(instanceUrl, login) {
      const guard = authorGuardKey(instanceUrl, login);
      const found = guard === null ? null : await table.get(guard, 'findAuthorNotices');
      if (found === null) return null;
      const { tenantId } = readRow(guardRow, found, 'findAuthorNotices');
      const key = authorKey({ tenantId, instanceUrl, login });
      const row = key === null ? null : await table.get(key, 'findAuthorNotices');
      return row === null ? null : readRow(authorRow, row, 'findAuthorNotices');
    },
  };
}
