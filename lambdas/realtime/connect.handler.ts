import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createRateStore } from '#core/adapters/dynamo/rate-store.ts';
import { createRealtimeStore } from '#core/adapters/dynamo/realtime-store.ts';
import { Table } from '#core/adapters/dynamo/table/table.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createLog } from '#core/telemetry.ts';
import { createConnect } from './admit.ts';
import { SocketConnectEnv } from './env.ts';

const env = SocketConnectEnv.parse(process.env);
const clock = createSystemClock();

const table = new Table({
  client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
  tableName: env.TABLE_NAME,
  clock,
});

export const handler = createConnect({
  store: createRealtimeStore(table),
  rates: createRateStore(table),
  rateFactor: env.RATE_FACTOR,
  edgeStamp: env.EDGE_STAMP,
  requiredStamp: env.REQUIRED_STAMP,
  identity: chooseIdentity(env, clock),
  log: createLog({ service: 'socket-connect' }),
  clock,
  publicUrl: env.PUBLIC_URL,
});
