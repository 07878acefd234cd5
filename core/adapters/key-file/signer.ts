import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import type { Signer } from '../../ports/signer.ts';
import { replaceFile } from '../system/replace-file.ts';

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

function makeKey(file: string): KeyObject {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  replaceFile(file, String(privateKey.export({ type: 'pkcs8', format: 'pem' })));
  return privateKey;
}
