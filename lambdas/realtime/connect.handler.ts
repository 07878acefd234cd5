import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createRealtimeStore } from '#core/adapters/dynamo/realtime-store.ts';
import { Table } from '#core/adapters/dynamo/table.ts';
import { chooseIdentity } from '#core/adapters/identity-http/choose-identity.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createLog } from '#core/telemetry.ts';
import { createConnect } from './admit.ts';
import { SocketConnectEnv } from './env.ts';

const env = SocketConnectEnv.parse(process.env);
const clock = createSystemClock();

export const handler = createConnect({
  store: createRealtimeStore(
    new Table({
      client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
      tableName: env.TABLE_NAME,
      clock,
    }),
  ),
  identity: chooseIdentity(env, clock),
  log: createLog({ service: 'socket-connect' }),
  clock,
  publicUrl: env.PUBLIC_URL,
});
