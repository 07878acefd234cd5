import { isDraft } from '../convert/entities.ts';
import type { CommitObject, Signature } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';
import type { MergeStyle, PullRecord, RepoRecord } from '../model.ts';
import { findUser, gitOf, repoById, slugOf, type World } from '../world.ts';
import { mayMerge, protectionFailure, ruleFor } from './protection.ts';
import { announcePush, pushBranch } from './pushes.ts';
import { rebase } from './rebase.ts';
import { addEntry } from './timeline.ts';
import { pullEvent, sendWebhooks } from './webhooks.ts';

export interface MergeRequest {
  readonly style: MergeStyle;
  readonly doer: string;
  readonly title: string;
  readonly message: string;
  readonly deleteBranch: boolean;
}

export type MergeRefusal =
  | 'style_forbidden'
  | 'conflict'
  | 'push_out_of_date'
  | 'nothing_to_merge'
  | 'ambiguous_base'
  | 'file_converted'
  | 'not_fast_forward'
  | 'stale_divergence';
export type MergeOutcome =
  | { readonly ok: true; readonly mergeCommit: string }
  | { readonly ok: false; readonly reason: MergeRefusal };

/** `schedule` looks past the branch rule, `manual` does so for an administrator who asked, `auto` never; `mark` asks for the right alone. */
export type MergeableMode = 'schedule' | 'manual' | 'force' | 'auto' | 'mark';

export type Unmergeable =
  | 'merged'
  | 'closed'
  | 'not_allowed'
  | 'draft'
  | 'not_mergeable'
  | { readonly blocked: string };

/** The forge's `CheckPullMergeable`, in its order. Null: go ahead. */
export function checkMergeable(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  doer: string,
  mode: MergeableMode,
): Unmergeable | null {
  if (pull.merged) return 'merged';
  if (pull.state === 'closed') return 'closed';
  if (!mayMerge(world, repo, pull, doer)) return 'not_allowed';
  if (mode === 'mark') return null;
  if (isDraft(pull)) return 'draft';
  if (pull.conflict !== 'mergeable' && !(pull.conflict === 'empty' && mode !== 'auto'))
    return 'not_mergeable';
  if (hasOpenDependencies(repo, pull)) return { blocked: 'Issue dependencies blocks this closing' };
  // As a forge without a key to sign with.
  if (ruleFor(world, repo, pull.base)?.require_signed_commits === true)
    return { blocked: "The merge was denied because it won't be signed: nokey" };
  if (mode === 'schedule' || mode === 'force') return null;
  const blocked = protectionFailure(world, repo, pull);
  return blocked === null ? null : { blocked };
}

function hasOpenDependencies(repo: RepoRecord, { dependsOn = [] }: PullRecord): boolean {
  return repo.pulls.some((other) => dependsOn.includes(other.index) && other.state === 'open');
}

/** Merges what `refs/pull/N/head` holds into the base as it is now. */
export async function mergePull(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  request: MergeRequest,
): Promise<MergeOutcome> {
  if (!repo.allowedStyles.includes(request.style)) return { ok: false, reason: 'style_forbidden' };
  const git = gitOf(world, repo);
  const tip = git.tip(pull.base);
  if (tip === null) return { ok: false, reason: 'push_out_of_date' };
  // Git pushes a merge to the base by its full name: where a branch or tag has that name as well, it takes neither.
  const fullName = `refs/heads/${pull.base}`;
  if (git.tip(fullName) !== null || git.ref(`refs/tags/${fullName}`) !== null)
    return { ok: false, reason: 'ambiguous_base' };
  const ground = (world.profile.mergesIntoTag ? git.ref(`refs/tags/${pull.base}`) : null) ?? tip;
  const built = await buildMerge(world, repo, pull, request, ground);
  if (!built.ok) return built;
  if (ground !== tip && !(await git.isAncestor(tip, built.mergeCommit)))
    return { ok: false, reason: 'push_out_of_date' };
  if (built.mergeCommit === tip) return { ok: false, reason: 'nothing_to_merge' };
  if (!(await git.updateRef(fullName, built.mergeCommit, tip))) {
    return { ok: false, reason: 'push_out_of_date' };
  }
  const now = world.timers.now();
  const head = pull.headSha;
  pull.merged = true;
  pull.state = 'closed';
  pull.mergeCommit = built.mergeCommit;
  pull.mergedBy = request.doer;
  pull.mergedAt = now;
  pull.closedAt = now;
  // No cancel entry: the row goes with the merge.
  pull.schedule = null;
  const { tree } = await git.mustCommit(built.mergeCommit);
  repo.merges.push({
    pull: pull.index,
    base: pull.base,
    head,
    mergeCommit: built.mergeCommit,
    tree,
    previousTip: tip,
    style: request.style,
    at: now,
  });
  addEntry(world, pull, 'merge_pull', request.doer, { commit: built.mergeCommit });
  announcePush(world, repo, {
    branch: pull.base,
    before: tip,
    after: built.mergeCommit,
    pusher: request.doer,
  });
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'closed', request.doer));
  if (request.deleteBranch) await deleteHeadBranch(world, pull, request.doer);
  return built;
}

