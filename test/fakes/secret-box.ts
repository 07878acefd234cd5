import { isSealed, SEALED_PREFIX } from '#core/domain/sealed-text.ts';
import type { SecretBox, SecretOwner } from '#core/ports/secret-box.ts';
import { VaultError } from '#core/ports/system.ts';
import { Secret } from '#core/secret.ts';

/** Seals as hex, bound to its row and purpose: wrong ones do not open. */
export class FakeSecretBox implements SecretBox {
  failing: 'seal' | 'open' | null = null;

  async seal(owner: SecretOwner, text: string): Promise<string> {
    if (this.failing === 'seal') throw new VaultError('unavailable');
    if (isSealed(text)) return text;
    return `${SEALED_PREFIX}${Buffer.from(`${nameOf(owner)} ${text}`).toString('hex')}`;
  }

  async open(owner: SecretOwner, stored: string): Promise<Secret<string>> {
    if (this.failing === 'open') throw new VaultError('unavailable');
    if (!isSealed(stored)) return new Secret(stored);
    const text = Buffer.from(stored.slice(SEALED_PREFIX.length), 'hex').toString();
    const prefix = `${nameOf(owner)} `;
    if (!text.startsWith(prefix)) throw new VaultError('undecryptable');
    return new Secret(text.slice(prefix.length));
  }
}

const nameOf = ({ tenantId, repoId, purpose }: SecretOwner): string => `${tenantId} ${repoId} ${purpose}`;
