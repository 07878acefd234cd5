import type { Connection, ManagedRepo } from '../../domain/repos/repo.ts';
import type { ForgeAdmin } from '../../ports/forge-admin.ts';
import type { RepoIdReader } from '../../ports/repo-id.ts';
import type { DispatchStore } from '../../ports/store.ts';
import { type Vault, VaultError } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { type NotThere, sameRepo } from './same-repo.ts';

/** A client for the forge of one repo, or why there is none. */
export type OpenedForge<Forge = ForgeAdmin> =
  | { readonly kind: 'open'; readonly forge: Forge }
  | { readonly kind: 'connection_not_found' | 'decryption_error' | NotThere };

export type OpenForge<Forge = ForgeAdmin> = (repo: ManagedRepo) => Promise<OpenedForge<Forge>>;

export interface ForgeOpenerDeps<Forge> {
  readonly store: Pick<DispatchStore, 'getConnection' | 'readObligations'>;
  readonly vault: Vault;
  readonly connect: (address: Pick<ManagedRepo, 'instanceUrl' | 'slug'>, token: Secret<string>) => Forge;
}

/**
 * Reads the connection of a repo, opens its credential for this one use, connects, and makes sure which repository that is.
 * Throws `StoreError` only.
 */
export function createForgeOpener<Forge extends RepoIdReader>(
  deps: ForgeOpenerDeps<Forge>,
): OpenForge<Forge> {
  return async (repo) => {
    const connection = await deps.store.getConnection(repo.tenantId, repo.connectionId);
    if (connection === null || connection.deleting) return { kind: 'connection_not_found' };
    const token = await openToken(deps.vault, connection, repo.instanceUrl);
    if (token === null) return { kind: 'decryption_error' };
    const forge = await sameRepo(deps.store, repo, deps.connect(repo, token));
    return typeof forge === 'string' ? { kind: forge } : { kind: 'open', forge };
  };
}

/** `instanceUrl` is where the token goes: that of the repo, not of the connection. */
async function openToken(
  vault: Vault,
  connection: Connection,
  instanceUrl: string,
): Promise<Secret<string> | null> {
  try {
    const owner = { tenantId: connection.tenantId, connectionId: connection.id, instanceUrl };
    return await vault.open(owner, connection.credential);
  } catch (error) {
    if (error instanceof VaultError) return null;
    throw error;
  }
}
