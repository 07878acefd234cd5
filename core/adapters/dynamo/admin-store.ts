import { GSI2 } from '../../contracts/internal/table.ts';
import { ADMIN_SCAN_ROWS_MAX } from '../../domain/api-limits.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { AdminStore, ConnectionHead } from '../../ports/account-store.ts';
import { readReposByKey } from './read-repos.ts';
import { record, text, whole } from './rows/codec.ts';
import { ALL_CONNECTIONS_PARTITION, ALL_REPOS_PARTITION, ALL_TENANTS_PARTITION } from './rows/keys.ts';
import { readRow } from './rows/read-row.ts';
import type { Row, Table } from './table/table.ts';

const repoHead = record<Pick<ManagedRepo, 'id' | 'tenantId' | 'slug'>>({
  id: ['repo_id', text],
  tenantId: ['tenant_id', text],
  slug: ['slug', text],
});
const connectionHead = record<ConnectionHead>({
  id: ['connection_id', text],
  tenantId: ['tenant_id', text],
  instanceUrl: ['instance_url', text],
  botUsername: ['bot_username', text],
  createdAt: ['created_at', whole],
  updatedAt: ['updated_at', whole],
});
const credentialHead = record<{ readonly format: string; readonly keyVersion: number }>({
  format: ['credential_format', text],
  keyVersion: ['key_version', whole],
});

export function createAdminStore(table: Table): AdminStore {
  return {
    async searchRepos(wanted, offset, limit) {
      const rows = await listAll(table, ALL_REPOS_PARTITION, ADMIN_SCAN_ROWS_MAX + 1, 'searchRepos');
      const needle = wanted.toLowerCase();
      const found = rows
        .slice(0, ADMIN_SCAN_ROWS_MAX)
        .map((row) => readRow(repoHead, row, 'searchRepos'))
        .filter((repo) => repo.slug.toLowerCase().includes(needle));
      const page = found.slice(offset, offset + limit);
      const repos = await readReposByKey(table, page, 'searchRepos');
      return { repos, total: found.length, truncated: rows.length > ADMIN_SCAN_ROWS_MAX };
    },

    async listAllConnections(limit) {
      const rows = await listAll(table, ALL_CONNECTIONS_PARTITION, limit, 'listAllConnections');
      return rows.map((row) => readRow(connectionHead, row, 'listAllConnections'));
    },

    async countCredentials() {
      const rows = await listAll(
        table,
        ALL_CONNECTIONS_PARTITION,
        ADMIN_SCAN_ROWS_MAX + 1,
        'countCredentials',
      );
      const formats = new Map<string, number>();
      const keyVersions = new Map<number, number>();
      const counted = rows.slice(0, ADMIN_SCAN_ROWS_MAX);
      for (const row of counted) {
        const { format, keyVersion } = readRow(credentialHead, row, 'countCredentials');
        formats.set(format, (formats.get(format) ?? 0) + 1);
        keyVersions.set(keyVersion, (keyVersions.get(keyVersion) ?? 0) + 1);
      }
      return {
        formats,
        keyVersions,
        connections: counted.length,
        truncated: rows.length > ADMIN_SCAN_ROWS_MAX,
      };
    },

    countTenants: () =>
      table.count(
        {
          IndexName: GSI2.name,
          KeyConditionExpression: 'gsi2pk = :pk',
          ExpressionAttributeValues: { ':pk': ALL_TENANTS_PARTITION },
        },
        'countTenants',
      ),
  };
}

function listAll(table: Table, partition: string, limit: number, operation: string): Promise<readonly Row[]> {
  return table.query(
    {
      IndexName: GSI2.name,
      KeyConditionExpression: 'gsi2pk = :pk',
      ExpressionAttributeValues: { ':pk': partition },
    },
    limit,
    operation,
  );
}
