import type { EpochMs } from '../../domain/ids.ts';
import type { MailboxState } from '../../domain/notices/notice-ways.ts';
import type { MailboxStore } from '../../ports/mailbox-store.ts';
import { stayingTenant } from './account-store.ts';
import { oneOf, optional, record, text, whole } from './rows/codec.ts';
import { mailboxHash, mailboxKey, mailKeyHash } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

interface MailboxRow {
  readonly key: string;
  readonly state: MailboxState;
  readonly confirmedAt: EpochMs | undefined;
  readonly askedUntil: EpochMs | undefined;
}

const mailboxRow = record<MailboxRow>({
  key: ['mail_key', text],
  state: ['mail_state', oneOf(['waiting', 'confirmed', 'unsubscribed'])],
  confirmedAt: ['confirmed_at', optional(whole)],
  askedUntil: ['asked_until', optional(whole)],
});

/**
 * State of a mailbox. Rows from before confirmations say `confirmed` although the mailbox was never asked, so the time
 * of the confirmation decides.
 */
function stateOf({ state, confirmedAt }: MailboxRow): MailboxState {
  return state === 'confirmed' && confirmedAt === undefined ? 'waiting' : state;
}

export function createMailboxStore(table: Table): MailboxStore {
  const read = (row: Row, operation: string) => readRow(mailboxRow, row, operation);
  return {
    async openMailbox(tenantId, address, key) {
      const box = mailboxHash(address);
      const Key = mailboxKey(tenantId, box);
      const load = () => table.get(Key, 'openMailbox');
      const make = async () => {
        const Item = { ...Key, mail_key: key, mail_state: 'waiting' };
        await table.transact(
          [
            stayingTenant(tenantId),
            { name: 'mailbox', put: { Item, ConditionExpression: 'attribute_not_exists(pk)' } },
          ],
          'openMailbox',
        );
        // Of two that make it at once, both read what the first has stored.
        return load();
      };
      const stored = (await load()) ?? (await make());
      if (stored === null) return null;
      const row = read(stored, 'openMailbox');
      return {
        link: { tenantId, box, key: row.key },
        state: stateOf(row),
        asked: row.askedUntil !== undefined,
      };
    },

    async readMailboxStates(tenantId, addresses) {
      const boxes = new Map(
        addresses.map((address) => [address, mailboxKey(tenantId, mailboxHash(address))]),
      );
      const keys = new Map([...boxes.values()].map((key) => [key.sk, key]));
      const rows = await table.getMany([...keys.values()], 'readMailboxStates');
      const states = new Map(rows.map((row) => [row.sk, stateOf(read(row, 'readMailboxStates'))]));
      return new Map([...boxes].map(([address, { sk }]) => [address, states.get(sk) ?? 'waiting']));
    },

    async beginConfirmation({ tenantId, box }, { key, until }, again) {
      const begun = await table.update(
        {
          Key: mailboxKey(tenantId, box),
          UpdateExpression: 'SET ask_hash = :hash, asked_until = :until',
          ConditionExpression: [
            'attribute_exists(mail_key) AND mail_state <> :unsubscribed AND attribute_not_exists(confirmed_at)',
            ...(again ? [] : ['attribute_not_exists(asked_until)']),
          ].join(' AND '),
          ExpressionAttributeValues: {
            ':hash': mailKeyHash(key),
            ':until': until,
            ':unsubscribed': 'unsubscribed',
          },
        },
        'beginConfirmation',
      );
      return begun.ok;
    },

    async confirmMailbox({ tenantId, box, key }) {
      const now = table.clock.now();
      const confirmed = await table.update(
        {
          Key: mailboxKey(tenantId, box),
          UpdateExpression: 'SET mail_state = :confirmed, confirmed_at = :now',
          ConditionExpression: 'ask_hash = :hash AND asked_until > :now',
          ExpressionAttributeValues: { ':confirmed': 'confirmed', ':hash': mailKeyHash(key), ':now': now },
        },
        'confirmMailbox',
      );
      return confirmed.ok;
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

    async returnToMailbox({ tenantId, box, key }) {
      const returned = await table.update(
        {
          Key: mailboxKey(tenantId, box),
          UpdateExpression: 'SET mail_state = :confirmed, confirmed_at = :now',
          // A link that ends mails is in the confirmation mail too, and must not confirm what waits.
          ConditionExpression:
            'mail_key = :key AND (mail_state = :unsubscribed OR attribute_exists(confirmed_at))',
          ExpressionAttributeValues: {
            ':confirmed': 'confirmed',
            ':now': table.clock.now(),
            ':key': key,
            ':unsubscribed': 'unsubscribed',
          },
        },
        'returnToMailbox',
      );
      return returned.ok;
    },
  };
}
