import { signWebhook } from '#core/adapters/email-chat/webhook.ts';
import { afterAttempt, newDelivery, RETRY_DELAYS_MS } from '#core/domain/notices/webhook-delivery.ts';

const NEW = newDelivery(
  { repoId: 'repo-1', at: 0, id: 'bounced_1' },
  { tenantId: 'tenant-1', kind: 'bounced', body: '{}' },
  0,
);

test('the signature is that of the published vector of the Standard Webhooks specification', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', seconds: 1614265330, body: '{"test": 2432232314}' };
  expect(signWebhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', message)).toEqual({
    'webhook-id': message.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('a delivery that no answer comes to is tried with growing delays for three days, then given up', () => {
  let [delivery, now] = [NEW, 0];
  const waits: number[] = [];
  while (delivery.nextAt !== null) {
    const next = afterAttempt(delivery, null, now);
    if (next.nextAt !== null) waits.push(next.nextAt - now);
    [delivery, now] = [next, next.nextAt ?? now];
  }
  expect(waits).toEqual(RETRY_DELAYS_MS);
  expect(waits).toEqual([...waits].sort((one, other) => one - other));
  expect([delivery.state, delivery.attempts]).toEqual(['given_up', RETRY_DELAYS_MS.length + 1]);
  expect(now).toBeGreaterThan(3 * 24 * 60 * 60_000);
});

test.each([
  [200, 'delivered'],
  [204, 'delivered'],
  [302, 'waiting'],
  [400, 'waiting'],
  [410, 'given_up'],
  [429, 'waiting'],
  [500, 'waiting'],
])('an answer of %d makes it %s', (status, state) => {
  const next = afterAttempt(NEW, status, 7);
  expect([next.state, next.attempts, next.status, next.nextAt === null]).toEqual([
    state,
    1,
    status,
    state !== 'waiting',
  ]);
});
