import { viewerNetwork } from '#core/http/viewer-address.ts';

const STAMP = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const EDGE = '203.0.113.9';

test.each([
  [
    'through the distribution',
    { 'x-mergeyard-stamp': STAMP, 'x-mergeyard-viewer': '198.51.100.7' },
    STAMP,
    '198.51.100.7',
  ],
  [
    '… over IPv6, where a caller has a whole network',
    { 'x-mergeyard-stamp': STAMP, 'x-mergeyard-viewer': '2001:DB8::7' },
    STAMP,
    '2001:db8:0:0::/64',
  ],
  [
    '… over IPv4 in the spelling of IPv6',
    { 'x-mergeyard-stamp': STAMP, 'x-mergeyard-viewer': '::ffff:198.51.100.7' },
    STAMP,
    '198.51.100.7',
  ],
  ['past it, with a made-up address', { 'x-mergeyard-viewer': '198.51.100.7' }, STAMP, EDGE],
  [
    'past it, with a made-up stamp',
    { 'x-mergeyard-stamp': 'x', 'x-mergeyard-viewer': '198.51.100.7' },
    STAMP,
    EDGE,
  ],
  ['with the stamp and no address', { 'x-mergeyard-stamp': STAMP }, STAMP, EDGE],
  [
    'with the stamp and nonsense',
    { 'x-mergeyard-stamp': STAMP, 'x-mergeyard-viewer': 'user:ada' },
    STAMP,
    EDGE,
  ],
  [
    'where nothing stands in front',
    { 'x-mergeyard-stamp': '', 'x-mergeyard-viewer': '198.51.100.7' },
    '',
    EDGE,
  ],
])('%s', (_how, headers, stamp, expected) => {
  expect(viewerNetwork({ headers, sourceIp: EDGE }, stamp)).toBe(expected);
});
