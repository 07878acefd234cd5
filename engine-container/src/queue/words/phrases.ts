import { STATUS_DESCRIPTION_CHARS_MAX } from '#core/domain/limits.ts';
import type { PullCodeName } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { PAUSED_PREFIX } from '#core/domain/repos/pause-words.ts';
import type { Refusal } from '../admission/admission-facts.ts';
import type { MovedWhy } from '../admission/readings.ts';
import { type DeferReason, isSilent } from '../record/deferral.ts';
import type { Departure, TakeBackReason } from '../record/landing-state.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { Bounced } from '../record/tried-heads-state.ts';

/**
 * The words people read on their pull requests: fixed phrases, at most 140 characters, no name or title in them (A38).
 * `bounced:` is also read back: it is the memory of a bounce when the record is lost (D-05).
 */
export const BOUNCED_PREFIX = 'bounced:';

export function describeRefusal(reason: Refusal): string {
  return PULL_CODES[reason].says;
}

export function describeDefer(reason: DeferReason): string | null {
  return isSilent(reason) ? null : PULL_CODES[reason].says;
}

export function describeTakeBack(reason: TakeBackReason): string {
  return PULL_CODES[codeOfTakeBack(reason)].says;
}

export function codeOfTakeBack(reason: TakeBackReason): PullCodeName {
  // The code of one that is set aside for it.
  return reason === 'merge_conflict' ? 'not_mergeable' : reason;
}

export function describeLanding(position: number, size: number): string {
  return shorten(
    position === size
      ? 'proven: the gate passed on exactly this state; landing now'
      : `proven: in a batch of ${size} that passed the gate as a whole; landing ${position} of ${size}`,
  );
}

export type BounceCause = 'gate_failed' | 'gate_failed_twice' | 'merge_timeout';

export function describeBounce(cause: BounceCause): string {
  if (cause === 'gate_failed_twice')
    return `${BOUNCED_PREFIX} the gate failed twice with this pull request and passes without it; push a fix, or cancel auto-merge and schedule again`;
  return PULL_CODES[cause === 'merge_timeout' ? 'bounced_merge_timeout' : cause].says;
}

type ToldBounce = Pick<Bounced, 'again' | 'cause' | 'verdict'>;

/** A bounce, said again where another writer wrote over it: which run failed is in the history of the head. */
export function describeEarlierBounce(bounce?: ToldBounce): string {
  return PULL_CODES[codeOfBounce(bounce)].says;
}

/** One that was read back from its words alone has no verdict: why it was is not known any more. */
export function codeOfBounce({ again, cause, verdict }: ToldBounce = {}): PullCodeName {
  if (again !== undefined) return again;
  if (cause === undefined) return verdict === undefined ? 'bounced' : 'gate_failed';
  return cause === 'merge_timeout' ? 'bounced_merge_timeout' : cause;
}

export function describeLostSchedule(): string {
  return PULL_CODES.schedule_lost.says;
}

export function describeForkTimeout(): string {
  return PULL_CODES.fork_merge_timeout.says;
}

export function describeUnclear(): string {
  return PULL_CODES.unclear.says;
}

export function describeOtherChecks(): string {
  return PULL_CODES.other_checks.says;
}

/** On a head that is no longer the newest one of its pull request. */
export function describeOldHead(): string {
  return shorten('requeued: head changed; the queue goes on with the newer head of this pull request');
}

const HEAD_CHANGE_PHRASES: Readonly<Record<MovedWhy, string>> = {
  asking:
    'requeued: head changed; the queue asks the forge who pushed it, and goes on by itself if they may merge',
  push: 'requeued: head changed by a push that renews no schedule; approve this head, or cancel its auto-merge and schedule again',
  untold:
    'requeued: head changed, and the forge does not show by whose push; cancel its auto-merge and schedule again',
  outside:
    'requeued: head changed from outside the repository; it goes on by itself once this head has an official approval',
  rules:
    'requeued: head changed by an account that may not schedule here; let one that may approve this head, or cancel and schedule it',
};

/** On the head that a schedule from before its push does not hold for. */
export function describeHeadChange(why: MovedWhy = 'asking'): string {
  return shorten(HEAD_CHANGE_PHRASES[why]);
}

/** On a head that its schedule does not hold for: one from before the push of the head, or for another branch. */
export function describeUnbound({ movedWhy, isForOtherTarget }: QueueEntry): string {
  return isForOtherTarget ? PULL_CODES.other_target.says : describeHeadChange(movedWhy);
}

/** The words of a head that its schedule does not hold for: one from before its push, or one for another branch. */
export function isMoveTold(description: string): boolean {
  return description.startsWith('requeued: head changed') || description === PULL_CODES.other_target.says;
}

/** In the place of words that are not true any more. */
export function describeQueued(): string {
  return shorten('queued: it has its place again; the queue goes on by itself');
}

/** With its place as the page counts it, from 1: true of the moment it is written, so that it is not written again when the line moves. */
export function describeInLine(place: number): string {
  return shorten(`${PULL_CODES.queued.says}; place ${place} when this was written`);
}

export function isInLine(description: string): boolean {
  return description.startsWith(PULL_CODES.queued.says);
}

export function describeStopped(): string {
  return PULL_CODES.queue_stopped.says;
}

export function describeStaged(): string {
  return PULL_CODES.staged.says;
}

export function describeDeparture(departure: Departure | 'merged_outside_the_queue'): string {
  return PULL_CODES[departure].says;
}

export function describeOff(): string {
  return PULL_CODES.queue_disabled.says;
}

export function describeNotAdmitted(): string {
  return PULL_CODES.not_admitted.says;
}

export function isRefusalTold(description: string): boolean {
  return description.startsWith('refused:');
}

/** A refusal that promises another look without a new schedule: of what is waited for, not of what is wrong. */
export function isRefusalForNow(description: string): boolean {
  return isRefusalTold(description) && / the queue (?:goes on|looks again) /.test(description);
}

export function isDeparture(description: string): boolean {
  return description.startsWith('not queued:');
}

/** `pending` words that promise that the queue goes on with it: it is in line, staged, paused or tested again. */
export function isPromise(description: string): boolean {
  return ['queued:', 'staged:', 'requeued:', PAUSED_PREFIX].some((prefix) => description.startsWith(prefix));
}

export function describeLanded(): string {
  return PULL_CODES.landed.says;
}

/** The words of a landing: they say nothing of a pull request that comes later with the same head. */
export function isLandingTold(description: string): boolean {
  return [describeLanded(), describeUnverified()].includes(description);
}

/** On a head that was pushed while the forge merged the one before it. */
export function describeLeftBehind(): string {
  return shorten(
    'not landed: an earlier head of this pull request was merged; open a new pull request for what was pushed since',
  );
}

export function describeUnverified(): string {
  return PULL_CODES.unverified.says;
}

export function describeStaleSuccess(): string {
  return shorten('not proven: an earlier success no longer holds on this base');
}

/** Under a context that the queue has used before. */
export function describeOldContext(): string {
  return shorten('not used: the queue tells about this pull request under another status context');
}

export function describeUnrecorded(): string {
  return shorten(
    'requeued: the queue cannot store its record of this repository; it lands again once that is repaired',
  );
}

function shorten(phrase: string): string {
  return phrase.length <= STATUS_DESCRIPTION_CHARS_MAX
    ? phrase
    : `${phrase.slice(0, STATUS_DESCRIPTION_CHARS_MAX - 1)}…`;
}
