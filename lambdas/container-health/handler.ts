import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ECSClient } from '@aws-sdk/client-ecs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import middy from '@middy/core';
import { createRateStore } from '#core/adapters/dynamo/rate-store.ts';
import { Table } from '#core/adapters/dynamo/table/table.ts';
import { createEngineDirectory } from '#core/adapters/ecs/engine-directory.ts';
import { createEngineFleet } from '#core/adapters/ecs/engine-fleet.ts';
import { createEngineProbe } from '#core/adapters/engine-http/engine-client.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { answerWithEnvelope } from '#core/http/error-middleware.ts';
import { wakeEngine } from '#core/services/operation/engine-power.ts';
import { createLog } from '#core/telemetry.ts';
import { ContainerHealthEnv } from './env.ts';
import { createContainerHealth } from './routes.ts';

const env = ContainerHealthEnv.parse(process.env);
const log = createLog({ service: 'container-health' });
const clock = createSystemClock();
const ecs = new ECSClient({});
const probe = createEngineProbe(
  createEngineDirectory({
    client: ecs,
    cluster: env.ENGINE_CLUSTER,
    service: env.ENGINE_SERVICE,
    port: env.ENGINE_PORT,
    clock,
  }),
);
const fleet = createEngineFleet({
  client: ecs,
  cluster: env.ENGINE_CLUSTER,
  service: env.ENGINE_SERVICE,
  tasks: env.ENGINE_TASKS,
});
const check = createContainerHealth({
  // The contract lets this wake the container; asking again in a minute then tells the truth about one that slept.
  isHealthy: async () => {
    const healthy = await probe();
    if (!healthy) await wakeEngine({ fleet, log });
    return healthy;
  },
  clock,
  log,
  rateFactor: env.RATE_FACTOR,
  edgeStamp: env.EDGE_STAMP,
  requiredStamp: env.REQUIRED_STAMP,
  rates: createRateStore(
    new Table({
      client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
      tableName: env.TABLE_NAME,
      clock,
    }),
  ),
});

export const handler = middy(check).use(answerWithEnvelope(log, env.REQUIRED_STAMP));
