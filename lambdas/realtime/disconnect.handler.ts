import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createRealtimeStore } from '#core/adapters/dynamo/realtime-store.ts';
import { Table } from '#core/adapters/dynamo/table/table.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createLog } from '#core/telemetry.ts';
import { createDisconnect } from './disconnect.ts';
import { SocketDisconnectEnv } from './env.ts';

const env = SocketDisconnectEnv.parse(process.env);

export const handler = createDisconnect({
  store: createRealtimeStore(
    new Table({
      client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
      tableName: env.TABLE_NAME,
      clock: createSystemClock(),
    }),
  ),
  log: createLog({ service: 'socket-disconnect' }),
});
