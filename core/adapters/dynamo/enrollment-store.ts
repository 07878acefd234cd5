import type { EpochMs, TenantId } from '../../domain/ids.ts';
import { findBranchConflict } from '../../domain/repos/managed-branch.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import type { EnrollmentStore } from '../../ports/store.ts';
import { StoreError } from '../../ports/store.ts';
import { countStep, createConnectionMethods, isFull } from './connection-store.ts';
import { listBatches, listEvents } from './history.ts';
import { readReposOf, readRepoWithRow } from './read-repos.ts';
import { buryRepo, deleteRepo } from './repo-deletion.ts';
import { organizationRow } from './rows/account-items.ts';
import { addressKeyOf, addressStep, readAddress } from './rows/addresses.ts';
import {
  ALL_TENANTS_PARTITION,
  connectionKey,
  hookKey,
  organizationKey,
  tenantKey,
  wakeKey,
} from './rows/keys.ts';
import { dueAfterUpdate, dueIndex, isWakeable, toGuardRow, toRepoRow, toWakeRow } from './rows/rows.ts';
import { listRunningBatches } from './running-batches.ts';
import type { Step, Table } from './table/table.ts';

/** Tries to create a repository; another branch of it that changes in between costs one. */
const CREATE_TRIES_MAX = 5;

export function createEnrollmentStore(table: Table): EnrollmentStore {
  return {
    createTenant: (tenantId, at) => createTenant(table, tenantId, at),
    ...createConnectionMethods(table),
    createRepo: (repo, reposMax) => createRepo(table, repo, reposMax),
    updateRepo: (repo, options) => updateRepo(table, repo, options?.lastLook === true),
    buryRepo: (repo) => buryRepo(table, repo),
    deleteRepo: (repo, left) => deleteRepo(table, repo, left),
    listRunningBatches: (repo) => listRunningBatches(table, repo),
    listRepos: (tenantId) => readReposOf(table, tenantId, 'listRepos'),

    listBatches: (tenantId, limit) => listBatches(table, tenantId, limit),
    listEvents: (tenantId, limit) => listEvents(table, tenantId, limit),
  };
}

/** The organization that every tenant starts with; there are no teams in this version. */
const ORGANIZATION_NAME = 'Personal';

async function createTenant(table: Table, tenantId: TenantId, at: EpochMs): Promise<void> {
  const organization = putNew('organization', {
    ...organizationKey(tenantId),
    ...organizationRow.write({
      id: tenantId,
      ownerTenantId: tenantId,
      name: ORGANIZATION_NAME,
      createdAt: at,
    }),
  });
  const tenant = putNew('tenant', {
    ...tenantKey(tenantId),
    gsi2pk: ALL_TENANTS_PARTITION,
    gsi2sk: tenantId,
    tenant_id: tenantId,
    conn_count: 0,
    repo_count: 0,
    created_at: at,
  });
  // Signing in twice creates it once.
  const refusals = await table.transact([tenant, organization], 'createTenant');
  if (!refusals.has('tenant') || refusals.has('organization')) return;
  // A tenant of before organizations had a row; of one that leaves nothing may come back (A100).
  const alive: Step = {
    name: 'tenant',
    check: {
      Key: tenantKey(tenantId),
      ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(deleting)',
    },
  };
  await table.transact([alive, organization], 'createTenant');
}

function putNew(name: string, row: Record<string, unknown>): Step {
  return { name, put: { Item: row, ConditionExpression: 'attribute_not_exists(pk)' } };
}

type Creation = Awaited<ReturnType<EnrollmentStore['createRepo']>>;

async function createRepo(table: Table, repo: ManagedRepo, reposMax: number | null): Promise<Creation> {
  for (let tried = 0; tried < CREATE_TRIES_MAX; tried += 1) {
    const result = await tryCreate(table, repo, reposMax);
    if (result !== 'moved') return result;
  }
  throw new StoreError('lost_race', 'createRepo');
}

/**
 * One try to create. Of several failed conditions the first of these is answered: taken, no parent, over the limit.
 * `moved`: try again.
 */
async function tryCreate(
  table: Table,
  repo: ManagedRepo,
  reposMax: number | null,
): Promise<Creation | 'moved'> {
  const address = await readAddress(table, repo, 'createRepo');
  const branches = address?.branches ?? [];
  if (address !== null && address.tenantId !== repo.tenantId)
    return { managedBy: address.tenantId, id: branches[0]?.id ?? '' };
  const conflict = findBranchConflict(branches, repo);
  if (conflict?.kind === 'branch') return { managedBy: repo.tenantId, id: conflict.id };
  if (conflict?.kind === 'context') return { contextOf: conflict.id };
  const { id, baseBranch, statusContext } = repo;
  const dueAt = isWakeable(repo) ? (repo.dueAt ?? table.clock.now()) : null;
  const refusals = await table.transact(
    [
      {
        name: 'connection',
        check: {
          Key: connectionKey(repo.tenantId, repo.connectionId),
          ConditionExpression: 'attribute_exists(pk) AND deleting = :false',
          ExpressionAttributeValues: { ':false': false },
        },
      },
      addressStep(repo, address, [...branches, { id, baseBranch, statusContext }]),
      putNew('repo', toRepoRow(repo)),
      putNew('wake', toWakeRow(repo, dueAt)),
      countStep(repo.tenantId, 'repo_count', 1, reposMax),
      ...hookSteps(null, repo),
    ],
    'createRepo',
  );
  if (refusals.has('connection')) return 'connection_gone';
  if (refusals.has('address')) return 'moved';
  if (isFull(refusals.get('tenant'))) return 'limit_reached';
  if (refusals.size > 0) throw new StoreError('lost_race', 'createRepo');
  return 'created';
}

