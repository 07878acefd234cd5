import type { TreeEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha, PullRequestNumber } from '#core/domain/ids.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import type { FileChanges } from '../../support/forge-control.ts';
import { queueAutoMerge } from './auto-merge.ts';
import { conflictStateOf, isDraft, newCheck, startChecks } from './checks.ts';
import { mergePull } from './landing.ts';
import type { StoredTree } from './object-store.ts';
import { isNameTaken, moveBranch, moveForkBranch } from './refs.ts';
import { mayWrite } from './rights.ts';
import {
  addTimelineEntry,
  forkKey,
  liveHeadOf,
  mustPull,
  mustTip,
  type NativeStyle,
  type Pull,
  setPullState,
  setSchedule,
  stampOf,
  type World,
} from './world.ts';

export const DEFAULT_PERSON = 'dev';

/** One commit on top of `parent`, null for a first commit. */
export function commitFiles(
  world: World,
  parent: CommitSha | null,
  files: FileChanges,
  author: string,
  message: string,
): CommitSha {
  const { objects } = world;
  const before = parent === null ? objects.putTree([]) : objects.treeOf(parent);
  const tree = changeFiles(world, before, files);
  const parents = parent === null ? [] : [parent];
  return objects.putCommit({ tree, parents, message, author, atMs: world.timers.now() }).sha;
}

function changeFiles({ objects, merger }: World, tree: StoredTree, files: FileChanges): StoredTree {
  const edits = new Map<string, TreeEntry | undefined>();
  for (const [path, change] of Object.entries(files)) {
    if (change === null) {
      edits.set(path, undefined);
      continue;
    }
    const { content, mode } = typeof change === 'string' ? { content: change, mode: '100644' } : change;
    edits.set(path, { path, mode, id: mode === '160000' ? content : objects.putBlob(content) });
  }
  return merger.applyEdits(tree, edits);
}

export interface NewPull {
  readonly branch: string;
  readonly title?: string;
  readonly files?: FileChanges;
  readonly from?: string;
  /** An existing commit as the head, instead of a new one with `files`. */
  readonly head?: CommitSha;
  /** Branch it is to be merged into; default: the base. */
  readonly base?: string;
  readonly fork?: boolean;
  /** Pushed to `refs/for/…`, which takes no right to write. */
  readonly agit?: boolean;
  readonly author?: string;
}

export function openPull(world: World, options: NewPull): PullRequestNumber {
  const { branch, agit = false, author = DEFAULT_PERSON, base = world.base } = options;
  const fork = agit || options.fork === true;
  world.pullsOpened += 1;
  const number = world.pullsOpened;
  const title = options.title ?? `Change ${branch}`;
  mustTip(world, base);
  const head = pushHead(world, { ...options, fork, author, base, title });
  for (const other of world.openPulls.values()) {
    const isSame = other.branch === branch && other.fork === fork && (!fork || other.author === author);
    if (isSame && other.base === base) throw new Error(`${branch} is proposed for ${base} already`);
  }
  const pull: Pull = {
    number,
    branch,
    author,
    fork,
    agit,
    title,
    base,
    pullHead: head,
    state: 'open',
    mergeCommit: null,
    schedule: null,
    check: newCheck(world, { base, pullHead: head }),
    lastCheck: null,
    lastResult: null,
    checkResult: null,
    updatedAt: stampOf(world),
    timeline: [],
    reviews: [],
    dependsOn: new Set(),
    dependsOnHidden: null,
    labels: new Set(),
    past: [],
  };
  world.pulls.set(number, pull);
  setPullState(world, pull, 'open');
  startChecks(world, [pull]);
  // The forge writes an entry for the commits a pull request is opened with, too.
  addTimelineEntry(world, pull, 'pushed', author, head);
  return number;
}

/** Puts the head branch where the pull request begins: at one new commit, or at a commit that is there already. */
function pushHead(
  world: World,
  options: NewPull & { readonly title: string; readonly base: string },
): CommitSha {
  const { branch, fork = false, author = DEFAULT_PERSON, title, base } = options;
  const standsAt = fork ? world.forkBranches.get(forkKey(author, branch)) : world.branches.get(branch);
  if (options.head !== undefined && standsAt === options.head) return options.head;
  if (fork ? standsAt !== undefined : isNameTaken(world, branch)) throw new Error(`branch ${branch} exists`);
  const from = options.from ?? mustTip(world, base);
  const parent = world.branches.get(from) ?? from;
  const head =
    options.head === undefined
      ? commitFiles(world, parent, options.files ?? {}, author, title)
      : world.objects.mustCommit(options.head).sha;
  if (fork) moveForkBranch(world, author, branch, head);
  else moveBranch(world, branch, head, author);
  return head;
}

