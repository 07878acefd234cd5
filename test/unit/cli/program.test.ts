import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ERROR_TABLE } from '#core/contracts/errors.ts';
import { bundleCli } from '../../../lib/bundle-cli.ts';
import { call, named } from './call-program.ts';

describe('mergeyard in a script', () => {
  test('--version prints the version of the package, and asks no service', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    const answer = await call(['--version']);
    expect(answer).toMatchObject({ code: 0, out: [version], complaint: '' });
  });

  test('with --quiet the exit code is the whole answer', async () => {
    expect(await call(['status', '--quiet'])).toMatchObject({ code: 0, out: [], complaint: '' });
  });

  test('with --json an error is one line of JSON, and no error holds the token', async () => {
    const refuse = () =>
      Response.json({ error: { code: 'forbidden', message: 'no', retryable: false } }, { status: 403 });
    const { code, complaint } = await call(['why', '7', '--json', ...named], { 'repos/r/pulls/7': refuse });
    const next = 'Ask the operator of this service for that right.';
    expect([code, JSON.parse(complaint)]).toEqual([
      69,
      { error: { code: 'forbidden', message: 'no', next } },
    ]);
    expect(complaint).not.toContain('mgy_secret');
  });

  test.each([
    [
      'decryption_error',
      'The stored token could not be decrypted. Store the token again, on the page Connections.',
    ],
    ['ci_gate_missing', 'The base branch has no gate workflow. Merge the setup pull request first.'],
    // The message ends with its step.
    [
      'head_moved',
      'The head of the pull request is another commit. Look at the new commits, then ask with the new head.',
    ],
  ] as const)('%s is one line that says the next step, once', async (name, line) => {
    const { status, message } = ERROR_TABLE[name];
    const refuse = () => Response.json({ error: { code: name, message } }, { status });
    const { complaint } = await call(['why', '7', ...named], { 'repos/r/pulls/7': refuse });
    expect(complaint).toBe(`${name}: ${line}`);
  });

  test('an error without a step says so with --json, and a code without a message says its step', async () => {
    const answer = async (error: object, ...more: string[]) =>
      (await call(['status', ...more], { 'queue/status': () => Response.json({ error }, { status: 409 }) }))
        .complaint;
    const strange = { code: 'from_tomorrow', message: 'Tomorrow' };
    expect(await answer(strange)).toBe('from_tomorrow: Tomorrow');
    expect(JSON.parse(await answer(strange, '--json'))).toEqual({ error: { ...strange, next: null } });
    expect(await answer({ code: 'connection_identity_already_used' })).toBe(
      'connection_identity_already_used: Make a bot of your own on the forge and use its token.',
    );
    const { complaint } = await call(['why', '--json']);
    expect(JSON.parse(complaint).error).toMatchObject({ code: 'misuse', next: null });
  });

  test('the field that a refusal names is said, and moves no cursor', async () => {
    const error = { code: 'invalid_field', message: 'No.', field: 'un\u001b[2Jtil' };
    const refuse = () => Response.json({ error }, { status: 400 });
    expect((await call(['status'], { 'queue/status': refuse })).complaint).toBe(
      'invalid_field: No. Correct the field "until".',
    );
  });

  test.each([[[]], [['nope']], [['why']], [['why', '7', '8']], [['pause', '--for', 'ever']]])(
    'misuse %j has one exit code and one line',
    async (argv) => {
      const { code, complaint, sent } = await call(argv);
      expect([code, complaint.split('\n').length, complaint.length > 0, sent]).toEqual([64, 1, true, []]);
    },
  );

  test.each([
    ['nope', "unknown command 'nope'; see --help."],
    ['statsu', "unknown command 'statsu' (Did you mean status?); see --help."],
    ['why', "missing required argument 'number'; see --help."],
  ])('a command line that cannot be read, such as %s, names the help', async (command, words) => {
    expect((await call([command])).complaint).toBe(words);
  });

  test('a word too many is told in one sentence that names the help', async () => {
    expect((await call(['why', '7', '8'])).complaint).toBe(
      "too many arguments for 'why'. Expected 1 argument but got 2; see --help.",
    );
  });

  test('a tool server that may schedule takes the forge token from the environment alone, and says so', async () => {
    expect((await call(['mcp', '--allow-writes'])).complaint).toBe(
      'Scheduling is done with your own right: give your forge token in MERGEYARD_FORGE_TOKEN.',
    );
  });
});

describe('completion', () => {
  const said = async (...argv: string[]): Promise<string> => {
    const lines: string[] = [];
    const spy = jest.spyOn(console, 'log').mockImplementation((line) => void lines.push(String(line)));
    await call(argv);
    spy.mockRestore();
    return lines.join('\n');
  };

  test.each(['bash', 'zsh', 'fish'])('%s gets a script that asks the command itself', async (shell) => {
    expect(await said('complete', shell)).toContain('mergeyard complete --');
  });

  test('commands and options are completed', async () => {
    expect(await said('complete', '--', 'wa')).toMatch(/^wait\t.*\nwatch\t/);
    expect(await said('complete', '--', 'pause', '--r')).toContain('--reason');
  });
});

test('the bundle runs on Node alone, from any folder', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'cli-'));
  try {
    const file = join(folder, 'mergeyard.mjs');
    await bundleCli(file);
    const { stdout } = await promisify(execFile)(process.execPath, [file, 'complete', '--', 'dr'], {
      cwd: folder,
    });
    expect(stdout).toMatch(/^drain\t/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
