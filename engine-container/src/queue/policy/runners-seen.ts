import { BISECT_FANOUT_MAX, RUNNER_TAKES_RUN_MS } from '#core/domain/limits.ts';
import { runsOut } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { hasBegun, waitsForRunner } from '../gate/runner-wait.ts';
import type { BegunLately, RunnersKnown } from '../record/learned-state.ts';
import type { Node, QueueRecord } from '../record/record.ts';
import { gateMsOf } from './pace.ts';

/** A number that was found again and again is tried after so many gate durations at most, as a power of two. */
const DOUBLINGS_MAX = 4;

/** Gate runs that a runner has taken and that were not seen to end. */
export function countBegun(record: Pick<QueueRecord, 'batches'>): number {
  return runsOut(record).filter(hasBegun).length;
}

/**
 * Learns how many gate runs the runners take at once. Where one waits, it is as many as go on meanwhile; where none waits,
 * one more is tried: at once where more go on than were known, else after one gate duration, and later each time that the
 * same number is found again.
 *
 * A short wait says nothing: a runner asks for work every few seconds. A run that a later one has overtaken waits for
 * something else, such as a label that no runner has. Where none goes on, the runners work for others or there are none.
 *
 * @param begunBefore - Runs that went on when the forge was looked at before: one that has just ended went on beside the wait.
 */
export function noteRunners(pass: DecisionContext, begunBefore: number): void {
  const { record, s } = pass;
  // The statuses of another CI tell of no runner.
  if (s.repo.gate === 'statuses') return forgetRunners(record);
  const out = runsOut(record);
  const begun = out.filter(hasBegun);
  const { count: together, stagedAt: latest } = begunLately(pass, out, Math.max(begunBefore, begun.length));
  const isRead = ({ id }: Node): boolean => s.gates.get(id)?.known === true;
  const isLate = (node: Node): boolean => {
    const stagedAt = node.stagedAt ?? s.now;
    const isLong = s.now - stagedAt >= RUNNER_TAKES_RUN_MS;
    return isRead(node) && waitsForRunner(node) && isLong && stagedAt >= latest;
  };
  if (out.some(isLate)) {
    if (together === 0) return forgetRunners(record);
    if (record.runnersSeen === undefined)
      pass.log.push(`a gate run waits for a runner beside ${together} that go on: no more are started`);
    if (record.runnersSeen !== together) record.runnersKnown = foundAgain(pass, together);
    record.runnersSeen = together;
  } else if (record.runnersSeen !== undefined && begun.length >= record.runnersSeen && out.every(isRead)) {
    if (begun.length >= BISECT_FANOUT_MAX) forgetRunners(record);
    else if (begun.length > (record.runnersKnown?.count ?? 0) || isTryDue(pass))
      record.runnersSeen = begun.length + 1;
  }
}

/**
 * Most that went on at once while another waited, and when the latest of them was staged, within the time that a free runner takes
 * to begin its next run: a look between the two sees one fewer.
 */
function begunLately({ record, s }: DecisionContext, out: readonly Node[], count: number): BegunLately {
  const { begunLately: before } = record;
  const ageMs = before === undefined ? Number.POSITIVE_INFINITY : Math.abs(s.now - before.at);
  const kept = ageMs < RUNNER_TAKES_RUN_MS ? before : undefined;
  const stagedAt = Math.max(kept?.stagedAt ?? 0, ...out.filter(hasBegun).map((node) => node.stagedAt ?? 0));
  const now = { count: Math.max(count, kept?.count ?? 0), at: s.now, stagedAt };
  if (!out.some(waitsForRunner)) delete record.begunLately;
  // An unchanged record is not stored: the same number is noted anew now and then.
  else if (kept === undefined || count > kept.count || stagedAt > kept.stagedAt)
    record.begunLately = { ...now, at: kept !== undefined && count < kept.count ? kept.at : s.now };
  else if (count === kept.count && ageMs >= RUNNER_TAKES_RUN_MS / 2) record.begunLately = now;
  return now;
}

/** The same number of runners shows once more: the next try waits for twice as long. */
function foundAgain({ record, s }: DecisionContext, count: number): RunnersKnown {
  const { runnersKnown: before } = record;
  const again = before?.count === count ? Math.min(before.again + 1, DOUBLINGS_MAX) : 0;
  return { count, at: s.now, again };
}

/** A run that is tried on a full pool waits in the runners' own line, where no later insight reaches it. */
function isTryDue({ record, s }: DecisionContext): boolean {
  const { runnersKnown: known } = record;
  // A time in the future is that of an engine whose clock was ahead.
  if (known === undefined || known.at > s.now) return true;
  return s.now >= known.at + (gateMsOf(record.rate) ?? 0) * 2 ** known.again;
}

function forgetRunners(record: QueueRecord): void {
  delete record.runnersSeen;
  delete record.runnersKnown;
  delete record.begunLately;
}