/** Steps that move the look-up of the hook id along with the repository. */
function hookSteps(before: ManagedRepo | null, after: ManagedRepo | null): readonly Step[] {
  const old = before?.hookId ?? null;
  const next = after?.hookId ?? null;
  if (old === next) return [];
  const steps: Step[] = [];
  if (old !== null) steps.push({ name: 'old hook', delete: { Key: hookKey(old) } });
  if (after !== null && next !== null) {
    steps.push(putNew('hook', toGuardRow(hookKey(next), after.tenantId, after.id)));
  }
  return steps;
}

async function updateRepo(table: Table, repo: ManagedRepo, lastLook: boolean): Promise<ManagedRepo> {
  const found = await readRepoWithRow(table, repo.tenantId, repo.id, 'updateRepo');
  if (found === null || found.repo.version !== repo.version) throw new StoreError('lost_race', 'updateRepo');
  const stored = found.repo;
  if (
    stored.connectionId !== repo.connectionId ||
    stored.baseBranch !== repo.baseBranch ||
    addressKeyOf(stored).pk !== addressKeyOf(repo).pk
  ) {
    throw new RangeError('the address, branch, tenant and connection of a repo cannot change');
  }
  const dueAt = dueAfterUpdate(stored, repo, lastLook, table.clock.now());
  const { stopUntil: _asked, heard: _heard, ...settings } = repo;
  const switched = isSwitch(stored, repo, lastLook);
  const next: ManagedRepo = {
    ...settings,
    version: repo.version + 1,
    wakeSeq: stored.wakeSeq,
    dueAt,
    ...(switched || stored.stopUntil === undefined ? {} : { stopUntil: stored.stopUntil }),
    ...(stored.heard === undefined ? {} : { heard: stored.heard }),
  };
  const refusals = await table.transact(
    [
      {
        name: 'repo',
        put: {
          Item: toRepoRow(next, found.row),
          ConditionExpression: '#version = :version',
          ExpressionAttributeNames: { '#version': 'version' },
          ExpressionAttributeValues: { ':version': repo.version },
        },
      },
      ...(switched ? switchSteps(next) : []),
      ...hookSteps(stored, next),
      ...(await contextSteps(table, stored, next)),
    ],
    'updateRepo',
  );
  if (refusals.size > 0) throw new StoreError('lost_race', 'updateRepo');
  return next;
}

/** Steps that change the status context in the row that keeps the branches of a repository apart. */
async function contextSteps(table: Table, before: ManagedRepo, after: ManagedRepo): Promise<readonly Step[]> {
  if (before.statusContext === after.statusContext) return [];
  const address = await readAddress(table, after, 'updateRepo');
  const isListed = address?.branches.some(({ id }) => id === after.id) === true;
  if (address === null || !isListed) return [];
  if (findBranchConflict(address.branches, after) !== null) throw new StoreError('lost_race', 'updateRepo');
  const { id, baseBranch, statusContext } = after;
  const branches = address.branches.map((each) =>
    each.id === id ? { id, baseBranch, statusContext } : each,
  );
  return [addressStep(after, address, branches)];
}

/**
 * Whether an update switches the queue. Without a switch the wake state is left alone, so that a PATCH cannot undo a
 * wake.
 */
function isSwitch(before: ManagedRepo, after: ManagedRepo, lastLook: boolean): boolean {
  return isWakeable(before) !== isWakeable(after) || lastLook;
}

/** Steps that put the repository into the due index, or take it out. */
function switchSteps(after: ManagedRepo): readonly Step[] {
  const update =
    after.dueAt === null
      ? {
          UpdateExpression: 'SET enabled = :enabled, due_at = :due REMOVE gsi1pk, gsi1sk, stop_until',
          ExpressionAttributeValues: { ':enabled': false, ':due': null },
        }
      : {
          UpdateExpression:
            'SET enabled = :enabled, due_at = :due, gsi1pk = :shard, gsi1sk = :sort REMOVE stop_until',
          ExpressionAttributeValues: {
            ':enabled': true,
            ':due': after.dueAt,
            ':shard': dueIndex(after.dueAt, after.id).gsi1pk,
            ':sort': dueIndex(after.dueAt, after.id).gsi1sk,
          },
        };
  return [
    {
      name: 'wake',
      update: { Key: wakeKey(after.id), ConditionExpression: 'attribute_exists(pk)', ...update },
    },
  ];
}
