import { randomUUID } from 'node:crypto';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { Secret } from '#core/secret.ts';
import type { Started } from '../../../local/start.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { givenEvent, givenNodeRow } from '../../builders/store-rows.ts';

const REPOS = 20;
const BATCHES = 200;
const BATCHES_PER_WRITE = 25;

export interface Furnished {
  readonly token: string;
  readonly repoId: string;
}

/** A tenant of some size: twenty repos whose queues are off, and a full page of batches. */
export async function furnish({ service, ready }: Started): Promise<Furnished> {
  const [tenant] = ready.tenants;
  if (tenant === undefined) throw new Error('the service has no tenant');
  const { store, vault } = service;
  const tenantId = tenant.id;
  const connectionId = randomUUID();
  const instanceUrl = 'https://bench.example.org';
  const now = Date.now();
  await store.createTenant(tenantId, now);
  const credential = await vault.seal({ tenantId, connectionId, instanceUrl }, new Secret('no-token'));
  await store.createConnection(givenConnection({ id: connectionId, tenantId, instanceUrl, credential }));
  const repos = Array.from({ length: REPOS }, (_, index) =>
    givenRepo({
      id: randomUUID(),
      tenantId,
      connectionId,
      instanceUrl,
      slug: `bench/app${index}`,
      queueEnabled: false,
      dueAt: null,
      createdAt: now,
      updatedAt: now,
      webhookSecret: null,
    }),
  );
  for (const repo of repos) await store.createRepo(repo, null);
  const [repo] = repos;
  if (repo === undefined) throw new Error('there is no repo');
  const grant = await store.acquireLease(repo.id, 'bench', 'bench', 60_000);
  if (grant === 'held') throw new Error('the lease is held');
  const held = grantHeldLease(repo.id, grant, () => 0, 1);
  const owner = { tenantId, repoId: repo.id, repoSlug: repo.slug };
  let version: number | null = null;
  for (let at = 0; at < BATCHES; at += BATCHES_PER_WRITE) {
    version = await store.saveQueue(held, repo, {
      document: {},
      expectedVersion: version,
      batches: Array.from({ length: BATCHES_PER_WRITE }, (_, index) =>
        givenNodeRow({
          ...owner,
          id: randomUUID(),
          prs: [at + index + 1],
          createdAt: now - (at + index) * 1_000,
          outcome: 'success',
          phase: null,
          resolvedAt: now,
          gateVerdict: 'success',
        }),
      ),
      events: [givenEvent({ ...owner, at: now - at, pr: at + 1 })],
    });
  }
  await store.releaseLease(repo.id, grant);
  return { token: tenant.token, repoId: repo.id };
}
