import { Aws, Duration, RemovalPolicy } from 'aws-cdk-lib';
import {
  AccountRecovery,
  CfnManagedLoginBranding,
  type CfnUserPool,
  CfnUserPoolGroup,
  CfnUserPoolUser,
  CfnUserPoolUserToGroupAttachment,
  FeaturePlan,
  ManagedLoginVersion,
  Mfa,
  OAuthScope,
  PasskeyUserVerification,
  UserPool,
} from 'aws-cdk-lib/aws-cognito';
import { Construct } from 'constructs';
import { SIGN_IN_CALLBACK_PATH } from '../../core/contracts/internal/dashboard.ts';
import type { Grantee } from './data-table.ts';
import type { Monitoring } from './monitoring.ts';
import type { ServiceFunction } from './service-function.ts';

export interface IdentityProviderProps {
  /** Base address of a provider that speaks the GoTrue contract. @default a Cognito user pool is made */
  readonly url: string | undefined;
  /** Public key of that provider, sent as the header `apikey`. @default none */
  readonly apiKey: string;
  /** `true`: the provider signs with a shared secret although it publishes keys, as while keys are changed. */
  readonly sharedSecret: 'true' | 'false';
  /** `closed`: accounts are made by invitation alone. */
  readonly signUp: 'open' | 'closed';
  /** Whether the user pool survives `cdk destroy`. */
  readonly retain: boolean;
  readonly refusesDeletion: boolean;
  /** Whether the deployed user pool takes `You@…` and `you@…` for two people. */
  readonly tellsCapitalsApart: boolean;
  /** Address of the dashboard, to which the sign-in page sends people back. */
  readonly publicUrl: string;
  /** E-mail address that Cognito invites as the first administrator. @default no person: see `npm run admin` */
  readonly adminEmail: string | undefined;
}

/** Group of the user pool whose members are administrators (D-93). */
const ADMIN_GROUP = 'admin';
/**
 * Prefix of the sign-in domain. It is short because the domain, with the longest name of a region, must fit into the 63
 * characters that CloudFormation takes as the id of a relying party.
 */
const DOMAIN_PREFIX = 'mrg';

/** The provider that verifies sessions (D-93): the one that the operator names, else a user pool of this stack. */
export class IdentityProvider extends Construct {
  /** The user pool; undefined where the operator names a provider. */
  readonly userPool: UserPool | undefined;
  readonly #settings: Readonly<Record<string, string>>;
  readonly #signIn: Readonly<Record<string, string>>;

