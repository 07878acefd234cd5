import type { CommitSha } from '#core/domain/ids.ts';
import type { StoredCommit } from './object-store.ts';
import { replay } from './rebase.ts';
import { moveBranch } from './refs.ts';
import {
  addTimelineEntry,
  liveHeadOf,
  mustTip,
  type NativeStyle,
  type Pull,
  setPullState,
  setSchedule,
  type World,
  writeJournal,
} from './world.ts';

/**
 * The native merge. Null = a conflict or a refused push, nothing happened.
 *
 * @param begunWith - Its head when the merge was begun. @default that of now
 */
export function mergePull(
  world: World,
  pull: Pull,
  style: NativeStyle,
  doer: string,
  begunWith?: CommitSha,
): CommitSha | null {
  const tip = mustTip(world, pull.base);
  const live = liveHeadOf(world, pull) ?? pull.pullHead;
  const head = begunWith ?? live;
  const ground = (world.switches.mergesIntoTag ? world.tags.get(pull.base) : undefined) ?? tip;
  const merged = makeMerge(world, pull, { tip: ground, head, style, doer });
  // Its push is refused where it does not hold what the base has.
  if (merged === null || !world.objects.isAncestor(tip, merged.sha)) return null;
  pull.mergeCommit = merged.sha;
  pull.pullHead = live;
  setPullState(world, pull, 'closed');
  setSchedule(world, pull, null);
  addTimelineEntry(world, pull, 'other', doer);
  const at = world.timers.now();
  const { sha: mergeCommit, tree } = merged;
  const merge = { pr: pull.number, head, mergeCommit, tree, firstParent: ground, at };
  if (pull.base === world.base) {
    world.merges.push(merge);
    writeJournal(world, { kind: 'merge', at, merge });
  } else writeJournal(world, { kind: 'merge_elsewhere', at, base: pull.base, merge });
  moveBranch(world, pull.base, merged.sha, doer);
  return merged.sha;
}

interface MergeRequest {
  readonly tip: CommitSha;
  readonly head: CommitSha;
  readonly style: NativeStyle;
  readonly doer: string;
}

function makeMerge(world: World, pull: Pull, { tip, head, style, doer }: MergeRequest): StoredCommit | null {
  if (style === 'rebase') return replay(world, tip, head);
  if (style !== 'fast-forward-only') return joinHead(world, pull, tip, head, style, doer);
  return world.objects.isAncestor(tip, head) ? world.objects.mustCommit(head) : null;
}

function joinHead(
  world: World,
  pull: Pull,
  tip: CommitSha,
  head: CommitSha,
  style: 'merge' | 'squash',
  author: string,
): StoredCommit | null {
  const { objects, merger } = world;
  const fork = objects.mergeBase(tip, head);
  if (fork === null) return null;
  const tree = merger.merge(objects.treeOf(fork), objects.treeOf(tip), objects.treeOf(head));
  if (tree === null) return null;
  return objects.putCommit({
    tree,
    parents: style === 'merge' ? [tip, head] : [tip],
    message:
      style === 'merge'
        ? `Merge pull request '${pull.title}' (#${pull.number})`
        : `${pull.title} (#${pull.number})`,
    author,
    atMs: world.timers.now(),
  });
}
