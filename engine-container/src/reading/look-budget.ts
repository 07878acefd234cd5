import type { PullRequest } from '#core/domain/forge/forge.ts';
import { mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { Clock } from '#core/ports/system.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { TryRead } from './look-reads.ts';

/** A look takes at most so long for what it reads of each pull request: half a reconcile is left to act on it. */
const LOOK_MS = 10_000;

/** Time for reading pull requests one by one. Who is not read in one look is read in the next: what was read is kept. */
export class LookBudget {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #tryRead: TryRead;
  #until = Number.POSITIVE_INFINITY;
  #isSpent = false;

  constructor(clock: Pick<Clock, 'monotonic'>, tryRead: TryRead) {
    this.#clock = clock;
    this.#tryRead = tryRead;
  }

  begin(): void {
    this.#until = this.#clock.monotonic() + LOOK_MS;
    this.#isSpent = false;
  }

  /** Something was left for the next look. */
  get isSpent(): boolean {
    return this.#isSpent;
  }

  /** Unknown, and no failure, when the time is over. */
  readonly tryRead: TryRead = async (read) => {
    if (this.#clock.monotonic() < this.#until) return this.#tryRead(read);
    this.#isSpent = true;
    return UNKNOWN;
  };
}

/**
 * In the order in which the time is spent: those that no look has come to since the engine began, those in flight, those in the
 * queue, the others as the forge lists them.
 */
export function byUrgency(
  record: QueueRecord,
  pulls: Reading<readonly PullRequest[]>,
): Reading<readonly PullRequest[]> {
  const inFlight = new Set(record.batches.flatMap((batch) => batch.members.map(({ pr }) => pr)));
  const inQueue = new Set(record.entries.map(({ pr }) => pr));
  const untried = new Set(record.reread?.untried);
  const rank = ({ number }: PullRequest): number => {
    if (untried.has(number)) return 0;
    return inFlight.has(number) ? 1 : inQueue.has(number) ? 2 : 3;
  };
  return mapKnown(pulls, (all) => [...all].sort((a, b) => rank(a) - rank(b)));
}
