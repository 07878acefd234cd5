import type { AccountStore } from '#core/ports/account-store.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import type { LookStore } from '#core/ports/idle-look.ts';
import type {
  DispatchStore,
  EngineStore,
  EnrollmentStore,
  LeaseStore,
  ReconcileStore,
} from '#core/ports/store.ts';
import type { EraseStore } from '#core/services/tenants/erase-tenant.ts';

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
  'readWriteRight',
  'listTeamMembers',
  'readRepoId',
  'readAllowedStyles',
  'hasWritingKey',
  'listOwnHooks',
  'readVersion',
  'readBranchTip',
  'findRefInTheWay',
  'findNamesake',
  'readKeptHead',
  'hasTag',
  'readCommit',
  'readTreeId',
  'readTree',
  'readBlob',
  'listOpenPullRequests',
  'listTouchedPullRequests',
  'listMergedPullRequests',
  'readPullRequest',
  'readTimeline',
  'listReviews',
  'listChangedFiles',
  'countDependencies',
  'readProtection',
  'readStatuses',
  'readGate',
  'readRunnerLabels',
  'listStatusHistory',
  'listOwnCommits',
  'listChangesSince',
  'listNewCommits',
] as const satisfies readonly (keyof EngineForge)[];
const FORGE_WRITES = [
  'applyPatch',
  'writeFiles',
  'createBranch',
  'deleteBranch',
  'cancelGateRun',
  'probeSchedule',
  'postStatus',
] as const satisfies readonly (keyof EngineForge)[];
const FORGE_CALLS = [...FORGE_READS, ...FORGE_WRITES] as const;

export type WorkerStore = EngineStore &
  LeaseStore &
  ReconcileStore &
  DispatchStore &
  Pick<AccountStore, 'loadPlan'> &
  Pick<EnrollmentStore, 'listRepos' | 'deleteRepo' | 'deleteConnection' | 'listRunningBatches'> &
  EraseStore &
  Pick<LookStore, 'loadLook' | 'saveLook' | 'noteEngineNeeded'>;
const STORE_CALLS = [
  'findRepo',
  'listLeftHeads',
  'listWindDowns',
  'loadQueueRecord',
  'listOwnBatches',
  'listOwnEvents',
  'saveQueue',
  'quarantineQueueRecord',
  'saveReport',
  'acquireLease',
  'releaseLease',
  'shortenLease',
  'readLease',
  'readLeaseState',
  'beginReconcile',
  'endReconcile',
  'forgetReconciles',
  'getRepo',
  'getConnection',
  'listDueRepos',
  'markDue',
  'noteHeard',
  'askStop',
  'settleDue',
  'loadReport',
  'saveReconcileOutcome',
  'loadReconcileOutcome',
  'recordTick',
  'findRepoForHook',
  'listReposAt',
  'claimDelivery',
  'isDeliveryClaimed',
  'loadPlan',
  'readObligations',
  'readHolds',
  'listRepos',
  'settleOff',
  'deleteRepo',
  'deleteConnection',
  'listRunningBatches',
  'loadTenant',
  'listConnections',
  'markConnectionDeleting',
  'keepAudit',
  'deleteHistory',
  'deletePlan',
  'deleteOrganization',
  'deleteTenant',
  'loadLook',
  'saveLook',
  'noteEngineNeeded',
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
  'queue sendWake',
  'queue sendDelayedWake',
  'vault open',
  'queue sendGlance',
  'queue sendDelayedGlance',
];

type Callable = (...values: unknown[]) => Promise<unknown>;

interface View {
  readonly machine: Machine;
  readonly port: Readonly<Record<string, Callable>>;
}

/** One class per port, not a set of closures per machine: machines come and go by the million. */
function viewOf<Port extends object>(
  prefix: string,
  names: readonly (keyof Port & string)[],
): (machine: Machine, port: Port) => Port {
  class PortView implements View {
    constructor(
      readonly machine: Machine,
      readonly port: View['port'],
    ) {}
  }
  for (const name of names) {
    const label = `${prefix} ${name}`;
    Object.defineProperty(PortView.prototype, name, {
      value(this: View, ...values: unknown[]) {
        return this.machine.io(label, () => (this.port[name] as Callable)(...values));
      },
    });
  }
  return (machine, port) => new PortView(machine, port as unknown as View['port']) as unknown as Port;
}

const viewForge = viewOf<EngineForge>('forge', FORGE_CALLS);
const viewStore = viewOf<WorkerStore>('store', STORE_CALLS);

export function forgeOn(machine: Machine, forge: EngineForge): EngineForge {
  return viewForge(machine, forge);
}

export function storeOn(machine: Machine, store: WorkerStore): WorkerStore {
  return viewStore(machine, store);
}
