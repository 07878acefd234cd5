import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { ConfigError } from '../../../onebox/config.ts';
import { lockFolder } from '../../../onebox/folder-lock.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A process that listens on these paths. */
async function listenElsewhere(paths: readonly string[]): Promise<ChildProcess> {
  const script = `let left = ${paths.length};
    for (const path of ${JSON.stringify(paths)})
      require('node:net').createServer().listen(path, () => (left -= 1) === 0 && console.log('up'));`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  return child;
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** Sockets that a process left behind that was killed. */
async function leaveBehind(...paths: readonly string[]): Promise<void> {
  await kill(await listenElsewhere(paths));
}

async function listenHere(path: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((done) => server.listen(path, done));
  return server;
}

test('a second process on one folder does not start, and says why', async () => {
  const release = await lockFolder(folder);
  await expect(lockFolder(folder)).rejects.toThrow(ConfigError);
  await expect(lockFolder(folder)).rejects.toThrow(`another Mergeyard process serves ${folder}`);
  await release();
  await (await lockFolder(folder))();
});

test('a process that was killed leaves no lock', async () => {
  const path = join(folder, 'serving.sock');
  const child = await listenElsewhere([path]);
  await expect(lockFolder(folder)).rejects.toThrow(ConfigError);
  await kill(child);
  expect(existsSync(path)).toBe(true);
  await (await lockFolder(folder))();
});

test.each(['serving.sock', 'starting-x'])(
  'a folder that has the name of a socket, %s, is told as what it is, and stays',
  async (name) => {
    mkdirSync(join(folder, name));
    await expect(lockFolder(folder)).rejects.toThrow(ConfigError);
    await expect(lockFolder(folder)).rejects.toThrow(
      `${name} in the data folder is in the way: Mergeyard makes a socket of that name there. Move what is there to another place.`,
    );
    expect(readdirSync(folder)).toEqual([name]);
  },
);

test('of two processes that start at once over a lock that was left behind, one takes the folder', async () => {
  const [folders, everyMs] = [300, 6];
  const paths = Array.from({ length: folders }, (_, at) => join(folder, `${at}`));
  for (const path of paths) mkdirSync(path);
  await leaveBehind(...paths.map((path) => join(path, 'serving.sock')));
  const script = `import { lockFolder } from './onebox/folder-lock.ts';
    console.log('up');
    process.stdin.once('data', async (text) => {
      const [taken, startAt] = [[], Number(text)];
      for (const [at, path] of ${JSON.stringify(paths)}.entries()) {
        const at0 = startAt + at * ${everyMs};
        if (at0 - Date.now() > 2) await new Promise((done) => setTimeout(done, at0 - Date.now() - 2));
        while (Date.now() < at0);
        await lockFolder(path).then(() => taken.push(at), () => {});
      }
      console.log(JSON.stringify(taken));
    });`;
  const starts = [1, 2].map(() =>
    spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  await Promise.all(starts.map(({ stdout }) => once(stdout, 'data')));
  const startAt = Date.now() + 50;
  const answers = starts.map(async ({ stdin, stdout }) => {
    stdin.write(`${startAt}`);
    return JSON.parse(String((await once(stdout, 'data'))[0])) as number[];
  });
  const taken = (await Promise.all(answers)).flat();
  await Promise.all(starts.map(kill));
  expect(taken.sort((a, b) => a - b)).toEqual(paths.map((_, at) => at));
});

test('a start takes nothing while another one starts, and what killed starts left behind keeps none out', async () => {
  const [first, last] = [join(folder, 'starting-0'), join(folder, 'starting-g')];
  await leaveBehind(join(folder, 'serving.sock'), last, `${first}.new`);
  const other = await listenHere(first);
  await expect(lockFolder(folder)).rejects.toThrow(ConfigError);
  await new Promise((done) => other.close(done));
  const release = await lockFolder(folder);
  expect(readdirSync(folder)).toEqual(['serving.sock']);
  await release();
  expect(readdirSync(folder)).toEqual([]);
});

test('a start waits for another one by a later name, and then finds the folder taken or free', async () => {
  await leaveBehind(join(folder, 'serving.sock'));
  for (const isTaken of [true, false]) {
    const other = await listenHere(join(folder, 'starting-g'));
    let isOver = false;
    const start = lockFolder(folder).finally(() => {
      isOver = true;
    });
    start.catch(() => {});
    await new Promise((done) => setTimeout(done, 100));
    expect(isOver).toBe(false);
    if (isTaken) {
      rmSync(join(folder, 'serving.sock'));
      const owner = await listenHere(join(folder, 'serving.sock'));
      await new Promise((done) => other.close(done));
      await expect(start).rejects.toThrow(ConfigError);
      await new Promise((done) => owner.close(done));
    } else {
      await new Promise((done) => other.close(done));
      await (await start)();
    }
  }
});

test('a folder with a long path is locked as well', async () => {
  const deep = join(folder, 'a'.repeat(120));
  mkdirSync(deep);
  const release = await lockFolder(deep);
  await expect(lockFolder(deep)).rejects.toThrow(ConfigError);
  await release();
});

/** As a process of another account is asked: for root by an account without rights, else by a socket that may not be opened. */
test('a lock of another account says which file to look at, and is no running process', async () => {
  const path = join(folder, 'serving.sock');
  await leaveBehind(path);
  chmodSync(path, 0o600);
  const program = join(folder, 'lock.cjs');
  await build({
    stdin: {
      contents: `import { lockFolder } from './onebox/folder-lock.ts';
        lockFolder(process.argv[2]).catch((error) => console.log(error.name, error.message));`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile: program,
    logLevel: 'silent',
  });
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chmodSync(folder, 0o777);
  else chmodSync(path, 0);
  const { stdout } = spawnSync(process.execPath, [program, folder], {
    encoding: 'utf8',
    ...(isRoot ? { uid: 65_534, gid: 65_534 } : {}),
  });
  expect(stdout).toMatch(`ConfigError data_dir: serving.sock in ${folder} is of another account`);
});
