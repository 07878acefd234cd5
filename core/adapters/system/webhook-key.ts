import { randomBytes } from 'node:crypto';
import { WEBHOOK_SECRET_PREFIX } from '../../domain/notices/notice-ways.ts';
import { Secret } from '../../secret.ts';

/** The Standard Webhooks specification takes 24 to 64 bytes. */
const KEY_BYTES = 32;

export function makeWebhookKey(): Secret<string> {
  return new Secret(`${WEBHOOK_SECRET_PREFIX}${randomBytes(KEY_BYTES).toString('base64')}`);
}
