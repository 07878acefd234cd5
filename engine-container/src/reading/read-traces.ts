import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import { mapKnown, type Reading } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { Landing } from '../queue/record/landing-state.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { Snapshot } from '../queue/snapshot.ts';
import { areLinesDue, untracedOf, untracedPulls } from './landing-view.ts';
import type { TryRead } from './look-reads.ts';
import type { CommitReader, History } from './read-commits.ts';
import type { TwinReader } from './read-twins.ts';

export type Traces = Pick<Snapshot, 'traces' | 'merged' | 'ownMerged'>;

export type LandingReading = Pick<Snapshot, 'ownMerge' | 'focus'> &
  Traces & { readonly tip: CommitSha | null };

/** The readings that landings need before they are told: the history below them, and the merged pull requests. Two calls for all of them. */
export class TraceReader {
  readonly #forge: EngineForge;
  readonly #tryRead: TryRead;
  readonly #commits: CommitReader;
  readonly #twins: TwinReader;

  constructor(forge: EngineForge, tryRead: TryRead, commits: CommitReader, twins: TwinReader) {
    this.#forge = forge;
    this.#tryRead = tryRead;
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
    const traces = await this.#commits.traceAll(record, history);
    const merged = await this.#twins.readMerged();
    const ownMerged = merged.known ? await this.#readUnlisted(record, merged.value) : new Map();
    return { traces, merged, ...(ownMerged.size === 0 ? {} : { ownMerged }) };
  }

  /** The list has the latest ones only, so that one which is not in it may be merged. */
  async #readUnlisted(
    record: QueueRecord,
    merged: readonly PullRequest[],
  ): Promise<NonNullable<Snapshot['ownMerged']>> {
    const result = new Map<PullRequestNumber, Reading<boolean>>();
    for (const pr of untracedPulls(record)) {
      if (merged.some(({ number }) => number === pr)) continue;
      const own = await this.#tryRead(() => this.#forge.readPullRequest(pr));
      result.set(
        pr,
        mapKnown(own, (pull) => pull.merged),
      );
      if (!own.known) break;
    }
    return result;
  }
}
