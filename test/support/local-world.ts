import { createHmac, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { Secret } from '#core/secret.ts';
import { BOT, createFakeForge, type FakeForge } from '../../local/forge/fake-forge.ts';
import { type LocalService, startLocalService } from '../../local/service.ts';
import { givenConnection, givenRepo } from '../builders/managed-repo.ts';
import { sharedBundles } from './bundles.ts';
import { createSlowForgeClock } from './slow-forge-clock.ts';

export { eventually } from './eventually.ts';

const HOOK_ID = 'hook-1';
const HOOK_SECRET = 'hook-secret-canary';

/** The whole service and a forge over real git and HTTPS, both on loopback, with one enrolled repository. */
export interface LocalWorld {
  readonly forge: FakeForge;
  readonly httpsUrl: string;
  readonly context: Readonly<Record<string, string>>;
  readonly dataDir: string;
  readonly bundlesDir: string;
  readonly repo: ManagedRepo;
  /** Token of the bot: nothing of the service may ever print it. */
  readonly token: string;
  service: LocalService;
  /** Opens and schedules one pull request per branch. */
  queuePullRequests(branches: readonly string[]): Promise<readonly number[]>;
  postWebhook(event: string, fields: Readonly<Record<string, unknown>>, secret?: string): Promise<Response>;
  isMerged(pr: number): Promise<boolean>;
  close(): Promise<void>;
}

export async function openLocalWorld(): Promise<LocalWorld> {
  const root = mkdtempSync(join(tmpdir(), 'mergeyard-local-'));
  const forge = createFakeForge({
    dataDir: join(root, 'forge'),
    timers: createSlowForgeClock(),
    knobs: { gate: 'judge' },
  });
  const address = await forge.start();
  const context = { forgeAllowHosts: new URL(address.httpsUrl).host, forgeCaFile: address.caFile };
  const dataDir = join(root, 'service');
  const bundlesDir = await sharedBundles();
  const service = await startLocalService({ dataDir, context, bundlesDir, schedules: 'manual' });
  const token = forge.addToken(BOT);
  const repo = await enroll(service, address.httpsUrl, forge.control.slug, token);
  const world: LocalWorld = {
    forge,
    context,
    dataDir,
    bundlesDir,
    repo,
    token,
    service,
    httpsUrl: address.httpsUrl,
    queuePullRequests: async (branches) => {
      const numbers: number[] = [];
      for (const branch of branches) {
        const pr = await forge.control.openPullRequest({ branch, files: { [`${branch}.txt`]: branch } });
        numbers.push(pr);
      }
      for (const pr of numbers) await forge.control.schedule(pr, 'squash');
      return numbers;
    },
    postWebhook: (event, fields, secret = HOOK_SECRET) => {
      const slug = forge.control.slug;
      const body = JSON.stringify({
        repository: { full_name: slug, html_url: `${address.httpsUrl}/${slug}` },
        sender: { login: 'dev' },
        ...fields,
      });
      return fetch(`${world.service.baseUrl}/api/v1/webhooks/forge?r=${HOOK_ID}`, {
        method: 'POST',
        body,
        headers: {
          'content-type': 'application/json',
          'x-gitea-event': event,
          'x-gitea-delivery': randomUUID(),
          'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
        },
      });
    },
    isMerged: async (pr) => (await forge.control.pull(pr)).merged,
    close: async () => {
      await world.service.stop();
      await forge.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return world;
}

async function enroll(
  service: LocalService,
  instanceUrl: string,
  slug: string,
  token: string,
): Promise<ManagedRepo> {
  const now = Date.now();
  const owner = { tenantId: 'tenant-1', connectionId: 'connection-1', instanceUrl };
  await service.store.createTenant(owner.tenantId, now);
  const credential = await service.vault.seal(owner, new Secret(token));
  await service.store.createConnection(givenConnection({ instanceUrl, botUsername: BOT, credential }));
  const repo = givenRepo({
    instanceUrl,
    slug,
    wakeupMode: 'webhook',
    webhookSecret: new Secret(HOOK_SECRET),
    hookId: HOOK_ID,
    dueAt: now,
    enabledAt: now,
  });
  await service.store.createRepo(repo, null);
  return repo;
}
