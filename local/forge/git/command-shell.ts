import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Command {
  /** The program, by name or path, and its arguments. */
  readonly words: readonly [string, ...string[]];
  readonly cwd: string;
  /** All there is; nothing of the own environment is added but PATH. */
  readonly env: Readonly<Record<string, string>>;
  readonly input?: string | Buffer;
}

export interface CommandResult {
  /** As a shell tells it: 128 and more for a signal, 127 when there is no such program. */
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** More commands than this at the same moment wait for one another. */
const SHELLS_MAX = 4;
/** An unused shell ends; the next command opens another. */
const IDLE_MS = 2_000;

const shells = new Set<CommandShell>();
/** A shell without `rm` on its PATH leaves its folder. */
const folders = new Set<string>();
process.once('exit', () => folders.forEach(removeFolder));

function removeFolder(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true });
}

/**
 * Every fork copies the page tables of the process that forks: out of a test runner of some hundred megabytes that takes
 * 10 ms and more in which it does nothing else, and a forge runs git thousands of times. So one `sh` of a megabyte forks
 * instead: it reads commands from its standard input and ends with it.
 */
export function runCommand(command: Command): Promise<CommandResult> {
  let chosen: CommandShell | null = null;
  for (const shell of shells) if (chosen === null || shell.queued < chosen.queued) chosen = shell;
  if (chosen === null || (chosen.queued > 0 && shells.size < SHELLS_MAX)) {
    chosen = new CommandShell();
    shells.add(chosen);
  }
  return chosen.run(command);
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

class CommandShell {
  readonly #child: ChildProcess;
  readonly #dir = mkdtempSync(join(tmpdir(), 'forge-shell-'));
  #turn: Promise<unknown> = Promise.resolve();
  #idle: NodeJS.Timeout | null = null;
  #answer: { readonly resolve: (code: number) => void; readonly reject: (error: Error) => void } | null =
    null;
  #heard = '';
  #failed: Error | null = null;
  /** Commands that have not ended. */
  queued = 0;

  constructor() {
    folders.add(this.#dir);
    const env = { PATH: process.env.PATH ?? '/usr/bin:/bin' };
    this.#child = spawn('sh', [], { stdio: ['pipe', 'pipe', 'ignore'], cwd: '/', env });
    this.#child.stdout?.on('data', (part: Buffer) => this.#hear(part.toString('latin1')));
    this.#child.stdin?.on('error', () => undefined);
    this.#child.on('error', (error) => this.#end(error));
    this.#child.on('close', () => this.#end(new Error('the shell that runs git is gone')));
    this.#child.unref();
    this.#holdProcess(false);
    // An interrupt from the keyboard reaches the whole group; what the forge has begun still ends in good order.
    this.#child.stdin?.write(`trap '' INT\ntrap ${quote(`rm -rf ${quote(this.#dir)}`)} EXIT\n`);
  }

  run(command: Command): Promise<CommandResult> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.queued += 1;
    const result = this.#turn.then(() => this.#perform(command)).finally(() => this.#rest());
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async #perform({ words, cwd, env, input }: Command): Promise<CommandResult> {
    const inside = (name: string): string => join(this.#dir, name);
    if (input !== undefined) writeFileSync(inside('in'), input);
    const assigned = Object.entries(env).map(([name, value]) => `${name}=${quote(value)}`);
    const line = [...assigned, ...words.map(quote)].join(' ');
    const from = input === undefined ? '/dev/null' : inside('in');
    const files = `<${quote(from)} >${quote(inside('out'))} 2>${quote(inside('err'))}`;
    if (this.#failed !== null) throw this.#failed;
    this.#holdProcess(true);
    const code = await new Promise<number>((resolve, reject) => {
      this.#answer = { resolve, reject };
      this.#child.stdin?.write(`{ cd ${quote(cwd)} && ${line}; } ${files}\necho $?\n`);
    });
    return { code, stdout: readFileSync(inside('out')), stderr: readFileSync(inside('err'), 'utf8') };
  }

  #rest(): void {
    this.queued -= 1;
    if (this.queued > 0) return;
    this.#holdProcess(false);
    this.#idle = setTimeout(() => {
      shells.delete(this);
      this.#child.stdin?.end();
    }, IDLE_MS).unref();
  }

  #hear(text: string): void {
    this.#heard += text;
    if (!this.#heard.endsWith('\n')) return;
    const code = Number(this.#heard);
    this.#heard = '';
    const answer = this.#answer;
    this.#answer = null;
    answer?.resolve(code);
  }

  #end(error: Error): void {
    shells.delete(this);
    removeFolder(this.#dir);
    this.#failed = error;
    this.#answer?.reject(error);
    this.#answer = null;
  }

  /** A command under way keeps this process alive, an idle shell does not. */
  #holdProcess(on: boolean): void {
    for (const pipe of [this.#child.stdin, this.#child.stdout] as (Socket | null)[]) {
      if (on) pipe?.ref();
      else pipe?.unref();
    }
  }
}