  constructor(scope: Construct, id: string, props: IdentityProviderProps) {
    super(scope, id);
    const { url, apiKey } = props;
    const none = {
      IDENTITY_API_KEY: apiKey,
      IDENTITY_SHARED_SECRET: props.sharedSecret,
      COGNITO_USER_POOL_ID: '',
      COGNITO_CLIENT_ID: '',
    };
    if (url === undefined) {
      const { pool, client, signInUrl } = this.#createUserPool(props);
      this.userPool = pool;
      this.#settings = {
        ...none,
        IDENTITY_KIND: 'cognito',
        IDENTITY_URL: `https://cognito-idp.${Aws.REGION}.${Aws.URL_SUFFIX}`,
        COGNITO_USER_POOL_ID: pool.userPoolId,
        COGNITO_CLIENT_ID: client.userPoolClientId,
      };
      this.#signIn = {
        SIGN_IN_KIND: 'cognito',
        SIGN_IN_URL: signInUrl,
        SIGN_IN_API_KEY: '',
        SIGN_IN_CLIENT_ID: client.userPoolClientId,
        SIGN_IN_ENDPOINT: this.#settings.IDENTITY_URL ?? '',
        SIGN_UP: props.signUp,
      };
    } else {
      this.#settings = { ...none, IDENTITY_KIND: 'gotrue', IDENTITY_URL: url };
      this.#signIn = {
        SIGN_IN_KIND: 'gotrue',
        SIGN_IN_URL: url,
        SIGN_IN_API_KEY: apiKey,
        SIGN_IN_CLIENT_ID: '',
        SIGN_IN_ENDPOINT: '',
        SIGN_UP: props.signUp,
      };
    }
  }

  /** Tells a function how to ask the provider. No right is needed: the call is made with the caller's own token. */
  grantVerify(grantee: Grantee): void {
    for (const [key, value] of Object.entries(this.#settings)) grantee.setEnv(key, value);
  }

  /** Tells the function of the page how people sign in. All of it is public. */
  grantSignIn(grantee: Grantee): void {
    for (const [key, value] of Object.entries(this.#signIn)) grantee.setEnv(key, value);
  }

  #createUserPool(props: IdentityProviderProps) {
    const { retain, refusesDeletion, publicUrl } = props;
    // Names of these domains are shared by all accounts of a region.
    const domainPrefix = `${DOMAIN_PREFIX}-${Aws.ACCOUNT_ID}-${this.node.addr.slice(-8)}`;
    const domainName = `${domainPrefix}.auth.${Aws.REGION}.amazoncognito.com`;
    const pool = new UserPool(this, 'Users', {
      featurePlan: FeaturePlan.ESSENTIALS,
      signInAliases: { email: true },
      // AWS's default is true, and its documents disagree about whether a pool that exists takes another value, or any.
      ...(props.tellsCapitalsApart ? {} : { signInCaseSensitive: false }),
      selfSignUpEnabled: props.signUp === 'open',
      // By an app, never by text message. Administrators have no rights without it: see the adapter.
      mfa: Mfa.OPTIONAL,
      mfaSecondFactor: { otp: true, sms: false },
      signInPolicy: { allowedFirstAuthFactors: { password: true, passkey: true } },
      // What a passkey was made for: it signs in on this domain alone.
      passkeyRelyingPartyId: domainName,
      passkeyUserVerification: PasskeyUserVerification.REQUIRED,
      autoVerify: { email: true },
      accountRecovery: AccountRecovery.EMAIL_ONLY,
      passwordPolicy: {
        minLength: 12,
        requireLowercase: true,
        requireUppercase: true,
        requireDigits: true,
        requireSymbols: true,
      },
      deletionProtection: refusesDeletion,
      removalPolicy: retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY,
    });
    // A device that knows its user counts as both factors; else a user with an app could use no passkey.
    (pool.node.defaultChild as CfnUserPool).webAuthnFactorConfiguration =
      'MULTI_FACTOR_WITH_USER_VERIFICATION';
    const client = pool.addClient('Dashboard', {
      // The second is what passkeys are a choice of.
      authFlows: { userSrp: true, user: true },
      accessTokenValidity: Duration.hours(1),
      enableTokenRevocation: true,
      preventUserExistenceErrors: true,
      oAuth: {
        // With a code and PKCE, because a page can keep no secret.
        flows: { authorizationCodeGrant: true },
        // Without the third, GetUser refuses the token, and with it every call of the API.
        scopes: [OAuthScope.OPENID, OAuthScope.EMAIL, OAuthScope.COGNITO_ADMIN],
        callbackUrls: [`${publicUrl}${SIGN_IN_CALLBACK_PATH}`],
        logoutUrls: [`${publicUrl}/`],
      },
    });
    pool.addDomain('SignIn', {
      cognitoDomain: { domainPrefix },
      // The older pages know no passkeys.
      managedLoginVersion: ManagedLoginVersion.NEWER_MANAGED_LOGIN,
    });
    // Without a style the newer pages are not shown.
    new CfnManagedLoginBranding(this, 'SignInStyle', {
      userPoolId: pool.userPoolId,
      clientId: client.userPoolClientId,
      useCognitoProvidedValues: true,
    });
    new CfnUserPoolGroup(this, 'Admins', { userPoolId: pool.userPoolId, groupName: ADMIN_GROUP });
    if (props.adminEmail !== undefined) this.#inviteAdmin(pool, props.adminEmail, retain);
    return {
      pool,
      client,
      signInUrl: `https://${domainName}`,
    };
  }

  #inviteAdmin(pool: UserPool, email: string, retain: boolean): void {
    const user = new CfnUserPoolUser(this, 'FirstAdmin', {
      userPoolId: pool.userPoolId,
      username: email,
      desiredDeliveryMediums: ['EMAIL'],
      userAttributes: [
        { name: 'email', value: email },
        { name: 'email_verified', value: 'true' },
      ],
    });
    const membership = new CfnUserPoolUserToGroupAttachment(this, 'FirstAdminGroup', {
      userPoolId: pool.userPoolId,
      username: user.ref,
      groupName: ADMIN_GROUP,
    });
    membership.node.addDependency(this.node.findChild('Admins'));
    const policy = retain ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE : RemovalPolicy.DESTROY;
    for (const each of [user, membership]) each.applyRemovalPolicy(policy);
  }
}

/** A person should look at it where the provider keeps one of those that verify sessions waiting. */
export function watchSignIn(monitoring: Monitoring, verifier: ServiceFunction): void {
  monitoring.addLine(verifier, 'IdentityAway', {
    logGroup: verifier.logGroup,
    where: { message: 'the identity provider did not answer' },
    threshold: 10,
    alarm: 'ticket',
  });
}
