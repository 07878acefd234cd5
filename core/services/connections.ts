import { AppError, type ErrorCode } from '../contracts/errors.ts';
import { WHO_AM_I_TIMEOUT_MS } from '../domain/api-limits.ts';
import type { ConnectionId, EpochMs, TenantId } from '../domain/ids.ts';
import type { Connection, SealedCredential } from '../domain/repo.ts';
import type { AccountStore } from '../ports/account-store.ts';
import { ForgeError } from '../ports/forge.ts';
import type { CheckTarget, OpenForgeAccount } from '../ports/forge-account.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../ports/store.ts';
import { type Clock, type Ids, type Log, type Vault, VaultError } from '../ports/system.ts';
import type { Secret } from '../secret.ts';
import { recordChange } from './audit.ts';
import { loadOwnConnection } from './owned.ts';
import { type PlanDeps, readCeiling } from './plans.ts';

export interface ConnectionDeps extends PlanDeps {
  readonly store: EnrollmentStore &
    Pick<DispatchStore, 'getConnection'> &
    Pick<AccountStore, 'loadPlan' | 'appendAudit'>;
  readonly vault: Pick<Vault, 'seal'>;
  readonly openAccount: OpenForgeAccount;
  readonly checkTarget: CheckTarget;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: Ids;
  readonly log: Log;
}

export interface NewConnection {
  readonly instanceUrl: string;
  readonly botLogin: string;
  readonly token: Secret<string>;
}

export type StoredConnection =
  | { readonly kind: 'created'; readonly connection: Connection }
  | { readonly kind: 'rotated'; readonly id: ConnectionId };

/** Somebody else's deletion or rotation at the same time costs one more try. */
const TRIES_MAX = 3;

/** Stores a forge identity, or replaces the token of one that the tenant has already. */
export async function storeConnection(
  deps: ConnectionDeps,
  tenantId: TenantId,
  wanted: NewConnection,
): Promise<StoredConnection> {
  if ((await deps.checkTarget(wanted.instanceUrl)) === 'refused') {
    throw new AppError('invalid_field', { field: 'instance_url' });
  }
  const { connections: connectionsMax } = await readCeiling(deps, tenantId);
  const verifiedAt = await verifyToken(deps, wanted);
  return nameFailures('failed_to_create_connection', async () => {
    await deps.store.createTenant(tenantId, deps.clock.now());
    for (let tried = 0; tried < TRIES_MAX; tried += 1) {
      const connection = await draft(deps, tenantId, wanted, verifiedAt);
      const result = await deps.store.createConnection(connection, connectionsMax);
      if (result === 'limit_reached') {
        throw new AppError('connection_limit_exceeded', { portal: '/api/v1/billing/portal' });
      }
      if (result === 'created') {
        await recordChange(deps, tenantId, 'connection.create', connection.id);
        return { kind: 'created', connection };
      }
      if (result.takenBy !== tenantId) throw new AppError('connection_identity_already_used');
      const rotated = await rotateToken(deps, tenantId, result.id, wanted.token, verifiedAt);
      if (rotated) return { kind: 'rotated', id: result.id };
    }
    throw new AppError('connection_rotation_failed');
  });
}

/**
 * Who the token is, as far as the forge says (D-45): time of the answer, null when it does not answer as a forge. A forge
 * that is down must not keep anybody from storing a connection; one that says no must.
 */
async function verifyToken(
  deps: ConnectionDeps,
  wanted: NewConnection,
  denied: { readonly code: ErrorCode; readonly field?: string } = { code: 'forge_access_denied' },
): Promise<EpochMs | null> {
  let login: string;
  try {
    login = await deps.openAccount(wanted.instanceUrl, wanted.token, WHO_AM_I_TIMEOUT_MS).readBotLogin();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind !== 'denied') return null;
    throw new AppError(denied.code, denied.field === undefined ? {} : { field: denied.field });
  }
  if (login.toLowerCase() !== wanted.botLogin.toLowerCase()) {
    throw new AppError('invalid_field', { field: 'bot_login' });
  }
  return deps.clock.now();
}

async function draft(
  deps: ConnectionDeps,
  tenantId: TenantId,
  wanted: NewConnection,
  verifiedAt: EpochMs | null,
): Promise<Connection> {
  const id = deps.ids.uuid();
  const now = deps.clock.now();
  return {
    ...{ id, tenantId, instanceUrl: wanted.instanceUrl, botUsername: wanted.botLogin, verifiedAt },
    credential: await deps.vault.seal({ tenantId, connectionId: id }, wanted.token),
    ...{ createdAt: now, updatedAt: now, deleting: false },
  };
}

/** The same identity again: a new token in one step (A59). False when the row changed or went meanwhile. */
async function rotateToken(
  deps: ConnectionDeps,
  tenantId: TenantId,
  id: ConnectionId,
  token: Secret<string>,
  verifiedAt: EpochMs | null,
): Promise<boolean> {
  return nameFailures('connection_rotation_failed', async () => {
    const previous = await deps.store.getConnection(tenantId, id);
    if (previous === null || previous.deleting) return false;
    const credential = await deps.vault.seal({ tenantId, connectionId: id }, token);
    const next = { ...previous, credential, verifiedAt, updatedAt: later(deps, previous) };
    if (!(await tryUpdate(deps, previous, next))) return false;
    await recordChange(deps, tenantId, 'connection.rotate', id);
    return true;
  });
}

/** Two changes within one millisecond must not look like one. */
function later(deps: ConnectionDeps, previous: Connection): EpochMs {
  return Math.max(deps.clock.now(), previous.updatedAt + 1);
}

/** False when somebody else was first; throws when the new identity is taken. */
async function tryUpdate(deps: ConnectionDeps, previous: Connection, next: Connection): Promise<boolean> {
  try {
    const result = await deps.store.updateConnection(previous, next);
    if (result !== 'updated') throw new AppError('connection_identity_already_used');
    return true;
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'lost_race') return false;
    throw error;
  }
}

export interface ConnectionChanges {
  readonly token: Secret<string> | undefined;
  readonly botLogin: string | undefined;
}

export async function changeConnection(
  deps: ConnectionDeps,
  tenantId: TenantId,
  id: string,
  changes: ConnectionChanges,
): Promise<Connection> {
  const first = await loadOwnConnection(deps.store, tenantId, id);
  const { token, botLogin } = changes;
  if (token === undefined && botLogin === undefined) return first;
  const verifiedAt =
    token === undefined
      ? null
      : await verifyToken(
          deps,
          { instanceUrl: first.instanceUrl, botLogin: botLogin ?? first.botUsername, token },
          { code: 'invalid_field', field: 'token' },
        );
  return nameFailures('connection_rotation_failed', async () => {
    for (let tried = 0; tried < TRIES_MAX; tried += 1) {
      const previous = await loadOwnConnection(deps.store, tenantId, id);
      const credential: SealedCredential =
        token === undefined
          ? previous.credential
          : await deps.vault.seal({ tenantId, connectionId: previous.id }, token);
      const next: Connection = {
        ...previous,
        ...{ credential, verifiedAt, updatedAt: later(deps, previous) },
        botUsername: botLogin ?? previous.botUsername,
      };
      if (await tryUpdate(deps, previous, next)) {
        await recordChange(deps, tenantId, 'connection.update', previous.id);
        return next;
      }
    }
    throw new AppError('connection_rotation_failed');
  });
}

/** A store or key service that fails in the middle has a code of its own here. */
async function nameFailures<T>(code: ErrorCode, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StoreError || error instanceof VaultError) throw new AppError(code);
    throw error;
  }
}
