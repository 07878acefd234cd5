import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { ConfigError } from './config.ts';

const SOCKET_NAME = 'serving.sock';
const ANSWER_WITHIN_MS = 1_000;

/**
 * Keeps every other process of this machine out of a data folder, containers that share it too: a socket in the folder is
 * listened on. It ends with its process, however that dies, so that no restart waits for a lock of before. A folder that
 * two machines mount is not guarded.
 *
 * @returns releases the folder
 * @throws ConfigError where a running process serves the folder
 */
export async function lockFolder(folder: string): Promise<() => Promise<void>> {
  // The path of a socket has at most 107 bytes; by its descriptor the folder has few, however deep it lies.
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  const path = `/proc/self/fd/${descriptor}/${SOCKET_NAME}`;
  const owner = randomUUID();
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.end(owner);
  });
  try {
    await takePath(server, path);
    // Of two that start at once over a socket that is left from before, one has removed the other's.
    if ((await askOwner(path)) !== owner) throw taken(folder);
  } catch (error) {
    // The server is not closed: closing removes the socket's file, which may be that of the process that won.
    closeSync(descriptor);
    throw error instanceof ConfigError || !isInUse(error) ? error : taken(folder);
  }
  return () =>
    new Promise((resolve) => {
      server.close(() => {
        closeSync(descriptor);
        resolve();
      });
    });
}

function taken(folder: string): ConfigError {
  return new ConfigError(
    `data_dir: another Mergeyard process serves ${folder}. Stop that process, or give this one a folder of its own.`,
  );
}

async function takePath(server: Server, path: string): Promise<void> {
  try {
    await listen(server, path);
  } catch (error) {
    if (!isInUse(error) || (await askOwner(path)) !== null) throw error;
    rmSync(path, { force: true });
    await listen(server, path);
  }
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.removeListener('error', reject);
      // The lock alone keeps no process alive.
      server.unref();
      resolve();
    });
  });
}

/** Who listens there; null: the socket is left from a process that is gone. A process that does not answer is there. */
function askOwner(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(path);
    socket.setEncoding('utf8').setTimeout(ANSWER_WITHIN_MS, () => {
      socket.destroy();
      resolve(answer);
    });
    socket.on('data', (text: string) => {
      answer += text;
    });
    socket.once('end', () => resolve(answer)).once('error', () => resolve(null));
  });
}

function isInUse(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'EADDRINUSE';
}
