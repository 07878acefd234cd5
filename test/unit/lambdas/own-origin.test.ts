import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { isOwnOrigin } from '../../../lambdas/api/session.ts';

const GATEWAY = 'abc.execute-api.eu-west-1.amazonaws.com';

test.each([
  ['no browser', {}, true],
  ['a page at the gateway itself', { origin: `https://${GATEWAY}` }, true],
  [
    'our page behind the distribution',
    { origin: 'https://d111.cloudfront.net', 'sec-fetch-site': 'same-origin' },
    true,
  ],
  ['a foreign page', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }, false],
  ['a page of a neighbour', { origin: 'https://evil.cloudfront.net', 'sec-fetch-site': 'same-site' }, false],
  ['an old browser behind the distribution', { origin: 'https://d111.cloudfront.net' }, false],
])('%s', (_who, headers, own) => {
  const event: Pick<APIGatewayProxyEventV2, 'headers'> = { headers: { host: GATEWAY, ...headers } };
  expect(isOwnOrigin(event as APIGatewayProxyEventV2)).toBe(own);
});
