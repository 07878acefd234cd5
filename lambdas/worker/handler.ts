import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ECSClient } from '@aws-sdk/client-ecs';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { ChangeMessageVisibilityCommand, SQSClient } from '@aws-sdk/client-sqs';
import { SSMClient } from '@aws-sdk/client-ssm';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createEngineDirectory } from '#core/adapters/ecs/engine-directory.ts';
import { createEngineFleet } from '#core/adapters/ecs/engine-fleet.ts';
import { createEngineClient } from '#core/adapters/engine-http/engine-client.ts';
import { openVault } from '#core/adapters/kms-vault/open-vault.ts';
import { createAsker } from '#core/adapters/lambda/asker.ts';
import { createIdleLooker } from '#core/adapters/lambda/idle-looker.ts';
import { createSecretReader } from '#core/adapters/parameter-store/secret-reader.ts';
import { createSqsWakeQueue } from '#core/adapters/sqs/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createUuidIds } from '#core/adapters/system/ids.ts';
import { writeBackportRequest, writeRepairRequest } from '#core/contracts/internal/forge-ops-requests.ts';
import { glanceOf, parseWakeMessage } from '#core/contracts/internal/wake-message.ts';
import { redeliverySeconds } from '#core/domain/wakes/wake-rule.ts';
import { consumeBatch } from '#core/http/queue-batch.ts';
import { createWakingEngine } from '#core/services/operation/engine-power.ts';
import { wishBackports } from '#core/services/pulls/backport.ts';
import { wishRepairs } from '#core/services/set-up/repair-setup.ts';
import { answerGlance } from '#core/services/wakes/answer-glance.ts';
import { type DispatchDeps, dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { createLookingEngine } from '#core/services/wakes/idle-look.ts';
import { createLog } from '#core/telemetry.ts';
import { WorkerEnv } from './env.ts';

const env = WorkerEnv.parse(process.env);
const log = createLog({ service: 'worker' });
const clock = createSystemClock();
// By its own name, not by the host in the queue's URL: inside the network only the former can be reached.
const sqs = new SQSClient({ useQueueUrlAsEndpoint: false });
const ecs = new ECSClient({});
const fleet = createEngineFleet({
  client: ecs,
  cluster: env.ENGINE_CLUSTER,
  service: env.ENGINE_SERVICE,
  tasks: env.ENGINE_TASKS,
});
const store = createDynamoStore({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});
const lambda = new LambdaClient({});
const looker = createIdleLooker({ client: lambda, functionName: env.IDLE_LOOK_FUNCTION });
const repairs = createAsker(lambda, env.SET_UP_FUNCTION, writeRepairRequest);
const backports = createAsker(lambda, env.SET_UP_FUNCTION, writeBackportRequest);
const queue = createSqsWakeQueue({
  client: sqs,
  wakeQueueUrl: env.WAKE_QUEUE_URL,
  delayedWakeQueueUrl: env.DELAYED_WAKE_QUEUE_URL,
});
const deps: DispatchDeps = {
  store,
  leases: store,
  vault: openVault(env, clock),
  engine: createWakingEngine(
    createEngineClient({
      engines: createEngineDirectory({
        client: ecs,
        cluster: env.ENGINE_CLUSTER,
        service: env.ENGINE_SERVICE,
        port: env.ENGINE_PORT,
        clock,
      }),
      readSecret: createSecretReader(new SSMClient({}), env.CONTAINER_SECRET_ID, clock),
      clock,
      log,
    }),
    { fleet, log },
  ),
  queue,
  clock,
  ids: createUuidIds(),
  log,
  queueName: env.QUEUE_NAME,
  planLimits: env.PLAN_LIMITS,
  workersMax: env.WORKERS_MAX,
};

async function answerWake(record: SQSRecord): Promise<void> {
  const wake = parseWakeMessage(record.body);
  if (wake === null) {
    log.warn('a message that is no wake was dropped', { message_id: record.messageId });
    return;
  }
  const glance = glanceOf(wake);
  if (glance !== null) {
    await answerGlance({ ...deps, store, queue, looker }, glance);
    return;
  }
  const engine = createLookingEngine({ store, looker, clock, log }, deps.engine, wake.repoId);
  const result = await dispatchReconcile({ ...deps, engine }, wake.repoId);
  if (result.kind === 'reconciled') {
    await wishRepairs({ store, repairs, clock, log }, result.repo);
    await wishBackports({ store, backports, clock, log }, result.repo);
  } else log.info('wake skipped', { repo_id: wake.repoId, reason: result.kind });
}

/** A store or queue that did not answer is asked again soon. Best effort: else when the visibility time-out ends. */
async function retrySoon(record: SQSRecord): Promise<void> {
  try {
    await sqs.send(
      new ChangeMessageVisibilityCommand({
        QueueUrl: env.WAKE_QUEUE_URL,
        ReceiptHandle: record.receiptHandle,
        VisibilityTimeout: redeliverySeconds(Number(record.attributes.ApproximateReceiveCount)),
      }),
    );
  } catch (error) {
    log.warn('visibility could not be shortened', { message_id: record.messageId, error });
  }
}

function run(event: SQSEvent): Promise<SQSBatchResponse> {
  return consumeBatch(event, log, answerWake, retrySoon);
}

export const handler = middy(run);
