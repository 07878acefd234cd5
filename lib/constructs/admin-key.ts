import { RemovalPolicy } from 'aws-cdk-lib';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';

/** The deployment's `ADMIN_KEY`, for operator tooling (contract, Authentication 2). Made once, never shown by the stack. */
export class AdminKey extends Construct {
  readonly secret: Secret;

  /** `retain`: survives every update and `cdk destroy`. */
  constructor(scope: Construct, id: string, { retain }: { readonly retain: boolean }) {
    super(scope, id);
    this.secret = new Secret(this, 'Secret', {
      description: 'X-Admin-Key of the admin API',
      generateSecretString: { passwordLength: 64, excludePunctuation: true },
      removalPolicy: retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
  }

  grantRead(grantee: Grantee): void {
    grantee.setEnv('ADMIN_KEY_SECRET_ID', this.secret.secretArn);
    grantee.allow(
      new PolicyStatement({
        actions: ['secretsmanager:GetSecretValue'],
        resources: [this.secret.secretArn],
      }),
    );
  }
}
