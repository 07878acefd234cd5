import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';
import type { StoredSecret, StoredSecrets } from './stored-secrets.ts';

export interface PaymentsProps {
  /** Base address of the provider's API. */
  readonly apiUrl: string;
  /** `pro.flat=price_…,team.flat=price_…`; empty: nothing is sold, and no secret is made. */
  readonly prices: string;
  /** Whether the secrets survive every update and `cdk destroy`: an operator has stored their values. */
  readonly retain: boolean;
  readonly secrets: StoredSecrets;
}

interface PaymentSecrets {
  readonly key: StoredSecret;
  readonly readKey: StoredSecret;
  readonly signing: StoredSecret;
}

/**
 * The parts of the stack for the payment provider. The secrets are made with random text in them, which is no key of the
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
              'payments-key',
              'API key of the payment provider: customers, checkout, portal, subscriptions',
            ),
            readKey: this.#makeSecret(
              'ReadKey',
              'payments-read-key',
              'Restricted key of the payment provider: reads subscriptions',
            ),
            signing: this.#makeSecret(
              'WebhookSecret',
              'payments-webhook-secret',
              'Signing secret of the payment webhook (whsec_…)',
            ),
          };
  }

  /** Grants what selling needs; the one function with the key that may write at the provider. */
  grantSell(grantee: Grantee): void {
    this.#describe(grantee);
    this.#grant(grantee, 'PAYMENTS_KEY_SECRET_ID', this.#secrets?.key);
  }

  /** Grants what following needs: the signing secret of events, and a key that reads. */
  grantFollow(grantee: Grantee): void {
    this.#describe(grantee);
    this.#grant(grantee, 'PAYMENTS_READ_KEY_SECRET_ID', this.#secrets?.readKey);
    this.#grant(grantee, 'PAYMENTS_WEBHOOK_SECRET_ID', this.#secrets?.signing);
  }

  #describe(grantee: Grantee): void {
    grantee.setEnv('PAYMENTS_API_URL', this.#props.apiUrl);
    grantee.setEnv('PAYMENTS_PRICES', this.#props.prices);
  }

  #grant(grantee: Grantee, envKey: string, secret: StoredSecret | undefined): void {
    if (secret === undefined) grantee.setEnv(envKey, '');
    else secret.grantRead(grantee, envKey);
  }

  #makeSecret(oldId: string, name: string, description: string): StoredSecret {
    const { secrets, retain } = this.#props;
    const secret = secrets.make(this, `Stored${oldId}`, { name, description, length: 32, retain, oldId });
    secret.output(`Payments${oldId}Arn`, description);
    return secret;
  }
}
