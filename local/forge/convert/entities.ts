import type { CommitObject, Signature } from '../git/objects.ts';
import type { PullRecord, RepoRecord, ReviewRecord, StatusRecord, TimelineRecord } from '../model.ts';
import { accessOf, findUser, gitOf, headTip, repoById, slugOf, timestamp, type World } from '../world.ts';

export type Json = Readonly<Record<string, unknown>>;

const WIP_PREFIXES = ['wip:', '[wip]'];

/** A draft is a title that begins with one of the configured prefixes; there is no flag. */
export function isDraft(pull: PullRecord): boolean {
  return WIP_PREFIXES.some((prefix) => pull.title.toLowerCase().startsWith(prefix));
}

export function convertUser(world: World, login: string): Json {
  if (login === world.profile.actionsUser) {
    return { id: -2, login, full_name: 'Forge Actions', email: '', is_admin: false, active: true };
  }
  const user = findUser(world, login);
  if (user === undefined) return { id: -1, login: 'Ghost', full_name: '', email: '', is_admin: false };
  return {
    id: user.id,
    login: user.login,
    login_name: '',
    full_name: user.fullName,
    email: user.email,
    username: user.login,
    html_url: `${world.rootUrl()}/${user.login}`,
    is_admin: user.siteAdmin,
    active: true,
    restricted: false,
    prohibit_login: false,
    visibility: 'public',
  };
}

/** `viewer` null leaves the permissions out, as in webhook bodies. */
export function convertRepo(world: World, repo: RepoRecord, viewer: string | null): Json {
  const url = `${world.rootUrl()}/${slugOf(repo)}`;
  const access = viewer === null ? null : accessOf(world, repo, viewer);
  const parent = repo.forkOf === null ? undefined : repoById(world, repo.forkOf);
  return {
    id: repo.id,
    owner: convertUser(world, repo.owner),
    name: repo.name,
    full_name: slugOf(repo),
    description: '',
    private: repo.private,
    internal: false,
    fork: repo.forkOf !== null,
    parent: parent === undefined ? null : { id: parent.id, full_name: slugOf(parent) },
    mirror: false,
    empty: gitOf(world, repo).tip(repo.defaultBranch) === null,
    archived: repo.archived,
    html_url: url,
    url: `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}`,
    clone_url: `${url}.git`,
    ssh_url: '',
    default_branch: repo.defaultBranch,
    open_pr_counter: repo.pulls.filter((pull) => pull.state === 'open').length,
    ...(access === null
      ? {}
      : {
          permissions: {
            admin: access === 'admin',
            push: access === 'admin' || access === 'write',
            pull: access !== 'none',
          },
        }),
    has_issues: true,
    has_pull_requests: repo.pullsOff !== true,
    has_actions: repo.hasActions,
    object_format_name: 'sha1',
    allow_merge_commits: repo.allowedStyles.includes('merge'),
    allow_rebase: repo.allowedStyles.includes('rebase'),
    allow_rebase_explicit: repo.allowedStyles.includes('rebase-merge'),
    allow_squash_merge: repo.allowedStyles.includes('squash'),
    allow_fast_forward_only_merge: repo.allowedStyles.includes('fast-forward-only'),
    autodetect_manual_merge: repo.autodetectsMerges ?? false,
    default_merge_style: repo.defaultMergeStyle ?? 'merge',
    default_delete_branch_after_merge: repo.deleteBranchAfterMerge,
    ignore_whitespace_conflicts: false,
  };
}

export interface LiveHead {
  readonly ref: string;
  readonly sha: string;
  readonly repo: RepoRecord | null;
}

/** The head branch as it is now, which may be ahead of `refs/pull/N/head`. */
export function liveHead(world: World, pull: PullRecord): LiveHead {
  const repo = repoById(world, pull.headRepoId) ?? null;
  const sha = headTip(world, pull);
  const kept = `refs/pull/${pull.index}/head`;
  if (repo === null || sha === null) return { ref: kept, sha: pull.headSha, repo };
  return { ref: pull.agit === true ? kept : pull.headBranch, sha, repo };
}

/** As the list of pull requests has it. */
export function convertListed(world: World, repo: RepoRecord, pull: PullRecord, viewer: string | null): Json {
  const live = liveHead(world, pull);
  const { listsTopicAsBranch, listsKeptHead } = world.profile;
  const isNamed =
    listsTopicAsBranch && pull.agit === true && gitOf(world, repo).tip(pull.headBranch) !== null;
  const ref = isNamed ? pull.headBranch : live.ref;
  const head = { ...live, ref, ...(listsKeptHead ? { sha: pull.headSha } : {}) };
  const row = convertWithHead(world, repo, pull, viewer, head);
  const { listedTip } = world.knobs;
  if (listedTip === null || pull.base !== repo.defaultBranch) return row;
  return { ...row, base: { ...(row.base as Json), sha: listedTip } };
}

export function convertPull(world: World, repo: RepoRecord, pull: PullRecord, viewer: string | null): Json {
  return convertWithHead(world, repo, pull, viewer, liveHead(world, pull));
}

