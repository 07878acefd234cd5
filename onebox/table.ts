import { DescribeTableCommand, DynamoDBClient, ResourceNotFoundException } from '@aws-sdk/client-dynamodb';
import { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createTable } from '#core/adapters/dynamo/create-table.ts';

export const TABLE_NAME = 'mergeyard';

/** Clients of the table, which is made at the first start. */
export async function openTable(endpoint: string) {
  const local = {
    endpoint,
    region: 'onebox',
    credentials: { accessKeyId: 'onebox', secretAccessKey: 'onebox' },
  };
  const dynamo = new DynamoDBClient(local);
  const streams = new DynamoDBStreamsClient(local);
  try {
    await dynamo.send(new DescribeTableCommand({ TableName: TABLE_NAME }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException)) throw error;
    await createTable(dynamo, TABLE_NAME);
  }
  return {
    documents: DynamoDBDocumentClient.from(dynamo),
    streams,
    close: () => {
      dynamo.destroy();
      streams.destroy();
    },
  };
}
