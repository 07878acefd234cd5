import type { CognitoSignIn, GoTrueSignIn } from '#core/contracts/internal/dashboard.ts';
import { type Answer, ask, goTrueHeaders, isRecord, REFUSED_SESSION, SignInError } from './ask-provider.ts';
import { endSession } from './end-session.ts';
import { askAccount, session, takeGoTrueSession } from './session.ts';

const APP = 'SOFTWARE_TOKEN_MFA';
const WRONG_CODE = 'The code is not right. Wait for the next one.';

function call(config: CognitoSignIn, operation: string, body: Answer = {}): Promise<Answer> {
  return askAccount(config, operation, { AccessToken: session.read()?.token ?? '', ...body });
}

/** Whether a sign-in asks for a code. */
export async function readFactors(config: CognitoSignIn): Promise<boolean> {
  const { UserMFASettingList: factors } = await call(config, 'GetUser');
  return Array.isArray(factors) && factors.includes(APP);
}

/** A fresh key for the app, in base32 (RFC 6238). Nothing changes until a code was shown to be right. */
export async function startFactor(config: CognitoSignIn): Promise<string> {
  const { SecretCode: key } = await call(config, 'AssociateSoftwareToken');
  if (typeof key !== 'string') throw new SignInError('The identity provider answered without a key.');
  return key;
}

/** From here on each sign-in asks for a code, and no session is left that began without one. */
export async function confirmFactor(config: CognitoSignIn, code: string): Promise<void> {
  const { Status: status } = await call(config, 'VerifySoftwareToken', { UserCode: code });
  if (status !== 'SUCCESS') throw new SignInError(WRONG_CODE);
  await call(config, 'SetUserMFAPreference', {
    SoftwareTokenMfaSettings: { Enabled: true, PreferredMfa: true },
  });
  await endSession(config, 'all');
}

/** A factor of an account at GoTrue, and its key where it is being set up. */
export interface AppFactor {
  readonly id: string;
  /** Base32 (RFC 6238); null: the app has it already. */
  readonly key: string | null;
}

function askGoTrue(
  config: GoTrueSignIn,
  method: 'GET' | 'POST',
  path: string,
  body: Answer = {},
): Promise<Answer> {
  return ask(
    `${config.url}/auth/v1/${path}`,
    {
      method,
      headers: goTrueHeaders(config, session.read()?.token),
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    },
    REFUSED_SESSION,
  );
}

/** The app of this account, or a fresh one. */
export async function openAppFactor(config: GoTrueSignIn): Promise<AppFactor> {
  const { factors } = await askGoTrue(config, 'GET', 'user');
  const known = (Array.isArray(factors) ? factors : []).find(
    (each) => isRecord(each) && each.status === 'verified' && each.factor_type === 'totp',
  );
  if (isRecord(known) && typeof known.id === 'string') return { id: known.id, key: null };
  // Two factors of one account may not have the same name.
  const name = `app, ${new Date().toISOString()}`;
  const made = await askGoTrue(config, 'POST', 'factors', { factor_type: 'totp', friendly_name: name });
  const key = isRecord(made.totp) ? made.totp.secret : undefined;
  if (typeof made.id !== 'string' || typeof key !== 'string') {
    throw new SignInError('The identity provider answered without a key.');
  }
  return { id: made.id, key };
}

/** The session that a right code gives takes the place of this one. */
export async function showAppCode(config: GoTrueSignIn, { id }: AppFactor, code: string): Promise<void> {
  const path = `factors/${encodeURIComponent(id)}`;
  const { id: challenge } = await askGoTrue(config, 'POST', `${path}/challenge`);
  takeGoTrueSession(
    await ask(
      `${config.url}/auth/v1/${path}/verify`,
      {
        headers: goTrueHeaders(config, session.read()?.token),
        body: JSON.stringify({ challenge_id: challenge, code }),
      },
      WRONG_CODE,
    ),
  );
}
