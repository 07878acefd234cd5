import type { ListedEntry, MergedTree, Repository } from '../git/repository.ts';
import type { PullRecord, RepoRecord } from '../model.ts';
import { gitOf, type World } from '../world.ts';
import { isProtectedPath, ruleFor } from './protection.ts';
import { pullEvent, sendWebhooks } from './webhooks.ts';

/** Puts a pull request into "checking": `mergeable` is false until the check has run. */
export function requestCheck(world: World, repo: RepoRecord, pull: PullRecord): void {
  if (pull.merged || pull.state !== 'open') return;
  beginChecking(world, pull);
  const seq = pull.checkSeq;
  world.background.enqueue(world.knobs.checkDelayMs, async () => {
    if (pull.checkSeq === seq && !pull.merged) await runCheck(world, repo, pull);
  });
}

/** Every open pull request of a base, when the base moved or its rule was edited. */
export function requestChecksOfBase(world: World, repo: RepoRecord, base: string): void {
  for (const pull of repo.pulls.filter((each) => each.base === base)) {
    if (world.knobs.delaysChecks) delayCheck(world, pull);
    else requestCheck(world, repo, pull);
  }
}

function delayCheck(world: World, pull: PullRecord): void {
  if (pull.merged || pull.state !== 'open') return;
  beginChecking(world, pull);
  pull.isCheckDelayed = true;
}

/** It is read by its number. */
export function requestDelayedCheck(world: World, repo: RepoRecord, pull: PullRecord): void {
  if (pull.isCheckDelayed === true) requestCheck(world, repo, pull);
}

/** A check that is under way counts no more. */
function beginChecking(world: World, pull: PullRecord): void {
  pull.conflict = 'checking';
  pull.checkSeq += 1;
  delete pull.isCheckDelayed;
  world.store.changed();
}

async function runCheck(world: World, repo: RepoRecord, pull: PullRecord): Promise<void> {
  const git = gitOf(world, repo);
  const tip = git.tip(pull.base);
  world.store.changed();
  if (tip === null) {
    pull.conflict = 'error';
    return;
  }
  const common = await git.mergeBase(tip, pull.headSha);
  // Of a head without a commit in common the forge tells the tip, and its check merges from there (forge facts, 2).
  pull.mergeBase = common ?? tip;
  pull.changesProtected = await changesProtected(world, repo, pull);
  if (pull.mergeBase === pull.headSha) {
    pull.conflict = 'ancestor';
    if (repo.autodetectsMerges === true) await callMerged(world, repo, pull, tip);
    return;
  }
  pull.behind = common === tip ? 0 : (await git.revList(tip, [pull.headSha])).length;
  const merged: MergedTree =
    common === null
      ? { kind: 'clean', tree: (await git.mustCommit(pull.headSha)).tree }
      : await git.mergeTree(tip, pull.headSha);
  const isConflict =
    merged.kind === 'conflict' ||
    (world.profile.checksByPath && (await clashesByPath(git, pull.mergeBase, tip, pull.headSha)));
  if (isConflict) {
    pull.conflict = 'conflict';
    return;
  }
  pull.conflict = merged.tree === (await git.mustCommit(tip)).tree ? 'empty' : 'mergeable';
  if (pull.conflict === 'mergeable' && world.profile.recheckAfterConflictCheck) {
    world.queueAutoMerge(repo, pull, pull.headSha);
  }
}

/** As if a person had merged it by hand: the oldest merge above its head counts as its own, else the head itself. */
async function callMerged(world: World, repo: RepoRecord, pull: PullRecord, tip: string): Promise<void> {
  const git = gitOf(world, repo);
  const above = (await git.revList(tip, [pull.headSha])).toReversed();
  const onPath = await Promise.all(
    above.map(async (id) =>
      (await git.mustCommit(id)).parents.length > 1 && (await git.isAncestor(pull.headSha, id)) ? [id] : [],
    ),
  );
  const now = world.timers.now();
  pull.merged = true;
  pull.state = 'closed';
  pull.mergeCommit = onPath.flat()[0] ?? pull.headSha;
  // The forge takes who pushed the base last, where it knows that.
  pull.mergedBy = repo.owner;
  pull.mergedAt = now;
  pull.closedAt = now;
  pull.schedule = null;
  world.store.changed();
  sendWebhooks(world, repo, pullEvent(world, repo, pull, 'closed', pull.mergedBy));
}

/** Looked at when the conflict check is, as on the forge. */
async function changesProtected(world: World, repo: RepoRecord, pull: PullRecord): Promise<boolean> {
  const rule = ruleFor(world, repo, pull.base);
  if (rule === null || rule.protected_file_patterns === '' || pull.mergeBase === null) return false;
  const names = await gitOf(world, repo).diff(pull.mergeBase, pull.headSha, ['--name-only', '-z']);
  return names.split('\0').some((name) => name !== '' && isProtectedPath(world, rule, name));
}

/** Is there a path that one side deleted and the other changed, or whose mode both sides have otherwise? */
async function clashesByPath(git: Repository, base: string, ours: string, theirs: string): Promise<boolean> {
  const [from, mine, other] = await Promise.all([base, ours, theirs].map((commit) => filesOf(git, commit)));
  if (from === undefined || mine === undefined || other === undefined) throw new Error('no such commit');
  for (const [path, before] of from) {
    const [a, b] = [mine.get(path), other.get(path)];
    if (isSame(a, before) || isSame(b, before) || isSame(a, b)) continue;
    if (a === undefined || b === undefined || a.mode !== b.mode) return true;
  }
  return false;
}

async function filesOf(git: Repository, commit: string): Promise<ReadonlyMap<string, ListedEntry>> {
  const listed = (await git.listTree(commit, true)) ?? [];
  return new Map(listed.filter((entry) => entry.type !== 'tree').map((entry) => [entry.path, entry]));
}

function isSame(a: ListedEntry | undefined, b: ListedEntry | undefined): boolean {
  return a?.sha === b?.sha && a?.mode === b?.mode;
}
