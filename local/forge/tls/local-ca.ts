import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bits, boolTrue, implicit, integer, octets, oid, sequence, set, tagged, time, utf8 } from './der.ts';

const DAY_MS = 86_400_000;
const VALID_DAYS = 3650;
const HOST_NAMES = ['localhost', 'forge.localhost'];
const LOOPBACK = Buffer.from([127, 0, 0, 1]);

export interface LocalTls {
  readonly key: string;
  readonly cert: string;
  /** For NODE_EXTRA_CA_CERTS and the like. */
  readonly caFile: string;
}

interface CertificateRequest {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly issuerKey: KeyObject;
  readonly extensions: readonly Buffer[];
}

/** Made once per data directory; a client that trusts the CA file trusts this forge and nothing else. */
export function loadLocalTls(dir: string): LocalTls {
  const caFile = join(dir, 'ca.pem');
  const certFile = join(dir, 'server.pem');
  const keyFile = join(dir, 'server-key.pem');
  if (!existsSync(certFile)) {
    mkdirSync(dir, { recursive: true });
    const ca = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const name = `local forge ${randomBytes(4).toString('hex')}`;
    // The CA's key is not kept: it signs this one certificate.
    writeFileSync(caFile, issue(authority(name, ca.privateKey)));
    writeFileSync(keyFile, server.privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    writeFileSync(certFile, issue(serverRequest(name, server.publicKey, ca.privateKey)));
  }
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8'), caFile };
}

function authority(name: string, key: KeyObject): CertificateRequest {
  const publicKey = createPublicKey(key);
  return {
    subject: name,
    issuer: name,
    publicKey,
    issuerKey: key,
    extensions: [
      extension('2.5.29.19', sequence(boolTrue()), true),
      // keyCertSign and cRLSign.
      extension('2.5.29.15', bits(Buffer.from([0x06]), 1), true),
      extension('2.5.29.14', octets(keyId(publicKey))),
    ],
  };
}

function serverRequest(issuer: string, publicKey: KeyObject, issuerKey: KeyObject): CertificateRequest {
  const names = [...HOST_NAMES.map((host) => implicit(2, Buffer.from(host))), implicit(7, LOOPBACK)];
  return {
    subject: 'localhost',
    issuer,
    publicKey,
    issuerKey,
    extensions: [
      extension('2.5.29.19', sequence(), true),
      // digitalSignature.
      extension('2.5.29.15', bits(Buffer.from([0x80]), 7), true),
      extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1'))),
      extension('2.5.29.17', sequence(...names)),
      extension('2.5.29.35', sequence(implicit(0, keyId(createPublicKey(issuerKey))))),
    ],
  };
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [boolTrue()] : []), octets(value));
}

function keyId(key: KeyObject): Buffer {
  return createHash('sha1')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();
}

function issue(request: CertificateRequest): string {
  const algorithm = sequence(oid('1.2.840.10045.4.3.2'));
  const name = (text: string): Buffer => sequence(set(sequence(oid('2.5.4.3'), utf8(text))));
  const now = Date.now();
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(randomBytes(16)),
    algorithm,
    name(request.issuer),
    sequence(time(new Date(now - DAY_MS)), time(new Date(now + VALID_DAYS * DAY_MS))),
    name(request.subject),
    request.publicKey.export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...request.extensions)),
  );
  const certificate = sequence(body, algorithm, bits(sign('sha256', body, request.issuerKey)));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
