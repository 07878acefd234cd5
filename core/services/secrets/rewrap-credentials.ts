import type { Connection } from '../../domain/repos/repo.ts';
import type { AdminStore } from '../../ports/account-store.ts';
import type { Rewrapper } from '../../ports/rewrapper.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../../ports/store.ts';
import { VaultError } from '../../ports/system.ts';

export interface RewrapDeps {
  readonly store: Pick<AdminStore, 'listAllConnections'> &
    Pick<DispatchStore, 'getConnection'> &
    Pick<EnrollmentStore, 'updateConnection'>;
  readonly rewrapper: Rewrapper;
}

/**
 * `rewrapped`: now under the new key. `current`: was so already. `old_format`: of a format that has nothing to re-wrap; its
 * owner must store the token again. `gone`: deleted meanwhile. `changed`: another token was stored meanwhile, twice.
 * `damaged`: the key does not open this row. `failed`: no answer.
 */
export const REWRAP_OUTCOMES = [
  'rewrapped',
  'current',
  'old_format',
  'gone',
  'changed',
  'damaged',
  'failed',
] as const;
export type RewrapOutcome = (typeof REWRAP_OUTCOMES)[number];

export interface RewrapOptions {
  /** Counts `rewrapped` without asking the key or writing. @default false */
  readonly dryRun?: boolean;
  /** After each connection: how many are done, of how many. */
  readonly onProgress?: (done: number, of: number) => void;
}

/** So many failures one after the other are no accident: the key or the table is away, or a right is missing. */
const FAILURES_IN_A_ROW_MAX = 5;
const RACES_MAX = 2;

export interface RewrapResult {
  readonly counts: Readonly<Record<RewrapOutcome, number>>;
  /** Null: all were looked at. */
  readonly stoppedAfter: number | null;
}

/**
 * Puts every stored credential under the rewrapper's key. Each row says itself whether it is done, so this can be stopped at
 * any point and started again, and two of it do no harm. A token that its owner stores meanwhile always wins.
 */
export async function rewrapCredentials(
  deps: RewrapDeps,
  options: RewrapOptions = {},
): Promise<RewrapResult> {
  const counts = Object.fromEntries(REWRAP_OUTCOMES.map((each) => [each, 0])) as Record<
    RewrapOutcome,
    number
  >;
  const heads = await deps.store.listAllConnections(Number.MAX_SAFE_INTEGER);
  let inARow = 0;
  for (const [index, head] of heads.entries()) {
    const outcome = await rewrapOne(deps, head, options.dryRun === true);
    counts[outcome] += 1;
    options.onProgress?.(index + 1, heads.length);
    inARow = outcome === 'failed' ? inARow + 1 : 0;
    if (inARow >= FAILURES_IN_A_ROW_MAX) return { counts, stoppedAfter: index + 1 };
  }
  return { counts, stoppedAfter: null };
}

async function rewrapOne(
  deps: RewrapDeps,
  head: Pick<Connection, 'id' | 'tenantId'>,
  dryRun: boolean,
): Promise<RewrapOutcome> {
  try {
    for (let race = 0; race < RACES_MAX; race += 1) {
      const connection = await deps.store.getConnection(head.tenantId, head.id);
      if (connection === null || connection.deleting) return 'gone';
      const { credential } = connection;
      if (credential.format !== 'v3') return 'old_format';
      if (credential.keyVersion === deps.rewrapper.keyVersion) return 'current';
      if (dryRun) return 'rewrapped';
      if (await store(deps, connection)) return 'rewrapped';
    }
    return 'changed';
  } catch (error) {
    if (error instanceof VaultError) return error.kind === 'undecryptable' ? 'damaged' : 'failed';
    if (error instanceof StoreError) return error.kind === 'unreadable' ? 'damaged' : 'failed';
    throw error;
  }
}

/** False: the row is no longer what was read. Its times stay: for its owner nothing has changed. */
async function store(deps: RewrapDeps, connection: Connection): Promise<boolean> {
  const owner = {
    tenantId: connection.tenantId,
    connectionId: connection.id,
    instanceUrl: connection.instanceUrl,
  };
  const credential = await deps.rewrapper.rewrap(owner, connection.credential);
  try {
    return (await deps.store.updateConnection(connection, { ...connection, credential })) === 'updated';
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'lost_race') return false;
    throw error;
  }
}
