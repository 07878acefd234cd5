import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { CreateTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { GSI1, GSI2, STREAM_VIEW, TABLE_KEYS, TTL_ATTRIBUTE } from '../../../contracts/internal/table.ts';

/** Creates the table as the stack does, from the same constants. */
export async function createTable(client: DynamoDBClient, tableName: string): Promise<void> {
  const indexes = [GSI1, GSI2];
  const names = [TABLE_KEYS, ...indexes].flatMap((keys) => [keys.partition, keys.sort]);
  await client.send(
    new CreateTableCommand({
      TableName: tableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: names.map((name) => ({ AttributeName: name, AttributeType: 'S' })),
      KeySchema: [
        { AttributeName: TABLE_KEYS.partition, KeyType: 'HASH' },
        { AttributeName: TABLE_KEYS.sort, KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: [
          { AttributeName: index.partition, KeyType: 'HASH' },
          { AttributeName: index.sort, KeyType: 'RANGE' },
        ],
        Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.projected] },
      })),
      StreamSpecification: { StreamEnabled: true, StreamViewType: STREAM_VIEW },
    }),
  );
  await client.send(
    new UpdateTimeToLiveCommand({
      TableName: tableName,
      TimeToLiveSpecification: { AttributeName: TTL_ATTRIBUTE, Enabled: true },
    }),
  );
}