function convertWithHead(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  viewer: string | null,
  head: LiveHead,
): Json {
  const url = `${world.rootUrl()}/${slugOf(repo)}/pulls/${pull.index}`;
  const side = (label: string, ref: string, sha: string, of: RepoRecord | null): Json => ({
    label,
    ref,
    sha,
    repo_id: of?.id ?? -1,
    repo: of === null ? null : convertRepo(world, of, viewer),
  });
  return {
    id: pull.id,
    url,
    html_url: url,
    number: pull.index,
    user: convertUser(world, pull.author),
    title: pull.title,
    body: pull.body,
    labels: (pull.labels ?? []).map((name) => ({ name })),
    milestone: null,
    assignee: null,
    assignees: null,
    requested_reviewers: [],
    requested_reviewers_teams: [],
    state: pull.state,
    draft: isDraft(pull),
    is_locked: false,
    comments: pull.timeline.filter((entry) => entry.type === 'comment').length,
    mergeable: ['mergeable', 'ancestor', 'empty'].includes(pull.conflict) && !isDraft(pull),
    merged: pull.merged,
    merged_at: timestamp(pull.mergedAt),
    merge_commit_sha: pull.mergeCommit,
    merged_by: pull.mergedBy === null ? null : convertUser(world, pull.mergedBy),
    merge_base: pull.mergeBase ?? '',
    allow_maintainer_edit: false,
    base: side(pull.base, pull.base, gitOf(world, repo).tip(pull.base) ?? '', repo),
    head: side(pull.agit === true ? '' : pull.headBranch, head.ref, head.sha, head.repo),
    diff_url: `${url}.diff`,
    patch_url: `${url}.patch`,
    created_at: timestamp(pull.createdAt),
    updated_at: timestamp(pull.updatedAt),
    closed_at: timestamp(pull.closedAt),
    due_date: null,
    pin_order: 0,
    ...(world.profile.kind === 'forgejo' ? { flow: pull.agit === true ? 1 : 0 } : {}),
  };
}

export function convertTimelineEntry(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  entry: TimelineRecord,
): Json {
  const url = `${world.rootUrl()}/${slugOf(repo)}/pulls/${pull.index}`;
  return {
    id: entry.id,
    type: entry.type,
    html_url: `${url}#issuecomment-${entry.id}`,
    pull_request_url: url,
    issue_url: '',
    user: convertUser(world, entry.user),
    body: entry.body,
    created_at: timestamp(entry.at),
    updated_at: timestamp(entry.at),
    old_project_id: 0,
    project_id: 0,
    old_milestone: null,
    milestone: null,
    tracked_time: null,
    old_title: '',
    new_title: '',
    old_ref: entry.oldRef ?? '',
    new_ref: entry.newRef ?? '',
    ref_issue: null,
    ref_comment: null,
    ref_action: '',
    // Empty for schedule and cancel: the head they were made on is nowhere.
    ref_commit_sha: entry.commit ?? '',
    review_id: entry.reviewId ?? 0,
    label: entry.label === undefined ? null : { name: entry.label },
    assignee: null,
    assignee_team: null,
    removed_assignee: false,
    resolve_doer: null,
    dependent_issue: null,
  };
}

export function convertReview(world: World, repo: RepoRecord, pull: PullRecord, review: ReviewRecord): Json {
  return {
    id: review.id,
    user: convertUser(world, review.user),
    team: null,
    state: review.state,
    body: review.body,
    commit_id: review.commit,
    stale: review.stale,
    official: review.official,
    dismissed: review.dismissed,
    comments_count: 0,
    submitted_at: timestamp(review.at),
    updated_at: timestamp(review.updatedAt),
    html_url: `${world.rootUrl()}/${slugOf(repo)}/pulls/${pull.index}#issuecomment-${review.id}`,
  };
}

/** The state is called `status` in answers and `state` in requests. */
export function convertStatus(world: World, repo: RepoRecord, status: StatusRecord): Json {
  return {
    id: status.id,
    status: status.state,
    target_url: status.targetUrl,
    description: status.description,
    url: `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/statuses/${status.sha}`,
    context: status.context,
    // The user of Actions is looked up like any other and not found.
    creator: status.creator === world.profile.actionsUser ? null : convertUser(world, status.creator),
    created_at: timestamp(status.at),
    updated_at: timestamp(status.at),
  };
}

export function convertCommit(world: World, repo: RepoRecord, commit: CommitObject): Json {
  const api = `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/git`;
  const signature = (who: Signature): Json => ({ name: who.name, email: who.email, date: timestamp(who.at) });
  return {
    url: `${api}/commits/${commit.id}`,
    sha: commit.id,
    created: timestamp(commit.committer.at),
    html_url: `${world.rootUrl()}/${slugOf(repo)}/commit/${commit.id}`,
    commit: {
      url: `${api}/commits/${commit.id}`,
      author: signature(commit.author),
      committer: signature(commit.committer),
      message: commit.message,
      // No slip: every Forgejo and Gitea names the commit itself here.
      tree: { url: `${api}/trees/${commit.id}`, sha: commit.id, created: timestamp(commit.committer.at) },
      verification: null,
    },
    author: null,
    committer: null,
    parents: commit.parents.map((sha) => ({
      url: `${api}/commits/${sha}`,
      sha,
      created: '0001-01-01T00:00:00Z',
    })),
    files: null,
    stats: null,
  };
}
