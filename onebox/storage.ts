import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { watchOwnChanges } from '#core/adapters/dynamo/table/own-changes.ts';
import { startSweeps } from '#core/adapters/dynamo/table/sweep-expired.ts';
import { createTokenStore } from '#core/adapters/dynamo/token-store.ts';
import type { Clock, Log } from '#core/ports/system.ts';
import { ConfigError, type OneboxConfig } from './config.ts';
import { externalEndpoint, startDatabase } from './database.ts';
import { lockFolder } from './folder-lock.ts';
import { watchFolder } from './folder-watch.ts';
import { endLeftLeases } from './left-leases.ts';
import { refuseStandingStill } from './move/standing-still.ts';
import { refuseTableLoss, TABLE_FILE } from './own-files.ts';
import { noteServing } from './serving-note.ts';
import { removeLeftSnapshots } from './snapshot.ts';
import type { Stops } from './stops.ts';
import { openTable, TABLE_NAME } from './table.ts';

export type Storage = Awaited<ReturnType<typeof openStorage>>;

export interface StorageParts {
  readonly config: OneboxConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
  /** Time between two sweeps of expired rows. @default one hour */
  readonly sweepMs?: number;
}

/** Opens the data folder, locks it, and opens its table. Throws `ConfigError` where the folder may not be served. */
export async function openStorage(parts: StorageParts, clock: Clock, stops: Stops) {
  const { config, env, log } = parts;
  stops.push(await takeFolder(config.data_dir, log));
  try {
    removeLeftSnapshots(config.data_dir, Date.now());
  } catch (error) {
    log.warn('what an ended backup left could not be removed', { error });
  }
  if (externalEndpoint(env) === null) refuseTableLoss(config.data_dir);
  const database = await startDatabase({ dataFile: join(config.data_dir, TABLE_FILE), env });
  stops.push(() => database.stop());
  const clients = await openTable(database.endpoint);
  stops.push(() => clients.close());
  const changes = watchOwnChanges(clients.documents);
  const table = { client: clients.documents, name: TABLE_NAME, clock };
  await refuseStandingStill(table);
  stops.push(startSweeps(table, log, parts.sweepMs));
  const keyed = { client: table.client, tableName: table.name, clock };
  const store = createDynamoStore(keyed);
  // A database of one's own may serve a process of another machine as well: the lock says nothing of that one.
  const note = noteServing(config.data_dir);
  stops.push(note.stop);
  const isEmbedded = externalEndpoint(env) === null;
  const folder = watchFolder(config.data_dir, isEmbedded ? [TABLE_FILE] : []);
  stops.push(folder.stop);
  if (note.isOwnAlone && isEmbedded) await endLeftLeases({ store, clock, log, workers: config.workers });
  return {
    table,
    changes,
    store,
    tokens: createTokenStore(keyed),
    isFolderThere: folder.isThere,
    whenGone: Promise.race([database.whenGone, folder.whenGone]),
  };
}

async function takeFolder(folder: string, log: Log): Promise<() => Promise<void>> {
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
      throw new ConfigError(`data_dir: ${folder} is no folder. Name another one, or move that file.`);
    const made = mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) log.info('a new data folder was made: nothing was there', { data_dir: folder });
    return await lockFolder(folder);
  } catch (error) {
    throw isOfDisk(error)
      ? new ConfigError(
          `data_dir: ${folder} cannot be written: ${error.message}. Check its rights, and the space on its disk.`,
        )
      : error;
  }
}

function isOfDisk(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error;
}
