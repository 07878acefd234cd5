import { REFUSED_DELIVERIES_MAX } from '#core/domain/api-limits.ts';
import { createSurfaces } from '../../../onebox/surfaces.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { bodyOf, givenHook, HOOK, sign } from '../core/services/webhooks/given-hook.ts';

const SILENT = { info: () => undefined, warn: () => undefined, error: () => undefined };

test('wrong signatures of one address for one repository are looked up as often as in the cloud, and no more', async () => {
  const { store, deps, calls } = await givenHook();
  const policy = { allowHosts: [] };
  const clock = new VirtualClock();
  const shared = { ...deps, store, clock, policy, log: SILENT, publicUrl: 'https://mq.example.org' };
  const surface = createSurfaces(shared as never)['webhooks-forge'];
  const body = bodyOf();
  const event = {
    headers: { 'x-hub-signature-256': sign(body, 'guessed'), 'x-forgejo-event': 'push' },
    queryStringParameters: { r: HOOK },
    body: body.toString('utf8'),
    isBase64Encoded: false,
    requestContext: { requestId: 'one', http: { sourceIp: '203.0.113.9' } },
  };
  for (let nth = 0; nth < 2 * REFUSED_DELIVERIES_MAX; nth += 1)
    expect((await surface(event as never, {} as never)).statusCode).toBe(401);
  expect(calls.filter((call) => call === 'findRepoForHook')).toHaveLength(REFUSED_DELIVERIES_MAX);
});
