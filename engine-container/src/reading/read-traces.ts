import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import type { Landing } from '../queue/record/landing-state.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { Snapshot } from '../queue/snapshot.ts';
import { areLinesDue, untracedOf } from './landing-view.ts';
import type { CommitReader, History } from './read-commits.ts';
import type { TwinReader } from './read-twins.ts';

export type Traces = Pick<Snapshot, 'traces' | 'merged'>;

export type LandingReading = Pick<Snapshot, 'ownMerge' | 'focus'> &
  Traces & { readonly tip: CommitSha | null };

/** The readings that landings need before they are told: the history below them, and the merged pull requests. Two calls for all of them. */
export class TraceReader {
  readonly #commits: CommitReader;
  readonly #twins: TwinReader;

  constructor(commits: CommitReader, twins: TwinReader) {
    this.#commits = commits;
    this.#twins = twins;
  }

  async readDue(record: QueueRecord, now: EpochMs): Promise<Traces> {
    const [first] = untracedOf(record);
    if (first === undefined || record.tip === null || !areLinesDue(record, now)) return {};
    const history = await this.#commits.readHistory(record, record.tip, first.baseBefore);
    if (history === null) return { traces: await this.#commits.traceWithoutHistory(record) };
    return this.#trace(record, history);
  }

  /** With the awaited landing, the last of its batch. Null: the forge does not show that its own pull request was merged. */
  async readWith(record: QueueRecord, { pr }: Landing, history: History): Promise<Traces | null> {
    const traces = await this.#trace(record, history);
    const isMerged = traces.merged?.known === true && traces.merged.value.some(({ number }) => number === pr);
    return isMerged ? traces : null;
  }

  async #trace(record: QueueRecord, history: History): Promise<Traces> {
    return {
      traces: await this.#commits.traceAll(record, history),
      merged: await this.#twins.readMerged(),
    };
  }
}
