import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { KMSClient } from '@aws-sdk/client-kms';
import {
  MakeAdminError,
  makeCognitoAdmin,
  makeGoTrueAdmin,
} from '../core/adapters/identity-http/make-admin.ts';
import { Secret } from '../core/secret.ts';

const USAGE = `npm run admin -- --email <address> --user-pool <UserPoolId>
npm run admin -- --email <address> --identity <address of the provider> --service-key-file <file>

Makes somebody an administrator: in the stack's user pool, or at a provider with the GoTrue contract. An address without an
account is invited first. Sessions that exist already see it at their next sign-in.`;

const text = { type: 'string' } as const;

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { email: text, 'user-pool': text, identity: text, 'service-key-file': text },
  });
  const { email, identity } = values;
  const userPoolId = values['user-pool'];
  const keyFile = values['service-key-file'];
  if (email === undefined || !/^[^@\s]+@[^@\s]+$/.test(email)) return explain();
  if (userPoolId !== undefined && identity === undefined) {
    // A client is what finds credentials and region in all the usual places.
    const { credentials, region } = new KMSClient({}).config;
    const made = await makeCognitoAdmin(
      {
        userPoolId,
        region: await region(),
        credentials: await credentials(),
        endpoint: process.env.AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER,
        now: Date.now,
      },
      email,
    );
    console.log(`${email}: ${made}`);
    return 0;
  }
  if (identity === undefined || keyFile === undefined || userPoolId !== undefined) return explain();
  const serviceKey = new Secret(readFileSync(keyFile, 'utf8').trim());
  console.log(`${email}: ${await makeGoTrueAdmin({ url: identity, serviceKey }, email)}`);
  return 0;
}

function explain(): number {
  console.error(USAGE);
  return 2;
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(
      error instanceof MakeAdminError ? error.message : `${error instanceof Error ? error.name : 'failed'}`,
    );
    process.exitCode = 1;
  },
);
