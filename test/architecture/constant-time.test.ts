import { listSources, readSource } from './sources.ts';

/** What compares a secret, or the digest of one, with what a stranger sent. */
const COMPARING = [
  'core/contracts/webhooks/hub-signature.ts',
  'core/contracts/webhooks/payment-signature.ts',
  'core/http/authenticate.ts',
  'core/http/container-auth.ts',
];

describe('secrets are compared in constant time (A91, A102)', () => {
  test.each(COMPARING)('%s calls timingSafeEqual, and compares bytes in no other way', (path) => {
    const source = readSource(path);
    expect(source).toMatch(/^import \{[^}]*\btimingSafeEqual\b[^}]*\} from 'node:crypto';$/m);
    expect(source).toMatch(/\btimingSafeEqual\(/);
    expect(source).not.toMatch(/\.equals\(|\bBuffer\.compare\(|\.compare\(|\.localeCompare\(/);
  });

  test('no other file compares so, and the list has all that do', () => {
    const found = ['core', 'engine-container', 'lambdas', 'onebox']
      .flatMap(listSources)
      .filter((path) => /\btimingSafeEqual\(/.test(readSource(path)));
    expect(found.sort()).toEqual(COMPARING);
  });
});
