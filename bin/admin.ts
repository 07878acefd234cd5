import { readFileSync } from 'node:fs';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '../core/adapters/dynamo/store.ts';
import {
  inviteToCognito,
  inviteToGoTrue,
  MakeAdminError,
  makeCognitoAdmin,
  makeGoTrueAdmin,
} from '../core/adapters/identity-http/make-admin.ts';
import { createSystemClock } from '../core/adapters/system/clock.ts';
import { readCommandLine, refuseCall, runProgram } from '../core/adapters/system/command-line.ts';
import { canonicalId } from '../core/domain/ids.ts';
import { Secret } from '../core/secret.ts';
import { type Release, releaseIdentity, releaseRepo } from '../core/services/repos/release-claim.ts';
import { needAccount, sayNoAccount } from './need-account.ts';

const USAGE = `npm run admin -- --email <address> --user-pool <UserPoolId>
npm run admin -- --email <address> --identity <address of the provider> --service-key-file <file>
npm run admin -- invite --email <address> --user-pool <UserPoolId>
npm run admin -- invite --email <address> --identity <address of the provider> --service-key-file <file>
npm run admin -- release-claim --table <TableName> --instance <forge URL> --bot <login>
npm run admin -- release-claim --table <TableName> --instance <forge URL> --repo <owner/name>
npm run admin -- audit --table <TableName> --tenant <id> [--about <id>]

Makes a person an administrator: in the stack's user pool, or at a provider with the GoTrue contract. An address without an
account is invited first. Sessions that exist already see it at their next sign-in.

invite makes an account without rights over others, as a deployment with closed sign-up needs it; the provider sends a mail.
A user pool sends another one to a person who has never signed in: the password in it ends after seven days.

release-claim frees the identity of a bot, or the name of a repository, that a tenant claimed and the forge never confirmed.
What the forge confirmed once stays as it is.

audit prints the notes of a tenant, one JSON object in each line, the newest first: all that it has, and those that are kept
for 90 days after it has left, which name no person, network or id. --about: those about one repository or connection.`;

const text = { type: 'string' } as const;

async function main(): Promise<number> {
  const options = {
    email: text,
    'user-pool': text,
    identity: text,
    'service-key-file': text,
    table: text,
    instance: text,
    bot: text,
    repo: text,
    tenant: text,
    about: text,
  };
  const { values, positionals } = readCommandLine(options, USAGE, true);
  if (positionals[0] === 'release-claim') return releaseClaim(values);
  if (positionals[0] === 'audit') return printAudit(values);
  const invites = positionals.length === 1 && positionals[0] === 'invite';
  if (positionals.length > 0 && !invites) refuseCall(USAGE);
  const { email, identity } = values;
  const userPoolId = values['user-pool'];
  const keyFile = values['service-key-file'];
  if (email === undefined || !/^[^@\s]+@[^@\s]+$/.test(email)) refuseCall(USAGE);
  if (userPoolId !== undefined && identity === undefined) {
    // A client is what finds credentials and region in all the usual places.
    const client = new KMSClient({});
    await needAccount(client);
    const { credentials, region } = client.config;
    const config = {
      userPoolId,
      region: await region(),
      credentials: await credentials(),
      endpoint: process.env.AWS_ENDPOINT_URL_COGNITO_IDENTITY_PROVIDER,
      now: Date.now,
    };
    console.log(
      `${email}: ${invites ? tellInvited(await inviteToCognito(config, email)) : await makeCognitoAdmin(config, email)}`,
    );
    return 0;
  }
  if (identity === undefined || keyFile === undefined || userPoolId !== undefined) refuseCall(USAGE);
  const serviceKey = readServiceKey(keyFile);
  const config = { url: identity, serviceKey };
  console.log(
    `${email}: ${invites ? tellInvited(await inviteToGoTrue(config, email)) : await makeGoTrueAdmin(config, email)}`,
  );
  return 0;
}

class NoKeyFile extends Error {}

function readServiceKey(file: string): Secret<string> {
  try {
    return new Secret(readFileSync(file, 'utf8').trim());
  } catch {
    throw new NoKeyFile(
      `${file} could not be read: nothing was asked. Name a file that holds the service key`,
    );
  }
}

function tellInvited(isNew: boolean): string {
  return isNew ? 'invited' : 'has an account already';
}

interface Claim {
  readonly table?: string | undefined;
  readonly instance?: string | undefined;
  readonly bot?: string | undefined;
  readonly repo?: string | undefined;
}

async function releaseClaim({ table, instance, bot, repo }: Claim): Promise<number> {
  if (table === undefined || instance === undefined) refuseCall(USAGE);
  const store = await openStore(table);
  let released: Release;
  if (bot !== undefined && repo === undefined) released = await releaseIdentity(store, instance, bot);
  else if (repo !== undefined && bot === undefined) released = await releaseRepo(store, instance, repo);
  else refuseCall(USAGE);
  console.log(JSON.stringify(released));
  return released.kind === 'released' ? 0 : 1;
}

interface Wanted {
  readonly table?: string | undefined;
  readonly tenant?: string | undefined;
  readonly about?: string | undefined;
}

async function printAudit({ table, tenant, about }: Wanted): Promise<number> {
  const tenantId = canonicalId(tenant ?? '');
  if (table === undefined || tenantId === null) refuseCall(USAGE);
  const store = await openStore(table);
  const live = await store.listAudit(tenantId, Number.POSITIVE_INFINITY);
  const wanted = live.filter(({ target }) => about === undefined || target === about);
  for (const note of [...wanted, ...(await store.listKeptAudit(tenantId, about))]) {
    console.log(JSON.stringify({ ...note, at: new Date(note.at).toISOString() }));
  }
  return 0;
}

async function openStore(table: string) {
  const dynamo = new DynamoDBClient({});
  await needAccount(dynamo);
  return createDynamoStore({
    client: DynamoDBDocumentClient.from(dynamo),
    tableName: table,
    clock: createSystemClock(),
  });
}

function explain(error: unknown): string {
  if (error instanceof MakeAdminError || error instanceof NoKeyFile) return error.message;
  return sayNoAccount(error) ?? (error instanceof Error ? error.name : 'failed');
}

runProgram(main, explain);
