import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  UpdateTableCommand,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createTable } from '#core/adapters/dynamo/table/create-table.ts';
import { ConfigError, reasonOf } from './config.ts';

export const TABLE_NAME = 'mergeyard';
/**
 * Time within which a connection has to be made, in ms: a firewall before a database of another machine may drop every
 * packet.
 */
const CONNECT_WITHIN_MS = 3_000;

/** Opens clients of the table, and makes the table at the first start. Throws `ConfigError` where no database answers. */
export async function openTable(endpoint: string) {
  const local = {
    endpoint,
    region: 'onebox',
    credentials: { accessKeyId: 'onebox', secretAccessKey: 'onebox' },
    requestHandler: { connectionTimeout: CONNECT_WITHIN_MS },
  };
  const dynamo = new DynamoDBClient(local);
  try {
    await dynamo.send(new DescribeTableCommand({ TableName: TABLE_NAME }));
  } catch (error) {
    if (!(error instanceof ResourceNotFoundException))
      throw new ConfigError(
        `The database at ${endpoint} does not answer: ${reasonOf(error)}. Check that it runs.`,
      );
    await createTable(dynamo, TABLE_NAME);
  }
  await endStream(dynamo);
  return {
    documents: DynamoDBDocumentClient.from(dynamo),
    close: () => dynamo.destroy(),
  };
}

/**
 * Switches the table's stream off: the embedded database keeps each record for ever, and looks at all of them at each
 * write (decision 0311).
 */
async function endStream(dynamo: DynamoDBClient): Promise<void> {
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: TABLE_NAME }));
  if (Table?.StreamSpecification?.StreamEnabled !== true) return;
  const StreamSpecification = { StreamEnabled: false };
  await dynamo.send(new UpdateTableCommand({ TableName: TABLE_NAME, StreamSpecification }));
}
