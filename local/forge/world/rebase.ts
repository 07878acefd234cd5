import { hasConverted } from '../git/converted.ts';
import type { Signature } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';
import type { Profile } from '../profiles.ts';

export interface RebaseRequest {
  readonly tip: string;
  readonly head: string;
  readonly committer: Signature;
}

export interface Stopped {
  readonly stopped: 'conflict' | 'file_converted';
}

/** The commit that a rebase ends with. */
export async function rebase(
  git: Repository,
  profile: Profile,
  { tip, head, committer }: RebaseRequest,
): Promise<string | Stopped> {
  const staysAsItIs =
    (await git.isAncestor(tip, head)) && (profile.rebaseTrustsLastCheck || (await isLine(git, tip, head)));
  const trail = staysAsItIs ? [tip, head] : await replayCommits(git, tip, head, committer);
  const last = trail?.at(-1);
  if (trail === null || last === undefined) return { stopped: 'conflict' };
  const isCheckedOut = !staysAsItIs || profile.rebasesUpToDate;
  const isStopped = isCheckedOut && (await stopsAtConverted(git, head, trail));
  return isStopped ? { stopped: 'file_converted' } : last;
}

async function isLine(git: Repository, tip: string, head: string): Promise<boolean> {
  const own = await Promise.all((await git.revList(head, [tip])).map((id) => git.mustCommit(id)));
  return own.every(({ parents }) => parents.length === 1);
}

/** Oldest first, merges left out, commits that become empty dropped: the tip and what is written on it. Null: one conflicts. */
async function replayCommits(
  git: Repository,
  tip: string,
  head: string,
  committer: Signature,
): Promise<readonly string[] | null> {
  const trail = [tip];
  let current = tip;
  for (const id of (await git.revListToReplay(head, tip)).toReversed()) {
    const commit = await git.mustCommit(id);
    const replayed = await git.replayTree(current, commit);
    if (replayed.kind === 'conflict') return null;
    if (replayed.tree === (await git.mustCommit(current)).tree) continue;
    current = git.objects.writeCommit({ ...commit, tree: replayed.tree, parents: [current], committer });
    trail.push(current);
  }
  return trail;
}

/**
 * The head is checked out as far as it differs from the tip, then the tip, each commit on top of the other, the tip again and the
 * result. Each but the first overwrites what the next one changes, which git refuses where it takes a file for changed.
 */
async function stopsAtConverted(git: Repository, head: string, trail: readonly string[]): Promise<boolean> {
  const [tip = head] = trail;
  const last = trail.at(-1) ?? tip;
  const checkedOut = await changedPaths(git, tip, head);
  if (await hasConverted(git, { written: head, read: head }, checkedOut)) return true;
  const writtenBy = new Map(checkedOut.map((path) => [path, head]));
  let now = head;
  for (const next of [...trail, tip, last]) {
    const overwritten = (await changedPaths(git, now, next)).filter((path) => writtenBy.has(path));
    for (const written of new Set(overwritten.map((path) => writtenBy.get(path) ?? now))) {
      const ofIt = overwritten.filter((path) => writtenBy.get(path) === written);
      if (await hasConverted(git, { written, read: now }, ofIt)) return true;
    }
    for (const path of overwritten) writtenBy.set(path, next);
    now = next;
  }
  return false;
}

async function changedPaths(git: Repository, from: string, to: string): Promise<readonly string[]> {
  const [before, after] = [await git.objects.readFlat(from), await git.objects.readFlat(to)];
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    return old?.id !== now?.id || old?.mode !== now?.mode;
  });
}
