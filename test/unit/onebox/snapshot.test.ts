import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
