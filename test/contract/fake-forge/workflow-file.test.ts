import { readWorkflow, startsOnPush } from '../../../local/forge/actions/workflow-file.ts';
import { readYaml } from '../../../local/forge/actions/yaml.ts';
import { compileGlob } from '../../../local/forge/globs.ts';

const starts = (on: string, branch: string): boolean =>
  startsOnPush(readWorkflow('w.yml', `${on}\njobs:\n  a:\n    steps:\n      - run: x\n`), branch);

test.each([
  ['on: push', 'any/branch', true],
  ['on: pull_request', 'main', false],
  ['on: [pull_request, push]', 'main', true],
  ['"on":\n  push:', 'main', true],
  ['on:\n  push:\n    branches: ["mq/**"]', 'mq/main/staging-r1', true],
  ['on:\n  push:\n    branches: ["mq/*"]', 'mq/main/staging', false],
  ["on:\n  push:\n    branches:\n    - main\n    - 'mq/**' # staged", 'mq/main/staging', true],
  ['on:\n  push:\n    branches:\n      - "**"\n      - "!work/**"', 'work/main/1', false],
  ['on:\n  push:\n    branches-ignore: [work/**]', 'work/main/1', false],
  ['on:\n  push:\n    branches-ignore: [work/**]', 'main', true],
])('%j on %s: %s', (on, branch, expected) => {
  expect(starts(on, branch)).toBe(expected);
});

test('steps keep their scripts to the letter', () => {
  const workflow = readWorkflow(
    'w.yml',
    [
      '# a comment',
      'name: CI',
      'jobs:',
      '  build:',
      "    name: 'build: it'",
      '    steps:',
      '      - run: echo "a: b" # not part of it',
      '      - name: two',
      '        env:',
      '          A: "x # y"',
      "          B: it's",
      '        run: |',
      '          # a comment of the script',
      '          if true; then',
      '            echo "key: value"',
      '',
      '          fi',
      '      - run: >-',
      '          one',
      '          line',
      '        working-directory: sub/dir',
    ].join('\n'),
  );
  expect(workflow.jobs).toMatchObject([
    {
      id: 'build',
      name: 'build: it',
      steps: [
        { run: 'echo "a: b"' },
        {
          name: 'two',
          env: { A: 'x # y', B: "it's" },
          run: '# a comment of the script\nif true; then\n  echo "key: value"\n\nfi\n',
        },
        { run: 'one line', workingDirectory: 'sub/dir' },
      ],
    },
  ]);
});

test('a text that is no workflow is refused, not guessed at', () => {
  expect(() => readYaml('a: 1\n   b: 2\n c: 3\n')).toThrow('unexpected indentation');
});

test.each([
  ['*', 'a/b', true, false],
  ['*', 'a/b', false, true],
  ['**', 'a/b', true, true],
  ['release/?', 'release/1', true, true],
  ['release/[0-9]', 'release/x', true, false],
  ['{a,b}*', 'b1', true, true],
  ['a.b', 'axb', true, false],
  ['[', '[', true, true],
])('glob %s against %s, separator %s: %s', (pattern, text, separator, expected) => {
  expect(compileGlob(pattern, { separator }).test(text)).toBe(expected);
});
