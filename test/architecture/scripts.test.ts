import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** `npm run test:forge -- -t 'landing'` adds to the end: behind a `--` of the script's own, `-t` would name a file. */
test('no script ends its own flags with `--`, so that flags given to it reach its program', () => {
  const closed = Object.entries(scripts).filter(([, command]) => /\s--(\s|$)/.test(command));
  expect(closed).toEqual([]);
});

test.each([
  'README.md',
  'CONTRIBUTING.md',
  'docs/operate.md',
  'docs/runbook.md',
  'docs/onebox.md',
  'test/README.md',
])('%s names no command that is not there', (file) => {
  const named = [...readFileSync(file, 'utf8').matchAll(/`npm run ([\w:-]+)/g)].map(([, name = '']) => name);
  expect(named.filter((name) => !name.endsWith(':') && scripts[name] === undefined)).toEqual([]);
});

test('an alarm that the operator’s document names has its section in the runbook', () => {
  const runbook = readFileSync('docs/runbook.md', 'utf8');
  const headings = new Set([...runbook.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name.toLowerCase()));
  const text = readFileSync('docs/operate.md', 'utf8');
  const named = [...text.matchAll(/`(\w+Alarm)`|runbook\.md#(\w+)/g)].map(
    ([, name, anchor]) => name ?? anchor ?? '',
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !headings.has(name.toLowerCase()))).toEqual([]);
});

test('each claim about the cloud says how it was checked, by a file or a command, and what that does not show', () => {
  const section = readFileSync('docs/operate.md', 'utf8')
    .split(/^## /m)
    .find((each) => each.startsWith('What is not covered'));
  const [, , ...claims] = [...(section ?? '').matchAll(/^\|(.+)\|$/gm)].map(([, row = '']) =>
    row.split('|').map((cell) => cell.trim()),
  );
  expect(claims.length).toBeGreaterThan(8);
  for (const [claim, how, rest] of claims) {
    expect([claim, how]).toEqual([claim, expect.stringMatching(/`(npm |test\/|lib\/)|the same command/)]);
    expect([claim, rest]).toEqual([claim, expect.stringMatching(/\w{3}/)]);
  }
});
