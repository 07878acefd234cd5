import { execFile } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const GONE_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 25;

/** False also for a zombie: it has ended, and only its parent has not asked yet. */
export async function isRunning(pid: number): Promise<boolean> {
  const state = await run('ps', ['-o', 'stat=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return state !== '' && !state.startsWith('Z');
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
  const { stdout } = await run('ps', ['-eo', 'pid=,args='], { maxBuffer: 16 * 1024 * 1024 });
  let ended = 0;
  for (const line of stdout.split('\n')) {
    const [, pid, command] = /^\s*(\d+)\s+(.*)$/.exec(line) ?? [];
    if (pid === undefined || command === undefined || Number(pid) === process.pid) continue;
    if (!marks.some((mark) => ` ${command} `.includes(` ${mark} `))) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended by itself in the meantime.
      continue;
    }
    await waitUntilGone(Number(pid));
    ended += 1;
  }
  return ended;
}
