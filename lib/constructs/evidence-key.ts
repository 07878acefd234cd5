import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Key, KeySpec, KeyUsage } from 'aws-cdk-lib/aws-kms';
import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';

export interface EvidenceKeyProps {
  /**
   * Whether the key survives every update and `cdk destroy`. Exported statements stay verifiable with the public key
   * also when it is lost.
   */
  readonly retain: boolean;
}

/** Signs the statements of landings. KMS rotates no asymmetric key by itself, and the private half never leaves it. */
export class EvidenceKey extends Construct {
  readonly key: Key;

  constructor(scope: Construct, id: string, { retain }: EvidenceKeyProps) {
    super(scope, id);
    this.key = new Key(this, 'Key', {
      keySpec: KeySpec.ECC_NIST_P256,
      keyUsage: KeyUsage.SIGN_VERIFY,
      description: 'Signs statements of landings',
      removalPolicy: retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
  }

  /**
   * Lets the grantee sign. Grant it only to code that makes the statements from stored receipts, never to code that
   * takes the bytes from a caller.
   */
  grantSign(grantee: Grantee): void {
    const resources = [this.key.keyArn];
    grantee.allow(
      new PolicyStatement({
        actions: ['kms:Sign'],
        resources,
        conditions: {
          StringEquals: { 'kms:SigningAlgorithm': 'ECDSA_SHA_256', 'kms:MessageType': 'DIGEST' },
        },
      }),
    );
    grantee.allow(new PolicyStatement({ actions: ['kms:GetPublicKey'], resources }));
  }
}
