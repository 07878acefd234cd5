import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { viewerAddress } from '#core/http/viewer-address.ts';

const STAMP = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const EDGE = '203.0.113.9';

test.each([
  [
    'through the distribution',
    { 'x-mergeyard-stamp': STAMP, 'x-mergeyard-viewer': '198.51.100.7' },
    STAMP,
    '198.51.100.7',
  ],
  ['… over IPv6', { 'x-mergeyard-stamp': STAMP, 'x-mergeyard-viewer': '2001:db8::7' }, STAMP, '2001:db8::7'],
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
  const event = { headers, requestContext: { http: { sourceIp: EDGE } } };
  expect(viewerAddress(event as unknown as APIGatewayProxyEventV2, stamp)).toBe(expected);
});
