import type { RepoId, TenantId } from '../../../domain/ids.ts';
import type { ManagedBranch } from '../../../domain/repos/managed-branch.ts';
import type { ManagedRepo } from '../../../domain/repos/repo.ts';
import type { ForgeAddress } from '../../../ports/store.ts';
import { readRepo, readReposByKey } from '../read-repos.ts';
import type { Step, Table } from '../table/table.ts';
import { type Codec, listOf, optional, record, text, whole } from './codec.ts';
import type { Guard } from './guard-item.ts';
import type { Key } from './keys.ts';
import { repoGuardKey } from './keys.ts';
import { readRow } from './read-row.ts';

/** Owner and managed branches of a repository of a forge. They are one row, so that one condition keeps them apart. */
export interface Address {
  readonly tenantId: TenantId;
  /** Managed branches in the order of their enrollment; never empty. */
  readonly branches: readonly ManagedBranch[];
  /** Version of the row, which grows with every change; 0: a row from before several branches, with one branch. */
  readonly revision: number;
}

interface AddressRow extends Guard {
  readonly branches?: readonly ManagedBranch[];
  readonly revision?: number;
}

const managedBranch = record<ManagedBranch>({
  id: ['repo_id', text],
  baseBranch: ['base_branch', text],
  statusContext: ['status_context', text],
});

const addressRow = record<AddressRow>({
  tenantId: ['tenant_id', text],
  id: ['guards_id', text],
  branches: ['branches', optional(listOf(managedBranch)) as Codec<readonly ManagedBranch[]>],
  revision: ['revision', optional(whole) as Codec<number>],
});

export function addressKeyOf(address: ForgeAddress): Key {
  const key = repoGuardKey(address.instanceUrl, address.slug);
  if (key === null) throw new RangeError('a repo needs an address that has a normal form');
  return key;
}

export async function readAddress(
  table: Table,
  address: ForgeAddress,
  operation: string,
): Promise<Address | null> {
  const key = repoGuardKey(address.instanceUrl, address.slug);
  const row = key === null ? null : await table.get(key, operation);
  if (row === null) return null;
  const { tenantId, id, branches, revision } = readRow(addressRow, row, operation);
  if (branches !== undefined) return { tenantId, branches, revision: revision ?? 0 };
  const repo = await readRepo(table, tenantId, id, operation);
  return { tenantId, branches: [repo ?? { id, baseBranch: '', statusContext: '' }], revision: 0 };
}

/** Every managed branch of a repository, in the order of their enrollment. */
export async function readReposAt(
  table: Table,
  address: ForgeAddress,
  operation: string,
): Promise<readonly ManagedRepo[]> {
  const found = await readAddress(table, address, operation);
  if (found === null) return [];
  const { tenantId, branches } = found;
  return readReposByKey(
    table,
    branches.map(({ id }) => ({ tenantId, id })),
    operation,
  );
}

/**
 * Step that writes the row with other branches, or deletes it where none is left. It refuses where the row has changed
 * since it was read.
 */
export function addressStep(
  repo: ForgeAddress & Pick<ManagedRepo, 'tenantId'>,
  before: Address | null,
  branches: readonly ManagedBranch[],
): Step {
  const key = addressKeyOf(repo);
  const first = branches[0];
  const condition = unchangedSince(before);
  if (first === undefined) return { name: 'address', delete: { Key: key, ...condition } };
  const row = addressRow.write({
    tenantId: repo.tenantId,
    id: first.id,
    branches,
    revision: (before?.revision ?? 0) + 1,
  });
  return { name: 'address', put: { Item: { ...key, ...row }, ...condition } };
}

/**
 * Condition that the row is as it was read. Ids are never reused, so a row that was deleted and made again does not
 * meet it.
 */
function unchangedSince(before: Address | null) {
  if (before === null) return { ConditionExpression: 'attribute_not_exists(pk)' };
  const id = before.branches[0]?.id;
  if (before.revision === 0) {
    return {
      ConditionExpression: 'guards_id = :id AND attribute_not_exists(revision)',
      ExpressionAttributeValues: { ':id': id },
    };
  }
  return {
    ConditionExpression: 'guards_id = :id AND revision = :revision',
    ExpressionAttributeValues: { ':id': id, ':revision': before.revision },
  };
}

export function withoutBranch(address: Address | null, id: RepoId): readonly ManagedBranch[] {
  return (address?.branches ?? []).filter((branch) => branch.id !== id);
}
