import type { FileChanges, ForgeControl } from './control.ts';
import type { MergeStyle, PullRecord, RepoRecord } from './model.ts';
import { ensureFork, ensureUser } from './set-up.ts';
import { requestChecksOfBase } from './world/checks.ts';
import { markMerged } from './world/marked-merge.ts';
import { mergePull, signatureOf } from './world/merge.ts';
import { createRule } from './world/protection.ts';
import { type OpenOutcome, openPull } from './world/pulls.ts';
import { announcePush, syncHead } from './world/pushes.ts';
import { accessOf, gitOf, headTip, takeId, type World } from './world.ts';

/** The person who pushes, schedules and closes. */
export const PERSON = 'dev';
/** Has the power to pass over branch rules. */
export const OWNER = 'owner';
/** The queue's own account: administrator of the repository. */
export const BOT = 'mq-bot';

/** One commit on `from` (null: a first one), and the branch moved to it. Returns the commit. */
export async function commitChanges(
  world: World,
  repo: RepoRecord,
  branch: string,
  from: string | null,
  changes: FileChanges,
  author: string,
): Promise<string> {
  const commit = await writeChanges(world, repo, from, changes, author);
  await moveBranch(world, repo, branch, commit, author);
  return commit;
}

async function writeChanges(
  world: World,
  repo: RepoRecord,
  from: string | null,
  changes: FileChanges,
  author: string,
): Promise<string> {
  const git = gitOf(world, repo);
  const tree = await git.changeTree(
    from,
    Object.entries(changes).map(([path, change]) => {
      if (change === null) return { path, content: null };
      if (typeof change === 'string') return { path, content: Buffer.from(change) };
      return { path, content: Buffer.from(change.content), mode: change.mode };
    }),
  );
  const who = signatureOf(world, author);
  return git.objects.writeCommit({
    tree,
    parents: from === null ? [] : [from],
    author: who,
    committer: who,
    message: `Change ${Object.keys(changes).join(', ')}`.slice(0, 200),
  });
}

/** One more commit on the head of a pull request, from its author. Returns the commit. */
export async function commitToHead(
  world: World,
  headRepo: RepoRecord,
  pull: PullRecord,
  changes: FileChanges,
  by = pull.author,
): Promise<string> {
  const commit = await writeChanges(world, headRepo, headTip(world, pull), changes, by);
  await moveHead(world, headRepo, pull, commit, by);
  return commit;
}

/** A push of the author: to the head's branch, or to `refs/for/…`, which moves what the forge keeps. */
export async function moveHead(
  world: World,
  headRepo: RepoRecord,
  pull: PullRecord,
  after: string,
  by = pull.author,
): Promise<void> {
  if (pull.agit !== true) return moveBranch(world, headRepo, pull.headBranch, after, by);
  await gitOf(world, headRepo).setRef(`refs/pull/${pull.index}/head`, after);
  await syncHead(world, headRepo, pull, by);
}

/** Past every rule: that direct pushes are forbidden is a fact about the rule, not about this hand. */
export async function moveBranch(
  world: World,
  repo: RepoRecord,
  branch: string,
  after: string,
  pusher: string,
): Promise<void> {
  const git = gitOf(world, repo);
  const before = git.tip(branch);
  await git.setRef(`refs/heads/${branch}`, after);
  announcePush(world, repo, { branch, before, after, pusher });
}

/** Past every rule, as `moveBranch`. */
export async function removeBranch(
  world: World,
  repo: RepoRecord,
  branch: string,
  pusher: string,
): Promise<void> {
  const git = gitOf(world, repo);
  const before = git.tip(branch);
  if (before === null) throw new Error(`no branch ${branch}`);
  await git.deleteRef(`refs/heads/${branch}`, before);
  announcePush(world, repo, { branch, before, after: null, pusher });
}

/** A branch as a push leaves it over which the forge died: nothing follows from it. */
export async function leaveHalfMade(
  world: World,
  repo: RepoRecord,
  branch: string,
  sha: string,
): Promise<void> {
  await gitOf(world, repo).setRef(`refs/heads/${branch}`, sha);
  repo.halfMade = [...(repo.halfMade ?? []), branch];
}

