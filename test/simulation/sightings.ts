import type { RepoId } from '#core/domain/ids.ts';
import { LEASE_TAKEOVER_GRACE_MS } from '#core/domain/limits.ts';
import { type QueueWrite, StoreError } from '#core/ports/store.ts';
import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import { toCodeNames } from '../../engine-container/src/stored-record/record-names.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { MemoryStore } from '../fakes/memory-store.ts';
import type { Witness } from './service/hosts.ts';

type Sighted = Pick<Witness, 'sometimes'>;

/** The store of a life, which tells what the service wrote into it has come to: for the tally, never for a judgement. */
export class WatchedStore extends MemoryStore {
  witness: Sighted = { sometimes: () => undefined };
  readonly #recordsLost = new Map<RepoId, number>();
  /** Told before a lease is given back. */
  onRelease: (repoId: RepoId, fence: number) => void = () => undefined;
  readonly #released = new Set<string>();
  /** The record of the last look, while it is the stored one. */
  #peeked: { readonly json: string; readonly record: QueueRecord } | null = null;

  override saveQueue(...[held, repo, write]: Parameters<MemoryStore['saveQueue']>): Promise<number> {
    this.#noteWrite(write);
    return this.#noteRefusal(super.saveQueue(held, repo, write));
  }

  override saveReport(...given: Parameters<MemoryStore['saveReport']>): Promise<void> {
    return this.#noteRefusal(super.saveReport(...given));
  }

  override async acquireLease(...given: Parameters<MemoryStore['acquireLease']>) {
    const [repoId] = given;
    const before = this.leases.get(repoId);
    const expired =
      before?.running === true && before.expiresAt + LEASE_TAKEOVER_GRACE_MS <= this.clock.now();
    const grant = await super.acquireLease(...given);
    if (grant === 'held') this.witness.sometimes('lease held by another worker');
    else if (expired) this.witness.sometimes('lease taken over');
    return grant;
  }

  override releaseLease(...given: Parameters<MemoryStore['releaseLease']>): Promise<void> {
    const [repoId, { fence }] = given;
    this.#released.add(`${repoId} ${fence}`);
    this.onRelease(repoId, fence);
    return super.releaseLease(...given);
  }

  /** Given back by its holder, not taken over. */
  wasReleased(repoId: RepoId, fence: number): boolean {
    return this.#released.has(`${repoId} ${fence}`);
  }

  override async listDueRepos(...given: Parameters<MemoryStore['listDueRepos']>) {
    const shown = await super.listDueRepos(...given);
    const lagMs = this.indexLagMs;
    if (lagMs === 0) return shown;
    this.indexLagMs = 0;
    const truth = await super.listDueRepos(...given);
    this.indexLagMs = lagMs;
    if (String(truth) !== String(shown)) this.witness.sometimes('index lag');
    return shown;
  }

  /** The record as stored, readable or not, without a call: for an observer. */
  peekRecord(repoId: RepoId): QueueRecord | null {
    const stored = this.records.get(repoId);
    if (stored === undefined) return null;
    if (this.#peeked?.json !== stored.json)
      this.#peeked = { json: stored.json, record: toCodeNames(JSON.parse(stored.json)) };
    return this.#peeked.record;
  }

  /** How often the record of a repository was lost. */
  recordsLostOf(repoId: RepoId): number {
    return this.#recordsLost.get(repoId) ?? 0;
  }

  /** The record becomes unreadable (A32). */
  loseRecord(repoId: RepoId): void {
    this.#recordsLost.set(repoId, this.recordsLostOf(repoId) + 1);
    this.corrupt('queue', repoId);
  }

  /** Whether the record, as it is stored now, holds the intent to land this head (A5). */
  hasIntent(repoId: RepoId, head: string): boolean {
    return this.peekRecord(repoId)?.batches.some((batch) => batch.landing?.head === head) === true;
  }

  /** True while a landing is on record: a crash now is one in the middle of it. */
  isLanding(repoId: RepoId): boolean {
    return this.records.get(repoId)?.json.includes('"intentAt"') === true;
  }

  async #noteRefusal<Result>(answer: Promise<Result>): Promise<Result> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof StoreError) this.witness.sometimes(`store refuses: ${error.kind}`);
      throw error;
    }
  }

  #noteWrite({ batches, events, document }: QueueWrite): void {
    const { witness } = this;
    for (const row of batches) {
      const why = row.terminalReason === null ? '' : ` ${row.terminalReason}`;
      witness.sometimes(`outcome ${row.outcome}${why}`);
      witness.sometimes(`verdict ${row.gateVerdict}`);
      if (row.gateSource === 'cached') witness.sometimes('cached verdict');
      for (const { action, reason } of row.actions)
        witness.sometimes(reason === undefined ? `action ${action}` : `action ${action} ${reason}`);
    }
    for (const { event, reason } of events)
      witness.sometimes(reason === null ? `event ${event}` : `event ${event} ${reason}`);
    const record = toCodeNames(document as Parameters<typeof toCodeNames>[0]);
    if (record.entries.some((entry) => entry.failureProbability !== null))
      witness.sometimes('suspects go on in the queue');
    const isKnown = record.rate.steady >= 200 && batches.some((row) => row.outcome === 'bounced');
    if (isKnown) witness.sometimes('bounced by a gate known to be steady');
    for (const deferred of record.deferred) witness.sometimes(`deferred ${deferred.reason}`);
    for (const { count } of record.mergeTimeoutCounts) witness.sometimes(`merge time-out ${count}`);
    if (record.runnersSeen !== undefined) witness.sometimes('a lack of runners is seen');
    if (record.halted !== null) witness.sometimes('halted');
    if (record.restsUntil !== null) witness.sometimes('paused after broken runs');
    if (record.batches.length > 1) witness.sometimes('several batches in flight');
    for (const { place, stagedOn } of record.batches)
      witness.sometimes(stagedOn === null ? `place ${place}` : 'stacked');
    const landing = record.batches.find((batch) => batch.landing !== null)?.landing;
    if (landing == null) return;
    if (landing.nudges > 0) witness.sometimes('nudge');
    if (landing.postedAt === null) witness.sometimes('intent stored before success');
    if (landing.takeBack !== null) witness.sometimes(`take back ${landing.takeBack.reason}`);
  }
}

/** Findings from the gate runs of a whole life. */
export function noteRuns(forge: AbstractForge, witness: Sighted): void {
  const failed = new Set<string>();
  for (const run of forge.runs()) {
    witness.sometimes(`run ${run.state}`);
    if (run.branch.endsWith('-b')) witness.sometimes('base probe');
    if (/-a\d+$/.test(run.branch)) witness.sometimes('second attempt of a run');
    if (failed.has(run.tree) && run.state === 'failure') witness.sometimes('failure confirmed');
    if (failed.has(run.tree) && run.state === 'success') witness.sometimes('flake forgiven');
    if (run.state === 'failure') failed.add(run.tree);
  }
}
