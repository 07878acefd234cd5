import { PAYMENTS_REPEATS_MAX, PAYMENTS_TIMEOUT_MS, SUBSCRIPTIONS_LISTED_MAX } from '../../domain/limits.ts';
import type { Subscription } from '../../domain/tenants/subscription.ts';
import { PaymentsError, type SubscriptionReader } from '../../ports/payments.ts';
import type { Clock } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { isPaymentsKey } from './payments-key.ts';
import { SubscriptionList } from './schema.ts';

export interface SubscriptionListConfig {
  /** Base address of the provider's API. */
  readonly apiUrl: string;
  readonly key: Secret<string>;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Time limit of a call, in ms. @default PAYMENTS_TIMEOUT_MS */
  readonly timeoutMs?: number;
}

/** The version whose shapes `schema.ts` reads: that of the pinned SDK, which says the same with its own calls. */
export const PAYMENTS_API_VERSION = '2026-10-28.endive';
const REPEAT_AFTER_MS = 400;
const OPERATION = 'listSubscriptions';

/**
 * Reads subscriptions, the one call that the webhook makes. It is made without the SDK, which would double that
 * function's bundle. Without a `status` the provider leaves out cancelled subscriptions, which do not count anyway.
 */
export function createSubscriptionReader(config: SubscriptionListConfig): SubscriptionReader {
  return {
    async listSubscriptions(customerId) {
      const query = new URLSearchParams({ customer: customerId, limit: String(SUBSCRIPTIONS_LISTED_MAX) });
      const url = `${config.apiUrl.replace(/\/+$/, '')}/v1/subscriptions?${query}`;
      for (let repeated = 0; ; repeated += 1) {
        const answer = await ask(config, url);
        const passes = answer === null || answer.status === 429 || answer.status >= 500;
        if (!passes) return read(answer);
        if (repeated >= PAYMENTS_REPEATS_MAX) {
          throw new PaymentsError('unreachable', OPERATION, answer?.status ?? null);
        }
        await config.clock.sleep(REPEAT_AFTER_MS);
      }
    },
  };
}

/** Opens the reader for a function that only follows; null while the secret holds no key of the provider. */
export function createReaderOpener(
  config: Omit<SubscriptionListConfig, 'key'> & { readonly readKey: (() => Promise<Secret<string>>) | null },
): () => Promise<SubscriptionReader | null> {
  const { readKey, ...rest } = config;
  return async () => {
    const key = await readKey?.().catch(() => {
      throw new PaymentsError('unreachable', 'readKey', null);
    });
    return key === undefined || !isPaymentsKey(key) ? null : createSubscriptionReader({ ...rest, key });
  };
}

interface Answer {
  readonly status: number;
  readonly value: unknown;
}

/** Sends a request; null: no answer in time. An error is dropped, because it may quote the request with the key (A95). */
async function ask(config: SubscriptionListConfig, url: string): Promise<Answer | null> {
  try {
    const response = await fetch(url, {
      headers: {
        authorization: `Bearer ${config.key.reveal()}`,
        'stripe-version': PAYMENTS_API_VERSION,
        accept: 'application/json',
      },
      redirect: 'error',
      signal: AbortSignal.timeout(config.timeoutMs ?? PAYMENTS_TIMEOUT_MS),
    });
    const text = await response.text();
    return { status: response.status, value: parse(text) };
  } catch {
    return null;
  }
}

function read({ status, value }: Answer): readonly Subscription[] {
  if (status !== 200) throw new PaymentsError('rejected', OPERATION, status);
  const list = SubscriptionList.safeParse(value);
  // A list that cannot be read is no empty list: that would cancel a plan.
  if (!list.success) throw new PaymentsError('unreachable', OPERATION, status);
  return list.data.data;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
