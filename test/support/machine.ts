import type { EngineForge } from '#core/ports/forge.ts';
import type { DispatchStore, EngineStore, LeaseStore } from '#core/ports/store.ts';

/**
 * Where one reconcile runs. Every call of its worker and engine to forge and store passes here, under a static label,
 * and may fail, come late, or be the last thing this machine ever did.
 */
export interface Machine {
  io<Result>(label: string, call: () => Promise<Result>): Promise<Result>;
}

/** The machine has died: nothing of it acts any more, whatever its code tries while it unwinds. */
export class Crash extends Error {
  override readonly name = 'Crash';
  constructor() {
    super('crashed here');
  }
}

const FORGE_READS = [
  'readBotLogin',
  'readVersion',
  'readBranchTip',
  'readCommit',
  'readTree',
  'listOpenPullRequests',
  'readPullRequest',
  'readTimeline',
  'listReviews',
  'readProtection',
  'readStatuses',
  'readGate',
  'listOwnCommits',
  'readMergeBase',
] as const satisfies readonly (keyof EngineForge)[];
const FORGE_WRITES = [
  'applyPatch',
  'createBranch',
  'deleteBranch',
  'cancelRun',
  'probeSchedule',
  'postStatus',
] as const satisfies readonly (keyof EngineForge)[];
const FORGE_CALLS = [...FORGE_READS, ...FORGE_WRITES] as const;

export type WorkerStore = EngineStore & LeaseStore & DispatchStore;
const STORE_CALLS = [
  'findRepo',
  'loadQueueRecord',
  'listBatches',
  'saveQueue',
  'quarantineQueueRecord',
  'saveReport',
  'acquireLease',
  'releaseLease',
  'readLease',
  'readLeaseState',
  'getRepo',
  'getConnection',
  'listDueRepos',
  'markDue',
  'settleDue',
  'loadReport',
  'saveReconcileOutcome',
  'loadReconcileOutcome',
  'recordTick',
  'findRepoForHook',
  'claimDelivery',
] as const satisfies readonly (keyof WorkerStore)[];

/** A call that is missing from the lists above would pass a machine by: then these do not compile. */
type Listed<Port, Names extends readonly (keyof Port)[]> =
  Exclude<keyof Port, Names[number]> extends never ? true : never;
const ALL_LISTED: readonly [
  Listed<EngineForge, typeof FORGE_CALLS>,
  Listed<WorkerStore, typeof STORE_CALLS>,
] = [true, true];

export const FORGE_WRITE_LABELS: readonly string[] = FORGE_WRITES.map((name) => `forge ${name}`);
export const IO_LABELS: readonly string[] = [
  ...(ALL_LISTED ? FORGE_CALLS.map((name) => `forge ${name}`) : []),
  ...STORE_CALLS.map((name) => `store ${name}`),
];

type Callable = (...values: unknown[]) => Promise<unknown>;

function through<Port extends object>(
  machine: Machine,
  prefix: string,
  port: Port,
  names: readonly (keyof Port & string)[],
): Port {
  const view: Record<string, Callable> = {};
  for (const name of names) {
    const call = port[name] as Callable;
    const label = `${prefix} ${name}`;
    view[name] = (...values) => machine.io(label, () => call.apply(port, values));
  }
  return view as Port;
}

export function forgeOn(machine: Machine, forge: EngineForge): EngineForge {
  return through(machine, 'forge', forge, FORGE_CALLS);
}

export function storeOn(machine: Machine, store: WorkerStore): WorkerStore {
  return through(machine, 'store', store, STORE_CALLS);
}
