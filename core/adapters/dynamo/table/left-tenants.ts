import { type DynamoDBDocumentClient, QueryCommand } from '@aws-sdk/lib-dynamodb';
import { PARTITIONS, type Partition } from '../../../contracts/internal/table.ts';
import type { EpochMs, TenantId } from '../../../domain/ids.ts';
import {
  isNamedAfterTenant,
  keptNotesPartition,
  padTime,
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

  /**
   * Adds a row of the restored table. A tenant's own row comes before those of its repositories, because rows come in
   * the order of their keys.
   * @param twin the same row of the live table; a tenant that left may have come back since, under the same id
   */
  async add(
    { client, live }: { readonly client: DynamoDBDocumentClient; readonly live: string },
    row: Row,
    twin: Row | undefined,
  ): Promise<void> {
    const [pk, sk] = [String(row.pk), String(row.sk)];
    if (!pk.startsWith(PARTITIONS.tenant)) return;
    const id = pk.slice(PARTITIONS.tenant.length);
    const isSame = twin !== undefined && twin.created_at === row.created_at;
    const madeAt = Number(row.created_at ?? 0);
    if (sk === TENANT_ROW && !isSame && (await wasErased(client, live, id as TenantId, madeAt)))
      this.ids.add(id);
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

/**
 * Whether a tenant was erased. Only an erased tenant has kept notes (`keepAudit`), the newest at its end; a tenant
 * whose rows were lost has none.
 */
async function wasErased(
  client: DynamoDBDocumentClient,
  table: string,
  id: TenantId,
  since: EpochMs,
): Promise<boolean> {
  const { Items = [] } = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: 'pk = :pk AND sk >= :since',
      ExpressionAttributeValues: { ':pk': keptNotesPartition(id), ':since': `A#${padTime(since)}` },
      ConsistentRead: true,
      Limit: 1,
    }),
  );
  return Items.length > 0;
}
