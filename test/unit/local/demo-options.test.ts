import { parseOptions } from '../../../local/demo/options.ts';

test.each([
  ['--help', 0],
  ['--hlep', 2],
])('npm run demo -- %s says how it is called, and ends with code %d', (option, exitCode) => {
  const call = () => parseOptions(['--json', option]);
  expect(call).toThrow(/npm run demo -- \[options\]/);
  expect(call).toThrow(expect.objectContaining({ exitCode }));
});
