import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLISHED_SCHEMAS } from '../../../local/published-schemas.ts';

const DOCS = join(__dirname, '../../../docs');

test.each(Object.entries(PUBLISHED_SCHEMAS))(
  'docs/%s is the schema that the code holds to (`npm run schemas`)',
  (file, make) => {
    expect(JSON.parse(readFileSync(join(DOCS, file), 'utf8'))).toEqual(JSON.parse(JSON.stringify(make())));
  },
);

test('`npm run schemas` writes each schema of the documents', () => {
  const stored = readdirSync(DOCS).filter((name) => name.endsWith('.schema.json'));
  expect(Object.keys(PUBLISHED_SCHEMAS).sort()).toEqual(stored.sort());
});
