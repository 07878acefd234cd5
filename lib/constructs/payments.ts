import { CfnOutput, RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';

export interface PaymentsProps {
  /** Base address of the provider's API. */
  readonly apiUrl: string;
  /** `pro.flat=price_…,team.flat=price_…`; empty: nothing is sold, and no secret is made. */
  readonly prices: string;
  /** The secrets survive every update and `cdk destroy`: an operator has stored their values. */
  readonly retain: boolean;
}

interface PaymentSecrets {
  readonly key: Secret;
  readonly readKey: Secret;
  readonly signing: Secret;
}

/**
 * What the payment provider needs and gives. The secrets are made with random text in them, which is no key of the
 * provider: payments stay off until an operator stores the real ones.
 */
export class Payments extends Construct {
  readonly #props: PaymentsProps;
  readonly #secrets: PaymentSecrets | null;

  constructor(scope: Construct, id: string, props: PaymentsProps) {
    super(scope, id);
    this.#props = props;
    this.#secrets =
      props.prices === ''
        ? null
        : {
            key: this.#makeSecret(
              'Key',
              'API key of the payment provider: customers, checkout, portal, subscriptions',
            ),
            readKey: this.#makeSecret(
              'ReadKey',
              'Restricted key of the payment provider: reads subscriptions',
            ),
            signing: this.#makeSecret('WebhookSecret', 'Signing secret of the payment webhook (whsec_…)'),
          };
  }

  /** Sells: the only function with the key that may write. */
  grantSell(grantee: Grantee): void {
    this.#describe(grantee);
    this.#grant(grantee, 'PAYMENTS_KEY_SECRET_ID', this.#secrets?.key);
  }

  /** Follows: verifies events and reads what they are about. */
  grantFollow(grantee: Grantee): void {
    this.#describe(grantee);
    this.#grant(grantee, 'PAYMENTS_READ_KEY_SECRET_ID', this.#secrets?.readKey);
    this.#grant(grantee, 'PAYMENTS_WEBHOOK_SECRET_ID', this.#secrets?.signing);
  }

  #describe(grantee: Grantee): void {
    grantee.setEnv('PAYMENTS_API_URL', this.#props.apiUrl);
    grantee.setEnv('PAYMENTS_PRICES', this.#props.prices);
  }

  #grant(grantee: Grantee, envKey: string, secret: Secret | undefined): void {
    grantee.setEnv(envKey, secret?.secretArn ?? '');
    if (secret === undefined) return;
    grantee.allow(
      new PolicyStatement({ actions: ['secretsmanager:GetSecretValue'], resources: [secret.secretArn] }),
    );
  }

  #makeSecret(id: string, description: string): Secret {
    const secret = new Secret(this, id, {
      description,
      generateSecretString: { passwordLength: 32, excludePunctuation: true },
      removalPolicy: this.#props.retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
    new CfnOutput(this, `${id}Arn`, { value: secret.secretArn, description }).overrideLogicalId(
      `Payments${id}Arn`,
    );
    return secret;
  }
}
