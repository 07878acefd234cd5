import { withFile } from '#core/contracts/repos/settings-seen.ts';
import type { EpochMs } from '#core/domain/ids.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { HeldLease } from '#core/domain/wakes/lease.ts';
import { type EngineStore, type QueueWrite, StoreError, type ToldQueue } from '#core/ports/store.ts';
import type { Log } from '#core/ports/system.ts';
import type { DecidedEvent } from '../queue/record/decided-event.ts';
import type { Batch, QueueRecord } from '../queue/record/record.ts';
import { emptyRecord } from '../queue/record/record.ts';
import { isSameData } from '../queue/record/same-data.ts';
import { shedRecord } from '../queue/record/shed.ts';
import { toObligations } from '../queue/told/obligations.ts';
import { changedRows, toActivityEvent } from '../queue/told/rows.ts';
import { toQueueView } from '../queue/told/view.ts';
import type { ReconcileSpending } from '../reconcile/forge-spending.ts';
import type { ReconcileFigures } from '../reconcile/reconcile-figures.ts';
import type { SteadyClock } from '../reconcile/steady-clock.ts';
import { adoptLost } from './adopt-lost.ts';
import { parseRecord, toDocument } from './record-codec.ts';
import { isEmpty, NOTHING_UNSENT, takeWrite, type Unsent } from './unsent.ts';

/** The memory of one engine for the record of one repository. */
export interface RecordMemory {
  /** This engine has stored it. */
  isOwn: boolean;
}

export interface KeeperDeps {
  readonly store: EngineStore;
  readonly repo: ManagedRepo;
  readonly held: HeldLease;
  readonly log: Log;
  readonly figures: ReconcileFigures;
  readonly spent: ReconcileSpending;
  readonly memory: RecordMemory;
  /** The store may have been put back to an earlier time, before this engine began or together with it. @default it was not */
  readonly mayBeOlder?: boolean;
  readonly clock: Pick<SteadyClock, 'stepSince'>;
}

/**
 * The queue record as it is stored, and what is still to be stored with it. Rows and events that do not fit the
 * transaction of their record wait in its document: each is stored exactly once, wherever a crash falls.
 */
export class RecordKeeper {
  readonly #store: EngineStore;
  readonly #repo: ManagedRepo;
  /** The repository with the holds of the latest look. */
  #toldBy: ManagedRepo;
  readonly #held: HeldLease;
  readonly #log: Log;
  readonly #figures: ReconcileFigures;
  readonly #spent: ReconcileSpending;
  readonly #memory: RecordMemory;
  readonly #mayBeOlder: boolean;
  readonly #clock: KeeperDeps['clock'];
  #saved: QueueRecord;
  /** The record in the store, as far as is known; null before a record of this version was read or written. */
  #stored: QueueRecord | null = null;
  /** Record of the latest `save` call, whether it was unchanged, stored, or refused by the store. */
  #latest: QueueRecord | null = null;
  #savedTold = '';
  #version: number | null = null;
  #closed: readonly Batch[] = [];
  #unsent: Unsent = NOTHING_UNSENT;
  #done: { readonly record: QueueRecord; readonly closed: readonly Batch[]; readonly unsent: Unsent } | null =
    null;

  constructor({ store, repo, held, log, figures, spent, memory, clock, mayBeOlder = false }: KeeperDeps) {
    this.#clock = clock;
    this.#spent = spent;
    this.#memory = memory;
    this.#mayBeOlder = mayBeOlder;
    this.#log = log;
    this.#figures = figures;
    this.#store = store;
    this.#repo = repo;
    this.#toldBy = repo;
    this.#held = held;
    this.#saved = emptyRecord(repo.statusContext);
  }

  /** Statuses that may have been posted: by the last save, and by what could not be saved since. */
  get posted(): readonly QueueRecord[] {
    return this.#latest === null ? [this.#saved] : [this.#saved, this.#latest];
  }

  /** The record of the last save; before the first, one of a repo that nothing is known of. */
  get saved(): QueueRecord {
    return this.#saved;
  }

