import { startRuns } from '../actions/runs.ts';
import { convertRepo, convertUser, type Json } from '../convert/entities.ts';
import { ZERO_ID } from '../git/refs.ts';
import type { Repository } from '../git/repository.ts';
import type { PullRecord, RepoRecord } from '../model.ts';
import { gitOf, headTip, slugOf, timestamp, type World } from '../world.ts';
import { requestCheck, requestChecksOfBase } from './checks.ts';
import { mayPush, ruleFor } from './protection.ts';
import { retargetPull } from './retarget.ts';
import { markStaleReviews } from './reviews.ts';
import { addEntry } from './timeline.ts';
import { pullEvent, sendWebhooks } from './webhooks.ts';

export interface BranchPush {
  readonly branch: string;
  /** Null: the branch is new. */
  readonly before: string | null;
  /** Null: the branch is deleted. */
  readonly after: string | null;
  readonly pusher: string;
}

export type PushResult = 'pushed' | 'protected' | 'stale' | 'not_fast_forward';

/** Commits carried in the body of a push event, like the forge's feed limit. */
const EVENT_COMMITS_MAX = 5;

/** Moves one branch the way a push does: rule, ref with lease, then the forge's own work on it. */
export async function pushBranch(
  world: World,
  repo: RepoRecord,
  push: BranchPush,
  options: { readonly force?: boolean; readonly bypassRule?: boolean } = {},
): Promise<PushResult> {
  const git = gitOf(world, repo);
  if (options.bypassRule !== true) {
    if (!mayPush(world, repo, push.branch, push.pusher)) return 'protected';
    const guarded = ruleFor(world, repo, push.branch) !== null;
    if (guarded && (push.after === null || options.force === true)) return 'protected';
  }
  if (push.after !== null && push.before !== null && options.force !== true) {
    if (!(await git.isAncestor(push.before, push.after))) return 'not_fast_forward';
  }
  const ref = `refs/heads/${push.branch}`;
  const moved =
    push.after === null
      ? await git.deleteRef(ref, push.before ?? ZERO_ID)
      : await git.updateRef(ref, push.after, push.before);
  if (!moved) return 'stale';
  announcePush(world, repo, push);
  return 'pushed';
}

/** The ref has moved already; everything that follows from it, most of it a moment later. */
export function announcePush(world: World, repo: RepoRecord, push: BranchPush): void {
  if (push.before === push.after) return;
  repo.halfMade = repo.halfMade?.filter((branch) => branch !== push.branch) ?? [];
  // The forge comes to the open pull requests later; meanwhile they show the new tip, and the old check as if it stood.
  if (push.after !== null && world.knobs.pushDelayMs === 0) requestChecksOfBase(world, repo, push.branch);
  world.background.enqueue(world.knobs.pushDelayMs, () => processPush(world, repo, push));
  if (push.after !== null) {
    world.background.enqueue(world.knobs.pushDelayMs + world.knobs.actionsDelayMs, () =>
      startRuns(world, repo, push.branch, push.pusher),
    );
  }
}

async function processPush(world: World, repo: RepoRecord, push: BranchPush): Promise<void> {
  if (push.after !== null && world.knobs.pushDelayMs > 0) requestChecksOfBase(world, repo, push.branch);
  if (push.after !== null) await noteReferences(world, repo, push.after, push);
  await sendPushEvent(world, repo, push);
  for (const base of world.state.repos) {
    for (const pull of base.pulls) {
      if (pull.state !== 'open') continue;
      const isHead = pull.agit !== true && pull.headRepoId === repo.id && pull.headBranch === push.branch;
      if (isHead && push.after !== null) await syncHead(world, base, pull, push.pusher);
      const baseGone = base.id === repo.id && pull.base === push.branch;
      if (push.after !== null) continue;
      const moves = baseGone && !isHead && world.profile.sendsToDefaultBranch;
      if (moves) await retargetPull(world, base, pull, base.defaultBranch, push.pusher);
      else if (isHead || baseGone) closeForLostBranch(world, base, pull, push.pusher);
    }
  }
}

