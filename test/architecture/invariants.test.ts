import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const TESTS = resolve(__dirname, '..');
const SELF = 'invariants.test.ts';
/** The promises that the project makes are numbered from A1. */
const INVARIANTS = 120;

/** Titles of tests, and the docstrings of the simulation's judges, by the number that they cite. */
function readCitations(): ReadonlyMap<number, readonly string[]> {
  const files = readdirSync(TESTS, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && entry.name !== SELF,
  );
  const cited = new Map<number, string[]>();
  for (const entry of files) {
    const source = readFileSync(join(entry.parentPath, entry.name), 'utf8');
    for (const found of source.matchAll(/\bA(\d{1,3})\b/g)) {
      const number = Number(found[1]);
      cited.set(number, [...(cited.get(number) ?? []), join(entry.parentPath, entry.name)]);
    }
  }
  return cited;
}

test('each of the 120 invariants is cited by a test that holds it: `grep -rw A37 test` finds the way', () => {
  const cited = readCitations();
  const numbers = Array.from({ length: INVARIANTS }, (_, index) => index + 1);
  expect(numbers.filter((number) => !cited.has(number))).toEqual([]);
  expect([...cited.keys()].filter((number) => number < 1 || number > INVARIANTS)).toEqual([]);
});
