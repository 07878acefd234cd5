import type { CognitoSignIn } from '#core/contracts/dashboard.ts';
import { type Answer, SignInError } from './ask-provider.ts';
import { askAccount, session } from './session.ts';

const APP = 'SOFTWARE_TOKEN_MFA';

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

export async function confirmFactor(config: CognitoSignIn, code: string): Promise<void> {
  const { Status: status } = await call(config, 'VerifySoftwareToken', { UserCode: code });
  if (status !== 'SUCCESS') throw new SignInError('The code is not right. Wait for the next one.');
  await call(config, 'SetUserMFAPreference', {
    SoftwareTokenMfaSettings: { Enabled: true, PreferredMfa: true },
  });
}
