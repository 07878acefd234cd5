import { createHmac } from 'node:crypto';
import { AppError } from '#core/contracts/errors.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { PLAN_LIMITS } from '#core/domain/tenants/billing.ts';
import { Secret } from '#core/secret.ts';
import type { ForgeWebhookRequest, WebhookDeps } from '#core/services/webhooks/accept-forge-webhook.ts';
import { givenConnection, givenRepo } from '../../../../builders/managed-repo.ts';
import { createMemoryStore } from '../../../../fakes/memory-store.ts';
import { FakeSecretBox } from '../../../../fakes/secret-box.ts';
import { FakeWakeQueue } from '../../../../fakes/wake-queue.ts';
import { VirtualClock } from '../../../../support/virtual-clock.ts';

export const SECRET = 'hook-secret-app';
export const OTHER = 'hook-secret-two';
export const HOOK = 'a'.repeat(64);

export async function givenHook(changes: Partial<ManagedRepo> = {}) {
  const clock = new VirtualClock();
  const calls: string[] = [];
  const store = createMemoryStore({ clock, beforeCall: (label) => void calls.push(label) });
  const queue = new FakeWakeQueue(clock);
  const secrets = new FakeSecretBox();
  const deps: WebhookDeps = {
    store,
    leases: store,
    secrets,
    queue,
    clock,
    queueName: 'mq',
    planLimits: PLAN_LIMITS,
  };
  await store.createTenant('tenant-1', clock.now());
  await store.createConnection(givenConnection());
  const base = { wakeupMode: 'webhook', dueAt: Date.UTC(2030, 0, 1) } as const;
  await store.createRepo(
    givenRepo({ ...base, webhookSecret: new Secret(SECRET), hookId: HOOK, ...changes }),
    null,
  );
  await store.createRepo(
    givenRepo({
      ...base,
      id: 'repo-2',
      slug: 'acme/two',
      webhookSecret: new Secret(OTHER),
      hookId: 'b'.repeat(64),
    }),
    null,
  );
  calls.length = 0;
  const wakeSeq = async (): Promise<number> => (await store.getRepo('repo-1'))?.wakeSeq ?? -1;
  return { clock, store, queue, deps, calls, wakeSeq };
}

export type HookWorld = Awaited<ReturnType<typeof givenHook>>;

export const REPOSITORY = { full_name: 'acme/app', html_url: 'https://forge.example/acme/app' };

export function bodyOf(fields: Readonly<Record<string, unknown>> = {}): Buffer {
  return Buffer.from(
    JSON.stringify({ repository: REPOSITORY, sender: { login: 'dev' }, ...fields }, null, 2),
  );
}

export function sign(body: Uint8Array, secret = SECRET): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

let delivery = 0;
export function requestOf(body: Buffer, changes: Partial<ForgeWebhookRequest> = {}): ForgeWebhookRequest {
  delivery += 1;
  return {
    body,
    signature: sign(body),
    eventType: 'push',
    deliveryId: `delivery-${delivery}`,
    hookId: undefined,
    ...changes,
  };
}

export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    return `200 ${String(await promise)}`;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}
