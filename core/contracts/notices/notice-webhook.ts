import * as z from 'zod';
import { CHAT_URL_CHARS_MAX } from '../../domain/api-limits.ts';
import { DELIVERY_KINDS, DELIVERY_STATES, type Delivery } from '../../domain/notices/webhook-delivery.ts';
import { formatTime, formatTimeOrNull, Time } from '../fields.ts';

export const NoticeWebhookBody = z.object({
  /** https, a host with a name, no port, no userinfo and no fragment. */
  url: z
    .string()
    .max(CHAT_URL_CHARS_MAX)
    .regex(/^https:\/\/([a-z0-9-]+\.)+[a-z][a-z0-9-]*(\/[!$-[\]-~]*)?$/),
});
/** The only answer that shows the secret. */
export const NoticeWebhookMade = z.object({ host: z.string(), secret: z.string() });
export const NoticesAsked = z.object({ asked: z.boolean() });

/** Neither a body nor a secret. `status`: answer of the receiver; null: none came. */
export const DeliveryList = z.object({
  deliveries: z.array(
    z.object({
      id: z.string(),
      kind: z.enum(DELIVERY_KINDS),
      at: Time,
      state: z.enum(DELIVERY_STATES),
      attempts: z.int(),
      status: z.int().nullable(),
      tried_at: Time.nullable(),
      next_at: Time.nullable(),
    }),
  ),
});

export function toDeliveryList(deliveries: readonly Delivery[]): z.infer<typeof DeliveryList> {
  return {
    deliveries: deliveries.map(({ id, kind, at, state, attempts, status, triedAt, nextAt }) => ({
      id,
      kind,
      at: formatTime(at),
      state,
      attempts,
      status,
      tried_at: formatTimeOrNull(triedAt),
      next_at: formatTimeOrNull(nextAt),
    })),
  };
}
