import type { PullRecord, RepoRecord } from '../model.ts';
import { gitOf, type World } from '../world.ts';
import { requestCheck } from './checks.ts';
import { addEntry } from './timeline.ts';
import { pullEvent, sendWebhooks } from './webhooks.ts';

/** Sends a pull request to another branch. Its schedule stays. */
export function retargetPull(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  base: string,
  user: string,
): 'changed' | 'missing' | 'exists' {
  if (pull.base === base) return 'changed';
  if (gitOf(world, repo).tip(base) === null) return 'missing';
  const twin = repo.pulls.some(
    (other) =>
      other !== pull &&
      other.state === 'open' &&
      other.base === base &&
      other.headRepoId === pull.headRepoId &&
      other.headBranch === pull.headBranch,
  );
  if (twin || (pull.headRepoId === repo.id && pull.headBranch === base)) return 'exists';
  addEntry(world, pull, 'change_target_branch', user, { oldRef: pull.base, newRef: base });
  pull.base = base;
  requestCheck(world, repo, pull);
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'edited', user));
  return 'changed';
}
