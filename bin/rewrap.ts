import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '../core/adapters/dynamo/store.ts';
import { createKmsRewrapper } from '../core/adapters/kms-vault/rewrap.ts';
import { createSystemClock } from '../core/adapters/system/clock.ts';
import { readCommandLine, refuseCall, runProgram } from '../core/adapters/system/command-line.ts';
import { type REWRAP_OUTCOMES, rewrapCredentials } from '../core/services/secrets/rewrap-credentials.ts';
import { rewrapSecrets } from '../core/services/secrets/rewrap-secrets.ts';
import { needAccount, sayNoAccount } from './need-account.ts';

const USAGE = `npm run rewrap -- --table <TableName> --key <id or ARN of the new key> --key-version <number> [--dry-run]

Puts the data key of every stored forge token, webhook secret and chat address under another key, inside KMS. Can be stopped and started again.`;
/** Progress is printed once per so many connections. */
const PROGRESS_EVERY = 25;

interface Options {
  readonly table: string;
  readonly key: string;
  readonly keyVersion: number;
  readonly dryRun: boolean;
}

function readOptions(): Options {
  const text = { type: 'string' } as const;
  const { values } = readCommandLine(
    { table: text, key: text, 'key-version': text, 'dry-run': { type: 'boolean' } },
    USAGE,
  );
  const { table, key } = values;
  const keyVersion = Number(values['key-version']);
  if (table === undefined || key === undefined || !Number.isInteger(keyVersion) || keyVersion < 1)
    refuseCall(USAGE);
  return { table, key, keyVersion, dryRun: values['dry-run'] === true };
}

async function main(): Promise<number> {
  const options = readOptions();
  const dynamo = new DynamoDBClient({});
  await needAccount(dynamo);
  const kms = new KMSClient({});
  const store = createDynamoStore({
    client: DynamoDBDocumentClient.from(dynamo),
    tableName: options.table,
    clock: createSystemClock(),
  });
  const rewrapper = createKmsRewrapper({ client: kms, keyId: options.key, keyVersion: options.keyVersion });
  const { counts, stoppedAfter } = await rewrapCredentials(
    { store, rewrapper },
    {
      dryRun: options.dryRun,
      onProgress: (done, of) => {
        if (done % PROGRESS_EVERY === 0 || done === of) console.log(`${done} of ${of}`);
      },
    },
  );
  console.log(JSON.stringify({ ...(options.dryRun ? { dry_run: true } : {}), ...counts }));
  if (stoppedAfter !== null) {
    console.error(
      `stopped after ${stoppedAfter}: too many failures in a row; rights, key or table? Start it again.`,
    );
  }
  const secrets = options.dryRun || stoppedAfter !== null ? null : await rewrapSecrets({ store, rewrapper });
  if (secrets !== null) console.log(JSON.stringify({ repositories: secrets }));
  const unfinished: readonly (typeof REWRAP_OUTCOMES)[number][] = ['changed', 'damaged', 'failed'];
  const isLeft = secrets !== null && secrets.failed + secrets.unlisted > 0;
  const isDone = unfinished.every((outcome) => counts[outcome] === 0) && !isLeft;
  return isDone ? 0 : 1;
}

// The name only: an error of the SDK may quote the request.
runProgram(main, (error) => sayNoAccount(error) ?? (error instanceof Error ? error.name : 'failed'));
