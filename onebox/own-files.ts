import { createPrivateKey } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readSessions } from '#core/adapters/identity-forge/sessions.ts';
import { Keyring } from '#core/adapters/key-file/keyring.ts';
import { ConfigError } from './config.ts';

/** Files of a data folder. */
export const TABLE_FILE = 'table.sqlite';
export const KEYS_FILE = 'keys.json';
export const EVIDENCE_FILE = 'evidence-key.pem';
export const SESSIONS_FILE = 'sessions.json';

/** Files in which the database keeps its last writes to the table. */
const [LOG_FILE, LOG_INDEX_FILE] = [`${TABLE_FILE}-wal`, `${TABLE_FILE}-shm`];
const LOG_FILES = `${LOG_FILE} and ${LOG_INDEX_FILE}`;

const FROM_COPY = 'put it back from the last copy of the data folder';
const NO_COPY = 'Without one';
/**
 * Next step of an operator, by the file that is damaged. For keys it is the lost file itself, because no other one
 * opens what they sealed.
 */
const WAYS_OUT: Readonly<Record<string, string>> = {
  [TABLE_FILE]: `${FROM_COPY}, with the keys beside it, and move ${LOG_FILES} to another place before that.`,
  [KEYS_FILE]: `${FROM_COPY}. ${NO_COPY}, write {"keys":{}} into it: each token is stored again then, and each chat named again.`,
  [EVIDENCE_FILE]: `${FROM_COPY}. ${NO_COPY}, remove it: statements have another key then.`,
  [SESSIONS_FILE]: 'remove it: people sign in again.',
};

export const sayDamaged = (name: string): string =>
  `${name} in the data folder is damaged: ${WAYS_OUT[name]}`;
const sayRefused = (name: string, reason: string): string =>
  `${name} in the data folder cannot be read and written: ${reason}. Check its rights, and the space on its disk.`;
/** Message: something else has the name of a file or a folder that the service makes. */
export const sayInTheWay = (name: string, needed: 'file' | 'folder' | 'socket'): string =>
  `${name} in the data folder is in the way: Mergeyard makes a ${needed} of that name there. Move what is there to another place.`;
const KEYS_GONE = `${KEYS_FILE} is gone from the data folder, and the stored tokens open with it alone: ${WAYS_OUT[KEYS_FILE]}`;

/** Opens a file of the data folder. Throws `ConfigError` with the way out where it is damaged or the disk refuses. */
export function openOwn<T>(name: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    const isOfDisk = error instanceof Error && 'syscall' in error;
    throw new ConfigError(isOfDisk ? sayRefused(name, error.message) : sayDamaged(name));
  }
}

/** Refuses a folder with rows and without the keys that open them. Throws `ConfigError`. */
export function refuseWithoutKeys(folder: string, hasRows: boolean): void {
  if (hasRows && !existsSync(join(folder, KEYS_FILE))) throw new ConfigError(KEYS_GONE);
}

const TABLE_GONE = `${TABLE_FILE} is gone from the data folder, or empty, and people have used what was in it: ${WAYS_OUT[TABLE_FILE]} To begin anew, name a new data_dir.`;

/**
 * Whether the table of a used installation is gone. The table is made before the keys, so keys and used sessions prove
 * that it existed.
 */
function isTableGone(folder: string): boolean {
  const [table, sessions] = [join(folder, TABLE_FILE), join(folder, SESSIONS_FILE)];
  const isThere = (statSync(table, { throwIfNoEntry: false })?.size ?? 0) > 0;
  return !isThere && existsSync(join(folder, KEYS_FILE)) && wereUsed(sessions);
}

/** Whether a person has ever signed in; false where the sessions are damaged, which another sentence tells. */
function wereUsed(sessions: string): boolean {
  try {
    return existsSync(sessions) && readSessions(sessions).used;
  } catch {
    return false;
  }
}

const OF_ANOTHER = `${LOG_FILE} in the data folder holds writes of another ${TABLE_FILE}, and would damage the one that was put back beside it. Move ${LOG_FILES} to another place, and start again.`;

/**
 * Whether the log beside the table is one of another table. A table that has a log is marked for it in its header. A
 * backup is not, and the database would write the log of the former table into it.
 */
function isLogOfAnother(folder: string): boolean {
  const [table, log] = [join(folder, TABLE_FILE), join(folder, LOG_FILE)];
  const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeOf(table) === 0 || sizeOf(log) === 0) return false;
  const head = readHead(table);
  return isTable(head) && head[LOG_MARK_AT] === NO_LOG_MARK;
}

/** Message about a table that a start would replace by an empty one, or would damage; null: the start may open it. */
export function findTableLoss(folder: string): string | null {
  if (isTableGone(folder)) return TABLE_GONE;
  return isLogOfAnother(folder) ? OF_ANOTHER : null;
}

/** Refuses a folder whose table a start would lose (`findTableLoss`). Throws `ConfigError`. */
export function refuseTableLoss(folder: string): void {
  const loss = findTableLoss(folder);
  if (loss !== null) throw new ConfigError(loss);
}

/** The fault of the table and of the keys that would stop a start, in words without a path. Changes nothing. */
export function findFaults(folder: string): { readonly table: string | null; readonly keys: string | null } {
  const look = (name: string, check: (file: string) => void): string | null => {
    const file = join(folder, name);
    if (!existsSync(file)) return null;
    try {
      check(file);
      return null;
    } catch {
      return sayDamaged(name);
    }
  };
  // The start makes the keys before the sessions: these alone tell that the keys were there.
  const isGone = existsSync(join(folder, SESSIONS_FILE)) && !existsSync(join(folder, KEYS_FILE));
  return {
    table: look(TABLE_FILE, checkTable),
    keys:
      (isGone ? KEYS_GONE : null) ??
      look(KEYS_FILE, (file) => void new Keyring(file)) ??
      look(EVIDENCE_FILE, (file) => void createPrivateKey(readFileSync(file, 'utf8'))) ??
      look(SESSIONS_FILE, (file) => void readSessions(file)),
  };
}

const SQLITE_MAGIC = 'SQLite format 3\0';
/** Place and value of the byte that says that a table of SQLite has no write-ahead log. */
const [LOG_MARK_AT, NO_LOG_MARK] = [19, 1];

/**
 * Throws where a file is no SQLite database, by its first bytes alone, because a running service may hold it. An empty
 * file is right: the database makes it anew.
 */
function checkTable(file: string): void {
  if (statSync(file).size > 0 && !isTable(readHead(file))) throw new Error('no database');
}

const isTable = (head: Buffer): boolean => head.toString('latin1', 0, SQLITE_MAGIC.length) === SQLITE_MAGIC;

function readHead(file: string): Buffer {
  const head = Buffer.alloc(LOG_MARK_AT + 1);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, head);
  } finally {
    closeSync(descriptor);
  }
  return head;
}
