import type { TenantId } from '../../domain/ids.ts';
import type { Connection, ManagedRepo } from '../../domain/repos/repo.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../../ports/store.ts';
import { dropConnection } from '../wind-down/wind-down.ts';

export type ClaimStore = EnrollmentStore & Pick<DispatchStore, 'getConnection' | 'listReposAt'>;

/** Whose claim it was. `verified`: the forge has confirmed it once, so it stays. */
export type Release =
  | { readonly kind: 'released' | 'verified'; readonly tenantId: TenantId; readonly id: string }
  | { readonly kind: 'no_claim' };

/** Ends a connection whose identity was never verified: nothing of it is in the way any more, its repos are wound down. */
export async function dropClaim(
  store: EnrollmentStore & Pick<DispatchStore, 'getConnection'>,
  connection: Pick<Connection, 'id' | 'tenantId'>,
): Promise<void> {
  await store.markConnectionDeleting(connection.tenantId, connection.id);
  for (const repo of await store.listRepos(connection.tenantId)) {
    if (repo.connectionId === connection.id && !repo.tombstone) await bury(store, repo);
  }
  await dropConnection(store, connection);
}

/** Marks a repository as deleted. It is due from then on, so the tick finds it. A settings change in between is tried again with the newer row. */
async function bury(store: EnrollmentStore, repo: ManagedRepo): Promise<void> {
  try {
    await store.buryRepo(repo);
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'lost_race') throw error;
    const newer = (await store.listRepos(repo.tenantId)).find(({ id }) => id === repo.id);
    if (newer !== undefined && !newer.tombstone) await store.buryRepo(newer);
  }
}

/** For the operator: frees the identity of a bot that a tenant claimed and never verified (D-45). */
export async function releaseIdentity(
  store: ClaimStore,
  instanceUrl: string,
  botLogin: string,
): Promise<Release> {
  const connection = await store.findConnection(instanceUrl, botLogin);
  if (connection === null) return { kind: 'no_claim' };
  const { tenantId, id } = connection;
  if (connection.verifiedAt !== null) return { kind: 'verified', tenantId, id };
  await dropClaim(store, connection);
  return { kind: 'released', tenantId, id };
}

/** For the operator: frees the name of a repository that was never verified. Its branches are wound down like deleted ones. */
export async function releaseRepo(store: ClaimStore, instanceUrl: string, slug: string): Promise<Release> {
  const repos = await store.listReposAt({ instanceUrl, slug });
  const repo = repos.find(({ verifiedAt }) => verifiedAt !== undefined) ?? repos[0];
  if (repo === undefined) return { kind: 'no_claim' };
  const { tenantId, id } = repo;
  if (repo.verifiedAt !== undefined) return { kind: 'verified', tenantId, id };
  for (const each of repos) await bury(store, each);
  return { kind: 'released', tenantId, id };
}
