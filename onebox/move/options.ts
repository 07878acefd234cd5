import { readFileSync } from 'node:fs';
import { MoveError } from '#core/adapters/move-file/sealed-lines.ts';
import { readConfig } from '../config.ts';
import { openCloud, openFolder, type Place } from './place.ts';

/** Options that export and import share. */
export interface MoveFlags {
  readonly config?: string | undefined;
  readonly table?: string | undefined;
  readonly key?: string | undefined;
  readonly 'key-version'?: string | undefined;
  readonly 'queue-name'?: string | undefined;
  readonly tenant?: string | undefined;
}

const text = { type: 'string' } as const;
export const MOVE_FLAGS = {
  config: text,
  table: text,
  key: text,
  'key-version': text,
  'queue-name': text,
  tenant: text,
  file: text,
  'passphrase-file': text,
};

export const WHERE = `Where: --config config/mergeyard.yml [--tenant <id>, where organizations are tenants], or --table <TableName> --key <CredentialKeyArn> --key-version <number> --queue-name <name> [--tenant <id>]
The passphrase stands in a file that only you may read: (umask 077; openssl rand -base64 32 > passphrase)`;

/** Opens the place that the flags name; null: they name none. */
export async function openPlace(
  flags: MoveFlags,
  env: NodeJS.ProcessEnv,
  isNew = false,
): Promise<Place | null> {
  const { config, table, key, 'queue-name': queueName, tenant = null } = flags;
  if (config !== undefined)
    return table === undefined ? openFolder(readConfig(config), env, isNew, tenant) : null;
  const keyVersion = Number(flags['key-version']);
  if (table === undefined || key === undefined || queueName === undefined) return null;
  if (!Number.isInteger(keyVersion) || keyVersion < 1) return null;
  return openCloud({ table, key, keyVersion, queueName, tenantId: tenant });
}

export function readPassphrase(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    throw new MoveError(`${file} cannot be read.`);
  }
}
