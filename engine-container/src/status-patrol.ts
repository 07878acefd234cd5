import type { PullRequest } from '#core/domain/forge.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import { landingOf } from './landing-view.ts';
import { hasLanded } from './queue/landed.ts';
import type { QueueRecord } from './queue/record.ts';

/** With the list of pull requests this keeps an idle look at three calls. */
const PULLS_PER_TURN = 2;
const TURN_MS = 300_000;

export interface SeenPullRequest {
  readonly pull: PullRequest;
  readonly isScheduled: boolean;
}

/**
 * Whose statuses are read though no rule asks for them: some at a time, in turn. Forgejo sends no event for a status, and
 * a success that is not the queue's would open the gate the moment a person schedules or approves (A7, A24).
 */
export class StatusPatrol {
  #lastAt: EpochMs = Number.NEGATIVE_INFINITY;

  /** At most once per reconcile and turn. Turns follow the clock, so that an idle repo has nothing to write down. */
  choose(record: QueueRecord, pulls: readonly SeenPullRequest[], now: EpochMs): readonly PullRequest[] {
    if (now - this.#lastAt < TURN_MS) return [];
    this.#lastAt = now;
    const landing = landingOf(record);
    const inQueue = new Set(record.entries.map((entry) => entry.pr));
    const waiting = pulls
      // Who was scheduled just now is staged in this very pass, as a rule.
      .filter(({ pull, isScheduled }) => {
        const isStagedNow = isScheduled && !pull.draft && !inQueue.has(pull.number);
        return pull.headSha !== landing?.head && !hasLanded(record, pull.number) && !isStagedNow;
      })
      .map(({ pull }) => pull)
      .sort((one, other) => one.number - other.number);
    const turns = Math.max(1, Math.ceil(waiting.length / PULLS_PER_TURN));
    const first = (Math.floor(now / TURN_MS) % turns) * PULLS_PER_TURN;
    return waiting.slice(first, first + PULLS_PER_TURN);
  }
}
