import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigError } from '../../../onebox/config.ts';
import { sayFailed } from '../../../onebox/database.ts';
import { openOwn, refuseTableLoss } from '../../../onebox/own-files.ts';

test.each<[string, () => unknown, RegExp]>([
  [
    'a full disk',
    () => writeFileSync('/dev/full', 'x'),
    /cannot be read and written: ENOSPC.* the space on its disk\.$/,
  ],
  ['no rights', () => readFileSync('/proc/1/mem'), /cannot be read and written: E[A-Z]+.*Check its rights/],
  ['what is no session', () => JSON.parse('{'), /is damaged: remove it: people sign in again\.$/],
])('a file of the data folder with %s is told in one line', (_what, open, words) => {
  expect(() => openOwn('sessions.json', open)).toThrow(ConfigError);
  expect(() => openOwn('sessions.json', open)).toThrow(words);
});

describe('a log of the database that belongs to another table', () => {
  const folder = mkdtempSync(join(tmpdir(), 'own-files-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  /** A table with this mark of its log, and a log of so many bytes beside it. */
  const putBack = (mark: number, logBytes: number): void => {
    const head = Buffer.alloc(100);
    head.write('SQLite format 3\0', 'latin1');
    head.fill(mark, 18, 20);
    writeFileSync(join(folder, 'table.sqlite'), head);
    writeFileSync(join(folder, 'table.sqlite-wal'), Buffer.alloc(logBytes));
  };

  test('ends the start beside a backup that was put back, with the step that saves it', () => {
    putBack(1, 4096);
    expect(() => refuseTableLoss(folder)).toThrow(ConfigError);
    expect(() => refuseTableLoss(folder)).toThrow(
      'table.sqlite-wal in the data folder holds writes of another table.sqlite, and would damage the one that was put back beside it. Move table.sqlite-wal and table.sqlite-shm to another place, and start again.',
    );
  });

  test.each([
    ['the table has a log of its own', 2, 4096],
    ['the log is empty', 1, 0],
  ])('is not seen where %s', (_what, mark, logBytes) => {
    putBack(mark, logBytes);
    expect(() => refuseTableLoss(folder)).not.toThrow();
  });
});

test.each([
  'disk I/O error',
  'database or disk is full',
  'unable to open database file: t',
  'attempt to write a readonly database',
])('a database that ends with "%s" at the start is told with the next step', (reason) => {
  expect(sayFailed(`it ended with code 1: error: Internal error: ${reason}`)).toMatch(
    /^The embedded database did not start: .*\. Check the space on the disk of the data folder, and the rights of table\.sqlite and of the files beside it/,
  );
});
