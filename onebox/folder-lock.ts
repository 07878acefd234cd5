import { randomUUID } from 'node:crypto';
import { closeSync, constants, lstatSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { basename } from 'node:path';
import { ConfigError } from './config.ts';
import { sayInTheWay } from './own-files.ts';

const SOCKET_NAME = 'serving.sock';
/** Prefix of the sockets of starts; each name is used once. */
const START_PREFIX = 'starting-';
/** Suffix of a socket that is bound and does not listen yet. */
const UNHEARD_SUFFIX = '.new';
const LOOK_AGAIN_MS = 20;
/** How long one start may hold up the others, in ms; a longer wait ends them. */
const START_WITHIN_MS = 5_000;

/**
 * Locks a data folder against every other process of this machine, also in containers that share it: this process
 * listens on a socket in the folder. The lock ends with the process, however it dies, so a restart never waits for an
 * old lock. A folder that two machines mount is not guarded.
 * @returns releases the folder
 * @throws ConfigError where a running process serves the folder, or starts to
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  // The path of a socket has at most 107 bytes; by its descriptor the folder has few, however deep it lies.
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const near = `/proc/self/fd/${descriptor}`;
  try {
    const endTurn = await takeTurn(near);
    try {
      const server = await takePath(`${near}/${SOCKET_NAME}`);
      return async () => {
        await close(server);
        closeSync(descriptor);
      };
    } finally {
      await endTurn();
    }
  } catch (error) {
    closeSync(descriptor);
    if (error instanceof Taken) throw new ConfigError(sayTaken(folder));
    if (error instanceof InTheWay) throw new ConfigError(sayInTheWay(error.message, 'socket'));
    throw error instanceof Unasked ? new ConfigError(sayUnasked(folder, error.message)) : error;
  }
}

class Taken extends Error {}

/** Error: another account owns the socket. Its message is the socket's name. */
class Unasked extends Error {}

/** Error: a folder has the name of a socket. Its message is that name. */
class InTheWay extends Error {}

function sayTaken(folder: string): string {
  return `data_dir: another Mergeyard process serves ${folder}. Stop that process, or give this one a folder of its own.`;
}

function sayUnasked(folder: string, name: string): string {
  return `data_dir: ${name} in ${folder} is of another account, so that this one cannot ask whether a process serves the folder. Start Mergeyard under that account. Where no process serves the folder, remove that file.`;
}

/**
 * Lets starts that run at once take turns. Each listens on a socket with a name of its own first, and looks at the
 * others then. Of any two, the one that listened last sees the other, so two never go on. A socket that may be alive is
 * never removed: a name is never used twice, and it is given only to a socket that listens. Of starts that see each
 * other, the one with the first name waits.
 * @returns lets the next one start
 */
async function takeTurn(near: string): Promise<() => Promise<void>> {
  const name = `${START_PREFIX}${randomUUID()}`;
  const server = await listen(`${near}/${name}${UNHEARD_SUFFIX}`);
  const end = async (): Promise<void> => {
    rmSync(`${near}/${name}`, { force: true });
    await close(server);
  };
  try {
    raise(near, name);
    await waitForOthers(near, name);
  } catch (error) {
    await end();
    throw error;
  }
  return end;
}

function raise(near: string, name: string): void {
  try {
    renameSync(`${near}/${name}${UNHEARD_SUFFIX}`, `${near}/${name}`);
  } catch (error) {
    // One that has its turn took this socket, which did not listen yet, for one that was left behind.
    throw hasCode(error, 'ENOENT') ? new Taken() : error;
  }
}

async function waitForOthers(near: string, name: string): Promise<void> {
  const until = performance.now() + START_WITHIN_MS;
  for (;;) {
    const others = readdirSync(near).filter((each) => each.startsWith(START_PREFIX) && each !== name);
    const alive: string[] = [];
    for (const each of others) if (await isListenedOn(`${near}/${each}`)) alive.push(each);
    if (alive.length === 0) {
      for (const each of others) removeSocket(`${near}/${each}`);
      return;
    }
    if (alive.some((each) => each < name) || performance.now() > until) throw new Taken();
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
}

/**
 * Listens on the socket of the folder. The caller has its turn, so no other start removes or makes this path between
 * the check and the removal.
 */
async function takePath(path: string): Promise<Server> {
  try {
    return await listen(path);
  } catch (error) {
    if (!hasCode(error, 'EADDRINUSE')) throw error;
    if (await isListenedOn(path)) throw new Taken();
    removeSocket(path);
    return listen(path);
  }
}

/**
 * Removes a socket that no process listens on. A folder of that name stays, because a person may have put something
 * into it.
 */
function removeSocket(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true) throw new InTheWay(basename(path));
  rmSync(path, { force: true });
}

function listen(path: string): Promise<Server> {
  // Who asks has its answer by the connection alone; one that is kept open would hold up the end.
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.removeListener('error', reject);
      // The lock alone keeps no process alive.
      server.unref();
      resolve(server);
    });
  });
}

/** Closes the server, which removes the file under whose name it was bound. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/**
 * Whether a process listens on the socket. False only where the kernel says that there is none; a process that does not
 * answer counts. Throws `Unasked`.
 */
function isListenedOn(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => end(true));
    socket.once('error', (error) => {
      if (hasCode(error, 'EACCES')) reject(new Unasked(basename(path)));
      else end(!hasCode(error, 'ECONNREFUSED') && !hasCode(error, 'ENOENT'));
    });
  });
}

function hasCode(error: unknown, code: string): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
