import type { Connection, ManagedRepo } from '../../domain/repos/repo.ts';
import type { Vault } from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';

/** The token for the forge of this very row: a changed row sends it nowhere. Throws `VaultError`. */
export function openRepoToken(
  vault: Pick<Vault, 'open'>,
  { tenantId, connectionId, instanceUrl }: ManagedRepo,
  connection: Pick<Connection, 'credential'>,
): Promise<Secret<string>> {
  return vault.open({ tenantId, connectionId, instanceUrl }, connection.credential);
}
