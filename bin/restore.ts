import { setTimeout as sleep } from 'node:timers/promises';
import {
  DescribeTableCommand,
  DynamoDBClient,
  ResourceNotFoundException,
  RestoreTableToPointInTimeCommand,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createDynamoStore } from '../core/adapters/dynamo/store.ts';
import { copyBack } from '../core/adapters/dynamo/table/copy-back.ts';
import { createSystemClock } from '../core/adapters/system/clock.ts';
import { readCommandLine, refuseCall, runProgram } from '../core/adapters/system/command-line.ts';
import { TICK_INTERVAL_MS } from '../core/domain/limits.ts';
import { needAccount, sayNoAccount } from './need-account.ts';

const USAGE = `npm run restore -- --table <TableName> --restored <new table> --at 2026-11-22T10:00:00Z
npm run restore -- --table <TableName> --restored <table> [--put missing|all]

The first makes a table as the live one was at that time, beside it. The second prints what differs and writes nothing;
--put missing puts rows back that are gone, --put all also those that were changed. No row is deleted. Writing is refused while
the tick runs (docs/operate.md, Restore).`;
const LOOK_AGAIN_MS = 20_000;
/** Points in time are a second apart. */
const RESTORE_STEP_MS = 1_000;

async function main(): Promise<number> {
  const text = { type: 'string' } as const;
  const { values } = readCommandLine({ table: text, restored: text, at: text, put: text }, USAGE);
  const { table, restored, at, put } = values;
  const isKnown = put === undefined || put === 'missing' || put === 'all';
  if (table === undefined || restored === undefined || restored === table || !isKnown) refuseCall(USAGE);
  const dynamo = new DynamoDBClient({});
  await needAccount(dynamo);
  if (at !== undefined) return restoreTable(dynamo, { table, restored, at });
  const client = DynamoDBDocumentClient.from(dynamo);
  const clock = createSystemClock();
  if (put !== undefined) {
    const last = await createDynamoStore({ client, tableName: table, clock }).loadLastTick();
    if (last !== null && clock.now() - last < 2 * TICK_INTERVAL_MS) {
      console.error(
        `the tick ran at ${new Date(last).toISOString()}: disable its rule and the worker first, and wait for ten minutes`,
      );
      return 1;
    }
  }
  const mode = put ?? 'look';
  const { kinds, left } = await copyBack({ client, live: table, restored, mode, now: clock.now() });
  for (const [kind, counts] of kinds) console.log(JSON.stringify({ kind, ...counts }));
  const total = [...kinds.values()];
  const sum = (name: 'missing' | 'changed'): number => total.reduce((all, each) => all + each[name], 0);
  console.log(
    `${sum('missing')} missing${put === undefined ? '' : ', put back'}; ${sum('changed')} changed${put === 'all' ? ', put back' : ''}`,
  );
  if (left.size > 0) console.log(`left since, and not put back: ${[...left].join(', ')}`);
  if (put === undefined)
    console.log(
      'what owners deleted since counts as missing, and comes back with the rest (docs/operate.md)',
    );
  return 0;
}

async function restoreTable(
  client: DynamoDBClient,
  { table, restored, at }: { readonly table: string; readonly restored: string; readonly at: string },
): Promise<number> {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) refuseCall(USAGE);
  const found = await client.send(new DescribeTableCommand({ TableName: restored })).then(
    (answer) => answer.Table ?? {},
    (error: unknown) => {
      if (error instanceof ResourceNotFoundException) return null;
      throw error;
    },
  );
  const other = found === null ? null : sayOther(found, table, time);
  if (other !== null) {
    console.error(`${restored} is there already: ${other}. Name another table; nothing was restored`);
    return 1;
  }
  if (found === null) {
    await client.send(
      new RestoreTableToPointInTimeCommand({
        SourceTableName: table,
        TargetTableName: restored,
        RestoreDateTime: time,
        BillingModeOverride: 'PAY_PER_REQUEST',
      }),
    );
  }
  for (;;) {
    const { Table } = await client.send(new DescribeTableCommand({ TableName: restored }));
    if (Table?.TableStatus === 'ACTIVE') break;
    console.log(`${restored}: ${Table?.TableStatus}`);
    await sleep(LOOK_AGAIN_MS);
  }
  console.log(`${restored} is ready: start again without --at to see what differs`);
  return 0;
}

/** How a table is another one than that table at that time; null: it is that, so that the same command goes on where it was ended. */
function sayOther({ RestoreSummary: from }: TableDescription, table: string, time: Date): string | null {
  if (from?.SourceTableArn === undefined || from.RestoreDateTime === undefined)
    return 'it was not restored from a table, as far as AWS tells';
  const source = from.SourceTableArn.split('/').at(-1);
  if (source !== table) return `it was restored from ${source}, not from ${table}`;
  const isSame = Math.abs(from.RestoreDateTime.getTime() - time.getTime()) < RESTORE_STEP_MS;
  return isSame
    ? null
    : `it was restored to ${from.RestoreDateTime.toISOString()}, not to ${time.toISOString()}`;
}

/** The name only: an error of the SDK may quote a row. */
function sayStopped(error: unknown): string {
  const name = error instanceof Error ? error.name : 'unknown fault';
  return `the restore stopped (${name}): rows that were put back stay, no row is lost; start the same command again. Rights: docs/operate.md, Restore`;
}

runProgram(main, (error) => sayNoAccount(error) ?? sayStopped(error), 2);
