import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MUTANTS } from './mutants.ts';
import { SCENE_NAMES } from './scenes.ts';

/** The table of each file in a folder of tables, which has the name of its file. */
async function readTables(folder: string): Promise<readonly unknown[]> {
  const files = readdirSync(join(__dirname, folder));
  expect(files.length).toBeGreaterThan(30);
  return Promise.all(
    files.map(async (file) => {
      const name = file.replace('.ts', '').replaceAll('-', '_').toUpperCase();
      const table = (await import(join(__dirname, folder, file)))[name];
      if (table === undefined) throw new Error(`${folder}/${file} has no ${name}`);
      return table;
    }),
  );
}

test('every file of scenes is joined, and no two scenes have one name', async () => {
  const tables = (await readTables('scenes')) as readonly object[];
  expect(tables.flatMap(Object.keys).sort()).toEqual([...SCENE_NAMES].sort());
});

test('every file of mutants is joined, and each guard stands in one place', async () => {
  const tables = (await readTables('mutants')) as readonly (typeof MUTANTS)[];
  const guards = tables.flat().map(({ guard }) => guard);
  expect([...guards].sort()).toEqual(MUTANTS.map(({ guard }) => guard).sort());
  expect(guards.filter((guard, at) => guards.indexOf(guard) !== at)).toEqual([]);
});
