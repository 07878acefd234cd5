import type { SealedCredential } from '#core/domain/repos/repo.ts';
import { type CredentialOwner, type Vault, VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';

/** Seals as plain base64, bound to its row and its forge: wrong ones do not open. */
export class PlainVault implements Vault {
  failing: 'seal' | 'open' | null = null;

  async seal(owner: CredentialOwner, token: Secret<string>): Promise<SealedCredential> {
    if (this.failing === 'seal') throw new VaultError('unavailable');
    const sealed = [...`${ownerText(owner)} ${token.reveal()}`]
      .map((char) => String.fromCharCode(char.charCodeAt(0) ^ 21))
      .join('');
    return {
      format: 'v3',
      keyVersion: 1,
      tokenNonce: 'bm9uY2U=',
      encryptedDek: 'ZGVr',
      encryptedToken: Buffer.from(sealed).toString('base64'),
    };
  }

  async open(owner: CredentialOwner, sealed: SealedCredential): Promise<Secret<string>> {
    if (this.failing === 'open') throw new VaultError('undecryptable');
    const text = [...Buffer.from(sealed.encryptedToken, 'base64').toString('utf8')]
      .map((char) => String.fromCharCode(char.charCodeAt(0) ^ 21))
      .join('');
    const prefix = `${ownerText(owner)} `;
    if (!text.startsWith(prefix)) throw new VaultError('undecryptable');
    return new Secret(text.slice(prefix.length));
  }
}

function ownerText({ tenantId, connectionId, instanceUrl }: CredentialOwner): string {
  return `${tenantId} ${connectionId} ${new URL(instanceUrl).origin}`;
}
