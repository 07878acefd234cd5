import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import { landingOf } from '../queue/batches/pipeline.ts';
import { hasLanded } from '../queue/landing/landed.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { PullRequestView } from '../queue/snapshot.ts';

/** With the list of pull requests this keeps an idle look at three calls. */
const PULLS_PER_TURN = 2;
const TURN_MS = 300_000;

export interface SeenPullRequest {
  readonly pull: PullRequest;
  readonly isScheduled: boolean;
}

/** The memory of one engine for one repository: the latest turn that was read whole. */
export interface PatrolMemory {
  doneTurn: number | null;
}

/**
 * Whose statuses are read though no rule asks for them: some at a time, in turn. Forgejo sends no event for a status, and
 * a success that is not the queue's would open the gate the moment a person schedules or approves (A7, A24).
 */
export class StatusPatrol {
  readonly #memory: PatrolMemory;
  #hasChosen = false;

  constructor(memory: PatrolMemory) {
    this.#memory = memory;
  }

  /**
   * At most once per reconcile, and once per turn as far as the engine remembers. Turns follow the clock, so that an idle
   * repo has nothing to write down.
   */
  choose(record: QueueRecord, pulls: readonly SeenPullRequest[], now: EpochMs): readonly PullRequest[] {
    if (this.#hasChosen || turnAt(now) === this.#memory.doneTurn) return [];
    this.#hasChosen = true;
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
    const first = (turnAt(now) % turns) * PULLS_PER_TURN;
    return waiting.slice(first, first + PULLS_PER_TURN);
  }

  /** Once all that were chosen at this time have been read, the looks of the same turn need not ask again. */
  noteRead(chosen: readonly PullRequest[], views: readonly PullRequestView[], chosenAt: EpochMs): void {
    const read = new Set(views.filter(({ statuses }) => statuses?.known === true).map(({ pull }) => pull));
    if (chosen.length > 0 && chosen.every((pull) => read.has(pull))) this.#memory.doneTurn = turnAt(chosenAt);
  }
}

function turnAt(now: EpochMs): number {
  return Math.floor(now / TURN_MS);
}
