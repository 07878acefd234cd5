import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Signer } from '../../ports/signer.ts';

/** Signs with the key of this PEM file, which is made where there is none, and which its owner alone may read. */
export function openFileSigner(file: string): Signer {
  const key = existsSync(file) ? readKey(file) : makeKey(file);
  const pem = createPublicKey(key).export({ type: 'spki', format: 'pem' }).toString();
  return {
    readPublicKey: async () => ({ pem }),
    sign: async (bytes) => sign('sha256', bytes, key),
  };
}

function readKey(file: string): KeyObject {
  chmodSync(file, 0o600);
  return createPrivateKey(readFileSync(file, 'utf8'));
}

/** Mode 600 from the first byte, and whole or not at all. */
function makeKey(file: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const next = `${file}.next`;
  writeFileSync(next, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  renameSync(next, file);
  return privateKey;
}
