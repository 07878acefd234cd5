import type { PullRecord, RepoRecord } from '../model.ts';
import { findPull, gitOf, headTip, takeId, type World } from '../world.ts';
import { requestCheck } from './checks.ts';
import { addEntry } from './timeline.ts';
import { commentEvent, pullEvent, sendWebhooks } from './webhooks.ts';

export interface NewPull {
  readonly headRepo: RepoRecord;
  readonly headBranch: string;
  /** The commit of an AGit push to `headBranch` as its topic; absent: the head is the branch of that name. */
  readonly agitHead?: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly author: string;
}

export type OpenOutcome =
  | { readonly ok: true; readonly pull: PullRecord }
  | { readonly ok: false; readonly reason: 'missing' | 'same' | 'exists' };

export async function openPull(world: World, repo: RepoRecord, request: NewPull): Promise<OpenOutcome> {
  const git = gitOf(world, repo);
  const isAgit = request.agitHead !== undefined;
  const head = request.agitHead ?? gitOf(world, request.headRepo).tip(request.headBranch);
  const tip = git.tip(request.base);
  if (head === null || tip === null) return { ok: false, reason: 'missing' };
  const { headRepo, headBranch, base } = request;
  if (!isAgit && headRepo.id === repo.id && headBranch === base) return { ok: false, reason: 'same' };
  const twin = repo.pulls.some(
    (pull) =>
      pull.state === 'open' &&
      pull.headRepoId === headRepo.id &&
      pull.headBranch === headBranch &&
      (pull.agit === true) === isAgit &&
      pull.base === base,
  );
  if (twin) return { ok: false, reason: 'exists' };
  if (headRepo.id !== repo.id) await git.copyCommit(gitOf(world, headRepo), head);
  const now = world.timers.now();
  const pull: PullRecord = {
    id: takeId(world),
    index: repo.nextIndex++,
    title: request.title,
    body: request.body,
    author: request.author,
    base,
    headRepoId: headRepo.id,
    headBranch,
    ...(isAgit ? { agit: true } : {}),
    headSha: head,
    mergeBase: await git.mergeBase(tip, head),
    behind: 0,
    conflict: 'checking',
    checkSeq: 0,
    state: 'open',
    merged: false,
    mergeCommit: null,
    mergedBy: null,
    mergedAt: null,
    createdAt: now,
    updatedAt: now,
    closedAt: null,
    schedule: null,
    timeline: [],
    reviews: [],
  };
  await git.setRef(`refs/pull/${pull.index}/head`, head);
  repo.pulls.push(pull);
  const commits = (await git.revList(head, [tip])).toReversed();
  addEntry(world, pull, 'pull_push', request.author, {
    body: JSON.stringify({ is_force_push: false, commit_ids: commits }),
  });
  requestCheck(world, repo, pull);
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'opened', request.author));
  return { ok: true, pull };
}

/** The schedule row stays. */
export function closePull(world: World, repo: RepoRecord, pull: PullRecord, user: string): void {
  if (pull.state === 'closed') return;
  pull.state = 'closed';
  pull.closedAt = world.timers.now();
  addEntry(world, pull, 'close', user);
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'closed', user));
}

/** False: merged, or its base is gone, or its head branch where that matters. */
export async function reopenPull(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  user: string,
): Promise<boolean> {
  if (pull.state === 'open') return true;
  if (pull.merged || gitOf(world, repo).tip(pull.base) === null) return false;
  if (headTip(world, pull) === null && !world.profile.reopensWithoutBranch) return false;
  pull.state = 'open';
  pull.closedAt = null;
  addEntry(world, pull, 'reopen', user);
  requestCheck(world, repo, pull);
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'reopened', user));
  return true;
}

/** An administrator can do this: nothing is left of the pull request but its commits. */
export function deletePull(repo: RepoRecord, pull: PullRecord): void {
  pull.state = 'closed';
  pull.schedule = null;
  repo.pulls = repo.pulls.filter((other) => other !== pull);
}

export function renamePull(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  title: string,
  user: string,
): void {
  if (pull.title === title) return;
  addEntry(world, pull, 'change_title', user, { body: '' });
  pull.title = title;
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'edited', user));
}

export function commentOnPull(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  user: string,
  body: string,
): number {
  const entry = addEntry(world, pull, 'comment', user, { body });
  const comment = { id: entry.id, body, user: { login: user } };
  sendWebhooks(world, repo, commentEvent(world, repo, pull, comment, user));
  return entry.id;
}

export function mustPull(repo: RepoRecord, index: number): PullRecord {
  const pull = findPull(repo, index);
  if (pull === undefined) throw new Error(`no pull request ${index}`);
  return pull;
}
