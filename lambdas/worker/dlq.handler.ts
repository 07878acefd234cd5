import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { parseWakeMessage } from '#core/contracts/events.ts';
import { consumeBatch } from '#core/http/queue-batch.ts';
import { recordAbandonedWake } from '#core/services/dispatch-reconcile.ts';
import { createLog } from '#core/telemetry.ts';
import { WorkerDlqEnv } from './env.ts';

const env = WorkerDlqEnv.parse(process.env);
const log = createLog({ service: 'worker-dlq' });
const clock = createSystemClock();
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});

async function writeOff(record: SQSRecord): Promise<void> {
  const wake = parseWakeMessage(record.body);
  log.error('a wake failed for good', { message_id: record.messageId, repo_id: wake?.repoId ?? null });
  if (wake !== null) await recordAbandonedWake({ store, clock }, wake.repoId);
}

function run(event: SQSEvent): Promise<SQSBatchResponse> {
  return consumeBatch(event, log, writeOff);
}

export const handler = middy(run);
