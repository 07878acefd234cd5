import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInProcessWakes } from '#core/adapters/in-process/wake-queue.ts';
import { createSystemClock } from '#core/adapters/system/clock.ts';
import { ConfigError, readConfig } from '../../../onebox/config.ts';
import { type Onebox, startOnebox } from '../../../onebox/service.ts';
import { eventually } from '../../support/eventually.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-signal-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SILENT = { info: () => {}, warn: () => {}, error: () => {} };

/** Processes whose command names the folder's table. */
function readDatabases(): readonly string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(folder, 'data', 'table.sqlite'));
    } catch {
      return false;
    }
  });
}

function writeConfig(file: string): void {
  writeFileSync(
    file,
    JSON.stringify({
      listen: '127.0.0.1:0',
      public_url: 'http://127.0.0.1:8480',
      data_dir: 'data',
      forge: { url: 'https://127.0.0.1:1' },
      sign_in: { client_id: 'a', client_secret: 'b', administrators: {} },
    }),
  );
}

test('a one box whose database is gone says so', async () => {
  const config = join(folder, 'mergeyard.yml');
  writeConfig(config);
  const parts = { config: readConfig(config), siteDir: folder, env: process.env, log: SILENT };
  let now = 0;
  const clock = { ...createSystemClock(), monotonic: () => now };
  const box = await startOnebox({ ...parts, clock });
  const ask = async (): Promise<unknown> => {
    const answer = await fetch(`${box.url}/healthz`);
    now += 5_000;
    return [answer.status, await answer.json()];
  };
  try {
    expect(await ask()).toEqual([200, { status: 'ok' }]);
    for (const pid of readDatabases()) process.kill(Number(pid), 'SIGKILL');
    expect(await ask()).toEqual([503, { status: 'unavailable', dependency: 'database' }]);
    expect(await box.whenBroken).toMatch('the embedded database ended with SIGKILL');
  } finally {
    await box.stop();
  }
});

test('no look begins from the first moment of a stop, however long a client holds its connection', async () => {
  const config = join(folder, 'mergeyard.yml');
  writeConfig(config);
  const begun: string[] = [];
  const queues: ReturnType<typeof createInProcessWakes>[] = [];
  const box = await startOnebox({
    config: readConfig(config),
    siteDir: folder,
    env: process.env,
    log: SILENT,
    createWakes: (parts) => {
      const answer = async ({ repoId }: { readonly repoId: string }) => void begun.push(repoId);
      const queue = createInProcessWakes({ ...parts, answer });
      queues.push(queue);
      return queue;
    },
  });
  const client = connect(Number(new URL(box.url).port), '127.0.0.1');
  await new Promise<void>((done) => client.write('GET / HTTP/1.1', () => done()));
  await fetch(`${box.url}/healthz`);
  await queues[0]?.sendWake('before', 1);
  const stopped = box.stop();
  await queues[0]?.sendWake('after', 1);
  await stopped;
  expect(begun).toEqual(['before']);
  client.destroy();
});

/** A process of its own. `said` has what it has written so far. */
function startProcess(env: NodeJS.ProcessEnv = {}) {
  const config = join(folder, 'mergeyard.yml');
  writeConfig(config);
  const args = ['--import', 'tsx', 'onebox/main.ts', '--config', config, '--site', folder];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => lines.push(text));
  const gone = new Promise<number | null>((done) => child.once('exit', done));
  return { child, gone, said: () => lines.join('') };
}

test('a start of one box that is ended in between leaves no database behind', async () => {
  const { child, gone } = startProcess();
  await eventually('the database runs', 60_000, async () => readDatabases().length > 0);
  expect(existsSync(join(folder, 'data'))).toBe(true);
  child.kill('SIGTERM');
  expect(await gone).toBe(0);
  expect(readDatabases()).toEqual([]);
});

test('a one box that serves ends as soon as it has stopped after a signal', async () => {
  const { child, gone, said } = startProcess();
  await eventually('it serves', 60_000, async () => said().includes('"serving"'));
  child.kill('SIGTERM');
  await eventually('it has stopped', 60_000, async () => said().includes('"stopped"'));
  const stoppedAt = performance.now();
  expect(await gone).toBe(0);
  // Far less than the time after which a start is given up.
  expect(performance.now() - stoppedAt).toBeLessThan(5_000);
});

test('a one box whose database dies ends with a reason, for its supervisor to start it again', async () => {
  const { gone, said } = startProcess();
  await eventually('it serves', 60_000, async () => said().includes('"serving"'));
  for (const pid of readDatabases()) process.kill(Number(pid), 'SIGKILL');
  expect(await gone).toBe(1);
  expect(said()).toMatch('the embedded database ended with SIGKILL');
});

test('a start that waits for a database of one’s own ends with a signal', async () => {
  const sockets: Socket[] = [];
  // Takes every call and answers none.
  const silent = createServer((socket) => sockets.push(socket));
  await new Promise<void>((done) => silent.listen(0, '127.0.0.1', done));
  const { port } = silent.address() as AddressInfo;
  const { child, gone, said } = startProcess({ AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:${port}` });
  await eventually('it asks', 60_000, async () => sockets.length > 0);
  child.kill('SIGTERM');
  expect(await gone).toBe(1);
  expect(said()).toMatch('The start did not end within 10 s of the signal');
  for (const socket of sockets) socket.destroy();
  silent.close();
});

test.each([
  ['keys.json', '{"keys":'],
  ['keys.json', 'null'],
  ['sessions.json', '{'],
  ['evidence-key.pem', 'x'],
  ['table.sqlite', 'no table at all '.repeat(1_000)],
])('%s with %j in it ends a start with the way out', async (name, text) => {
  const data = mkdtempSync(join(folder, 'damaged-'));
  writeFileSync(join(data, name), text, { mode: 0o600 });
  const config = { ...readConfig(join(folder, 'mergeyard.yml')), data_dir: data };
  const start = startOnebox({ config, siteDir: folder, env: process.env, log: SILENT });
  await expect(start).rejects.toThrow(ConfigError);
  await expect(start).rejects.toThrow(`${name} in the data folder is damaged: `);
});

test('a start that cannot be says why in one line', async () => {
  const taken = createServer();
  await new Promise<void>((done) => taken.listen(0, '127.0.0.1', done));
  const { port } = taken.address() as AddressInfo;
  const config = readConfig(join(folder, 'mergeyard.yml'));
  const start = (changed: Partial<typeof config>, env: NodeJS.ProcessEnv = process.env): Promise<Onebox> =>
    startOnebox({ config: { ...config, ...changed }, siteDir: folder, env, log: SILENT });
  const listen = { host: '127.0.0.1', port };
  await expect(start({ listen })).rejects.toEqual(
    new ConfigError(
      `listen: 127.0.0.1:${port} cannot be listened on: listen EADDRINUSE: address already in use 127.0.0.1:${port}. Stop what uses it, or name another address.`,
    ),
  );
  await expect(start({ data_dir: join(folder, 'mergeyard.yml', 'data') })).rejects.toThrow(
    'cannot be written: ENOTDIR',
  );
  await expect(start({}, { AWS_ENDPOINT_URL_DYNAMODB: `http://127.0.0.1:1` })).rejects.toEqual(
    new ConfigError(
      'The database at http://127.0.0.1:1 does not answer: connect ECONNREFUSED 127.0.0.1:1. Check that it runs.',
    ),
  );
  taken.close();
});
