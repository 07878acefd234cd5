import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ConfigError } from './config.ts';
import { requireBinary } from './database.ts';
import { callTool } from './table-tool.ts';

const WITHIN_MS = 600_000;
/** The database has ended by then, and a copy that has begun to read goes on without the name of what it reads. */
const LEFT_MS_MIN = 2 * WITHIN_MS;
const PREFIX = 'mergeyard-';

/** Where the database makes snapshots, beside the table's file. */
const folderOf = (dataDir: string): string => join(dataDir, '.dynoxide', 'snapshots');

/**
 * Writes one point in time of the table's file to `to`, while another process writes to the table or not. The embedded
 * database makes it (SQLite's `VACUUM INTO`, one read transaction), in a second process that speaks over its pipes alone;
 * it makes snapshots on request of its tool protocol only, in a folder beside the table.
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

/** Each is a whole table. One of a backup that may still run stays: a backup that was killed left the others. */
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
