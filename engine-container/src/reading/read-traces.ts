import type { PullRequest } from '#core/domain/forge/forge.ts';
import type { CommitSha, EpochMs, PullRequestNumber } from '#core/domain/ids.ts';
import type { Receipt } from '#core/domain/queue/batch.ts';
import { mapKnown, type Reading, UNKNOWN } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { mayBeCalledMergedYet } from '../queue/landing/merged-instead.ts';
import type { Landing } from '../queue/record/landing-state.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { Snapshot } from '../queue/snapshot.ts';
import { areLinesDue, untracedOf } from './landing-view.ts';
import type { TryRead } from './look-reads.ts';
import type { CommitReader, History } from './read-commits.ts';
import type { TwinReader } from './read-twins.ts';

export type Traces = Pick<Snapshot, 'traces' | 'merged' | 'ownPulls' | 'provenBelow'>;

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
    const traces =
      history === null
        ? await this.#commits.traceWithoutHistory(record)
        : await this.#commits.traceAll(record, history);
    return this.#withPulls(record, traces, history, now);
  }

  /** With the awaited landing, the last of its batch. Null: the forge does not show that the tip is the merge of its own pull request. */
  async readWith(
    record: QueueRecord,
    { pr }: Landing,
    history: History,
    now: EpochMs,
  ): Promise<Traces | null> {
    const traces = await this.#withPulls(record, await this.#commits.traceAll(record, history), history, now);
    const merged = traces.merged?.known === true ? traces.merged.value : [];
    const isIts = merged.some(
      ({ number, mergeCommitSha }) => number === pr && mergeCommitSha === history.tip,
    );
    return isIts ? traces : null;
  }

  async #withPulls(
    record: QueueRecord,
    traces: NonNullable<Snapshot['traces']>,
    history: History | null,
    now: EpochMs,
  ): Promise<Traces> {
    const merged = await this.#twins.readMerged();
    if (!merged.known) return { traces, merged };
    const ownPulls = await this.#readUnlisted(record, merged.value, now);
    const shown = [...ownPulls.values()].flatMap((own) => (own.known ? [own.value] : []));
    const provenBelow = await this.#readBelow(record, [...merged.value, ...shown], history);
    return { traces, merged, ownPulls, ...(provenBelow.size === 0 ? {} : { provenBelow }) };
  }

  /** Two that make the same tree may both be merged before one look, the one that the landing was meant for first. */
  async #readBelow(
    { batches }: QueueRecord,
    shown: readonly PullRequest[],
    history: History | null,
  ): Promise<NonNullable<Snapshot['provenBelow']>> {
    const result = new Map<PullRequestNumber, Reading<boolean>>();
    for (const { untraced = [], members } of batches) {
      for (const { index, receipt } of untraced) {
        const pr = members[index]?.pr;
        const own = shown.find(({ number }) => number === pr)?.mergeCommitSha ?? null;
        if (pr === undefined || own === null || own === receipt.mergeCommit) continue;
        result.set(pr, history === null ? UNKNOWN : await this.#isProvenBelow(receipt, own, history));
      }
    }
    return result;
  }

  async #isProvenBelow(
    { baseBefore, mergeCommit, tree }: Receipt,
    own: CommitSha,
    history: History,
  ): Promise<Reading<boolean>> {
    const ownTree = await this.#commits.readTreeId(own);
    if (!ownTree.known || ownTree.value !== tree) return mapKnown(ownTree, () => false);
    const isBelow = await this.#commits.contains(history, mergeCommit, own);
    if (!isBelow.known || !isBelow.value) return isBelow;
    return this.#commits.contains(history, own, baseBefore);
  }

  /**
   * The list has the latest ones only, so that one which is not in it may be merged. Landings are told in order: those behind one that
   * is waited for are read with the look that no longer waits.
   */
  async #readUnlisted(
    { batches }: QueueRecord,
    merged: readonly PullRequest[],
    now: EpochMs,
  ): Promise<NonNullable<Snapshot['ownPulls']>> {
    const result = new Map<PullRequestNumber, Reading<PullRequest>>();
    const listed = new Set(merged.map(({ number }) => number));
    for (const { untraced = [], members } of batches) {
      for (const { index, receipt } of untraced) {
        const pr = members[index]?.pr;
        if (pr === undefined || listed.has(pr)) continue;
        const own = await this.#tryRead(() => this.#forge.readPullRequest(pr));
        result.set(pr, own);
        if (mayBeCalledMergedYet(own, now - receipt.landedAt)) break;
      }
    }
    return result;
  }
}
