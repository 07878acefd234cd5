import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from './config.ts';
import { requireBinary } from './database.ts';
import { callTool } from './table-tool.ts';

const WITHIN_MS = 600_000;
/**
 * Age from which on a snapshot is a leftover, in ms. Its database has ended by then; a copy that still reads goes on
 * although the name is removed.
 */
const LEFT_MS_MIN = 2 * WITHIN_MS;
const PREFIX = 'mergeyard-';

/** Folder in which the database makes snapshots, beside the table's file. */
const folderOf = (dataDir: string): string => join(dataDir, '.dynoxide', 'snapshots');

/**
 * Writes a consistent copy of the table's file to `to`, also while another process writes to the table. A second
 * process of the embedded database makes it (SQLite's `VACUUM INTO`, one read transaction), through its tool protocol,
 * and only in a folder beside the table.
 */
export async function snapshotTable(
  file: string,
  to: string,
  env: NodeJS.ProcessEnv,
  signal?: AbortSignal,
): Promise<void> {
  const name = `${PREFIX}${randomUUID()}`;
  const folder = folderOf(dirname(file));
  // Made by this account: the database would make it for others to read, as far as the data folder lets them.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new ConfigError(
      `The copy of the table is made in the data folder first, and that refuses it: ${error.message}. Give this account the right to write there; a file or a folder of that name moves to another place.`,
    );
  });
  removeLeftSnapshots(dirname(file), Date.now());
  const made = join(folder, `${name}.db`);
  try {
    const { text, complaint } = await callTool({
      binary: requireBinary(env),
      file,
      tool: 'create_snapshot',
      arguments: { name },
      withinMs: WITHIN_MS,
      isReadOnly: false,
      ...(signal === undefined ? {} : { signal }),
    });
    signal?.throwIfAborted();
    if (text === null) throw new ConfigError(sayNone(complaint));
    await copyFile(made, to);
    signal?.throwIfAborted();
  } finally {
    await rm(made, { force: true });
  }
}

/**
 * Removes snapshots that killed backups left; each is as large as the table. A young one stays, since its backup may
 * still run.
 */
export function removeLeftSnapshots(dataDir: string, now: number): void {
  const folder = folderOf(dataDir);
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder).filter((each) => each.startsWith(PREFIX))) {
    const made = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - made > LEFT_MS_MIN) rmSync(join(folder, name), { force: true });
  }
}

const sayNone = (complaint: string): string =>
  `The database made no copy of its table. Check the space on the disk of the data folder, where it makes it first, and with npm run doctor that the table is right.${complaint === '' ? '' : ` It says: ${complaint}`}`;
