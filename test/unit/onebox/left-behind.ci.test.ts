import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startDatabase } from '../../../onebox/database.ts';
import { endLeftBehind } from '../../../onebox/left-behind.ts';

const folder = mkdtempSync(join(tmpdir(), 'left-behind-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a service that starts its database and is killed, so that its database stays. */
async function killOverDatabase(dataFile: string): Promise<void> {
  const script = `
    const { startDatabase } = await import(${JSON.stringify(resolve('onebox/database.ts'))});
    await startDatabase({ dataFile: ${JSON.stringify(dataFile)}, env: process.env });
    process.kill(process.pid, 'SIGKILL');`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: 'ignore',
  });
  await new Promise((done) => child.once('exit', done));
}

test('a database that a killed service left behind is ended by the next one on its file, and no other is', async () => {
  const [dataFile, otherFile] = [join(folder, 'table.sqlite'), join(folder, 'other.sqlite')];
  await Promise.all([killOverDatabase(dataFile), killOverDatabase(otherFile)]);
  const database = await startDatabase({ dataFile, env: process.env });
  // The new one alone serves the file now.
  expect(endLeftBehind(dataFile)).toHaveLength(1);
  expect(endLeftBehind(otherFile)).toHaveLength(1);
  await database.stop();
});

test('a database that was left behind is found under another path of its folder too', async () => {
  const [own, link, moved] = [join(folder, 'own'), join(folder, 'link'), join(folder, 'moved')];
  mkdirSync(own);
  symlinkSync(own, link);
  await killOverDatabase(join(own, 'table.sqlite'));
  expect(endLeftBehind(join(link, 'table.sqlite'))).toHaveLength(1);
  await killOverDatabase(join(own, 'table.sqlite'));
  renameSync(own, moved);
  expect(endLeftBehind(join(moved, 'table.sqlite'))).toHaveLength(1);
});
