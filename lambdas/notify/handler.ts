import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { SESv2Client } from '@aws-sdk/client-sesv2';
import { SSMClient } from '@aws-sdk/client-ssm';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import type { EmailConfig } from '#core/adapters/email-chat/mail.ts';
import { createNotifier } from '#core/adapters/email-chat/notifier.ts';
import { createGuardedHttp } from '#core/adapters/http-guard/guarded-http.ts';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createSecretReader } from '#core/adapters/parameter-store/secret-reader.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { makeUpText } from '#core/adapters/system/made-up-text.ts';
import { MAIL_KEY_CHARS } from '#core/contracts/notices/mailbox.ts';
import { createLog } from '#core/telemetry.ts';
import { NotifyEnv } from './env.ts';
import { createNotify } from './notify.ts';

const env = NotifyEnv.parse(process.env);
const clock = createSystemClock();
// No private host is vouched for: chats and mail provider are public services, and not this one.
const { send } = createGuardedHttp({ allowHosts: [], denyHosts: [new URL(env.PUBLIC_URL).host] });

function chooseEmail(): EmailConfig {
  const from = env.NOTIFICATION_FROM;
  if (from === '') return { way: 'none' };
  if (env.EMAIL_API_KEY_SECRET_ID === '') {
    // One attempt: a mail whose answer was lost may have been sent.
    return { way: 'ses', client: new SESv2Client({ maxAttempts: 1 }), from };
  }
  const readKey = createSecretReader(new SSMClient({}), env.EMAIL_API_KEY_SECRET_ID, clock);
  return { way: 'api', send, url: env.EMAIL_API_URL, readKey, from };
}

export const handler = createNotify({
  store: createDynamoStore({
    client: DynamoDBDocumentClient.from(new DynamoDBClient({})),
    tableName: env.TABLE_NAME,
    clock,
  }),
  secrets: createKmsSecretBox({ client: new KMSClient({}) }),
  notifier: createNotifier({ email: chooseEmail(), send }),
  clock,
  log: createLog({ service: 'notify' }),
  serviceUrl: env.PUBLIC_URL.replace(/\/+$/, ''),
  makeMailKey: () => makeUpText(MAIL_KEY_CHARS),
});
