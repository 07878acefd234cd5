import { CONTAINER_AUTH_WINDOW_MS } from '#core/domain/limits.ts';
import { createStampLedger, signContainerCall, verifyContainerCall } from '#core/http/container-auth.ts';
import { Secret } from '#core/secret.ts';
import { SeededRandom } from '../../../support/seeded-random.ts';

const secret = new Secret('s'.repeat(64));
const other = new Secret('t'.repeat(64));
const now = Date.UTC(2026, 0, 1);
const call = { method: 'POST', path: '/internal/reconcile', body: Buffer.from('{"a":1}') };
const hex = 'ab'.repeat(16);
const ORDER = { fence: 7, command: 'reconcile' } as const;
const stamp = signContainerCall(secret, call, ORDER, now, hex);

describe('container stamp', () => {
  test('is accepted and carries the fence', () => {
    expect(verifyContainerCall([secret], stamp, call, now)).toMatchObject({ fence: 7, nonce: `f7-${hex}` });
  });

  test('has the shape v1.<unix>.<nonce>.<hex>', () => {
    expect(stamp).toMatch(/^v1\.\d+\.f7-[0-9a-f]{32}\.[0-9a-f]{64}$/);
  });

  test.each([
    ['at the far edge of the window', CONTAINER_AUTH_WINDOW_MS, true],
    ['just past the window', CONTAINER_AUTH_WINDOW_MS + 1, false],
    ['from the future, at the edge', -CONTAINER_AUTH_WINDOW_MS, true],
    ['from the future, past the edge', -CONTAINER_AUTH_WINDOW_MS - 1, false],
    ['a day old', 86_400_000, false],
  ])('%s', (_name, ageMs, accepted) => {
    expect(verifyContainerCall([secret], stamp, call, now + ageMs) !== null).toBe(accepted);
  });

  test.each([
    ['another body', { ...call, body: Buffer.from('{"a":2}') }],
    ['an empty body', { ...call, body: Buffer.alloc(0) }],
    ['another path', { ...call, path: '/healthz' }],
    ['another method', { ...call, method: 'PUT' }],
  ])('replayed on %s is refused', (_name, changed) => {
    expect(verifyContainerCall([secret], stamp, changed, now)).toBeNull();
  });

  test('is accepted and carries the command', () => {
    const wound = signContainerCall(secret, call, { fence: 7, command: 'wind_down' }, now, hex);
    expect(verifyContainerCall([secret], stamp, call, now)?.command).toBe('reconcile');
    expect(verifyContainerCall([secret], wound, call, now)).toMatchObject({ fence: 7, command: 'wind_down' });
  });

  test('another command in the nonce is refused', () => {
    expect(verifyContainerCall([secret], stamp.replace('.f7-', '.w7-'), call, now)).toBeNull();
  });

  test('another fence in the nonce is refused', () => {
    expect(verifyContainerCall([secret], stamp.replace('.f7-', '.f8-'), call, now)).toBeNull();
  });

  test('a later time in the stamp is refused', () => {
    const unix = String(now / 1000);
    expect(verifyContainerCall([secret], stamp.replace(unix, String(now / 1000 + 1)), call, now)).toBeNull();
  });

  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['another version', stamp.replace('v1.', 'v2.')],
    ['upper-case hex', stamp.slice(0, -64) + stamp.slice(-64).toUpperCase()],
    ['one digit short', stamp.slice(0, -1)],
    ['one digit long', `${stamp}0`],
    ['trailing space', `${stamp} `],
    ['trailing new line', `${stamp}\n`],
    ['no fence', stamp.replace('.f7-', '.-')],
    ['padded fence', stamp.replace('.f7-', '.f07-')],
    ['negative fence', stamp.replace('.f7-', '.f-7-')],
    ['two stamps', `${stamp}, ${stamp}`],
    ['only the secret', 's'.repeat(64)],
  ])('%s header is refused', (_name, header) => {
    expect(verifyContainerCall([secret], header, call, now)).toBeNull();
  });

  test('fails closed without a secret and with an empty one', () => {
    expect(verifyContainerCall([], stamp, call, now)).toBeNull();
    const empty = new Secret('');
    expect(verifyContainerCall([empty], signContainerCall(empty, call, ORDER, now), call, now)).toBeNull();
  });

  test('during a rotation both secrets are accepted, a third is not', () => {
    expect(verifyContainerCall([other, secret], stamp, call, now)).not.toBeNull();
    expect(
      verifyContainerCall([secret, other], signContainerCall(other, call, ORDER, now), call, now),
    ).not.toBeNull();
    const third = signContainerCall(new Secret('u'.repeat(64)), call, ORDER, now);
    expect(verifyContainerCall([secret, other], third, call, now)).toBeNull();
  });

  test('one stored secret may be two: the first one signs, each is accepted, so that none of three steps of a rotation is refused', () => {
    const [old, next] = ['s'.repeat(64), 't'.repeat(64)];
    const steps = [old, `${old} ${next}`, `${next}\n${old}`, next].map((text) => new Secret(text));
    for (const [index, signing] of steps.entries()) {
      const signed = signContainerCall(signing, call, ORDER, now, hex);
      // The engine has the secret of its start: that of this step, of the one before, or already of the next.
      for (const accepted of steps.slice(Math.max(0, index - 1), index + 2)) {
        expect(verifyContainerCall([accepted], signed, call, now)).toMatchObject({ fence: 7 });
      }
    }
    expect(verifyContainerCall([new Secret(`${old} ${next}`)], stamp, call, now)).not.toBeNull();
    const blank = new Secret(' \n ');
    expect(verifyContainerCall([blank], signContainerCall(blank, call, ORDER, now), call, now)).toBeNull();
  });

  test('no single changed character is accepted', () => {
    const random = new SeededRandom(75);
    for (let round = 0; round < 2000; round += 1) {
      const at = random.int(stamp.length);
      const flipped = String.fromCharCode(stamp.charCodeAt(at) ^ (1 << random.int(7)));
      const header = stamp.slice(0, at) + flipped + stamp.slice(at + 1);
      expect(verifyContainerCall([secret], header, call, now)).toBeNull();
    }
  });

  test('the ledger takes a stamp once, and forgets it only after it has expired', () => {
    const ledger = createStampLedger();
    const verified = verifyContainerCall([secret], stamp, call, now);
    if (verified === null) throw new Error('not verified');
    expect(ledger.claim(verified, now)).toBe(true);
    expect(ledger.claim(verified, now)).toBe(false);
    expect(ledger.claim(verified, verified.expiresAt)).toBe(false);
    expect(ledger.claim({ ...verified, nonce: 'f7-other' }, now)).toBe(true);
  });
});
