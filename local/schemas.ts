import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PUBLISHED_SCHEMAS } from './published-schemas.ts';

const DOCS = join(import.meta.dirname, '../docs');

for (const [file, make] of Object.entries(PUBLISHED_SCHEMAS))
  writeFileSync(join(DOCS, file), `${JSON.stringify(make(), null, 2)}\n`);
