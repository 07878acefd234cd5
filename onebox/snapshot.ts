import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFile, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import * as z from 'zod';
import { ConfigError } from './config.ts';
import { requireBinary } from './database.ts';

const WITHIN_MS = 600_000;
const CALL_ID = 2;
const Answer = z.object({
  id: z.literal(CALL_ID),
  result: z.object({ isError: z.boolean().default(false) }),
});

/**
 * Writes one point in time of the table's file to `to`, while another process writes to the table or not. The embedded
 * database makes it (SQLite's `VACUUM INTO`, one read transaction), in a second process that speaks over its pipes alone;
 * it makes snapshots on request of its tool protocol only, in a folder beside the table.
 */
export async function snapshotTable(file: string, to: string, env: NodeJS.ProcessEnv): Promise<void> {
  const name = `mergeyard-${randomUUID()}`;
  const folder = join(dirname(file), '.dynoxide', 'snapshots');
  // Made by this account: the database would make it for others to read, as far as the data folder lets them.
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new ConfigError(
      `The copy of the table is made in the data folder first, and that refuses it: ${error.message}. Give this account the right to write there; a file or a folder of that name moves to another place.`,
    );
  });
  const made = join(folder, `${name}.db`);
  try {
    await askForSnapshot(requireBinary(env), file, name);
    await copyFile(made, to);
  } finally {
    await rm(made, { force: true });
  }
}

const sayNone = (complaint: string): string =>
  `The database made no copy of its table. Check the space on the disk of the data folder, where it makes it first, and with npm run doctor that the table is right.${complaint === '' ? '' : ` It says: ${complaint}`}`;

async function askForSnapshot(binary: string, file: string, name: string): Promise<void> {
  const child = spawn(binary, ['mcp', '--db-path', file], { stdio: 'pipe', timeout: WITHIN_MS });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = text.trim();
  });
  const ended = new Promise<void>((done) => child.once('close', () => done()));
  // A child that dies while it is written to is told of by its end.
  child.stdin.on('error', () => {});
  try {
    if (!(await readAnswer(child, name))) throw new ConfigError(sayNone(complaint));
  } finally {
    child.stdin.end();
    await ended;
  }
}

/** Whether the database says that the snapshot is there. */
async function readAnswer(child: ChildProcessWithoutNullStreams, name: string): Promise<boolean> {
  const say = (message: object): void => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const clientInfo = { name: 'mergeyard', version: '1' };
  const hello = { protocolVersion: '2024-11-05', capabilities: {}, clientInfo };
  say({ id: CALL_ID - 1, method: 'initialize', params: hello });
  say({ method: 'notifications/initialized' });
  say({ id: CALL_ID, method: 'tools/call', params: { name: 'create_snapshot', arguments: { name } } });
  for await (const line of createInterface({ input: child.stdout })) {
    const answer = Answer.safeParse(readJson(line));
    if (answer.success) return !answer.data.result.isError;
  }
  return false;
}

function readJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