export function pushToPull(world: World, pull: Pull, files: FileChanges, by = pull.author): CommitSha {
  const head = liveHeadOf(world, pull);
  if (head === undefined) throw new Error(`branch ${pull.branch} is gone`);
  const sha = commitFiles(world, head, files, by, `Change ${pull.branch} again`);
  movePullBranch(world, pull, sha, by);
  return sha;
}

/** A merge of the base into the head, by the button "update branch" or by a person who changes more in it. */
export function updatePullBranch(world: World, pull: Pull, files: FileChanges): CommitSha {
  const { objects, merger } = world;
  const head = liveHeadOf(world, pull);
  if (head === undefined) throw new Error(`branch ${pull.branch} is gone`);
  const tip = mustTip(world, pull.base);
  const fork = objects.mergeBase(tip, head);
  const merged =
    fork === null ? null : merger.merge(objects.treeOf(fork), objects.treeOf(head), objects.treeOf(tip));
  if (merged === null) throw new Error(`pull request ${pull.number} conflicts with ${pull.base}`);
  const tree = changeFiles(world, merged, files);
  const message = `Merge branch '${pull.base}' into ${pull.branch}`;
  const parents = [head, tip];
  const { sha } = objects.putCommit({
    tree,
    parents,
    message,
    author: pull.author,
    atMs: world.timers.now(),
  });
  movePullBranch(world, pull, sha);
  return sha;
}

/** Its author merges a history that shares nothing with the base. */
export function importHistory(world: World, pull: Pull, files: FileChanges): CommitSha {
  const { objects } = world;
  const head = liveHeadOf(world, pull);
  if (head === undefined) throw new Error(`branch ${pull.branch} is gone`);
  const made = { author: pull.author, atMs: world.timers.now() };
  const root = objects.putCommit({
    ...made,
    tree: changeFiles(world, objects.putTree([]), files),
    parents: [],
    message: 'First commit of a library',
  });
  const { sha } = objects.putCommit({
    ...made,
    tree: changeFiles(world, objects.treeOf(head), files),
    parents: [head, root.sha],
    message: `Import the library into ${pull.branch}`,
  });
  movePullBranch(world, pull, sha);
  return sha;
}

/** Its author adds a directory whose names stand for `count` squared files. */
export function addRepeated(world: World, pull: Pull, count: number): CommitSha {
  const { objects } = world;
  const head = liveHeadOf(world, pull);
  if (head === undefined) throw new Error(`branch ${pull.branch} is gone`);
  const { sha } = objects.putCommit({
    author: pull.author,
    atMs: world.timers.now(),
    tree: objects.putRepeated(objects.treeOf(head), 'repeated', count),
    parents: [head],
    message: 'Add one directory under many names',
  });
  movePullBranch(world, pull, sha);
  return sha;
}

export function movePullBranch(world: World, pull: Pull, sha: CommitSha, by = pull.author): void {
  world.objects.mustCommit(sha);
  if (pull.fork) moveForkBranch(world, pull.author, pull.branch, sha, by);
  else moveBranch(world, pull.branch, sha, by);
}

/**
 * The button of the web page. A second click replaces the row without a trace of the first. Pressed during a conflict
 * check it is taken as pressed again until it worked.
 */
export function schedulePull(world: World, pull: Pull, style: NativeStyle, doer: string): void {
  if (pull.state !== 'open') throw new Error(`pull request ${pull.number} is closed`);
  if (isDraft(pull)) throw new Error(`pull request ${pull.number} is a draft`);
  const state = conflictStateOf(world, pull);
  if (state === 'conflict' || state === 'ancestor') {
    throw new Error(`pull request ${pull.number} cannot be merged: ${state}`);
  }
  setSchedule(world, pull, { doer, style, title: pull.title });
  addTimelineEntry(world, pull, 'scheduled', doer);
  if (world.switches.scheduleTriggers) queueAutoMerge(world, pull);
}

