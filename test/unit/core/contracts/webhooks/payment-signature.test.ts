import { createHmac } from 'node:crypto';
import Stripe from 'stripe';
import { isPaymentEventSigned, signPaymentEvent } from '#core/contracts/webhooks/payment-signature.ts';
import { Secret } from '#core/secret.ts';

const SECRET = 'whsec_canary_5d1c77';
const secret = new Secret(SECRET);
const NOW = Date.UTC(2026, 0, 1);
const SECONDS = NOW / 1000;
const body = Buffer.from('{"id":"evt_1","type":"x","data":{"object":{}}}');

const hex = (seconds: number | string, over: Uint8Array = body, key = SECRET): string =>
  createHmac('sha256', key).update(`${seconds}.`).update(over).digest('hex');
const holds = (header: string | undefined, over: Uint8Array = body, now = NOW, key = secret): boolean =>
  isPaymentEventSigned(key, header, over, now);

describe('the signature of a payment event (A104)', () => {
  test('is what the provider’s own library makes and checks', () => {
    const header = Stripe.webhooks.generateTestHeaderString({
      payload: body.toString(),
      secret: SECRET,
      timestamp: SECONDS,
    });
    expect(holds(header)).toBe(true);
    const ours = signPaymentEvent(secret, body, NOW);
    const read = Stripe.webhooks.constructEvent(body, ours, SECRET, 300, undefined, NOW);
    expect(read.id).toBe('evt_1');
  });

  test.each([
    [299, true],
    [300, true],
    [301, false],
    [3_600, false],
  ])('%i s old or ahead: %s', (seconds, expected) => {
    const header = signPaymentEvent(secret, body, NOW);
    expect(holds(header, body, NOW + seconds * 1000)).toBe(expected);
    expect(holds(header, body, NOW - seconds * 1000)).toBe(expected);
  });

  test('one millisecond beyond five minutes is beyond', () => {
    const header = signPaymentEvent(secret, body, NOW);
    expect([holds(header, body, NOW + 300_000), holds(header, body, NOW + 300_001)]).toEqual([true, false]);
    expect([holds(header, body, NOW - 300_000), holds(header, body, NOW - 300_001)]).toEqual([true, false]);
  });

  test('any of several candidates counts, in any place; other schemes never do', () => {
    const good = hex(SECONDS);
    const bad = hex(SECONDS, body, 'whsec_old');
    expect(holds(`t=${SECONDS},v1=${bad},v1=${good}`)).toBe(true);
    expect(holds(`v1=${good},v0=${bad},t=${SECONDS}`)).toBe(true);
    expect(holds(`t=${SECONDS}, v1=${good}`)).toBe(true);
    expect(holds(`t=${SECONDS},v1=${bad},v1=${bad}`)).toBe(false);
    expect(holds(`t=${SECONDS},v0=${good}`)).toBe(false);
    expect(holds(`t=${SECONDS},v2=${good}`)).toBe(false);
  });

  test.each<[string, string | undefined]>([
    ['none', undefined],
    ['empty', ''],
    ['no time', `v1=${hex(SECONDS)}`],
    ['no signature', `t=${SECONDS}`],
    ['two times', `t=${SECONDS},t=${SECONDS},v1=${hex(SECONDS)}`],
    ['a time that is no number', `t=x,v1=${hex('x')}`],
    ['a negative time', `t=-1,v1=${hex(-1)}`],
    ['a fraction', `t=${SECONDS}.5,v1=${hex(`${SECONDS}.5`)}`],
    ['an exponent', `t=1e9,v1=${hex('1e9')}`],
    ['upper case', `t=${SECONDS},v1=${hex(SECONDS).toUpperCase()}`],
    ['cut short', `t=${SECONDS},v1=${hex(SECONDS).slice(0, 62)}`],
    ['too long', `t=${SECONDS},v1=${hex(SECONDS)}00`],
    ['bare hex', hex(SECONDS)],
    ['another form', `sha256=${hex(SECONDS)}`],
    ['signed with another secret', `t=${SECONDS},v1=${hex(SECONDS, body, 'whsec_other')}`],
    ['signed without the time', `t=${SECONDS},v1=${createHmac('sha256', SECRET).update(body).digest('hex')}`],
    ['longer than any header', `t=${SECONDS},v1=${hex(SECONDS)},${'v0=0,'.repeat(2_000)}`],
  ])('%s is refused', (_name, header) => {
    expect(holds(header)).toBe(false);
  });

  test('without a secret nothing is signed, not even with the empty one', () => {
    const header = `t=${SECONDS},v1=${hex(SECONDS, body, '')}`;
    expect(holds(header, body, NOW, new Secret(''))).toBe(false);
  });

  test('each single bit matters: of the signature, of the body, of the time', () => {
    const signature = Buffer.from(hex(SECONDS), 'hex');
    for (let bit = 0; bit < signature.length * 8; bit += 1) {
      const flipped = Buffer.from(signature);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(holds(`t=${SECONDS},v1=${flipped.toString('hex')}`)).toBe(false);
    }
    const header = signPaymentEvent(secret, body, NOW);
    for (let bit = 0; bit < body.length * 8; bit += 1) {
      const flipped = Buffer.from(body);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(holds(header, flipped)).toBe(false);
    }
    for (const other of [SECONDS - 1, SECONDS + 1, SECONDS + 4]) {
      expect(holds(header.replace(`t=${SECONDS}`, `t=${other}`))).toBe(false);
    }
    expect(holds(header, Buffer.concat([body, Buffer.from(' ')]))).toBe(false);
    expect(holds(header, body.subarray(0, -1))).toBe(false);
  });
});
