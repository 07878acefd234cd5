import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchFolder } from '../../../onebox/folder-watch.ts';

const root = mkdtempSync(join(tmpdir(), 'folder-watch-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

function given(name: string) {
  const folder = join(root, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'table.sqlite'), 'rows');
  const watch = watchFolder(folder, ['table.sqlite'], 10);
  return { folder, table: join(folder, 'table.sqlite'), watch };
}

describe('a data folder that is served', () => {
  test('is there while it is written to', () => {
    const { folder, table, watch } = given('written');
    writeFileSync(table, 'more rows');
    writeFileSync(join(folder, 'keys.json'), '{}');
    expect(watch.isThere()).toBe(true);
    watch.stop();
  });

  test.each<[string, (folder: string, table: string) => void]>([
    ['the folder is removed', (folder) => rmSync(folder, { recursive: true })],
    ['the table is removed', (_folder, table) => rmSync(table)],
    [
      'a copy of the table takes its place',
      (_folder, table) => {
        cpSync(table, `${table}.copy`);
        renameSync(`${table}.copy`, table);
      },
    ],
    [
      'the folder is moved away, and a copy stands in its place',
      (folder) => {
        renameSync(folder, `${folder}.former`);
        cpSync(`${folder}.former`, folder, { recursive: true });
      },
    ],
  ])('is gone where %s, and stays so', async (what, change) => {
    const { folder, table, watch } = given(what.replaceAll(' ', '-'));
    change(folder, table);
    expect(await watch.whenGone).toMatch(/was removed or replaced while this process served it/);
    rmSync(folder, { recursive: true, force: true });
    expect(watch.isThere()).toBe(false);
    watch.stop();
  });
});
