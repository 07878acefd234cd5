import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { listFiles, listSources } from './sources.ts';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };

/** `npm run test:forge -- -t 'landing'` adds to the end: behind a `--` of the script's own, `-t` would name a file. */
test('no script ends its own flags with `--`, so that flags given to it reach its program', () => {
  const closed = Object.entries(scripts).filter(([, command]) => /\s--(\s|$)/.test(command));
  expect(closed).toEqual([]);
});

/** What was decided or changed at a time names the commands of that time. */
const documents = listFiles().filter(
  (file) => file.endsWith('.md') && file !== 'CHANGELOG.md' && !file.startsWith('docs/decisions/'),
);

test('the documents with commands are found', () => {
  expect(documents).toEqual(
    expect.arrayContaining(['README.md', 'docs/operate.md', 'docs/onebox.md', 'local/README.md']),
  );
});

test.each(documents)('%s names no command that is not there', (file) => {
  const text = readFileSync(file, 'utf8');
  const named = [...text.matchAll(/\bnpm run (?:--?[a-z]+ )*([\w:]+(?:-[\w:]+)*)/g)].map(
    ([, name = '']) => name,
  );
  expect(named.filter((name) => !name.endsWith(':') && scripts[name] === undefined)).toEqual([]);
  const programs = [...text.matchAll(/\btsx ((?:[\w-]+\/)+[\w.-]+\.ts)/g)].map(([, path = '']) => path);
  expect(programs.filter((path) => !existsSync(path))).toEqual([]);
  // It is on the path of a script, and not on that of a person.
  expect(text).not.toMatch(/(?:`|^)tsx /m);
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

/** docs/operate.md says to commit them: without the record a deployment from a fresh clone may lose a key or the users. */
test('what a stage is and what was deployed can be committed, and what an installation keeps secret cannot', () => {
  const isIgnored = (file: string): boolean => spawnSync('git', ['check-ignore', '-q', file]).status === 0;
  expect(['config/prod.json', 'config/prod.deployed.json'].filter(isIgnored)).toEqual([]);
  const secret = [
    'config/mergeyard.yml',
    'config/client-secret.txt',
    'config/passphrase',
    'mergeyard.export',
  ];
  expect(secret.filter(isIgnored)).toEqual(secret);
});

/** Elsewhere a mistyped option would be told by the name of an error, or as the failure of what the program does. */
test('each program of an operator reads its command line in one way', () => {
  const own = ['bin', 'onebox', 'local', 'core', 'lib'].flatMap(listSources);
  const reading = own.filter((file) => readFileSync(file, 'utf8').includes('parseArgs('));
  expect(reading).toEqual(['core/adapters/system/command-line.ts']);
});

describe('programs of the tests', () => {
  /** They take a path, or nothing at all. */
  const TAKE_NO_OPTION = ['bench:charts', 'bench:cold', 'screenshots'];
  const READS = /process\.argv|parseArgs|\/options\.ts'/;
  const programs = Object.entries(scripts).flatMap(([script, command]) => {
    const [, file] = /^tsx (test\/\S+\.ts)$/.exec(command) ?? [];
    return file === undefined ? [] : [{ script, file, source: readFileSync(file, 'utf8') }];
  });

  /** `bench:queue` hands the command line on to other files of its folder. */
  function readersOf({ script, file, source }: (typeof programs)[number]): string {
    if (script !== 'bench:queue') return source;
    const names = ['named-main.ts', 'family/main.ts', 'family/auto.ts', 'family/signals.ts'];
    return [source, ...names.map((name) => readFileSync(join(dirname(file), name), 'utf8'))].join('\n');
  }

  const taken = programs.filter(
    (program) => READS.test(readersOf(program)) && !TAKE_NO_OPTION.includes(program.script),
  );

  test('those that take options are found', () => {
    expect(taken.map(({ script }) => script)).toEqual(
      expect.arrayContaining([
        'bench:queue',
        'sim',
        'sim:acts',
        'sim:mutants',
        'sim:crash',
        'hostile',
        'fuzz',
        'conformance',
      ]),
    );
  });

  test.each(taken)('$script tells with --help exactly the options that it reads', (program) => {
    const [, usage = ''] = /(?:checkCall\(|: Usage = )\{([\s\S]+?)\n\}/.exec(program.source) ?? [];
    expect(usage).toContain(`script: '${program.script}'`);
    const told = [...usage.matchAll(/^ {4}'--([a-z-]+)(?: [^']*)?':/gm)].map(([, name = '']) => name);
    const code = readersOf(program).replace(usage, '');
    const read = [
      ...code.matchAll(/\b(?:option|countOption|hasOption|has|listOf)\('([a-z-]+)'/g),
      ...code.matchAll(/(?:includes|indexOf)\('--([a-z-]+)'\)/g),
      ...code.matchAll(/'?\b([a-z-]+)'?: \{ type: '(?:string|boolean)'/g),
    ].map(([, name = '']) => name);
    const known = program.script === 'bench:queue' ? [...read, 'tune'] : read;
    expect([...new Set(told)].sort()).toEqual([...new Set(known)].sort());
  });
});
