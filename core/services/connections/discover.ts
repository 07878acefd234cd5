import { AppError } from '../../contracts/errors.ts';
import { describeMissingScopes } from '../../domain/forge/token-scopes.ts';
import type { TenantId } from '../../domain/ids.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { OpenForgeAccount, SeenRepo } from '../../ports/forge-account.ts';
import type { DispatchStore } from '../../ports/store.ts';
import { type Vault, VaultError } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { loadOwnConnection } from '../repos/owned.ts';

export interface DiscoverDeps {
  readonly store: Pick<DispatchStore, 'getConnection'>;
  readonly vault: Pick<Vault, 'open'>;
  readonly openAccount: OpenForgeAccount;
}

/** Our own words for what a forge may answer; its words stay there (D-79). */
const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  422: 'Unprocessable Content',
  423: 'Locked',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
};

/** Repositories that a stored connection can see. The token is in memory for this one listing. */
export async function discoverRepos(
  deps: DiscoverDeps,
  tenantId: TenantId,
  id: string,
): Promise<readonly SeenRepo[]> {
  const connection = await loadOwnConnection(deps.store, tenantId, id);
  let token: Secret<string>;
  try {
    token = await deps.vault.open(
      { tenantId, connectionId: connection.id, instanceUrl: connection.instanceUrl },
      connection.credential,
    );
  } catch (error) {
    if (error instanceof VaultError) throw new AppError('decryption_error');
    throw error;
  }
  return listSeenRepos(deps.openAccount, connection.instanceUrl, token);
}

export async function listSeenRepos(
  openAccount: OpenForgeAccount,
  instanceUrl: string,
  token: Secret<string>,
): Promise<readonly SeenRepo[]> {
  try {
    return await openAccount(instanceUrl, token).listRepos();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    // A forge's 401 is about its own token: never a 401 of ours (A90).
    if (error.kind === 'unreachable' || error.status === null) throw new AppError('forge_unreachable');
    const reason = REASONS[error.status] ?? 'Error';
    const told = `forge answered ${error.status} ${reason}`;
    const missing = describeMissingScopes(error.missingScopes);
    throw new AppError('forge_error', { message: missing === null ? told : `${told}. ${missing}` });
  }
}
