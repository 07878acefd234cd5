import { openToken, sealToken } from '#core/http/sealed-token.ts';
import { Secret } from '#core/secret.ts';

const TOKEN = 'canary-token-7f3a91';
const token = new Secret(TOKEN);
const secret = new Secret('s'.repeat(64));
const shop = { instanceUrl: 'https://git.example.org', repoSlug: 'corner/shop' };
const open = (secrets: readonly Secret<string>[], value: string, purpose = shop): string | undefined =>
  openToken(secrets, new Secret(value), purpose)?.reveal();

test('a sealed token is opened with the secret that sealed it, and is another text each time', () => {
  const sealed = sealToken(secret, token, shop);
  expect(sealed).not.toContain(TOKEN);
  expect(open([secret], sealed)).toBe(TOKEN);
  expect(sealToken(secret, token, shop)).not.toBe(sealed);
});

test('while the secret is rotated either of the two opens it', () => {
  const rotated = new Secret(`${'n'.repeat(64)} ${'s'.repeat(64)}`);
  expect(open([rotated], sealToken(secret, token, shop))).toBe(TOKEN);
  expect(open([secret], sealToken(rotated, token, shop))).toBeUndefined();
});

test('for another forge or repository, with one changed character, or cut short it opens nothing', () => {
  const sealed = sealToken(secret, token, shop);
  expect(open([secret], sealed, { ...shop, repoSlug: 'corner/safe' })).toBeUndefined();
  expect(open([secret], sealed, { ...shop, instanceUrl: 'https://evil.example.org' })).toBeUndefined();
  const changed = `${sealed.slice(0, -3)}${sealed.at(-3) === 'A' ? 'B' : 'A'}${sealed.slice(-2)}`;
  expect(open([secret], changed)).toBeUndefined();
  expect(open([secret], sealed.slice(0, 20))).toBeUndefined();
  expect(open([], sealed)).toBeUndefined();
});

test('a token that is not sealed is taken as it is: the contract names the field', () => {
  expect(open([secret], TOKEN)).toBe(TOKEN);
});
