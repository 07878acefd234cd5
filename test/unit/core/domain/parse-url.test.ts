import { parseUrl } from '#core/domain/parse-url.ts';

/** Enough for the engine to optimize whatever it calls. */
const CALLS = 20_000;

test('a name outside ASCII stays parsable however often it was parsed', () => {
  for (let call = 0; call < CALLS; call += 1) {
    if (parseUrl('https://bücher.example')?.host !== 'xn--bcher-kva.example')
      throw new Error(`wrong at call ${call}`);
  }
});

test.each(['', 'no url', 'https://', '//host'])('%p is no URL', (text) => {
  expect(parseUrl(text)).toBeNull();
});
