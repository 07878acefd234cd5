import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import { AccountRecovery, CfnUserPoolGroup, FeaturePlan, UserPool } from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import type { Grantee } from './data-table.ts';

export interface IdentityProviderProps {
  /** Base address of a provider that speaks the GoTrue contract. @default a Cognito user pool is made */
  readonly url: string | undefined;
  /** Its public key, sent as `apikey`. @default none */
  readonly apiKey: string;
  /** Users survive `cdk destroy`. */
  readonly retain: boolean;
}

/** Members are administrators (D-93). */
const ADMIN_GROUP = 'admin';

/** Who verifies sessions (D-93): what the operator names, else a user pool of this stack. */
export class IdentityProvider extends Construct {
  readonly #settings: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: IdentityProviderProps) {
    super(scope, id);
    const none = { IDENTITY_API_KEY: props.apiKey, COGNITO_USER_POOL_ID: '', COGNITO_CLIENT_ID: '' };
    this.#settings =
      props.url === undefined
        ? { ...none, ...this.#createUserPool(props.retain) }
        : { ...none, IDENTITY_KIND: 'gotrue', IDENTITY_URL: props.url };
  }

  /** Verifying a session takes no right: the caller's own token is what is asked with. */
  grantVerify(grantee: Grantee): void {
    for (const [key, value] of Object.entries(this.#settings)) grantee.setEnv(key, value);
  }

  #createUserPool(retain: boolean): Record<string, string> {
    const pool = new UserPool(this, 'Users', {
      featurePlan: FeaturePlan.ESSENTIALS,
      signInAliases: { email: true },
      selfSignUpEnabled: true,
      autoVerify: { email: true },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      deletionProtection: retain,
      removalPolicy: retain ? RemovalPolicy.RETAIN : RemovalPolicy.DESTROY,
    });
    const client = pool.addClient('Dashboard', {
      authFlows: { userSrp: true },
      accessTokenValidity: Duration.hours(1),
      enableTokenRevocation: true,
      preventUserExistenceErrors: true,
    });
    new CfnUserPoolGroup(this, 'Admins', { userPoolId: pool.userPoolId, groupName: ADMIN_GROUP });
    return {
      IDENTITY_KIND: 'cognito',
      IDENTITY_URL: `https://cognito-idp.${Aws.REGION}.amazonaws.com`,
      COGNITO_USER_POOL_ID: pool.userPoolId,
      COGNITO_CLIENT_ID: client.userPoolClientId,
    };
  }
}
