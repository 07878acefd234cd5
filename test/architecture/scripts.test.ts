import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** `npm run test:forge -- -t 'landing'` adds to the end: behind a `--` of the script's own, `-t` would name a file. */
test('no script ends its own flags with `--`, so that flags given to it reach its program', () => {
  const closed = Object.entries(scripts).filter(([, command]) => /\s--(\s|$)/.test(command));
  expect(closed).toEqual([]);
});
