import { ApiGatewayManagementApiClient } from '@aws-sdk/client-apigatewaymanagementapi';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createRealtimeStore } from '#core/adapters/dynamo/realtime-store.ts';
import { Table } from '#core/adapters/dynamo/table/table.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createSocketSender } from '#core/adapters/websocket/socket-sender.ts';
import { createLog } from '#core/telemetry.ts';
import { SocketPushEnv } from './env.ts';
import { createPush } from './push.ts';

const env = SocketPushEnv.parse(process.env);
const clock = createSystemClock();

export const handler = createPush({
  store: createRealtimeStore(
    new Table({
      client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
      tableName: env.TABLE_NAME,
      clock,
    }),
  ),
  sender: createSocketSender(new ApiGatewayManagementApiClient({ maxAttempts: 2 })),
  log: createLog({ service: 'socket-push' }),
  clock,
});
