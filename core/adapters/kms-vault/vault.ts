import { createHash, randomBytes } from 'node:crypto';
import { parseUrl } from '../../domain/parse-url.ts';
import type { SealedCredential } from '../../domain/repos/repo.ts';
import { normalizeInstanceUrl } from '../../domain/url.ts';
import type { CredentialOwner, Vault } from '../../ports/system.ts';
import { VaultError } from '../../ports/system.ts';
import { Secret } from '../../secret.ts';
import { NONCE_BYTES, openText, sealText } from './aes-gcm.ts';
import {
  aadOf,
  DATA_KEY_BYTES,
  generateDataKey,
  type KeyService,
  readBase64,
  unwrapDataKey,
} from './data-key.ts';

export interface KmsVaultConfig {
  readonly client: KeyService;
  /** Key id or ARN that wraps data keys. */
  readonly keyId: string;
  /** Our own counter of the wrapping key: grows when `keyId` is replaced by another key. */
  readonly keyVersion: number;
  /**
   * Reader of the static key of format v1 (32 bytes in Base64), where the deployment opens credentials of the formats
   * v1 and v2.
   * @default neither is opened
   */
  readonly legacy?: { readonly readV1Key: () => Promise<Secret<string>> };
}

/**
 * Forge tokens at rest (A96, A97): AES-256-GCM under a fresh data key for every write, the data key wrapped by KMS under
 * a context that names tenant, connection and the forge's origin; the AAD names tenant and connection. So a ciphertext
 * opens in its own row only, and for its own forge. Writes v3; opens v3, and v1 and v2 where the deployment says so; anything else fails closed (A97).
 */
export function createKmsVault(config: KmsVaultConfig): Vault {
  return {
    seal: (owner, token) => seal(config, owner, token),
    open: (owner, sealed) => open(config, owner, sealed),
  };
}

/** The context that names the row of a data key to KMS; CloudTrail shows it, so it holds ids and a hash only. */
export function contextOf(owner: CredentialOwner): Record<string, string> {
  return { ...contextOfRow(owner), forge: hashOrigin(owner.instanceUrl) };
}

/** The context of what was sealed before the forge was part of it, and the AAD of all. */
export function contextOfRow(
  owner: Pick<CredentialOwner, 'tenantId' | 'connectionId'>,
): Record<string, string> {
  return {
    tenant_id: owner.tenantId,
    connection_id: owner.connectionId,
    purpose: 'forge-token',
    v: '3',
  };
}

/** Hash of the origin (scheme, host and port) of a forge, in one spelling. */
function hashOrigin(instanceUrl: string): string {
  const origin = parseUrl(normalizeInstanceUrl(instanceUrl) ?? '')?.origin;
  if (origin === undefined) throw new VaultError('undecryptable');
  return createHash('sha256').update(origin).digest('hex');
}

async function seal(
  config: KmsVaultConfig,
  owner: CredentialOwner,
  token: Secret<string>,
): Promise<SealedCredential> {
  const context = contextOf(owner);
  const { plaintext, wrapped } = await generateDataKey(config, context);
  try {
    const nonce = randomBytes(NONCE_BYTES);
    const encrypted = sealText(plaintext, nonce, aadOf(contextOfRow(owner)), token.reveal());
    return {
      format: 'v3',
      keyVersion: config.keyVersion,
      encryptedToken: encrypted.toString('base64'),
      tokenNonce: nonce.toString('base64'),
      encryptedDek: Buffer.from(wrapped).toString('base64'),
    };
  } finally {
    plaintext.fill(0);
  }
}

async function open(
  config: KmsVaultConfig,
  owner: CredentialOwner,
  sealed: SealedCredential,
): Promise<Secret<string>> {
  switch (sealed.format) {
    case 'v1':
      return openV1(config, sealed);
    case 'v2':
      if (config.legacy === undefined) throw new VaultError('undecryptable');
      return openEnvelope(config, sealed, { contexts: [null], aad: null });
    case 'v3': {
      const aad = aadOf(contextOfRow(owner));
      return openEnvelope(config, sealed, { contexts: [contextOf(owner), contextOfRow(owner)], aad });
    }
    default:
      throw new VaultError('undecryptable');
  }
}

/**
 * Opens a credential of format v1: one static key, no data key, no AAD. A row of this format is bound to nothing and
 * should be stored again.
 */
async function openV1({ legacy }: KmsVaultConfig, sealed: SealedCredential): Promise<Secret<string>> {
  if (legacy === undefined || sealed.encryptedDek !== null) throw new VaultError('undecryptable');
  const key = readBase64(await readV1Text(legacy.readV1Key));
  try {
    if (key.byteLength !== DATA_KEY_BYTES) throw new VaultError('undecryptable');
    return openWith(key, sealed, null);
  } finally {
    key.fill(0);
  }
}

async function readV1Text(read: () => Promise<Secret<string>>): Promise<string> {
  try {
    return (await read()).reveal().trim();
  } catch {
    throw new VaultError('unavailable');
  }
}

interface Envelope {
  /** Contexts that are tried in order, until the data key opens under one. */
  readonly contexts: readonly (Record<string, string> | null)[];
  readonly aad: Buffer | null;
}

/** Opens a credential of format v2, without context and AAD, or v3, with both. */
async function openEnvelope(
  config: KmsVaultConfig,
  sealed: SealedCredential,
  { contexts, aad }: Envelope,
): Promise<Secret<string>> {
  const wrapped = readBase64(sealed.encryptedDek);
  const dataKey = await unwrapUnderAny(config, wrapped, contexts);
  try {
    return openWith(dataKey, sealed, aad);
  } finally {
    dataKey.fill(0);
  }
}

async function unwrapUnderAny(
  config: KmsVaultConfig,
  wrapped: Buffer,
  [first = null, ...others]: Envelope['contexts'],
): Promise<Uint8Array> {
  try {
    return await unwrapDataKey(config.client, wrapped, first);
  } catch (error) {
    const isOfAnother = error instanceof VaultError && error.kind === 'undecryptable';
    if (!isOfAnother || others.length === 0) throw error;
    return unwrapUnderAny(config, wrapped, others);
  }
}

function openWith(key: Uint8Array, sealed: SealedCredential, aad: Buffer | null): Secret<string> {
  const nonce = readBase64(sealed.tokenNonce);
  const encrypted = readBase64(sealed.encryptedToken);
  const text = openText(key, nonce, aad, encrypted);
  if (text === null) throw new VaultError('undecryptable');
  return new Secret(text);
}
