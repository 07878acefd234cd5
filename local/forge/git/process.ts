import { type CommandResult, runCommand } from './command-shell.ts';

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
): Promise<CommandResult> {
  const { input } = options;
  return runCommand({
    words: ['git', '--git-dir', gitDir, ...args],
    cwd: gitDir,
    env: gitEnv(options.env),
    ...(input === undefined ? {} : { input }),
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
