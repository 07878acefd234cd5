import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { Clock } from '#core/ports/system.ts';
import type { QueueRecord } from '../queue/record/record.ts';

/**
 * How long a pull request may show the new tip of its base and the check against the old one. A rebase that is set off
 * meanwhile fails, and its schedule is lost (seen on Forgejo 15.0.3). The forge counts through its open ones in turn.
 */
const BASE_SETTLE_MS = 3_000;
const BASE_SETTLE_PER_PULL_MS = 25;
const BASE_SETTLE_MS_MAX = 10_000;

/** Tells how old the tips of the base are, and with it what a conflict check can be about. */
export class CheckClock {
  readonly #clock: Clock;
  readonly #style: MergeStyle;
  /** When a tip was first seen. */
  readonly #tips = new Map<CommitSha, EpochMs>();

  constructor(clock: Clock, style: MergeStyle) {
    this.#clock = clock;
    this.#style = style;
  }

  /** Whether "mergeable" can be about this tip by now. Other styles than a rebase do not depend on it. */
  mayBeAbout(record: QueueRecord, tip: CommitSha, openPulls: number): boolean {
    if (this.#style !== 'rebase') return true;
    const now = this.#clock.now();
    const seen = this.#tips.get(tip) ?? now;
    this.#tips.set(tip, seen);
    const since = record.baseSeen?.sha === tip ? Math.min(seen, record.baseSeen.at ?? seen) : seen;
    return now - since >= Math.min(BASE_SETTLE_MS + BASE_SETTLE_PER_PULL_MS * openPulls, BASE_SETTLE_MS_MAX);
  }
}
