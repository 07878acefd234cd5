/** Constants that page, stack and local run share. Types and plain constants: the page carries no schema library. */

/** Where the page reads how one signs in. Written at deploy, never cached. */
export const DASHBOARD_CONFIG_PATH = '/config.json';
/** Everything below it has a hash in its name. */
export const DASHBOARD_ASSETS_PREFIX = '/assets/';
/** Where a hosted sign-in page sends people back to. */
export const SIGN_IN_CALLBACK_PATH = '/sign-in/callback';

/** Where a person of several tenants is given a session in another of them: POST `{tenant_id}` with the session. */
export const CHOOSE_TENANT_PATH = '/auth/v1/tenant';

/** A provider with the GoTrue contract. */
export interface GoTrueSignIn {
  readonly kind: 'gotrue';
  /** Base address; empty for the page's own origin. */
  readonly url: string;
  /** Public key sent as `apikey`; empty for none. */
  readonly api_key: string;
  /** Another service that people sign in with, by its id at this provider. @default e-mail and password */
  readonly provider?: { readonly id: string; readonly label: string };
}

/** Cognito's hosted page: authorization code with PKCE. */
export interface CognitoSignIn {
  readonly kind: 'cognito';
  /** `https://<prefix>.auth.<region>.amazoncognito.com` or a domain of one's own. */
  readonly domain: string;
  readonly client_id: string;
  /** Where a person's own account is changed: `https://cognito-idp.<region>.amazonaws.com`; empty for nowhere. */
  readonly endpoint: string;
}

/** An account offered on the sign-in page. A stack never writes any: every visitor of the page could use it. */
export interface OfferedAccount {
  readonly label: string;
  readonly email: string;
  readonly password: string;
  /** Offered apart from the others: an account in a state that one wants to see once. */
  readonly apart?: boolean;
  /** Forge to connect first, filled into the form. */
  readonly forge?: { readonly instance_url: string; readonly bot_login: string; readonly token: string };
}

export interface DashboardConfig {
  readonly sign_in: GoTrueSignIn | CognitoSignIn;
  /** `closed`: accounts are made by invitation alone. */
  readonly sign_up: 'open' | 'closed';
  /** False: an e-mail address is stored and not used (contract, Notification object). */
  readonly sends_mail: boolean;
  readonly accounts?: readonly OfferedAccount[];
  /** Base address of the one forge of this installation. @default people name theirs */
  readonly forge?: string;
  /** Where an installation tells what it still lacks, until the first person signs in. @default nowhere */
  readonly checks?: string;
}

/** One thing that an installation looked at before its first sign-in. */
export interface SetupCheck {
  readonly what: string;
  readonly note?: string;
  /** How to mend it; absent where it is right. */
  readonly fix?: string;
  /** The page of the forge where it is mended. */
  readonly link?: string;
}

/**
 * Headers of every answer that is the page's. Nothing inline, nothing from elsewhere, no frame; text never becomes
 * markup. `origins`: where else the page may connect to, which is the identity provider.
 */
export function dashboardHeaders(origins: readonly string[]): Readonly<Record<string, string>> {
  return {
    'content-security-policy': dashboardPolicy(origins),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    'referrer-policy': 'no-referrer',
    'strict-transport-security': 'max-age=31536000; includeSubDomains',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  };
}

export function dashboardPolicy(origins: readonly string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    ["connect-src 'self'", ...origins].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ');
}

/** `cache-control` by path: hashed files for ever, all others asked anew. */
export function dashboardCaching(path: string): string {
  return path.startsWith(DASHBOARD_ASSETS_PREFIX) ? 'public, max-age=31536000, immutable' : 'no-cache';
}