/** A pull request that a commit names with a mark gets an entry, on whatever branch the commit comes. */
async function noteReferences(
  world: World,
  repo: RepoRecord,
  after: string,
  push: BranchPush,
): Promise<void> {
  const git = gitOf(world, repo);
  const known = push.before ?? git.tip(repo.defaultBranch);
  for (const id of await git.revList(after, known === null ? [] : [known])) {
    const { message } = await git.mustCommit(id);
    for (const [, index] of message.matchAll(/(?<![\w&])[#!](\d+)\b/g)) {
      const pull = repo.pulls.find((each) => each.index === Number(index));
      // The merge of a pull request says its number too; what that leaves on a merged one has no effect.
      if (pull?.state === 'open') addEntry(world, pull, 'commit_ref', push.pusher, { commit: id });
    }
  }
}

function closeForLostBranch(world: World, repo: RepoRecord, pull: PullRecord, user: string): void {
  pull.state = 'closed';
  pull.closedAt = world.timers.now();
  addEntry(world, pull, 'close', user);
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'closed', user));
}

/** Copies the head into the base repo, writes the timeline entry, and checks for conflicts again. */
export async function syncHead(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  pusher: string,
): Promise<void> {
  const headRepo = world.state.repos.find((each) => each.id === pull.headRepoId);
  const after = headTip(world, pull);
  const before = pull.headSha;
  if (headRepo === undefined || after === null || after === before) return;
  const git = gitOf(world, repo);
  if (headRepo.id !== repo.id) await git.copyCommit(gitOf(world, headRepo), after);
  await git.setRef(`refs/pull/${pull.index}/head`, after);
  pull.headSha = after;
  await addPushEntry(world, git, pull, before, after, pusher);
  await markStaleReviews(world, repo, pull, before, after);
  requestCheck(world, repo, pull);
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'synchronized', pusher));
}

async function addPushEntry(
  world: World,
  git: Repository,
  pull: PullRecord,
  before: string,
  after: string,
  pusher: string,
): Promise<void> {
  const forced = !(await git.isAncestor(before, after));
  const tip = git.tip(pull.base);
  const notOnBase = tip === null ? [] : [tip];
  let commits: readonly string[];
  if (!forced) commits = (await git.revList(after, [before, ...notOnBase])).toReversed();
  else if (world.profile.forcePushListsAllCommits) {
    commits = (await git.revList(after, notOnBase)).toReversed();
    pull.timeline = pull.timeline.filter((entry) => entry.type !== 'pull_push');
  } else commits = [before, after];
  const body = JSON.stringify({ is_force_push: forced, commit_ids: commits });
  addEntry(world, pull, 'pull_push', pusher, { body });
}

async function newCommits(git: Repository, before: string | null, after: string): Promise<readonly string[]> {
  return before === null ? [after] : (await git.revList(after, [before])).slice(0, EVENT_COMMITS_MAX);
}

async function sendPushEvent(world: World, repo: RepoRecord, push: BranchPush): Promise<void> {
  if (repo.hooks.length === 0) return;
  const git = gitOf(world, repo);
  const url = `${world.rootUrl()}/${slugOf(repo)}`;
  const ids = push.after === null ? [] : await newCommits(git, push.before, push.after);
  const commits: Json[] = [];
  for (const id of ids) {
    const commit = await git.mustCommit(id);
    const author = { name: commit.author.name, email: commit.author.email, username: '' };
    commits.push({
      id,
      message: commit.message,
      url: `${url}/commit/${id}`,
      author,
      committer: author,
      timestamp: timestamp(commit.committer.at),
    });
  }
  const sender = convertUser(world, push.pusher);
  const shared = { repository: convertRepo(world, repo, null), sender };
  const send = (event: string, payload: Json): void =>
    sendWebhooks(world, repo, { event, type: event, selectedBy: [event], branch: push.branch, payload });
  if (push.before === null)
    send('create', { sha: push.after, ref: push.branch, ref_type: 'branch', ...shared });
  if (push.after === null) {
    send('delete', { ref: push.branch, ref_type: 'branch', pusher_type: 'user', ...shared });
    return;
  }
  send('push', {
    ref: `refs/heads/${push.branch}`,
    before: push.before ?? ZERO_ID,
    after: push.after,
    compare_url: push.before === null ? '' : `${url}/compare/${push.before}...${push.after}`,
    commits,
    total_commits: commits.length,
    head_commit: commits[0] ?? null,
    pusher: sender,
    ...shared,
  });
}
