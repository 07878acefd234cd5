import type { EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { sizeOfRepo } from '#core/domain/queue/queue-metrics.ts';
import type { Meter } from '#core/ports/system.ts';
import type { DecidedEvent } from '../queue/record/decided-event.ts';
import type { Batch, QueueRecord } from '../queue/record/record.ts';

/** Figures of one reconcile, for operators. They name no tenant, and nothing is decided by them. */
export class ReconcileFigures {
  readonly #queuedAt = new Map<PullRequestNumber, EpochMs>();
  readonly #landedAfter: number[] = [];
  #openPulls = 0;
  #depth: number | null = null;
  #gateRuns = 0;
  #bounces = 0;
  #forgeCalls = 0;

  countCall(): void {
    this.#forgeCalls += 1;
  }

  /** A record that was loaded or is to be saved. */
  see(record: QueueRecord): void {
    // A landing is told after its pull request has left the queue.
    for (const { pr, queuedAt } of record.entries) this.#queuedAt.set(pr, queuedAt);
    this.#openPulls = record.readings.length;
    this.#depth = record.entries.length;
  }

  collect(events: readonly DecidedEvent[], at: EpochMs): void {
    for (const { event, pr, reason } of events) {
      if (event === 'pr_bounced') this.#bounces += 1;
      const since = this.#queuedAt.get(pr);
      // What landed unproven is an alarm. The forge's clock may be ahead.
      if (event === 'pr_landed' && reason === null && since !== undefined)
        this.#landedAfter.push(Math.max(0, at - since) / 1_000);
    }
  }

  /** Batches that have ended, with all of their runs. */
  close(batches: readonly Batch[]): void {
    for (const { runs = 0 } of batches.flatMap(({ nodes }) => nodes)) this.#gateRuns += runs;
  }

  tell(meter: Meter): void {
    // The record could not be read: nothing is known of this repository.
    if (this.#depth === null) return;
    meter.measure(sizeOfRepo(this.#openPulls), {
      TimeToLand: this.#landedAfter,
      QueueDepth: [this.#depth],
      GateRuns: [this.#gateRuns],
      Bounces: [this.#bounces],
      ForgeCalls: [this.#forgeCalls],
    });
  }
}
