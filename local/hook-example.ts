import { createHmac, randomUUID } from 'node:crypto';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';
import { UNPROVISIONED } from '#core/domain/set-up/provisioning.ts';
import { Secret } from '#core/secret.ts';
import type { LocalService } from './service.ts';

/** A delivery that the service accepts with 200: to be sent as it is, or signed anew with the secret. */
export interface WebhookExample {
  readonly url: string;
  readonly secret: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const HOOK = {
  tenantId: '00000000-0000-4000-8000-0000000000e1',
  connectionId: '00000000-0000-4000-8000-0000000000e2',
  repoId: '00000000-0000-4000-8000-0000000000e3',
  slug: 'example/hooks',
  secret: 'local-example-webhook-secret',
};

/** A repository whose webhook secret is known here; it is on no forge, so nothing ever comes of its events. */
export async function enrollHookExample(service: LocalService, forgeUrl: string): Promise<void> {
  const { store, vault } = service;
  const { tenantId, connectionId, repoId: id, slug } = HOOK;
  if ((await store.getRepo(id)) !== null) return;
  const now = Date.now();
  const credential = await vault.seal(
    { tenantId, connectionId, instanceUrl: forgeUrl },
    new Secret('no-token'),
  );
  await store.createTenant(tenantId, now);
  await store.createConnection({
    id: connectionId,
    tenantId,
    instanceUrl: forgeUrl,
    botUsername: 'hook-example',
    credential,
    verifiedAt: null,
    createdAt: now,
    updatedAt: now,
    deleting: false,
  });
  await store.createRepo(
    {
      id,
      tenantId,
      connectionId,
      instanceUrl: forgeUrl,
      slug,
      baseBranch: 'main',
      statusContext: DEFAULT_SERVICE_NAME,
      mergeStyle: 'squash',
      automerge: false,
      ...DEFAULT_SETTINGS,
      queueEnabled: false,
      enabledAt: now,
      hookId: null,
      notification: null,
      pause: null,
      webhookSecret: new Secret(HOOK.secret),
      ...UNPROVISIONED,
      wakeSeq: 0,
      dueAt: null,
      createdAt: now,
      updatedAt: now,
      version: 1,
      tombstone: false,
    },
    null,
  );
}

export function describeHook(baseUrl: string, forgeUrl: string): WebhookExample {
  const body = JSON.stringify({
    ref: 'refs/heads/main',
    repository: { full_name: HOOK.slug, html_url: `${forgeUrl}/${HOOK.slug}` },
    sender: { login: 'dev' },
  });
  return {
    url: `${baseUrl}/api/v1/webhooks/forge`,
    secret: HOOK.secret,
    headers: {
      'content-type': 'application/json',
      'x-forgejo-event': 'push',
      'x-forgejo-delivery': randomUUID(),
      'x-hub-signature-256': `sha256=${createHmac('sha256', HOOK.secret).update(body).digest('hex')}`,
    },
    body,
  };
}