/** A pull request from a new commit, or from a commit that is there already. Returns its number. */
export async function propose(
  world: World,
  repo: RepoRecord,
  options: Parameters<ForgeControl['openPullRequest']>[0],
): Promise<number> {
  const { branch, fork = false, agit = false, author = PERSON, base = repo.defaultBranch } = options;
  ensureUser(world, author);
  const isStranger = repo.collaborators[author] === undefined && accessOf(world, repo, author) === 'read';
  if (!fork && !agit && isStranger) repo.collaborators[author] = 'write';
  const headRepo = fork ? await ensureFork(world, repo, author) : repo;
  const git = gitOf(world, repo);
  const wanted = options.head ?? options.from;
  const from = wanted === undefined ? git.tip(base) : await git.resolve(wanted);
  if (from !== null && headRepo !== repo) await gitOf(world, headRepo).copyCommit(git, from);
  const title = options.title ?? `Change ${branch}`;
  if (agit) {
    const agitHead = options.head ?? (await writeChanges(world, repo, from, options.files ?? {}, author));
    const topic = `${author}/${branch}`;
    const pushed = { headRepo: repo, headBranch: topic, agitHead, base, title, body: '', author };
    return numberOf(await openPull(world, repo, pushed));
  }
  if (options.head === undefined)
    await commitChanges(world, headRepo, branch, from, options.files ?? {}, author);
  else if (gitOf(world, headRepo).tip(branch) !== options.head)
    await moveBranch(world, headRepo, branch, options.head, author);
  return numberOf(
    await openPull(world, repo, { headRepo, headBranch: branch, base, title, body: '', author }),
  );
}

function numberOf(opened: OpenOutcome): number {
  if (!opened.ok) throw new Error(`pull request not opened: ${opened.reason}`);
  return opened.pull.index;
}

/** The repository is an organization's from now on; a team of the same name was another one. */
export function lendByTeam(
  world: World,
  repo: RepoRecord,
  team: Parameters<ForgeControl['lendByTeam']>[0],
): void {
  for (const login of team.members) ensureUser(world, login);
  const others = (repo.teams ?? []).filter(({ name }) => name !== team.name);
  repo.teams = [...others, { id: takeId(world), ...team }];
}

/** Makes the rule of a branch if there is none, and changes what is named. */
export function changeRule(
  world: World,
  repo: RepoRecord,
  branch: string,
  rule: Parameters<ForgeControl['setProtection']>[0],
): void {
  let record = repo.rules.find((each) => each.rule_name === branch);
  if (record === undefined) {
    record = createRule(world, branch);
    record.applies_to_admins = true;
    repo.rules.push(record);
  }
  if (rule.mergeList !== undefined) {
    record.enable_merge_whitelist = true;
    record.merge_whitelist_usernames = [...rule.mergeList];
    record.merge_whitelist_teams = [...(rule.mergeTeams ?? [])];
  }
  if (rule.requiredContexts !== undefined) {
    record.enable_status_check = true;
    record.status_check_contexts = [...rule.requiredContexts];
  }
  record.required_approvals = rule.requiredApprovals ?? record.required_approvals;
  record.block_on_rejected_reviews = rule.blockOnRejectedReviews ?? record.block_on_rejected_reviews;
  record.block_on_official_review_requests =
    rule.blockOnOfficialReviewRequests ?? record.block_on_official_review_requests;
  record.block_on_outdated_branch = rule.blockOnOutdatedBranch ?? record.block_on_outdated_branch;
  record.ignore_stale_approvals = rule.ignoreStaleApprovals ?? record.ignore_stale_approvals;
  record.enable_push = rule.directPushAllowed ?? record.enable_push;
  record.require_signed_commits = rule.requiresSigned ?? record.require_signed_commits;
  record.priority = rule.priority ?? record.priority;
  record.protected_file_patterns = rule.protectedFilePatterns ?? record.protected_file_patterns;
  requestChecksOfBase(world, repo, branch);
}

/** At once, past the rule. Returns the merge commit. */
export async function mergeByHand(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  style: MergeStyle,
): Promise<string> {
  ensureUser(world, OWNER);
  const request = { style, doer: OWNER, title: '', message: '', deleteBranch: false };
  const outcome = await mergePull(world, repo, pull, request);
  if (!outcome.ok) throw new Error(`not merged: ${outcome.reason}`);
  return outcome.mergeCommit;
}

/** Of a repository that allows it from now on. */
export async function markByHand(
  world: World,
  repo: RepoRecord,
  pull: PullRecord,
  commit: string,
): Promise<void> {
  if (!repo.allowedStyles.includes('manually-merged')) repo.allowedStyles.push('manually-merged');
  const refusal = await markMerged(world, repo, pull, { doer: PERSON, commit });
  if (refusal !== null) throw new Error(`not marked: ${refusal}`);
}
