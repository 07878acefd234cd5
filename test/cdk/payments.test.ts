import { BillingEnv } from '../../lambdas/billing/env.ts';
import { PaymentsWebhookEnv } from '../../lambdas/webhooks/env.ts';
import { parseStageConfig } from '../../lib/stage-config.ts';
import { readTemplate } from '../support/template.ts';

const PRICES = 'pro.flat=price_A,team.flat=price_B';
const LIMITS = 'pro.repos=20/80';
const template = readTemplate();
const selling = readTemplate({ paymentsPrices: PRICES, planLimits: LIMITS });

function environmentOf(from: typeof template, name: string): Readonly<Record<string, unknown>> {
  const found = from
    .ofType('AWS::Lambda::Function')
    .find(([id]) => new RegExp(`^${name}Function[0-9A-F]{8}$`).test(id));
  if (found === undefined) throw new Error(`no function ${name}`);
  return found[1].Properties.Environment.Variables;
}

const secretsOf = (from: typeof template): readonly string[] =>
  from
    .ofType('Custom::Secret')
    .map(([id]) => id)
    .filter((id) => id.startsWith('Payments'));

describe('payments', () => {
  test('without prices: no secret, no right to one, and functions that know it (A109)', () => {
    expect(secretsOf(template)).toEqual([]);
    const readers = template
      .allowed()
      .filter(({ Action }) => JSON.stringify(Action).includes('ssm:'))
      .map(({ holder }) => holder);
    expect(readers.filter((holder) => /Billing|Payments/.test(holder))).toEqual([]);
    expect(environmentOf(template, 'Billing')).toMatchObject({
      PAYMENTS_PRICES: '',
      PAYMENTS_KEY_SECRET_ID: '',
      PLAN_LIMITS: '',
    });
    expect(environmentOf(template, 'WebhooksPayments')).toMatchObject({
      PAYMENTS_PRICES: '',
      PAYMENTS_WEBHOOK_SECRET_ID: '',
      PAYMENTS_READ_KEY_SECRET_ID: '',
    });
  });

  test('with prices: three secrets, prices and limits as the functions read them', () => {
    expect(secretsOf(selling)).toHaveLength(3);
    const plain = {
      TABLE_NAME: 't',
      LOG_LEVEL: 'info',
      RATE_FACTOR: '1',
      EDGE_STAMP: '',
      REQUIRED_STAMP: '',
    };
    const identity = {
      IDENTITY_KIND: 'gotrue',
      IDENTITY_URL: 'https://id.example',
      IDENTITY_API_KEY: '',
      IDENTITY_SHARED_SECRET: 'false',
      COGNITO_USER_POOL_ID: '',
      COGNITO_CLIENT_ID: '',
    };
    const { PAYMENTS_PRICES, PAYMENTS_API_URL, PLAN_LIMITS } = environmentOf(selling, 'Billing');
    const given = { PAYMENTS_PRICES, PAYMENTS_API_URL, PLAN_LIMITS };
    const billing = BillingEnv.parse({
      ...plain,
      ...identity,
      ...given,
      PAYMENTS_KEY_SECRET_ID: 'arn',
      BILLING_PAGE_URL: 'https://mq.example/billing',
      WAKE_QUEUE_URL: 'https://sqs.example/wakes',
    });
    expect(billing).toMatchObject({
      PAYMENTS_API_URL: 'https://api.stripe.com',
      PAYMENTS_PRICES: { pro: { flat: 'price_A' }, team: { flat: 'price_B' } },
      PLAN_LIMITS: { pro: { included: { repos: 20 }, ceiling: { repos: 80 } } },
    });
    const ids = { PAYMENTS_READ_KEY_SECRET_ID: 'arn', PAYMENTS_WEBHOOK_SECRET_ID: 'arn' };
    const webhook = PaymentsWebhookEnv.parse({ ...plain, ...given, ...ids });
    expect(webhook.PAYMENTS_PRICES).toEqual(billing.PAYMENTS_PRICES);
  });

  test('limits reach every function that knows ceilings or holds', () => {
    for (const name of ['Api', 'Billing', 'Connections', 'ForgeOps', 'Worker', 'Tick', 'WebhooksForge']) {
      expect([name, environmentOf(selling, name).PLAN_LIMITS]).toEqual([name, LIMITS]);
    }
  });

  test('the key that may write is the billing function’s alone, the signing secret the webhook’s alone', () => {
    const holders = (secret: RegExp): readonly string[] =>
      selling
        .allowed()
        .filter(({ Resource }) => secret.test(JSON.stringify(Resource)))
        .map(({ holder }) => holder);
    expect(holders(/"PaymentsStoredKey/)).toEqual(['BillingRole']);
    expect(holders(/"PaymentsStoredReadKey/)).toEqual(['WebhooksPaymentsRole']);
    expect(holders(/"PaymentsStoredWebhookSecret/)).toEqual(['WebhooksPaymentsRole']);
  });

  test.each([
    [{ paymentsPrices: 'pro.flat=price_A' }, '-c paymentsPrices=pro.flat=price_A: team.flat has no price'],
    [{ paymentsPrices: 'x' }, 'must look like pro.flat=price_123'],
    [{ planLimits: 'pro.repos=9/1' }, 'more is included than the ceiling allows'],
    [{ paymentsApiUrl: 'api.stripe.com' }, 'must be the address of the payment provider'],
  ])('%j is refused with the cure', (context, words) => {
    expect(() => parseStageConfig(context)).toThrow(words);
  });
});
