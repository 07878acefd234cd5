import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

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
      ended += 1;
    } catch {
      // It ended by itself in the meantime.
    }
  }
  return ended;
}
