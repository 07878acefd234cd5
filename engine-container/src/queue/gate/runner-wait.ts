import type { EpochMs } from '#core/domain/ids.ts';
import type { Node } from '../record/record.ts';

/** The times of one gate run: when it was staged, and what was seen of its wait for a runner. */
export type RunTimes = Pick<Node, 'stagedAt' | 'runnerWait'>;

export function noteRunnerWait(
  node: Node,
  waits: boolean,
  now: EpochMs,
  told?: readonly string[] | null,
): void {
  if (node.runnerWait?.isOver === true) return;
  if (waits)
    node.runnerWait = {
      ...node.runnerWait,
      until: now,
      isOver: false,
      ...(told === undefined ? {} : { labels: told }),
    };
  else node.runnerWait = { until: node.runnerWait?.until ?? node.stagedAt ?? now, isOver: true };
}

export function waitsForRunner({ runnerWait }: RunTimes): boolean {
  return runnerWait?.isOver === false;
}

/** A runner has taken it; it may wait again between two of its jobs. */
export function hasBegun({ runnerWait }: RunTimes): boolean {
  return runnerWait?.isOver === true;
}

/** Since when a runner is at work on it, as far as that was seen. */
export function runSince({ stagedAt, runnerWait }: RunTimes): EpochMs | null {
  return runnerWait?.isOver === true ? runnerWait.until : stagedAt;
}
