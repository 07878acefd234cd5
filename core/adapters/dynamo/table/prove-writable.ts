import { type DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import type { Clock } from '../../../ports/system.ts';
import { proofKey } from '../rows/keys.ts';

export interface ProvenTable {
  readonly client: Pick<DynamoDBDocumentClient, 'send'>;
  readonly name: string;
  readonly clock: Pick<Clock, 'now'>;
}

/** Writes one small row, over itself each time. Rejects where the table takes none: a full disk can be read all the same. */
export async function proveWritable({ client, name, clock }: ProvenTable): Promise<void> {
  await client.send(new PutCommand({ TableName: name, Item: { ...proofKey, at: clock.now() } }));
}
