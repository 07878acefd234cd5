import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { PARTITIONS, type Partition } from '../../../contracts/internal/table.ts';
import type { TenantId } from '../../../domain/ids.ts';
import {
  isNamedAfterTenant,
  keptNotesPartition,
  REPO_SORT_PREFIX,
  repoIdOfPartition,
  tenantKey,
} from '../rows/keys.ts';
import type { Row } from './table.ts';

const TENANT_ROW = tenantKey('' as TenantId).sk;

/** Tenants that are in a restored table and have left since, with their repositories. */
export class LeftTenants {
  readonly ids = new Set<string>();
  readonly #repos = new Set<string>();

  /** Rows of a tenant come in the order of their keys: its own row before those of its repositories. */
  async add(
    { client, live }: { readonly client: DynamoDBDocumentClient; readonly live: string },
    row: Row,
    isLive: boolean,
  ): Promise<void> {
    const [pk, sk] = [String(row.pk), String(row.sk)];
    if (!pk.startsWith(PARTITIONS.tenant)) return;
    const id = pk.slice(PARTITIONS.tenant.length);
    if (sk === TENANT_ROW && !isLive && (await hasNotes(client, live, id as TenantId))) this.ids.add(id);
    if (sk.startsWith(REPO_SORT_PREFIX) && this.ids.has(id))
      this.#repos.add(sk.slice(REPO_SORT_PREFIX.length));
  }

  isOf(kind: Partition, row: Row): boolean {
    const pk = String(row.pk);
    if (isNamedAfterTenant(kind)) return this.ids.has(pk.slice(PARTITIONS[kind].length));
    if (kind === 'repo') return this.#repos.has(repoIdOfPartition(pk));
    return this.ids.has(String(row.tenant_id));
  }
}

/** Only a tenant that was erased has notes of that kind (`keepAudit`); one whose rows were lost has none. */
async function hasNotes(client: DynamoDBDocumentClient, table: string, id: TenantId): Promise<boolean> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': keptNotesPartition(id) },
      ConsistentRead: true,
      Limit: 1,
    }),
  );
  return Items.length > 0;
}
