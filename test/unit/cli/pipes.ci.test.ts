import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleCli } from '../../../lib/bundle-cli.ts';

const ANSWERS: Readonly<Record<string, unknown>> = {
  '/api/v1/user/repos': [{ id: 'r', name: 'acme/app', base_branch: 'main' }],
  '/api/v1/user/queue/status': {
    repos: Array.from({ length: 3_000 }, (_, at) => ({
      name: `acme/app-${at}`,
      base_branch: 'main',
      queue_enabled: true,
      pause: null,
    })),
  },
  '/api/v1/user/queue/activity': {
    repos: [],
    recent_activity: [{ repo_id: 'r', timestamp: 't', event: 'pr_landed', pr: 1, title: 'One' }],
  },
  '/api/v1/user/repos/r/pulls/7': {
    number: 7,
    title: 'Seven',
    place: null,
    estimate: null,
    now: { kind: 'exit', code: 'bounced', fault: true, turn: 'author', words: 'bounced', next: null },
  },
};

describe('where the reader of what is printed has left', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pipes-'));
  const service = createServer((request, response) => {
    const answer = ANSWERS[request.url ?? ''];
    response.writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? { error: { code: 'not_found', message: 'No.' } }));
  });
  beforeAll(async () => {
    await bundleCli(join(folder, 'mergeyard.mjs'));
    await new Promise<void>((done) => void service.listen(0, '127.0.0.1', done));
  });
  afterAll(async () => {
    await new Promise((done) => service.close(done));
    rmSync(folder, { recursive: true });
  });

  const env = () => ({
    PATH: process.env.PATH ?? '',
    MERGEYARD_URL: `http://127.0.0.1:${(service.address() as AddressInfo).port}`,
    MERGEYARD_TOKEN: 'mgy_secret',
  });
  /** `$1 $2 …` is the command. */
  const inShell = async (line: string, ...argv: string[]) => {
    const script = `{ "$0" mergeyard.mjs "$@"; echo $? > code; } ${line}`;
    const { stderr } = await promisify(execFile)('/bin/sh', ['-c', script, process.execPath, ...argv], {
      cwd: folder,
      timeout: 20_000,
      env: env(),
    });
    return { code: Number(readFileSync(join(folder, 'code'), 'utf8')), stderr };
  };

  test.each<[string, number, ...string[]]>([
    ['a list', 0, 'status'],
    ['the help', 0, '--help'],
    ['a wait', 1, 'wait', '7', '--repo', 'acme/app'],
    ['a watch, which would go on for ever,', 0, 'watch', '--repo', 'acme/app'],
  ])('%s ends quietly, with its usual code', async (_what, code, ...argv) => {
    expect(await inShell('| true', ...argv)).toEqual({ code, stderr: '' });
  });

  test('a list of which one line is read ends quietly', async () => {
    expect(await inShell('| head -1', 'status')).toEqual({ code: 0, stderr: '' });
  });

  // A device that is always full.
  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux.each([
    ['a list', 'status'],
    ['the help', '--help'],
    ['a wait, whose own code would tell of a fault,', 'wait', '7', '--repo', 'acme/app'],
    ['a watch', 'watch', '--repo', 'acme/app'],
  ])('%s that fills the disk ends in one line, with a code of its own', async (_what, ...argv) => {
    expect(await inShell('> /dev/full', ...argv)).toEqual({
      code: 69,
      stderr: 'mergeyard: The output cannot be written (ENOSPC): make room for it, then try again.\n',
    });
  });

  test('a folder that was deleted is told as one without a repository', async () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && "$0" "$1" why 7';
    const program = join(folder, 'mergeyard.mjs');
    const call = promisify(execFile)('/bin/sh', ['-c', script, process.execPath, program], {
      cwd: folder,
      env: env(),
    });
    await expect(call).rejects.toMatchObject({
      code: 64,
      stderr: 'mergeyard: Name the repository: --repo OWNER/NAME.\n',
    });
  });

  test('an error without a reader keeps its code', async () => {
    expect(await inShell('2>&1 | true', 'why', '8', '--repo', 'acme/app')).toEqual({ code: 69, stderr: '' });
  });

  test('a tool server whose client hears nothing any more ends, although it could still be asked', async () => {
    const server = spawn(process.execPath, ['mergeyard.mjs', 'mcp'], { cwd: folder, env: env() });
    let stderr = '';
    server.stderr.on('data', (bytes) => {
      stderr += String(bytes);
    });
    server.stdout.destroy();
    server.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
    const code = await new Promise((done) => server.once('exit', done));
    expect([code, stderr]).toEqual([0, '']);
  });
});
