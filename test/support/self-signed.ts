import { generateKeyPairSync, sign } from 'node:crypto';
import { isIP } from 'node:net';

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const time = (year: number): Buffer => der(0x18, Buffer.from(`${year}0101000000Z`));

const COMMON_NAME = oid('550403');
const SUBJECT_ALT_NAME = oid('551d11');
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));

/** A fresh certificate that vouches for itself under the given names, so that no key is ever committed. */
export function makeSelfSigned(names: readonly string[]): { readonly key: string; readonly cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from('test')))));
  const altNames = names.map((entry) =>
    isIP(entry) === 4 ? der(0x87, Buffer.from(entry.split('.').map(Number))) : der(0x82, Buffer.from(entry)),
  );
  const body = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ECDSA_WITH_SHA256,
    name,
    sequence(time(2020), time(2120)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(SUBJECT_ALT_NAME, der(0x04, sequence(...altNames))))),
  );
  const signature = sign('sha256', body, privateKey);
  const whole = sequence(body, ECDSA_WITH_SHA256, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
  };
}
