import { spawn } from 'node:child_process';

export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface GitOptions {
  readonly input?: string | Buffer;
  readonly env?: Readonly<Record<string, string>>;
}

/** A fixed environment: a person's own git configuration must not change what the forge computes. */
export function gitEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: '/nonexistent',
    LC_ALL: 'C',
    TZ: 'UTC',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    ...extra,
  };
}

export function runGit(
  gitDir: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn('git', ['--git-dir', gitDir, ...args], { env: gitEnv(options.env), cwd: gitDir });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
    child.on('error', reject);
    child.on('close', (code) => {
      resolve({
        code: code ?? -1,
        stdout: Buffer.concat(stdout),
        stderr: Buffer.concat(stderr).toString('utf8'),
      });
    });
    // EPIPE when git stops reading early; its exit code tells the story.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
  });
}

export class GitFailure extends Error {
  override readonly name = 'GitFailure';
}

/** Output of a git command that must succeed. */
export async function git(
  gitDir: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<string> {
  const result = await runGit(gitDir, args, options);
  if (result.code !== 0)
    throw new GitFailure(`git ${args[0] ?? ''} exited ${result.code}: ${result.stderr.trim()}`);
  return result.stdout.toString('utf8').trimEnd();
}
