import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';

export interface CredentialKeyProps {
  /** Losing the key loses every stored token. */
  readonly retain: boolean;
}

/** What the vault binds to every data key (A96); ids only, since CloudTrail shows it in plain text. */
const CONTEXT_KEYS = ['tenant_id', 'connection_id', 'purpose', 'v'];

/** Grows by one whenever the key itself is replaced (not when its material rotates); stored with each credential. */
const KEY_VERSION = 1;

/** Wraps the data keys of forge tokens. Sealing and opening are granted apart (A118). */
export class CredentialKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string, props: CredentialKeyProps) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      enableKeyRotation: true,
      description: 'Wraps the data keys of stored forge tokens',
      removalPolicy: props.retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
  }

  /** Only for what uses a stored token in the same operation. */
  grantOpen(grantee: Grantee): void {
    this.#grant(grantee, 'kms:Decrypt');
  }

  /** Only for what stores a token; it cannot read one back. */
  grantSeal(grantee: Grantee): void {
    this.#grant(grantee, 'kms:GenerateDataKey');
  }

  #grant(grantee: Grantee, action: string): void {
    grantee.setEnv('CREDENTIAL_KEY_ID', this.key.keyArn);
    grantee.setEnv('CREDENTIAL_KEY_VERSION', String(KEY_VERSION));
    grantee.allow(
      new PolicyStatement({
        actions: [action],
        resources: [this.key.keyArn],
        conditions: {
          'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': CONTEXT_KEYS },
          Null: {
            'kms:EncryptionContext:tenant_id': 'false',
            'kms:EncryptionContext:connection_id': 'false',
          },
        },
      }),
    );
  }
}
