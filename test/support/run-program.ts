import { spawn } from 'node:child_process';
import { build } from 'esbuild';

export interface Ended {
  readonly code: number | null;
  /** Of both streams. */
  readonly output: string;
}

const texts = new Map<string, Promise<string>>();

/**
 * A command of the project in a process of its own. It is bundled once for all runs of a test file: to translate it anew for
 * each takes two thirds of what a short command computes.
 */
export async function runProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  const text = texts.get(program) ?? bundle(program);
  texts.set(program, text);
  const source = await text;
  return new Promise((resolve, reject) => {
    // As input, not as a file: packages are found from the folder that the tests run in.
    const child = spawn(process.execPath, ['-', ...args], { env });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, output }));
    child.stdin.end(source);
  });
}

async function bundle(program: string): Promise<string> {
  const { outputFiles } = await build({
    absWorkingDir: process.cwd(),
    entryPoints: [program],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    packages: 'external',
    logLevel: 'silent',
  });
  const [output] = outputFiles;
  if (output === undefined) throw new Error(`${program} came to nothing`);
  return output.text;
}
