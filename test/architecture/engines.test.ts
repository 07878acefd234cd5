import { readFileSync } from 'node:fs';
import { minVersion, satisfies } from 'semver';

interface Manifest {
  readonly engines?: { readonly node?: string };
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const asked: string = readJson('package.json').engines.node;
const packages = Object.entries<Manifest>(readJson('package-lock.json').packages);

test('the README asks for the versions of Node that the package asks for', () => {
  const words = asked.replaceAll(' || ', ', ').replace(/, >=(\d+)$/, ', $1 or newer');
  expect(readFileSync('README.md', 'utf8')).toContain(`You need Node ${words}`);
  expect(readFileSync('docs/operate.md', 'utf8')).toContain(`You need Node ${words}`);
});

// npm warns of each one with EBADENGINE.
test.each(asked.split(' || '))('no installed package refuses Node %s', (range) => {
  const lowest = minVersion(range);
  expect(packages.length).toBeGreaterThan(500);
  const refusing = packages.filter(([, { engines }]) => {
    const node = engines?.node;
    return node !== undefined && lowest !== null && !satisfies(lowest, node);
  });
  expect(refusing.map(([name, { engines }]) => `${name} ${engines?.node}`)).toEqual([]);
});
