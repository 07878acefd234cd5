import { readFileSync } from 'node:fs';
import { minVersion, satisfies } from 'semver';
import { DEPLOYED_NODE, OLDEST_NODE } from '../../lib/node-versions.ts';

interface Manifest {
  readonly engines?: { readonly node?: string };
}

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const asked: string = readJson('package.json').engines.node;
const packages = Object.entries<Manifest>(readJson('package-lock.json').packages);

test('the README asks for the versions of Node that the package asks for', () => {
  const words = asked.replaceAll(' || ', ', ').replace(/, >=(\d+)$/, ', or $1 and newer');
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

/** The functions name it in their template (test/cdk/functions.test.ts). */
test.each([
  ['engine-container/Dockerfile', 1],
  ['onebox/Dockerfile', 2],
  ['.forgejo/workflows/ci.yaml', 1],
])('%s runs the Node that is deployed, and no other', (file, images) => {
  const named = [...readFileSync(file, 'utf8').matchAll(/\bnode:(\d+)/g)].map(([, major]) => Number(major));
  expect(named).toEqual(Array.from({ length: images }, () => DEPLOYED_NODE));
});

test('the package asks for no Node that is older than what the bundles are made for, and allows the deployed one', () => {
  expect(minVersion(asked)?.major).toBe(OLDEST_NODE);
  expect(satisfies(`${DEPLOYED_NODE}.0.0`, asked)).toBe(true);
});
