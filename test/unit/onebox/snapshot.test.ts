import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../onebox/config.ts';
import { snapshotTable } from '../../../onebox/snapshot.ts';

const folder = mkdtempSync(join(tmpdir(), 'onebox-snapshot-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a copy that the database does not make is told with what to look at, and leaves none behind', async () => {
  const table = join(folder, 'table.sqlite');
  writeFileSync(table, 'no table at all '.repeat(1_000));
  const copy = snapshotTable(table, join(folder, 'copy'), process.env);
  await expect(copy).rejects.toThrow(ConfigError);
  await expect(copy).rejects.toThrow('Check the space on the disk of the data folder');
  expect(existsSync(join(folder, 'copy'))).toBe(false);
});

test.each([
  // Nothing can be made there, also by root, as on a disk that is read-only.
  ['takes no file', () => '/sys'],
  [
    'has a file in the way',
    () => {
      const dir = join(folder, 'way');
      mkdirSync(dir);
      writeFileSync(join(dir, '.dynoxide'), '');
      return dir;
    },
  ],
])('a data folder that %s is told in one line', async (_what, make) => {
  const copy = snapshotTable(join(make(), 'table.sqlite'), join(folder, 'copy'), process.env);
  await expect(copy).rejects.toThrow(ConfigError);
  await expect(copy).rejects.toThrow(
    /^The copy of the table is made in the data folder first, and that refuses it: E[A-Z]+: .*\. Give this account/,
  );
});

test('a backup removes what killed ones left, but not what one that may still run is making', async () => {
  const table = join(folder, 'table.sqlite');
  writeFileSync(table, '');
  const made = join(folder, '.dynoxide', 'snapshots');
  mkdirSync(made, { recursive: true });
  const givenLeft = (name: string, minutes: number): void => {
    writeFileSync(join(made, name), 'a whole table');
    const at = new Date(Date.now() - minutes * 60_000);
    utimesSync(join(made, name), at, at);
  };
  givenLeft('mergeyard-killed.db', 21);
  givenLeft('mergeyard-running.db', 19);
  givenLeft('of-a-person.db', 500);
  await snapshotTable(table, join(folder, 'copy'), process.env);
  expect(readdirSync(made).sort()).toEqual(['mergeyard-running.db', 'of-a-person.db']);
});

test('a backup that is ended by a signal ends the database and leaves no snapshot', async () => {
  const table = join(folder, 'table.sqlite');
  writeFileSync(table, '');
  const to = join(folder, 'ended');
  const reason = new ConfigError('Ended by SIGTERM: nothing was copied.');
  await expect(snapshotTable(table, to, process.env, AbortSignal.abort(reason))).rejects.toThrow(reason);
  const left = readdirSync(join(folder, '.dynoxide', 'snapshots'));
  expect([existsSync(to), left.filter((name) => name !== 'mergeyard-running.db')]).toEqual([
    false,
    ['of-a-person.db'],
  ]);
});