  /** `unreadable` when what is stored is no record that this version understands. */
  async load(now: EpochMs): Promise<'loaded' | 'unreadable'> {
    const stored = await this.#read();
    if (stored === 'unreadable') return stored;
    if (stored === null) {
      const { rows, record } = await adoptLost(this.#store, this.#repo, now);
      this.#saved = { ...this.#saved, ...record };
      this.#unsent = { batches: rows, events: [] };
      return 'loaded';
    }
    // A machine that is put back to a snapshot in which it runs has its clock set forward afterwards.
    const isOwn = this.#memory.isOwn && this.#clock.stepSince(stored.record.storedBy) <= 0;
    this.#saved = this.#mayBeOlder && !isOwn ? toReread(stored.record) : stored.record;
    this.#figures.see(stored.record);
    this.#spent.see(stored.record.batches);
    this.#unsent = stored.unsent;
    this.#version = stored.version;
    this.#stored = stored.record;
    this.#savedTold = toldText(this.#tell(stored.record, now));
    // A record that a crash kept from being stored comes before anything new.
    if (!isEmpty(this.#unsent)) await this.#write(this.#saved, null);
    return 'loaded';
  }

  /** A person may have paused the queue since this reconcile began: people are told what is decided by. */
  tellBy(repo: ManagedRepo): void {
    this.#toldBy = repo;
  }

  collect(events: readonly DecidedEvent[], at: EpochMs): void {
    if (events.length === 0) return;
    this.#figures.collect(events, at);
    const told = events.map((event) => toActivityEvent(this.#repo, event, at));
    this.#unsent = { ...this.#unsent, events: [...this.#unsent.events, ...told] };
  }

  /** Batches that have ended: their rows are stored with the record that no longer holds them. */
  close(batches: readonly Batch[]): void {
    this.#closed = [...this.#closed, ...batches];
    this.#figures.close(batches);
  }

  /** All that was decided up to here was done as well, as far as it could be. */
  noteDone(record: QueueRecord): void {
    this.#done = { record, closed: this.#closed, unsent: this.#unsent };
  }

  /**
   * Stores what was done, without what was decided since and does not fit its row: else the next look would do it again, and
   * each one after it. Where not even that fits, the record stays as it is stored.
   */
  async saveDone(at: EpochMs): Promise<void> {
    if (this.#done === null) return;
    const { record, closed, unsent } = this.#done;
    this.#closed = closed;
    this.#unsent = unsent;
    try {
      await this.save(record, at);
    } catch (error) {
      if (!(error instanceof StoreError) || error.kind !== 'too_large') throw error;
    }
  }

  /** Stores record, rows and events together; nothing is written when nothing changed. */
  async save(record: QueueRecord, at: EpochMs): Promise<void> {
    this.#figures.see(record);
    const isBare = isEmpty(this.#unsent) && this.#closed.length === 0;
    // A pass never changes a record in place: the one looked at last is as it was then.
    if (isBare && record === this.#latest) return;
    this.#latest = record;
    const isUnchanged = this.#stored !== null && isSameQueue(this.#stored, record);
    if (isUnchanged) this.#memory.isOwn = true;
    // Rows are made of the record alone, those of ended batches apart.
    if (isBare && isUnchanged) return;
    this.#spent.settle(this.#closed, record.batches);
    const rows = changedRows(this.#repo, this.#saved, record, this.#closed);
    const changed = this.#spent.tell(this.#repo, rows, this.#closed);
    this.#unsent = { ...this.#unsent, batches: [...this.#unsent.batches, ...changed] };
    this.#closed = [];
    if (isUnchanged && isEmpty(this.#unsent)) return;
    const told = this.#tell(record, at);
    const toldNow = toldText(told);
    await this.#write(record, toldNow === this.#savedTold ? null : told);
    this.#saved = record;
    this.#stored = record;
    this.#savedTold = toldNow;
    this.#memory.isOwn = true;
  }

  #tell(record: QueueRecord, at: EpochMs): ToldQueue {
    const repo = withFile(this.#toldBy, record.settingsSeen);
    return { view: toQueueView(repo, record, at), obligations: toObligations(record, at) };
  }

  async #write(record: QueueRecord, changed: ToldQueue | null): Promise<void> {
    let told = changed;
    do {
      const { batches, events, left } = takeWrite(this.#unsent, told === null ? 0 : 1);
      this.#version = await this.#saveWhatFits(record, (fitting) => ({
        document: toDocument(fitting, left),
        expectedVersion: this.#version,
        batches,
        events,
        ...(told === null ? {} : { told }),
      }));
      this.#unsent = left;
      told = null;
    } while (!isEmpty(this.#unsent));
  }

  /** The record, or as much of it as the store takes. Throws `too_large` when it does not even take what must not be left out. */
  async #saveWhatFits(record: QueueRecord, toWrite: (fitting: QueueRecord) => QueueWrite): Promise<number> {
    for (let step = 0; ; step += 1) {
      const fitting = shedRecord(record, step);
      if (fitting === null) throw new StoreError('too_large', 'saveQueue');
      try {
        const version = await this.#store.saveQueue(this.#held, this.#repo, toWrite(fitting));
        if (step > 0) this.#log.warn('queue record shortened', { repo_id: this.#repo.id, step });
        return version;
      } catch (error) {
        if (!(error instanceof StoreError) || error.kind !== 'too_large') throw error;
      }
    }
  }

  async #read(): Promise<
    { readonly record: QueueRecord; readonly unsent: Unsent; readonly version: number } | 'unreadable' | null
  > {
    try {
      const stored = await this.#store.loadQueueRecord(this.#repo.id);
      if (stored === null) return null;
      const parsed = parseRecord(stored.document);
      return parsed === null ? 'unreadable' : { ...parsed, version: stored.version };
    } catch (error) {
      if (error instanceof StoreError && error.kind === 'unreadable') return 'unreadable';
      throw error;
    }
  }
}

/** The clocks of a look that changed nothing are no change. */
function isSameQueue({ storedBy, ...stored }: QueueRecord, { storedBy: _, ...record }: QueueRecord): boolean {
  return isSameData(stored, record);
}

/** Another record may have followed this one, and posted what it does not know: each open head is read before anything begins. */
function toReread({ unread: _, ...record }: QueueRecord): QueueRecord {
  return { ...record, rebuilding: true, reread: { untried: null } };
}

/** Without the time at which it was told. */
function toldText({ view, obligations }: ToldQueue): string {
  return JSON.stringify([
    { ...view, at: 0 },
    { ...obligations, at: 0 },
  ]);
}
