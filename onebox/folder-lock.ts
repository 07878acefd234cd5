import { randomUUID } from 'node:crypto';
import { closeSync, constants, lstatSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { basename } from 'node:path';
import { ConfigError } from './config.ts';
import { sayInTheWay } from './own-files.ts';

const SOCKET_NAME = 'serving.sock';
/** Sockets of starts are named after it, each by a name that is used once. */
const START_PREFIX = 'starting-';
/** A socket that is bound and does not listen yet. */
const UNHEARD_SUFFIX = '.new';
const LOOK_AGAIN_MS = 20;
/** A start that stands still for longer ends every other. */
const START_WITHIN_MS = 5_000;

/**
 * Keeps every other process of this machine out of a data folder, containers that share it too: a socket in the folder is
 * listened on. It ends with its process, however that dies, so that no restart waits for a lock of before. A folder that
 * two machines mount is not guarded.
 *
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

/** Another account owns the socket. Its message is the socket's name. */
class Unasked extends Error {}

/** A folder has the name of a socket. Its message is that name. */
class InTheWay extends Error {}

function sayTaken(folder: string): string {
  return `data_dir: another Mergeyard process serves ${folder}. Stop that process, or give this one a folder of its own.`;
}

function sayUnasked(folder: string, name: string): string {
  return `data_dir: ${name} in ${folder} is of another account, so that this one cannot ask whether a process serves the folder. Start Mergeyard under that account. Where no process serves the folder, remove that file.`;
}

/**
 * One start of all that run at once: each listens under a name of its own first, and looks at the others then. Of any two,
 * the one that listened last sees the other, so that two never go on. Nothing is removed that could be alive again: a name
 * is never used twice, and a socket gets it only while it listens. Of those that see each other, the first name waits.
 *
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

/** The caller has its turn: no other start removes this path, or makes it, between the question and the removal. */
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

/** A folder stays: it may hold what a person put there. */
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

/** Removes the file of the name under which it was bound. */
function close(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

/** False only where the kernel says that the process is gone; one that does not answer is there. Throws `Unasked`. */
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
