import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { type DynamoDBDocumentClient, QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { CONNECTION_SORT_PREFIX, REPO_SORT_PREFIX, tenantKey } from '../rows/keys.ts';

/**
 * Sets the counters of a tenant, by its partition, to the connections and repositories that it has. Rows that were put behind the
 * counters would let it have more than its plan, and their deletion would count others off. Its rows must stand still meanwhile.
 */
export async function countAgain(
  { client, table }: { readonly client: DynamoDBDocumentClient; readonly table: string },
  partition: string,
): Promise<void> {
  let [connections, repos] = [0, 0];
  let from: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: table,
        KeyConditionExpression: 'pk = :pk',
        ProjectionExpression: 'sk, deleting, tombstone',
        ExpressionAttributeValues: { ':pk': partition },
        ConsistentRead: true,
        ExclusiveStartKey: from,
      }),
    );
    for (const { sk, deleting, tombstone } of page.Items ?? []) {
      // What is being deleted has given its place back.
      if (String(sk).startsWith(CONNECTION_SORT_PREFIX) && deleting !== true) connections += 1;
      if (String(sk).startsWith(REPO_SORT_PREFIX) && tombstone !== true) repos += 1;
    }
    from = page.LastEvaluatedKey;
  } while (from !== undefined);
  try {
    await client.send(
      new UpdateCommand({
        TableName: table,
        Key: { pk: partition, sk: tenantKey('').sk },
        UpdateExpression: 'SET conn_count = :connections, repo_count = :repos',
        ConditionExpression:
          'attribute_exists(conn_count) AND (conn_count <> :connections OR repo_count <> :repos)',
        ExpressionAttributeValues: { ':connections': connections, ':repos': repos },
      }),
    );
  } catch (error) {
    // They are right, or its own row is not there.
    if (!(error instanceof ConditionalCheckFailedException)) throw error;
  }
}
