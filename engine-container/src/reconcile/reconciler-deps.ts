import type { HeldLease } from '#core/domain/wakes/lease.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { EngineStore, LeaseStore } from '#core/ports/store.ts';
import type { Clock, Ids, Log, Meter, ReconcileRequest } from '#core/ports/system.ts';
import type { ConfirmBounce } from '../queue/snapshot.ts';
import type { KeeperDeps } from '../stored-record/record-keeper.ts';
import type { EngineMemory } from './engine-memory.ts';
import type { ForgeSpending } from './forge-spending.ts';

export interface ReconcilerDeps {
  readonly store: EngineStore & LeaseStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /**
   * A client for the forge of one request. It sends nothing once the lease is past its deadline (A41), and no read, page
   * or repeat of one once `mayRead` says no: then it throws `ReadNotBegun`.
   */
  readonly forgeFor: (
    request: ReconcileRequest,
    held: HeldLease,
    mayRead: () => boolean,
    /** Called before each request that is sent, with the bytes of its body. */
    onCall: (bytes: number) => void,
    /** Called with the bytes of each answer. */
    onAnswer: (bytes: number) => void,
  ) => EngineForge;
  /** Address of this service without a slash at its end, for the links of statuses. @default statuses link to gate runs only */
  readonly serviceUrl?: string;
  /** @default nothing is measured */
  readonly meter?: Meter;
  /** Without it a repo whose gate is known to be steady needs no second failing gate run (D-08). */
  readonly confirmBounce?: ConfirmBounce;
  /** The trees that the engine has read, and the records that it has stored. @default nothing yet */
  readonly memory?: EngineMemory;
  /** The store may have been put back to an earlier time before this engine began or together with it. @default it was not */
  readonly mayBeOlder?: true;
  /** Costs of the batches in flight. @default nothing is known yet */
  readonly spending?: ForgeSpending;
}

/** With the figures of one reconcile. */
export type MeasuredDeps = ReconcilerDeps & Pick<KeeperDeps, 'figures' | 'spent'>;
