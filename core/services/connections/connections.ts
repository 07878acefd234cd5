import { AppError, type ErrorCode } from '../../contracts/errors.ts';
import { WHO_AM_I_TIMEOUT_MS } from '../../domain/api-limits.ts';
import { describeRefusalCause } from '../../domain/forge/refusal-cause.ts';
import { describeLackingToken, describeMissingScopes } from '../../domain/forge/token-scopes.ts';
import type { ConnectionId, EpochMs, TenantId } from '../../domain/ids.ts';
import type { Connection, SealedCredential } from '../../domain/repos/repo.ts';
import type { AccountStore } from '../../ports/account-store.ts';
import { ForgeError } from '../../ports/forge.ts';
import type { CheckTarget, OpenForgeAccount } from '../../ports/forge-account.ts';
import { type DispatchStore, type EnrollmentStore, StoreError } from '../../ports/store.ts';
import {
  type Clock,
  type CredentialOwner,
  type Ids,
  type Log,
  type Vault,
  VaultError,
} from '../../ports/system.ts';
import type { Secret } from '../../secret.ts';
import { type PlanDeps, readCeiling } from '../billing/plans.ts';
import { loadOwnConnection } from '../repos/owned.ts';
import { dropClaim } from '../repos/release-claim.ts';
import { recordChange } from '../tenants/audit.ts';
import { orLeaving } from '../tenants/or-leaving.ts';

export interface ConnectionDeps extends PlanDeps {
  readonly store: EnrollmentStore &
    Pick<DispatchStore, 'getConnection'> &
    Pick<AccountStore, 'loadPlan' | 'loadTenant' | 'appendAudit'>;
  readonly vault: Pick<Vault, 'seal' | 'open'>;
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

/** Another deletion or rotation at the same time costs one more try. */
const TRIES_MAX = 3;
/** Each check may take two times `WHO_AM_I_TIMEOUT_MS`; a third would outlast the function. */
const CHECKS_MAX = 2;

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
      const result = await orLeaving(
        deps.store,
        tenantId,
        deps.store.createConnection(connection, connectionsMax),
      );
      if (result === 'limit_reached') {
        throw new AppError('connection_limit_exceeded', { portal: '/api/v1/billing/portal' });
      }
      if (result === 'created') {
        await recordChange(deps, tenantId, 'connection.create', connection.id);
        return { kind: 'created', connection };
      }
      if (result.takenBy !== tenantId) {
        if (verifiedAt !== null && (await displaceClaim(deps, result))) continue;
        throw new AppError('connection_identity_already_used');
      }
      const rotated = await rotateToken(deps, tenantId, result.id, wanted, verifiedAt);
      if (rotated) return { kind: 'rotated', id: result.id };
    }
    throw new AppError('connection_rotation_failed');
  });
}

/**
 * Who the token is, as far as the forge says (D-45): time of the answer, null when it does not answer as a forge. A forge
 * that is down must not keep a connection from being stored; a forge that says no must.
 */
async function verifyToken(
  deps: ConnectionDeps,
  wanted: NewConnection,
  denied: { readonly code: ErrorCode; readonly field?: string } = { code: 'forge_access_denied' },
): Promise<EpochMs | null> {
  let login: string;
  const account = deps.openAccount(wanted.instanceUrl, wanted.token, WHO_AM_I_TIMEOUT_MS);
  const missing = await account.readMissingScopes();
  if (missing.length > 0)
    throw new AppError(denied.code, {
      ...(denied.field === undefined ? {} : { field: denied.field }),
      message: describeLackingToken(missing),
    });
  try {
    login = await account.readBotLogin();
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    if (error.kind !== 'denied') return null;
    const message = error.isAccountLocked
      ? describeRefusalCause('bot_locked')
      : describeMissingScopes(error.missingScopes);
    throw new AppError(denied.code, {
      ...(denied.field === undefined ? {} : { field: denied.field }),
      ...(message === null ? {} : { message }),
    });
  }
  if (!isSameLogin(login, wanted.botLogin)) {
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
    id,
    tenantId,
    instanceUrl: wanted.instanceUrl,
    botUsername: wanted.botLogin,
    verifiedAt,
    credential: await deps.vault.seal(
      { tenantId, connectionId: id, instanceUrl: wanted.instanceUrl },
      wanted.token,
    ),
    createdAt: now,
    updatedAt: now,
    deleting: false,
  };
}

