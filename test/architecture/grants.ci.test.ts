import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUNDLE_ENTRIES, type BundleName } from '../../lib/functions.ts';
import { ROW_ACTIONS, TABLE_ACCESS, type TableAccess } from '../../lib/table-access.ts';
import touches from '../contract/store/touches.json';
import { sharedBundles } from '../support/bundles.ts';

/** What each method of the store does to which rows; `test/contract/dynamo-store.test.ts` holds it to what is sent. */
const TOUCHES: Readonly<Record<string, readonly string[]>> = touches;

/** Names of properties are not minified, and what is not called is not in a bundle. */
function methodsIn(bundle: string): string[] {
  return Object.keys(TOUCHES).filter((name) => new RegExp(`\\.${name}\\b`).test(bundle));
}

const inWords = ({ indexes = [], attributes: _, ...rows }: TableAccess): string[] => [
  ...ROW_ACTIONS.flatMap((action) => (rows[action] ?? []).map((partition) => `${action} ${partition}`)),
  ...indexes.map((partition) => `Query index ${partition}`),
];

describe('rights on the table', () => {
  let outDir: string;
  beforeAll(async () => {
    outDir = await sharedBundles();
  }, 180_000);

  test.each(Object.keys(BUNDLE_ENTRIES) as BundleName[])(
    '%s may do what the calls of the store in its bundle do, and no more',
    (name) => {
      const called = methodsIn(readFileSync(join(outDir, name, 'index.mjs'), 'utf8'));
      const needed = called.flatMap((method) => TOUCHES[method] ?? []);
      const granted = inWords(TABLE_ACCESS[name] ?? {});
      const words = needed.map((touch) => touch.replace(/ gsi\d /, ' index '));
      expect(granted.sort()).toEqual([...new Set(words)].sort());
    },
  );

  test('a call of the store in a bundle is found', () => {
    expect(methodsIn('const a=await e.store.getRepo(r);b(()=>s.loadPlan(t))')).toEqual([
      'getRepo',
      'loadPlan',
    ]);
    expect(methodsIn('return{async getRepo(e){}}')).toEqual([]);
  });
});
