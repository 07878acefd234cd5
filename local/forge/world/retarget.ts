import type { PullRecord, RepoRecord } from '../model.ts';
import { gitOf, type World } from '../world.ts';
import { requestCheck } from './checks.ts';
import { addEntry } from './timeline.ts';
import { pullEvent, sendWebhooks } from './webhooks.ts';

/** No entry tells of the pushes before it any more, and this one tells only what the head is. */
async function restatePush(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  tip: string,
  user: string,
): Promise<void> {
  const commits = (await gitOf(world, repo).revList(pull.headSha, [tip])).toReversed();
  pull.timeline = pull.timeline.filter(({ type }) => type !== 'pull_push');
  if (commits.length === 0) return;
  const body = JSON.stringify({ is_force_push: false, commit_ids: commits });
  addEntry(world, pull, 'pull_push', user, { body });
}

/** Sends a pull request to another branch. Its schedule stays. */
export async function retargetPull(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  base: string,
  user: string,
): Promise<'changed' | 'missing' | 'exists'> {
  if (pull.base === base) return 'changed';
  const tip = gitOf(world, repo).tip(base);
  if (tip === null) return 'missing';
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
  if (world.profile.retargetRestatesPush) await restatePush(world, repo, pull, tip, user);
  requestCheck(world, repo, pull);
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'edited', user));
  return 'changed';
}
