import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createNotifier } from '#core/adapters/email-chat/notifier.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { createLog } from '#core/telemetry.ts';
import { NotifyEnv } from './env.ts';
import { createNotify } from './notify.ts';

const env = NotifyEnv.parse(process.env);

export const handler = createNotify({
  store: createDynamoStore({
    client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
    tableName: env.TABLE_NAME,
    clock: createSystemClock(),
  }),
  notifier: createNotifier({
    // One attempt: a mail whose answer was lost may have been sent.
    email: { client: new SESv2Client({ maxAttempts: 1 }), from: env.NOTIFICATION_FROM },
    // No private host is vouched for: both chats are public services.
    send: createGuardedHttp({ allowHosts: [] }).send,
  }),
  log: createLog({ service: 'notify' }),
  billingUrl: `${env.PUBLIC_URL.replace(/\/+$/, '')}/billing`,
});
