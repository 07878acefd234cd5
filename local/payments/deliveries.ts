import { signPaymentEvent } from '#core/contracts/webhooks/payment-signature.ts';
import { Secret } from '#core/secret.ts';
import type { ProviderEvent } from './model.ts';

export interface DeliveryOptions {
  /** Null: no receiver listens yet. */
  readonly webhookUrl: () => string | null;
  readonly signingSecret: string;
  readonly now: () => number;
}

/** The real provider goes on for three days; a person at this machine looks sooner. */
const RETRY_AFTER_MS: readonly number[] = [200, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];

/** Sends events to the service, each until it is taken. Like the provider, it promises neither order nor once. */
export class Deliveries {
  readonly #options: DeliveryOptions;
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #held: ProviderEvent[] = [];
  #holding = false;
  #underWay = 0;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Events wait until `release`: for tests that choose order and number themselves. */
  hold(): void {
    this.#holding = true;
  }

  /** The events that waited; from now on events are sent again. */
  release(): readonly ProviderEvent[] {
    this.#holding = false;
    return this.#held.splice(0);
  }

  take(event: ProviderEvent): void {
    if (this.#holding) this.#held.push(event);
    else void this.#send(event, 0);
  }

  /** Headers and body of one delivery, as they go out now. */
  wrap(event: ProviderEvent): { readonly headers: Readonly<Record<string, string>>; readonly body: string } {
    const body = JSON.stringify(event);
    const secret = new Secret(this.#options.signingSecret);
    const signature = signPaymentEvent(secret, Buffer.from(body), this.#options.now());
    return { headers: { 'content-type': 'application/json', 'stripe-signature': signature }, body };
  }

  /** One try; the status of the answer, null when there was none. */
  async deliver(event: ProviderEvent): Promise<number | null> {
    const url = this.#options.webhookUrl();
    if (url === null) return null;
    const { headers, body } = this.wrap(event);
    try {
      const signal = AbortSignal.timeout(30_000);
      return (await fetch(url, { method: 'POST', headers, body, signal })).status;
    } catch {
      return null;
    }
  }

  /** Nothing is on its way. */
  get isQuiet(): boolean {
    return this.#underWay === 0;
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    this.#holding = true;
  }

  async #send(event: ProviderEvent, tried: number): Promise<void> {
    this.#underWay += 1;
    const status = await this.deliver(event);
    this.#underWay -= 1;
    const waitMs = RETRY_AFTER_MS[tried];
    if (status === 200 || waitMs === undefined || this.#holding) return;
    this.#underWay += 1;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#underWay -= 1;
      void this.#send(event, tried + 1);
    }, waitMs);
    this.#timers.add(timer);
  }
}