async function deleteHeadBranch(world: World, pull: PullRecord, doer: string): Promise<void> {
  if (pull.agit === true) return;
  const headRepo = repoById(world, pull.headRepoId);
  const before = headRepo === undefined ? null : gitOf(world, headRepo).tip(pull.headBranch);
  if (headRepo === undefined || before === null || pull.headBranch === headRepo.defaultBranch) return;
  const result = await pushBranch(world, headRepo, {
    branch: pull.headBranch,
    before,
    after: null,
    pusher: doer,
  });
  if (result === 'pushed') addEntry(world, pull, 'delete_branch', doer, { oldRef: pull.headBranch });
}

async function buildMerge(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  request: MergeRequest,
  tip: string,
): Promise<MergeOutcome> {
  const git = gitOf(world, repo);
  const headHasTip = await git.isAncestor(tip, pull.headSha);
  if (request.style === 'fast-forward-only') {
    return headHasTip ? { ok: true, mergeCommit: pull.headSha } : { ok: false, reason: 'not_fast_forward' };
  }
  const committer = signatureOf(world, request.doer);
  if (request.style === 'rebase' || request.style === 'rebase-merge') {
    // Whether there is anything to replay was counted when the pull request was last checked.
    if (world.profile.rebaseTrustsLastCheck && pull.behind === 0 && !headHasTip)
      return { ok: false, reason: 'stale_divergence' };
    const rebased = await rebase(git, world.profile, { tip, head: pull.headSha, committer });
    if (typeof rebased !== 'string') return { ok: false, reason: rebased.stopped };
    if (request.style === 'rebase') return { ok: true, mergeCommit: rebased };
    const { tree } = await git.mustCommit(rebased);
    const message = messageOf(repo, pull, request);
    return write(git, { tree, parents: [tip, rebased], author: committer, committer, message });
  }
  const merged = await git.mergeTree(tip, pull.headSha);
  if (merged.kind === 'conflict') return { ok: false, reason: 'conflict' };
  const isSquash = request.style === 'squash';
  return write(git, {
    tree: merged.tree,
    parents: isSquash ? [tip] : [tip, pull.headSha],
    author: isSquash ? signatureOf(world, pull.author) : committer,
    committer,
    message: messageOf(repo, pull, request),
  });
}

function write(git: Repository, commit: Omit<CommitObject, 'id'>): MergeOutcome {
  return { ok: true, mergeCommit: git.objects.writeCommit(commit) };
}

function messageOf(repo: RepoRecord, pull: PullRecord, request: MergeRequest): string {
  const source = pull.headRepoId === repo.id ? pull.headBranch : `fork:${pull.headBranch}`;
  const standard =
    request.style === 'squash'
      ? `${pull.title} (#${pull.index})`
      : `Merge pull request '${pull.title}' (#${pull.index}) from ${source} into ${pull.base}`;
  const trailer = `Reviewed-on: ${slugOf(repo)}#${pull.index}`;
  return [request.title || standard, request.message || trailer].join('\n\n');
}

export function signatureOf(world: World, login: string): Signature {
  const user = findUser(world, login);
  return {
    name: user?.fullName || login,
    email: user?.email ?? `${login}@noreply.localhost`,
    at: Math.floor(world.timers.now() / 1000) * 1000,
  };
}
