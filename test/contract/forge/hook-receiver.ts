import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createForgeAdmin } from '#core/adapters/forge-http/admin.ts';
import { createForgeTransport } from '#core/adapters/forge-http/wire/transport.ts';
import { AppError } from '#core/contracts/errors.ts';
import { parseHubSignature } from '#core/contracts/webhooks/hub-signature.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { Secret } from '#core/secret.ts';
import { registerWebhook } from '#core/services/set-up/webhook-registration.ts';
import { acceptForgeWebhook } from '#core/services/webhooks/accept-forge-webhook.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { createMemoryStore } from '../../fakes/memory-store.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import { FakeWakeQueue } from '../../fakes/wake-queue.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import type { RepoDriver } from './subject.ts';

/** Far enough away that only an event can make the repo due. */
const DUE_LATER = Date.UTC(2100, 0, 1);
const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

export interface Delivery {
  /** Subject's time. */
  readonly at: number;
  readonly event: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The answer of the service's route: an outcome, or the code of a refusal. */
  readonly outcome: string;
}

/**
 * A repo that is registered with the forge by our own service, and the route behind its hook: a plain server on
 * loopback over the accepting service and a store in memory.
 */
export class HookReceiver {
  readonly deliveries: Delivery[] = [];
  readonly admin: ForgeAdmin;
  readonly #clock = new VirtualClock();
  readonly #store = createMemoryStore({ clock: this.#clock });
  readonly #queue = new FakeWakeQueue(this.#clock);
  readonly #secrets = new FakeSecretBox();
  readonly #driver: RepoDriver;
  readonly #server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      void this.#take(request.url ?? '', request.headers, Buffer.concat(parts)).then((status) =>
        response.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
      );
    });
  });
  /** Answered instead of what our route says; null = what it says. */
  answer: number | null = null;

  private constructor(driver: RepoDriver) {
    const { access } = driver.subject;
    this.#driver = driver;
    this.admin = createForgeAdmin(
      createForgeTransport({
        instanceUrl: access.instanceUrl,
        slug: driver.slug,
        token: new Secret(access.tokens.bot?.token ?? ''),
        send: access.send,
        clock: { now: () => Date.now() },
      }),
    );
  }

  static async open(driver: RepoDriver): Promise<HookReceiver> {
    const receiver = new HookReceiver(driver);
    await receiver.#open();
    return receiver;
  }

  async #open(): Promise<void> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const { instanceUrl } = this.#driver.subject.access;
    const botUsername = this.#driver.loginOf('bot');
    await this.#store.createTenant('tenant-1', 0);
    await this.#store.createConnection(givenConnection({ instanceUrl, botUsername }));
    await this.#store.createRepo(
      givenRepo({ instanceUrl, slug: this.#driver.slug, wakeupMode: 'webhook', dueAt: DUE_LATER }),
      null,
    );
    await this.register();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  async repo(): Promise<ManagedRepo> {
    const repo = await this.#store.getRepo('repo-1');
    if (repo === null) throw new Error('the repo is gone');
    return repo;
  }

  /** Of the hook that is registered. */
  async secret(): Promise<Secret<string>> {
    const { id, tenantId, webhookSecret } = await this.repo();
    return this.#secrets.open(
      { tenantId, repoId: id, purpose: 'webhook-secret' },
      webhookSecret?.reveal() ?? '',
    );
  }

  async register(): Promise<void> {
    let ids = 0;
    const started = Date.now().toString(16).padStart(12, '0');
    const uuid = () => {
      ids += 1;
      return `${String(ids).padStart(8, '0')}-0000-4000-8000-${started}`;
    };
    const deps = {
      store: this.#store,
      secrets: this.#secrets,
      ids: { uuid },
      log: SILENT,
      webhookUrl: this.url,
    };
    const { seen } = await registerWebhook(deps, this.admin, await this.repo());
    if (seen !== 'registered') throw new Error(`not registered: ${seen}`);
  }

  /** Waits for a delivery that fits. */
  async next(fits: (delivery: Delivery) => boolean): Promise<Delivery> {
    const found = await this.#driver.until(
      async () => this.deliveries.find(fits) ?? null,
      (delivery) => delivery !== null,
    );
    if (found === null) throw new Error('no such delivery');
    return found;
  }

  /** Our route's check of the signature, against a secret that may not be the stored one. */
  isSignedWith(delivery: Delivery, secret: Secret<string> | null): boolean {
    const header = delivery.headers['x-hub-signature-256'];
    return parseHubSignature(String(header))?.matches(secret, delivery.body) ?? false;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  async #take(path: string, headers: IncomingHttpHeaders, body: Buffer): Promise<number> {
    const at = this.#driver.subject.now();
    const text = (name: string) => (typeof headers[name] === 'string' ? headers[name] : undefined);
    const event = text('x-gitea-event');
    const outcome = await this.#accept({
      body,
      signature: text('x-hub-signature-256'),
      eventType: event,
      deliveryId: text('x-gitea-delivery'),
      hookId: new URL(path, this.url).searchParams.get('r') ?? undefined,
    });
    this.deliveries.push({ at, event: event ?? '', headers, body, outcome });
    return this.answer ?? (/^[a-z_]+$/.test(outcome) ? 200 : 403);
  }

  async #accept(request: Parameters<typeof acceptForgeWebhook>[1]): Promise<string> {
    try {
      const deps = {
        store: this.#store,
        leases: this.#store,
        queue: this.#queue,
        clock: this.#clock,
        secrets: this.#secrets,
        queueName: DEFAULT_SERVICE_NAME,
        planLimits: PLAN_LIMITS,
      };
      return await acceptForgeWebhook(deps, request);
    } catch (error) {
      if (error instanceof AppError) return `refused: ${error.code}`;
      throw error;
    }
  }
}
