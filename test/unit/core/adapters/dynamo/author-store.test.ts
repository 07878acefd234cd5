import { createAuthorStore } from '#core/adapters/dynamo/author-store.ts';
import type { Row, Table } from '#core/adapters/dynamo/table/table.ts';

const PEOPLE = 1_500;

test('the wishes of a tenant of many people are listed to the last: who is not listed could not end the mails', async () => {
  const rows = Array.from(
    { length: PEOPLE },
    (_, nth): Row => ({
      tenant_id: 'tenant-1',
      person: `person-${nth}`,
      instance_url: 'https://git.example.org',
      login: `person-${nth}`,
      email: `person-${nth}@example.org`,
      topics: ['landed'],
      proven_at: 1,
    }),
  );
  const table = { query: async (_: unknown, limit: number) => rows.slice(0, limit) } as unknown as Table;
  const listed = await createAuthorStore(table).listAuthorNotices('tenant-1');
  expect(listed.at(-1)?.person).toBe(`person-${PEOPLE - 1}`);
});
