import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushFolder } from '#core/adapters/system/replace-file.ts';
import { ConfigError, type OneboxConfig } from './config.ts';
import { externalEndpoint } from './database.ts';
import { EVIDENCE_FILE, KEYS_FILE, TABLE_FILE } from './own-files.ts';
import { snapshotTable } from './snapshot.ts';

/**
 * Files of a copy: the table, then the keys. Sessions are left out, because a session that ended after the copy would
 * be valid again.
 */
const [TABLE, KEYS, EVIDENCE_KEY] = [TABLE_FILE, KEYS_FILE, EVIDENCE_FILE];

/**
 * Copies table and keys of an installation into a new folder, which can serve as a data folder. The installation may
 * serve meanwhile. The keys are read last: keys are only ever added, so they open every row that was read before. Where
 * `signal` ends the copy, nothing of it is left.
 * @throws ConfigError where there is nothing to copy, or the folder exists already
 */
export async function backUp(
  config: OneboxConfig,
  to: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<void> {
  const from = config.data_dir;
  if (externalEndpoint(env) !== null)
    throw new ConfigError(
      'AWS_ENDPOINT_URL_DYNAMODB: the table is not in the data folder. Copy it by the means of that database, then the data folder.',
    );
  if (!existsSync(join(from, TABLE)) || !existsSync(join(from, KEYS)))
    throw new ConfigError(`data_dir: no installation is in ${from}.`);
  await makeFolder(to);
  try {
    await snapshotTable(join(from, TABLE), join(to, TABLE), env, signal);
    // A folder of an earlier release has no key for statements yet.
    const keys = [KEYS, EVIDENCE_KEY].filter((name) => existsSync(join(from, name)));
    for (const name of keys) await copyFile(join(from, name), join(to, name));
    for (const name of [TABLE, ...keys]) {
      await chmod(join(to, name), 0o600);
      await flush(join(to, name));
    }
    await flush(to);
    flushFolder(dirname(to));
  } catch (error) {
    await rm(to, { recursive: true, force: true });
    throw error;
  }
}

async function makeFolder(to: string): Promise<void> {
  try {
    await mkdir(to, { mode: 0o700 });
  } catch (error) {
    const isThere = existsSync(to);
    throw new ConfigError(
      isThere ? `--to: ${to} is there already. Name a new folder.` : `--to: ${to} cannot be made: ${error}`,
    );
  }
}

/** Flushes a file or folder to the disk, so that a copy that is reported as done survives a loss of power. */
async function flush(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
