import { readFileSync, writeFileSync } from 'node:fs';
import { describeScale, SCALES } from './table.ts';

/** `npm run scale`: prints the table of docs/scale.md; `-- --write` puts it there. */
const FILE = 'docs/scale.md';
const table = describeScale(SCALES);
console.log(table);
if (process.argv.includes('--write')) {
  const [before, , after] = readFileSync(FILE, 'utf8').split(/^<!-- table(?: ends)? -->$/m);
  writeFileSync(FILE, `${before}<!-- table -->\n\n${table}\n\n<!-- table ends -->${after}`);
}
