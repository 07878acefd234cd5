import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ECSClient } from '@aws-sdk/client-ecs';
import { SQSClient } from '@aws-sdk/client-sqs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createEngineFleet } from '#core/adapters/ecs/engine-fleet.ts';
import { createDeadWakes } from '#core/adapters/sqs/dead-wakes.ts';
import { createSqsWakeSender } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { askRetries } from '#core/services/notices/deliver-webhook.ts';
import { watchQueues } from '#core/services/notices/watch-queues.ts';
import { tendEngine } from '#core/services/operation/engine-power.ts';
import { writeOffDeadWakes } from '#core/services/wakes/dead-wakes.ts';
import { wakeDueRepos } from '#core/services/wakes/send-wakes.ts';
import { createLog } from '#core/telemetry.ts';
import { TickEnv } from './env.ts';

const env = TickEnv.parse(process.env);
const log = createLog({ service: 'tick' });
const clock = createSystemClock();
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
const sqs = new SQSClient({});
const queue = createSqsWakeSender({ client: sqs, wakeQueueUrl: env.WAKE_QUEUE_URL });
const deadWakes = createDeadWakes({ client: sqs, queueUrl: env.DEAD_WAKES_URL });

const fleet = createEngineFleet({
  client: new ECSClient({}),
  cluster: env.ENGINE_CLUSTER,
  service: env.ENGINE_SERVICE,
  tasks: env.ENGINE_TASKS,
});

async function tick(): Promise<void> {
  // First, so that the engine starts while the wakes travel.
  await tendEngine({ fleet, store, clock, log });
  await writeOffDeadWakes({ deadWakes, store, clock, log });
  const result = await wakeDueRepos({ store, queue, clock, log, planLimits: env.PLAN_LIMITS });
  await watchQueues({ store, clock, log, planLimits: env.PLAN_LIMITS });
  await askRetries({ store, clock, log });
  log.info('tick', { ...result });
  // Some repos failing is their trouble; all of them failing is ours, and the alarm should know.
  if (result.failed > 0 && result.woken === 0) throw new Error('no due repo could be woken');
}

export const handler = middy(tick);
