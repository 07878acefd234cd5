import { randomBytes } from 'node:crypto';
import { isSealed, SEALED_PREFIX } from '../../domain/sealed-text.ts';
import type { SecretBox, SecretOwner } from '../../ports/secret-box.ts';
import { VaultError } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';
import { NONCE_BYTES, openText, sealText } from './aes-gcm.ts';
import { aadOf, generateDataKey, type KeyService, readBase64, unwrapDataKey } from './data-key.ts';

export interface KmsSecretBoxConfig {
  readonly client: KeyService;
  /** Key id or ARN that wraps data keys, and our own counter of it. @default nothing is sealed */
  readonly key?: { readonly id: string; readonly version: number };
}

/** Secrets that are kept open in memory, so that a webhook delivery need not ask KMS each time. */
const OPEN_MAX = 500;

/** The parts of a sealed text, after its prefix. */
interface Envelope {
  readonly keyVersion: number;
  /** Wrapped data key in Base64, like the other parts. */
  readonly encryptedDek: string;
  readonly nonce: string;
  readonly encrypted: string;
}

/** Webhook secrets and chat addresses at rest: sealed as forge tokens are, and bound to their row and their purpose. */
export function createKmsSecretBox(config: KmsSecretBoxConfig): SecretBox {
  const opened = new Map<string, Secret<string>>();
  return {
    seal: async (owner, text) => (isSealed(text) ? text : seal(config, owner, text)),
    open: async (owner, stored) => {
      if (!isSealed(stored)) return new Secret(stored);
      const name = `${JSON.stringify(contextOfSecret(owner))} ${stored}`;
      const known = opened.get(name);
      if (known !== undefined) return known;
      const secret = await open(config, owner, parseEnvelope(stored));
      opened.set(name, secret);
      const [oldest] = opened.keys();
      if (opened.size > OPEN_MAX && oldest !== undefined) opened.delete(oldest);
      return secret;
    },
  };
}

/** The context that names the row of a data key to KMS; CloudTrail shows it, so it holds ids only. */
export function contextOfSecret(owner: SecretOwner): Record<string, string> {
  return { tenant_id: owner.tenantId, repo_id: owner.repoId, purpose: owner.purpose, v: '1' };
}

export function parseEnvelope(stored: string): Envelope {
  const [version, encryptedDek, nonce, encrypted, ...rest] = stored.slice(SEALED_PREFIX.length).split(':');
  const keyVersion = Number(version);
  if (!Number.isSafeInteger(keyVersion) || rest.length > 0) throw new VaultError('undecryptable');
  if (encryptedDek === undefined || nonce === undefined || encrypted === undefined)
    throw new VaultError('undecryptable');
  return { keyVersion, encryptedDek, nonce, encrypted };
}

export function formatEnvelope({ keyVersion, encryptedDek, nonce, encrypted }: Envelope): string {
  return `${SEALED_PREFIX}${[keyVersion, encryptedDek, nonce, encrypted].join(':')}`;
}

async function seal({ client, key }: KmsSecretBoxConfig, owner: SecretOwner, text: string): Promise<string> {
  if (key === undefined) throw new VaultError('unavailable');
  const context = contextOfSecret(owner);
  const { plaintext, wrapped } = await generateDataKey({ client, keyId: key.id }, context);
  try {
    const nonce = randomBytes(NONCE_BYTES);
    return formatEnvelope({
      keyVersion: key.version,
      encryptedDek: Buffer.from(wrapped).toString('base64'),
      nonce: nonce.toString('base64'),
      encrypted: sealText(plaintext, nonce, aadOf(context), text).toString('base64'),
    });
  } finally {
    plaintext.fill(0);
  }
}

async function open(
  { client }: KmsSecretBoxConfig,
  owner: SecretOwner,
  { encryptedDek, nonce, encrypted }: Envelope,
): Promise<Secret<string>> {
  const context = contextOfSecret(owner);
  const dataKey = await unwrapDataKey(client, readBase64(encryptedDek), context);
  try {
    const text = openText(dataKey, readBase64(nonce), aadOf(context), readBase64(encrypted));
    if (text === null) throw new VaultError('undecryptable');
    return new Secret(text);
  } finally {
    dataKey.fill(0);
  }
}