/** Stores a new token of an identity that the tenant has already, in one step (A59). False when the row changed, went or has another bot meanwhile. */
async function rotateToken(
  deps: ConnectionDeps,
  tenantId: TenantId,
  id: ConnectionId,
  { token, botLogin }: NewConnection,
  verifiedAt: EpochMs | null,
): Promise<boolean> {
  return nameFailures('connection_rotation_failed', async () => {
    const previous = await deps.store.getConnection(tenantId, id);
    if (previous === null || previous.deleting || !isSameLogin(previous.botUsername, botLogin)) return false;
    const credential = await deps.vault.seal(ownerOf(previous), token);
    // A connection that was verified once stays so: a forge that is away says nothing against it.
    const next = {
      ...previous,
      credential,
      verifiedAt: verifiedAt ?? previous.verifiedAt,
      updatedAt: later(deps, previous),
    };
    if (!(await tryUpdate(deps, previous, next))) return false;
    await recordChange(deps, tenantId, 'connection.rotate', id);
    return true;
  });
}

/** Two changes within one millisecond must not look like one. */
function later(deps: ConnectionDeps, previous: Connection): EpochMs {
  return Math.max(deps.clock.now(), previous.updatedAt + 1);
}

/** False when another call was first, or the other claim gave way: then the same can be tried again. Throws when the identity is taken. */
async function tryUpdate(deps: ConnectionDeps, previous: Connection, next: Connection): Promise<boolean> {
  try {
    const result = await deps.store.updateConnection(previous, next);
    if (result === 'updated') return true;
    const isOurs = result.takenBy === next.tenantId || next.verifiedAt === null;
    if (!isOurs && (await displaceClaim(deps, result))) return false;
    throw new AppError('connection_identity_already_used');
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'lost_race') return false;
    throw error;
  }
}

/**
 * A verified claim on a bot's identity displaces one that never was: that connection is deleted, and its repos are wound
 * down. False when the holder's was verified.
 */
async function displaceClaim(
  deps: ConnectionDeps,
  { takenBy, id }: { readonly takenBy: TenantId; readonly id: ConnectionId },
): Promise<boolean> {
  const holder = await deps.store.getConnection(takenBy, id);
  if (holder === null) return true;
  if (holder.verifiedAt !== null) return false;
  await dropClaim(deps.store, holder);
  deps.log.warn('a claim that never was verified gave way', { tenant_id: takenBy, connection_id: id });
  await recordChange(deps, takenBy, 'connection.displaced', id);
  return true;
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
  const { token, botLogin } = changes;
  let checked = await loadOwnConnection(deps.store, tenantId, id);
  if (token === undefined && botLogin === undefined) return checked;
  let verifiedAt = await verifyChange(deps, checked, changes);
  let checks = 1;
  return nameFailures('connection_rotation_failed', async () => {
    for (let tried = 0; tried < TRIES_MAX; tried += 1) {
      const previous = await loadOwnConnection(deps.store, tenantId, id);
      if (!isSameCheck(checked, previous, token)) {
        if (checks === CHECKS_MAX) break;
        verifiedAt = await verifyChange(deps, previous, changes);
        checked = previous;
        checks += 1;
      }
      const credential: SealedCredential =
        token === undefined ? previous.credential : await deps.vault.seal(ownerOf(previous), token);
      const next: Connection = {
        ...previous,
        credential,
        verifiedAt: verifiedAt ?? previous.verifiedAt,
        updatedAt: later(deps, previous),
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

/** Another login in between needs another answer of the forge, and another stored token where none was given. */
function isSameCheck(checked: Connection, stored: Connection, token: ConnectionChanges['token']): boolean {
  const isSameToken =
    token !== undefined || checked.credential.encryptedToken === stored.credential.encryptedToken;
  return isSameToken && isSameLogin(checked.botUsername, stored.botUsername);
}

/**
 * Time of the forge's answer; null when it gave none. A new login is never stored on trust: without an answer it is not
 * stored. A new token of the same login is (D-45).
 */
async function verifyChange(
  deps: ConnectionDeps,
  connection: Connection,
  { token, botLogin }: ConnectionChanges,
): Promise<EpochMs | null> {
  const renames = botLogin !== undefined && !isSameLogin(botLogin, connection.botUsername);
  if (token === undefined && !renames) return null;
  const owner = ownerOf(connection);
  const asked = {
    instanceUrl: connection.instanceUrl,
    botLogin: botLogin ?? connection.botUsername,
    token:
      token ??
      (await nameFailures('connection_rotation_failed', () => deps.vault.open(owner, connection.credential))),
  };
  const field = token === undefined ? 'bot_login' : 'token';
  const verifiedAt = await verifyToken(deps, asked, { code: 'invalid_field', field });
  if (verifiedAt === null && renames) throw new AppError('connection_rotation_failed');
  return verifiedAt;
}

function ownerOf({ tenantId, id, instanceUrl }: Connection): CredentialOwner {
  return { tenantId, connectionId: id, instanceUrl };
}

/** As forges compare them. */
function isSameLogin(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
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
