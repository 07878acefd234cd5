import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import type { Clock } from '#core/ports/system.ts';
import type { OneboxConfig } from './config.ts';
import { startDatabase } from './database.ts';
import { lockFolder } from './folder-lock.ts';
import { refuseStandingStill } from './move/standing-still.ts';
import type { Stops } from './stops.ts';
import { openTable, TABLE_NAME } from './table.ts';

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/** The data folder, locked, and its table. Throws `ConfigError` where the folder may not be served. */
export async function openStorage(config: OneboxConfig, env: NodeJS.ProcessEnv, clock: Clock, stops: Stops) {
  mkdirSync(config.data_dir, { recursive: true, mode: 0o700 });
  stops.push(await lockFolder(config.data_dir));
  const database = await startDatabase({ dataFile: join(config.data_dir, 'table.sqlite'), env });
  stops.push(() => database.stop());
  const clients = await openTable(database.endpoint);
  stops.push(() => clients.close());
  const table = { client: clients.documents, name: TABLE_NAME, clock };
  await refuseStandingStill(table);
  const keyed = { client: table.client, tableName: table.name, clock };
  return {
    table,
    streams: clients.streams,
    store: createDynamoStore(keyed),
    tokens: createTokenStore(keyed),
  };
}
