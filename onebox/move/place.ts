import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { KMSClient } from '@aws-sdk/client-kms';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { MoveTable } from '#core/adapters/dynamo/move/marks.ts';
import { findOccupied } from '#core/adapters/dynamo/move/moved-table.ts';
import type { Keys } from '#core/adapters/dynamo/move/secrets.ts';
import { createDynamoStore } from '#core/adapters/dynamo/store.ts';
import { createKmsSecretBox } from '#core/adapters/kms-vault/secret-box.ts';
import { createKmsVault } from '#core/adapters/kms-vault/vault.ts';
import { MoveError } from '#core/adapters/move-file/sealed-lines.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { TICK_INTERVAL_MS } from '#core/domain/limits.ts';
import { ConfigError, type OneboxConfig } from '../config.ts';
import { externalEndpoint, startDatabase } from '../database.ts';
import { lockFolder } from '../folder-lock.ts';
import { openKeys } from '../keys.ts';
import { KEYS_FILE, refuseTableLoss, refuseWithoutKeys, TABLE_FILE } from '../own-files.ts';
import { findLost, type HeldConnection, type Lost } from '../own-rows.ts';
import { openTable, TABLE_NAME } from '../table.ts';
import { tenantOf } from '../tenant.ts';

/** One end of a move: an installation that no process runs meanwhile. */
export interface Place {
  readonly table: MoveTable;
  readonly keys: Keys;
  /** Prefix of the branches of its queues. */
  readonly queueName: string;
  /** Tenant that is exported, or under which an import stores; null: every tenant, under its own id. */
  readonly tenantId: string | null;
  /** Whether other tenants may be in the table. */
  readonly isShared: boolean;
  /**
   * Finds connections that no person could see after the import, with the words of the refusal. Undefined for the cloud
   * edition, in which each tenant has an account of its own.
   */
  readonly findLost?: (held: readonly HeldConnection[]) => Lost | null;
  close(): Promise<void>;
}

/**
 * Opens the folder of a one box, and makes it where `isNew`. No process can serve it until it is closed. Throws
 * `ConfigError`.
 */
export async function openFolder(
  config: OneboxConfig,
  env: NodeJS.ProcessEnv,
  isNew: boolean,
  tenant: string | null = null,
): Promise<Place> {
  const isOne = config.tenants === 'installation';
  if (isNew) mkdirSync(config.data_dir, { recursive: true, mode: 0o700 });
  else if (!existsSync(join(config.data_dir, KEYS_FILE)))
    throw new ConfigError(`data_dir: no installation is in ${config.data_dir}.`);
  const unlock = await lockFolder(config.data_dir);
  try {
    if (externalEndpoint(env) === null) refuseTableLoss(config.data_dir);
    const database = await startDatabase({ dataFile: join(config.data_dir, TABLE_FILE), env });
    const clients = await openTable(database.endpoint);
    const table = { client: clients.documents, name: TABLE_NAME, clock: createSystemClock() };
    const stop = async (): Promise<void> => {
      clients.close();
      await database.stop();
    };
    const keys = await openOwnKeys(config.data_dir, table).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return {
      table,
      keys,
      queueName: config.service_name,
      tenantId: isOne ? tenantOf(config.forge.url) : tenant,
      isShared: !isOne && tenant !== null,
      findLost: (held) => findLost(config, held),
      async close() {
        await stop();
        await unlock();
      },
    };
  } catch (error) {
    await unlock();
    throw error;
  }
}

/**
 * Opens the keys. Throws `ConfigError` where rows are there and keys are not: new keys would hide that the old ones are
 * lost.
 */
async function openOwnKeys(folder: string, table: MoveTable): Promise<Keys> {
  refuseWithoutKeys(folder, (await findOccupied(table)) !== null);
  return openKeys(folder);
}

export interface CloudNames {
  readonly table: string;
  /** Id or ARN of the key that seals. */
  readonly key: string;
  readonly keyVersion: number;
  readonly queueName: string;
  readonly tenantId: string | null;
}

/** Opens a cloud edition by the names of its table and key, with the rights of the operator. Its tick has to be off. */
export async function openCloud(names: CloudNames): Promise<Place> {
  const [dynamo, kms] = [new DynamoDBClient({}), new KMSClient({})];
  const clock = createSystemClock();
  const client = DynamoDBDocumentClient.from(dynamo);
  const close = async (): Promise<void> => {
    dynamo.destroy();
    kms.destroy();
  };
  const last = await createDynamoStore({ client, tableName: names.table, clock }).loadLastTick();
  if (last !== null && clock.now() - last < 2 * TICK_INTERVAL_MS) {
    await close();
    throw new MoveError(
      `The tick ran at ${new Date(last).toISOString()}: disable its rule and the worker first, and wait for ten minutes.`,
    );
  }
  return {
    table: { client, name: names.table, clock },
    keys: {
      vault: createKmsVault({ client: kms, keyId: names.key, keyVersion: names.keyVersion }),
      secrets: createKmsSecretBox({ client: kms, key: { id: names.key, version: names.keyVersion } }),
    },
    queueName: names.queueName,
    tenantId: names.tenantId,
    isShared: true,
    close,
  };
}
