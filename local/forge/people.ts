import type { FileChanges } from './control.ts';
import type { RepoRecord } from './model.ts';
import { signatureOf } from './world/merge.ts';
import { announcePush } from './world/pushes.ts';
import { gitOf, type World } from './world.ts';

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
  const commit = git.objects.writeCommit({
    tree,
    parents: from === null ? [] : [from],
    author: who,
    committer: who,
    message: `Change ${Object.keys(changes).join(', ')}`.slice(0, 200),
  });
  await moveBranch(world, repo, branch, commit, author);
  return commit;
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
