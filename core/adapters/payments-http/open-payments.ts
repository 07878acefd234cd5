import type { PriceBook } from '../../domain/tenants/subscription.ts';
import { type OpenPayments, PaymentsError } from '../../ports/payments.ts';
import type { Clock } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { createPayments } from './payments.ts';
import { isPaymentsKey } from './payments-key.ts';

export interface OpenPaymentsConfig {
  readonly apiUrl: string;
  /** Prices by tier and kind; null: nothing is sold. */
  readonly prices: PriceBook | null;
  readonly readKey: (() => Promise<Secret<string>>) | null;
  readonly clock: Pick<Clock, 'sleep' | 'now'>;
}

/** Opens the provider; null without prices, without a secret, or without a key in it, and then no call is made (A109). */
export function createPaymentsOpener(config: OpenPaymentsConfig): OpenPayments {
  let open: { readonly key: string; readonly payments: ReturnType<typeof createPayments> } | null = null;
  return async () => {
    const { apiUrl, clock, prices, readKey } = config;
    if (prices === null || readKey === null) return null;
    const key = await readKey().catch(() => {
      // Configured, but not to be had now: that is the provider being away, not payments being off.
      throw new PaymentsError('unreachable', 'readKey', null);
    });
    if (!isPaymentsKey(key)) return null;
    if (open?.key !== key.reveal())
      open = { key: key.reveal(), payments: createPayments({ apiUrl, key, clock }) };
    return open.payments;
  };
}
