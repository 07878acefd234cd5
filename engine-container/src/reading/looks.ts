import { isDeepStrictEqual } from 'node:util';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { steadySettingsOf } from '#core/domain/repos/stored-holds.ts';
import type { EngineStore } from '#core/ports/store.ts';
import type { Clock } from '#core/ports/system.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { Snapshot } from '../queue/snapshot.ts';
import { paceOf } from './look-pace.ts';
import type { SnapshotReader } from './read-snapshot.ts';

export interface LooksDeps {
  readonly clock: Clock;
  readonly reader: SnapshotReader;
  readonly repo: ManagedRepo;
  readonly fence: number;
  readonly store: Pick<EngineStore, 'readHolds'>;
}

/** The looks of one reconcile: the first is at everything, a later one at what is in flight as long as nothing asks for more. */
export class Looks {
  readonly #deps: LooksDeps;
  #last: Snapshot | null = null;
  #gatesReadAt = 0;
  #allReadAt = 0;

  constructor(deps: LooksDeps) {
    this.#deps = deps;
  }

  /**
   * Null: other settings are stored than this reconcile began with, such as another gate, so what was read decides nothing.
   * @param refresh - Everything is to be read anew.
   */
  async look(record: QueueRecord, refresh: boolean): Promise<Snapshot | null> {
    const { store, repo } = this.#deps;
    const snapshot = await this.#read(record, refresh);
    // A person may pause the queue, switch it off or change its settings while a reconcile goes on.
    const stored = await store.readHolds(repo);
    if (stored !== null && !isDeepStrictEqual(stored.settings, steadySettingsOf(repo))) return null;
    const { settings, ...holds } = stored ?? { settings: null, queueEnabled: false };
    const queueEnabled = repo.queueEnabled && holds.queueEnabled;
    this.#last = { ...snapshot, repo: { ...snapshot.repo, ...holds, queueEnabled } };
    return this.#last;
  }

  async #read(record: QueueRecord, refresh: boolean): Promise<Snapshot> {
    const { clock, reader, fence } = this.#deps;
    const now = clock.monotonic();
    const pace = paceOf(record, clock.now());
    const isOutdated = now - this.#allReadAt >= pace.everythingMs;
    // While statuses are only being written, nothing need be listed anew for each handful of them.
    const isIdle = record.batches.length === 0 && record.pendingStatuses.length === 0;
    if (this.#last === null || refresh || isOutdated || isIdle) {
      const snapshot = await reader.readAll(record, fence);
      this.#allReadAt = clock.monotonic();
      this.#gatesReadAt = this.#allReadAt;
      return snapshot;
    }
    const withGates = now - this.#gatesReadAt >= pace.gatesMs;
    if (withGates) this.#gatesReadAt = now;
    return reader.readInFlight(record, fence, this.#last, withGates);
  }
}
