import type { RepoId } from '../../domain/ids.ts';
import { leaseKey, wakeKey } from './rows/keys.ts';
import type { Step } from './table/table.ts';

/**
 * Condition that every write of a lease holder carries in its own transaction: the lease is running, and mine (A40).
 * A released lease refuses too: a worker that gave it back has nothing left to write.
 */
export function fenceCheck(repoId: RepoId, fence: number): Step {
  return {
    name: 'lease',
    check: {
      Key: leaseKey(repoId),
      ConditionExpression: '#fence = :fence AND attribute_exists(#owner)',
      ExpressionAttributeNames: { '#fence': 'fence', '#owner': 'owner' },
      ExpressionAttributeValues: { ':fence': fence },
    },
  };
}

/**
 * Condition that the repository exists: its wake row is created and deleted with it, and after that nothing may be
 * written for it (A57).
 */
export function aliveCheck(repoId: RepoId): Step {
  return { name: 'repo', check: { Key: wakeKey(repoId), ConditionExpression: 'attribute_exists(pk)' } };
}