/** Nothing to press where nothing is scheduled. */
export function cancelPullSchedule(world: World, pull: Pull, doer: string): void {
  if (pull.schedule === null) return;
  setSchedule(world, pull, null);
  addTimelineEntry(world, pull, 'cancelled', doer);
}

export function closePull(world: World, pull: Pull): void {
  if (pull.state === 'closed') return;
  setPullState(world, pull, 'closed');
  addTimelineEntry(world, pull, 'other', DEFAULT_PERSON);
}

export function reopenPull(world: World, pull: Pull): void {
  if (pull.state === 'open') return;
  if (pull.mergeCommit !== null) throw new Error(`pull request ${pull.number} cannot be reopened`);
  // Its branch may be gone.
  pull.pullHead = liveHeadOf(world, pull) ?? pull.pullHead;
  setPullState(world, pull, 'open');
  addTimelineEntry(world, pull, 'reopened', DEFAULT_PERSON);
  startChecks(world, [pull]);
}

export function retargetPull(world: World, pull: Pull, base: string, user = DEFAULT_PERSON): void {
  mustTip(world, base);
  const baseBefore = pull.base;
  pull.base = base;
  addTimelineEntry(world, pull, 'retargeted', user, null, { baseBefore });
  if (world.switches.retargetRestatesPush) {
    const kept = pull.timeline.filter(({ kind }) => kind !== 'pushed');
    pull.timeline.splice(0, pull.timeline.length, ...kept);
    addTimelineEntry(world, pull, 'pushed', user, pull.pullHead);
  }
  startChecks(world, [pull]);
}

export function reviewPull(
  world: World,
  pull: Pull,
  user: string,
  verdict: 'approve' | 'reject' | 'comment' | 'request',
): void {
  if (user === pull.author && verdict === 'approve')
    throw new Error('a person cannot approve their own pull request');
  if (verdict === 'approve' || verdict === 'reject') {
    // A new verdict of a person takes the weight from their earlier ones.
    pull.reviews.forEach((review, i) => {
      if (review.user === user) pull.reviews[i] = { ...review, official: false };
    });
  }
  const states = {
    approve: 'approved',
    reject: 'changes_requested',
    comment: 'comment',
    request: 'review_requested',
  } as const;
  pull.reviews.push({
    id: world.nextId++,
    user,
    state: states[verdict],
    // Of one who may only read it has no say.
    official: verdict !== 'comment' && mayWrite(world, user),
    stale: false,
    dismissed: false,
    commit: verdict === 'request' ? null : pull.pullHead,
    at: stampOf(world),
  });
  addTimelineEntry(world, pull, 'other', user);
  if (verdict === 'approve') queueIfScheduled(world, pull);
}

export function dismissPullReviews(world: World, pull: Pull): void {
  pull.reviews.forEach((review, i) => {
    if (review.state === 'approved' || review.state === 'changes_requested') {
      pull.reviews[i] = { ...review, dismissed: true };
    }
  });
  addTimelineEntry(world, pull, 'other', DEFAULT_PERSON);
  queueIfScheduled(world, pull);
}

/** Leaves no entry and no time of a change (forge facts, 5). */
export function deletePullReviews(pull: Pull): void {
  pull.reviews.length = 0;
}

function queueIfScheduled(world: World, pull: Pull): void {
  if (world.scheduledPulls.has(pull)) queueAutoMerge(world, pull);
}

export function mergePullByHand(world: World, number: PullRequestNumber, style: MergeStyle): CommitSha {
  const pull = mustPull(world, number);
  if (pull.state !== 'open') throw new Error(`pull request ${number} is closed`);
  const merged = mergePull(world, pull, style, DEFAULT_PERSON);
  if (merged === null) throw new Error(`pull request ${number} conflicts with its base`);
  return merged;
}

/** A person calls it merged and names a commit that the base holds: nothing is merged (forge facts, 10). */
export function markPullMerged(world: World, number: PullRequestNumber, commit: CommitSha): void {
  const pull = mustPull(world, number);
  if (!world.objects.isAncestor(commit, mustTip(world, pull.base)))
    throw new Error(`${pull.base} does not hold ${commit}`);
  pull.mergeCommit = commit;
  setPullState(world, pull, 'closed');
  setSchedule(world, pull, null);
  addTimelineEntry(world, pull, 'other', DEFAULT_PERSON);
}
