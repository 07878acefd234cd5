import { createHmac } from 'node:crypto';
import { parseHubSignature } from '#core/contracts/webhooks/hub-signature.ts';
import { Secret } from '#core/secret.ts';

const SECRET = 'hook-secret-of-acme';
const BODY = Buffer.from('{"ref":"refs/heads/main","repository":{"full_name":"acme/app"}}');
const sign = (body: Uint8Array, secret = SECRET): string =>
  createHmac('sha256', secret).update(body).digest('hex');
const RIGHT = sign(BODY);

function accepts(
  header: string | undefined,
  body: Uint8Array = BODY,
  secret: string | null = SECRET,
): boolean {
  const signature = parseHubSignature(header);
  return signature?.matches(secret === null ? null : new Secret(secret), body) === true;
}

describe('the signature of a forge delivery (A102)', () => {
  test('is accepted when it is right', () => {
    expect(accepts(`sha256=${RIGHT}`)).toBe(true);
    expect(accepts(`sha256=${sign(Buffer.alloc(0))}`, Buffer.alloc(0))).toBe(true);
  });

  test.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['prefix only', 'sha256='],
    ['no prefix', RIGHT],
    ['sha1', `sha1=${createHmac('sha1', SECRET).update(BODY).digest('hex')}`],
    ['sha1 with the right digits', `sha1=${RIGHT}`],
    ['sha512', `sha512=${createHmac('sha512', SECRET).update(BODY).digest('hex')}`],
    ['md5', `md5=${createHmac('md5', SECRET).update(BODY).digest('hex')}`],
    ['upper-case digits', `sha256=${RIGHT.toUpperCase()}`],
    ['upper-case prefix', `SHA256=${RIGHT}`],
    ['one digit short', `sha256=${RIGHT.slice(0, -1)}`],
    ['one byte short', `sha256=${RIGHT.slice(0, -2)}`],
    ['half', `sha256=${RIGHT.slice(0, 32)}`],
    ['one digit long', `sha256=${RIGHT}0`],
    ['one byte long', `sha256=${RIGHT}00`],
    ['twice', `sha256=${RIGHT}${RIGHT}`],
    ['two headers joined', `sha256=${RIGHT}, sha256=${RIGHT}`],
    ['two headers joined, the first wrong', `sha256=${'0'.repeat(64)},sha256=${RIGHT}`],
    ['leading space', ` sha256=${RIGHT}`],
    ['space after the sign', `sha256= ${RIGHT}`],
    ['trailing space', `sha256=${RIGHT} `],
    ['trailing new line', `sha256=${RIGHT}\n`],
    ['leading zeros', `sha256=00${RIGHT}`],
    ['0x', `sha256=0x${RIGHT}`],
    ['quoted', `"sha256=${RIGHT}"`],
    ['base64', `sha256=${Buffer.from(RIGHT, 'hex').toString('base64')}`],
    ['all zeros', `sha256=${'0'.repeat(64)}`],
    ['all f', `sha256=${'f'.repeat(64)}`],
    ['not hexadecimal', `sha256=${'g'.repeat(64)}`],
    ['full-width digits', `sha256=${'０'.repeat(64)}`],
    ['a NUL inside', `sha256=${RIGHT.slice(0, 63)}\0`],
    ['a semicolon list', `sha256=${RIGHT};v=1`],
    ['the payment form', `t=1,v1=${RIGHT}`],
    ['digits reversed', `sha256=${[...RIGHT].reverse().join('')}`],
    ['of another secret', `sha256=${sign(BODY, 'hook-secret-of-evil')}`],
    ['of an empty secret', `sha256=${sign(BODY, '')}`],
    ['of a secret with a new line', `sha256=${sign(BODY, `${SECRET}\n`)}`],
    ['plain digest without a key', `sha256=${createHmac('sha256', 'no secret').update(BODY).digest('hex')}`],
  ])('is refused: %s', (_name, header) => {
    expect(accepts(header)).toBe(false);
  });

  test.each<[string, Uint8Array]>([
    ['empty', Buffer.alloc(0)],
    ['with a byte order mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), BODY])],
    ['with a new line after it', Buffer.concat([BODY, Buffer.from('\n')])],
    ['written anew', Buffer.from(JSON.stringify(JSON.parse(BODY.toString()), null, 2))],
    ['in chunks, with their sizes', Buffer.from(`40\r\n${BODY.toString()}\r\n0\r\n\r\n`)],
    ['twice', Buffer.concat([BODY, BODY])],
    ['shorter by one', BODY.subarray(1)],
  ])('does not fit a body that is %s', (_name, body) => {
    expect(accepts(`sha256=${RIGHT}`, body)).toBe(false);
  });

  test('fits nothing where there is no secret, or an empty one', () => {
    expect(accepts(`sha256=${sign(BODY, 'no secret')}`, BODY, null)).toBe(false);
    expect(accepts(`sha256=${sign(BODY, '')}`, BODY, '')).toBe(false);
  });

  test('with any one of its bits flipped is refused', () => {
    let accepted = 0;
    for (let bit = 0; bit < 256; bit += 1) {
      const flipped = Buffer.from(RIGHT, 'hex');
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      if (accepts(`sha256=${flipped.toString('hex')}`)) accepted += 1;
    }
    expect(accepted).toBe(0);
  });

  test('with any one bit of the body flipped does not fit', () => {
    let accepted = 0;
    for (let bit = 0; bit < BODY.length * 8; bit += 1) {
      const flipped = Buffer.from(BODY);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      if (accepts(`sha256=${RIGHT}`, flipped)) accepted += 1;
    }
    expect(accepted).toBe(0);
  });
});
