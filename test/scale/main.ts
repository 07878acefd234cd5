import { readFileSync, writeFileSync } from 'node:fs';
import { checkCall } from '../support/usage.ts';
import { describeScale, SCALES } from './table.ts';

checkCall({
  script: 'scale',
  does: 'Prints the table of docs/scale.md, from a model in virtual time.',
  options: {
    '--write': 'puts the table there',
  },
});

const FILE = 'docs/scale.md';
const table = describeScale(SCALES);
console.log(table);
if (process.argv.includes('--write')) {
  const [before, , after] = readFileSync(FILE, 'utf8').split(/^<!-- table(?: ends)? -->$/m);
  writeFileSync(FILE, `${before}<!-- table -->\n\n${table}\n\n<!-- table ends -->${after}`);
}
