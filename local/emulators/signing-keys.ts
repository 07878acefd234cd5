import { createECDH, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { KmsError } from '../../core/adapters/key-file/keyring.ts';

const ARN_PREFIX = 'arn:aws:kms:us-east-1:000000000000:key/';
const SHA256_BYTES = 32;

/** Asymmetric keys of the local KMS: on P-256, in memory and, with a file, as PEM texts in a 0600 JSON file. */
export class SigningKeys {
  readonly #pems: Map<string, string>;

  constructor(file: string | null, keyIds: readonly string[]) {
    const stored = file !== null && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
    this.#pems = new Map(Object.entries<string>(stored));
    for (const id of keyIds) if (!this.#pems.has(id)) this.#pems.set(id, makePem());
    if (file !== null && keyIds.length > 0)
      writeFileSync(file, JSON.stringify(Object.fromEntries(this.#pems)), { mode: 0o600 });
  }

  publicKey(reference: string): Buffer {
    return createPublicKey(this.#find(reference)).export({ type: 'spki', format: 'der' });
  }

  /** As KMS signs: of a digest that the caller made. */
  sign(reference: string, digest: Buffer, type: string | null, algorithm: string): Buffer {
    const pem = this.#find(reference);
    if (algorithm !== 'ECDSA_SHA_256')
      throw new KmsError('ValidationException', 'The key does not have this algorithm.');
    if (type !== 'DIGEST' || digest.byteLength !== SHA256_BYTES)
      throw new KmsError('ValidationException', 'Digest is invalid length for algorithm ECDSA_SHA_256.');
    return signDigest(createPrivateKey(pem).export({ format: 'jwk' }).d ?? '', digest);
  }

  #find(reference: string): string {
    const pem = this.#pems.get(reference.replace(ARN_PREFIX, ''));
    if (pem === undefined) throw new KmsError('NotFoundException', 'There is no such key.');
    return pem;
  }
}

function makePem(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Order of the curve P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** ECDSA over bytes that are hashed already, which node has no call for: its `sign` hashes them once more. */
function signDigest(privateKey: string, digest: Buffer): Buffer {
  const once = createECDH('prime256v1');
  const r = toNumber(once.generateKeys().subarray(1, 33)) % ORDER;
  const k = toNumber(once.getPrivateKey());
  const s = (invert(k) * (toNumber(digest) + r * toNumber(Buffer.from(privateKey, 'base64url')))) % ORDER;
  if (r === 0n || s === 0n) return signDigest(privateKey, digest);
  const body = Buffer.concat([toDer(r), toDer(s)]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

const toNumber = (bytes: Buffer): bigint => BigInt(`0x${bytes.toString('hex')}`);

/** By Fermat: the order is a prime. */
function invert(value: bigint): bigint {
  let [result, base, power] = [1n, value % ORDER, ORDER - 2n];
  for (; power > 0n; power >>= 1n) {
    if (power & 1n) result = (result * base) % ORDER;
    base = (base * base) % ORDER;
  }
  return result;
}

function toDer(value: bigint): Buffer {
  const hex = value.toString(16);
  const bytes = Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  const positive = (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes;
  return Buffer.concat([Buffer.from([0x02, positive.length]), positive]);
}
