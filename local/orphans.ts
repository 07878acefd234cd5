import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const GONE_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 25;
/** Slim images have no `ps`, and Linux needs none. */
const PROCESSES = '/proc';

interface RunningProcess {
  readonly pid: number;
  /** Program and arguments, separated by spaces. */
  readonly command: string;
}

/** False also for a zombie: it has ended, and only its parent has not asked yet. */
export async function isRunning(pid: number): Promise<boolean> {
  const state = hasProcessFiles() ? readState(pid) : await askState(pid);
  return state !== '' && !/^[ZX]/.test(state);
}

/** The letter behind the name, which may hold parentheses itself; empty when there is no such process. */
function readState(pid: number): string {
  const stat = readProcessFile(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 1).trim();
}

function askState(pid: number): Promise<string> {
  return run('/bin/ps', ['-o', 'stat=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
}

function hasProcessFiles(): boolean {
  return existsSync(`${PROCESSES}/self/stat`);
}

function readProcessFile(pid: number, name: string): string {
  try {
    return readFileSync(`${PROCESSES}/${pid}/${name}`, 'utf8');
  } catch {
    // It ended between two looks.
    return '';
  }
}

async function listProcesses(): Promise<RunningProcess[]> {
  if (hasProcessFiles()) {
    return readdirSync(PROCESSES)
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({
        pid: Number(name),
        command: readProcessFile(Number(name), 'cmdline').replaceAll('\0', ' ').trim(),
      }));
  }
  const { stdout } = await run('/bin/ps', ['-eo', 'pid=,args='], { maxBuffer: 16 * 1024 * 1024 });
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    return pid === undefined || command === undefined ? [] : [{ pid: Number(pid), command }];
  });
}

async function waitUntilGone(pid: number): Promise<void> {
  const deadline = performance.now() + GONE_WITHIN_MS;
  while (await isRunning(pid)) {
    if (performance.now() > deadline) throw new Error(`process ${pid} of an earlier run does not end`);
    await wait(LOOK_EVERY_MS);
  }
}

/**
 * Ends processes that an earlier run with the same marks left behind because it was itself killed. Each is named by its
 * own id, and only if its command line holds one of the marks, which are paths of this very data folder.
 */
export async function endOrphans(marks: readonly string[]): Promise<number> {
  let ended = 0;
  for (const { pid, command } of await listProcesses()) {
    if (pid === process.pid) continue;
    if (!marks.some((mark) => ` ${command} `.includes(` ${mark} `))) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself in the meantime.
      continue;
    }
    await waitUntilGone(pid);
    ended += 1;
  }
  return ended;
}
