import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../support/run-program.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'deploy-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Deployed {
  readonly code: number | null;
  readonly output: string;
  readonly called: readonly string[];
}

/** The programs that a script called, where the first of them that is named ends with this code. */
async function call(script: string, failing: string | null, ...options: string[]): Promise<Deployed> {
  const calls = join(folder, 'calls');
  for (const name of ['cdk', 'tsx']) {
    const text = `#!/bin/sh\necho "${name} $*" >> '${calls}'\ncase "${name} $*" in *'${failing ?? 'nothing'}'*) exit 3;; esac\n`;
    writeFileSync(join(folder, name), text, { mode: 0o755 });
  }
  const PATH = `${folder}:${process.env.PATH}`;
  writeFileSync(calls, '');
  const { code, output } = await runProgram(script, ['-c', 'stage=prod', ...options], { PATH });
  return { code, output, called: readFileSync(calls, 'utf8').split('\n').slice(0, -1) };
}

function readScripts(): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync('package.json', 'utf8')).scripts;
}

const DEPLOYS = 'cdk deploy --outputs-file dist/outputs.json -c stage=prod';
const RECORDS = 'tsx bin/record-deployment.ts dist/outputs.json';
const PROVES = 'tsx bin/prove-start.ts dist/outputs.json';

test.each([
  [null, 0, [DEPLOYS, RECORDS, PROVES]],
  ['cdk deploy', 3, [DEPLOYS]],
  ['prove-start', 3, [DEPLOYS, RECORDS, PROVES]],
  ['record-deployment', 3, [DEPLOYS, RECORDS, PROVES]],
])(
  'a deployment is recorded, and proven by a start; where %s fails it ends with its code',
  async (failing, code, called) => {
    expect(await call('bin/deploy.ts', failing)).toMatchObject({ code, called });
  },
);

const SYNTHESIZES = 'cdk synth --quiet -c nag=true -c stage=prod';
test.each([
  [null, 0, [SYNTHESIZES, 'tsx lib/report.ts']],
  ['cdk synth', 3, [SYNTHESIZES]],
])(
  'the stage that is named reaches the synthesis that is checked and reported; where %s fails it ends with its code',
  async (failing, code, called) => {
    expect(readScripts().synth).toBe('tsx bin/synth.ts');
    expect(await call('bin/synth.ts', failing)).toMatchObject({ code, called });
  },
);

test('a deployment that is asked for its help says how it is called, and deploys and records nothing', async () => {
  const told = await call('bin/deploy.ts', null, '--help');
  expect(told).toEqual({ code: 0, called: [], output: expect.stringMatching(/^npm run deploy -- /) });
});

/**
 * "They will not run any pre- or post-scripts" (https://docs.npmjs.com/cli/v11/using-npm/config#ignore-scripts), with an
 * `ignore-scripts` that many people set for safety.
 */
test('no script of the project is left to npm to run before or after another', () => {
  const names = Object.keys(readScripts());
  expect(
    names.filter((name) => names.includes(name.replace(/^(pre|post)/, '')) && /^(pre|post)/.test(name)),
  ).toEqual([]);
});
