import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { accessSync, chmodSync, closeSync, constants, existsSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { findFreePort } from '#core/adapters/system/free-port.ts';
import { ConfigError } from './config.ts';
import { endLeftBehind } from './left-behind.ts';
import { sayDamaged, TABLE_FILE } from './own-files.ts';

/** A running server on loopback. */
export interface RunningDatabase {
  /** `http://127.0.0.1:<port>`, for the SDK's `endpoint` option or its environment variable. */
  readonly endpoint: string;
  /**
   * Resolves with the reason when the server ends without having been stopped. A server that ran before is not watched.
   */
  readonly whenGone: Promise<string>;
  stop(): Promise<void>;
}

export interface DatabaseOptions {
  /** SQLite file of the tables. @default in memory */
  readonly dataFile?: string;
  /** Port on loopback. @default a free one */
  readonly port?: number;
  /** Environment, for PATH and for the endpoint of a database that runs already. */
  readonly env: NodeJS.ProcessEnv;
  /** Path from which the binary package is resolved. @default the node_modules of this project */
  readonly packageName?: string;
}

const READY_WITHIN_MS = 10_000;
const PROBE_EVERY_MS = 15;
const STOP_WITHIN_MS = 3_000;
const STDERR_CHARS_KEPT = 2_000;

/** Starts the table's database: the one that the environment names, else the embedded one in a process of its own. */
export async function startDatabase(options: DatabaseOptions): Promise<RunningDatabase> {
  const external = externalEndpoint(options.env);
  if (external !== null) return watchNone(external.replace(/\/+$/, ''));
  return startBinary(requireBinary(options.env, options.packageName), options);
}

function watchNone(endpoint: string): RunningDatabase {
  return { endpoint, whenGone: new Promise(() => {}), stop: async () => {} };
}

/** Endpoint of the database that the environment names; null: the embedded one is used. */
export function externalEndpoint({ AWS_ENDPOINT_URL_DYNAMODB: url = '' }: NodeJS.ProcessEnv): string | null {
  return url === '' ? null : url;
}

/** Path of the embedded database's program. Throws an error that says how to get it. */
export function requireBinary(env: NodeJS.ProcessEnv, packageName?: string): string {
  const binary = findBinary(env, packageName ?? `@dynoxide/${process.platform}-${process.arch}`);
  if (binary === null) throw new ConfigError(explainMissing());
  return binary;
}

function explainMissing(): string {
  return [
    `No DynamoDB emulator was found for ${process.platform}-${process.arch}.`,
    `Install the optional package: npm install --no-save @dynoxide/${process.platform}-${process.arch}.`,
    'Or put a `dynoxide` executable on the PATH.',
    'Or start DynamoDB Local yourself and set AWS_ENDPOINT_URL_DYNAMODB to its URL.',
  ].join('\n');
}

function findBinary(env: NodeJS.ProcessEnv, packageName: string): string | null {
  const file = process.platform === 'win32' ? 'dynoxide.exe' : 'dynoxide';
  const candidates: string[] = [];
  try {
    const manifest = createRequire(import.meta.url).resolve(`${packageName}/package.json`);
    candidates.push(join(dirname(manifest), file));
  } catch {
    // An optional package: absent on platforms it is not built for.
  }
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder !== '') candidates.push(join(folder, file));
  }
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

async function startBinary(binary: string, options: DatabaseOptions): Promise<RunningDatabase> {
  if (options.dataFile !== undefined) {
    endLeftBehind(options.dataFile);
    closeToOthers(options.dataFile);
  }
  const port = options.port ?? (await findFreePort());
  const child = spawn(
    binary,
    [
      'serve',
      '--host',
      '127.0.0.1',
      '--port',
      String(port),
      ...(options.dataFile === undefined ? [] : ['--db-path', options.dataFile]),
    ],
    // A group of its own: an interrupt of the terminal would end it before those that still write to it.
    { stdio: ['ignore', 'ignore', 'pipe'], detached: true },
  );
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-STDERR_CHARS_KEPT);
  });
  let isToStop = false;
  const whenGone = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!isToStop)
        resolve(`the embedded database ended with ${signal ?? `code ${code}`}: ${stderr.trim()}`);
    });
  });
  const kill = (): void => {
    child.kill('SIGKILL');
  };
  // A process that dies of an error must not leave its emulator behind.
  process.once('exit', kill);
  try {
    await waitUntilReady(child, port, () => stderr);
  } catch (error) {
    process.removeListener('exit', kill);
    kill();
    throw error;
  }
  return {
    endpoint: `http://127.0.0.1:${port}`,
    whenGone,
    stop: async () => {
      isToStop = true;
      process.removeListener('exit', kill);
      await stopChild(child);
    },
  };
}

/**
 * Lets the owner of the file alone read the table. The database makes its file with the mode that the account gives to
 * all files, and the files of its journal with the mode of the file; a person may have made the folder for all to see.
 */
function closeToOthers(dataFile: string): void {
  try {
    closeSync(openSync(dataFile, 'a', 0o600));
  } catch {
    // The database says why it cannot have it.
    return;
  }
  for (const file of [dataFile, `${dataFile}-wal`, `${dataFile}-shm`].filter((each) => existsSync(each))) {
    try {
      chmodSync(file, 0o600);
    } catch {
      // Another account owns it: the mode is its own.
    }
  }
}

async function waitUntilReady(child: ChildProcess, port: number, stderr: () => string): Promise<void> {
  let failed: string | null = null;
  child.once('error', (error) => {
    failed = error.message;
  });
  child.once('exit', (code) => {
    failed = `it ended with code ${code}: ${stderr().trim()}`;
  });
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!(await canConnect(port))) {
    if (failed !== null) throw new ConfigError(sayFailed(failed));
    if (performance.now() > deadline)
      throw new ConfigError('The embedded database did not answer within 10 s.');
    await new Promise((resolve) => setTimeout(resolve, PROBE_EVERY_MS));
  }
}

/** Messages of the database about a file that it cannot read. */
const DAMAGED = /not a valid SQLite database|malformed|file is not a database/;

/** Messages of the database about a disk or a file that refuses it. */
const REFUSED = /disk I\/O error|is full|unable to open|readonly|not authorized/;

export function sayFailed(reason: string): string {
  const said = `The embedded database did not start: ${reason}`;
  if (REFUSED.test(reason))
    return `${said}. Check the space on the disk of the data folder, and the rights of ${TABLE_FILE} and of the files beside it that begin with its name.`;
  return DAMAGED.test(reason) ? `${sayDamaged(TABLE_FILE)} ${said}` : said;
}

/** Message about a database that answers, and a table that cannot be used. */
export function sayUnusable(reason: string): string {
  if (DAMAGED.test(reason)) return `${sayDamaged(TABLE_FILE)} The embedded database says: ${reason}`;
  return `The table cannot be used (${reason}): it is damaged, or the database or its disk refuses it. npm run doctor says which. Check the space on the disk of the data folder; a damaged table is put back from the last copy of the data folder.`;
}

function canConnect(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const end = (answer: boolean) => () => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', end(true)).once('error', end(false));
  });
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  await new Promise<void>((resolve) => {
    const force = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    child.once('exit', () => {
      clearTimeout(force);
      resolve();
    });
    child.kill('SIGTERM');
  });
}
