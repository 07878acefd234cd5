import { createHmac } from 'node:crypto';
import { NOTICE_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { parseWebhook, WEBHOOK_SECRET_PREFIX } from '../../domain/notices/notice-ways.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { type HttpSend, HttpSendError } from '../http-guard/http-send.ts';

/** Headers of the Standard Webhooks specification, version 1: HMAC-SHA256 over id, time in seconds and body. */
export function signWebhook(
  secret: string,
  { id, seconds, body }: { readonly id: string; readonly seconds: number; readonly body: string },
): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice(WEBHOOK_SECRET_PREFIX.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(seconds), 'webhook-signature': `v1,${signature}` };
}

/** Sends to webhooks. `send` is the guarded client, as for chats. */
export function createWebhookSender(send: HttpSend): Pick<Notifier, 'sendWebhook'> {
  return {
    async sendWebhook(target, { id, body }, now) {
      const webhook = parseWebhook(target.reveal());
      if (webhook === null) return null;
      const signed = signWebhook(webhook.secret, { id, seconds: Math.floor(now / 1000), body });
      try {
        const { status } = await send({
          method: 'POST',
          url: webhook.url,
          headers: { 'content-type': 'application/json', 'user-agent': 'Mergeyard', ...signed },
          body,
          timeoutMs: NOTICE_TIMEOUT_MS,
          bodyBytesMax: 0,
        });
        return status;
      } catch (error) {
        if (error instanceof HttpSendError) return null;
        throw error;
      }
    },
  };
}
