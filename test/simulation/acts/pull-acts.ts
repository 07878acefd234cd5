import type { CommitSha } from '#core/domain/ids.ts';
import { type Act, branchOf, CONTEXT, headOf, OTHER_BRANCH, type Play } from './story.ts';
import { AT_ONCE_MS, SOON_MS } from './waits.ts';

const FILE = { 'src/extra.txt': 'extra\n' };

async function retarget(play: Play, base: string): Promise<void> {
  if (!play.forge.isMerged(play.pr)) await play.forge.retarget(play.pr, base);
}

/** An act that begins with the head of before, and puts it back. */
function withHead(
  name: string,
  act: (play: Play) => Promise<unknown>,
  waitMs: number,
  back: (play: Play, head: CommitSha) => Promise<unknown>,
): Act {
  let head: CommitSha = '';
  return {
    name: `${name} +${waitMs}`,
    act: async (play) => {
      head = await headOf(play);
      await act(play);
    },
    later: [waitMs, (play) => back(play, head)],
  };
}

const open = (play: Play): Promise<unknown> => play.forge.reopen(play.pr);
const close = (play: Play): Promise<unknown> => play.forge.close(play.pr);
const cancel = (play: Play): Promise<unknown> => play.forge.cancelSchedule(play.pr);
const schedule = (play: Play): Promise<unknown> => play.forge.schedule(play.pr, play.style);
const push = (play: Play): Promise<unknown> => play.forge.pushToPullRequest(play.pr, FILE);
const dropHead = (play: Play): Promise<unknown> => play.forge.deleteBranch(branchOf(play));
const title = (text: string) => (play: Play) => play.forge.setTitle(play.pr, text);

async function openDependency({ forge, pr }: Play): Promise<void> {
  const needed = await forge.openPullRequest({ branch: 'dep', files: { 'dep.txt': 'x\n' } });
  await forge.addDependency(pr, needed);
}

/** What people do to one pull request, and to its branch. */
export const PULL_ACTS: readonly Act[] = [
  { name: 'cancel', act: cancel },
  { name: 'cancel, schedule +0', act: cancel, later: [AT_ONCE_MS, schedule] },
  { name: `cancel, schedule +${SOON_MS}`, act: cancel, later: [SOON_MS, schedule] },
  { name: 'cancel by another', act: ({ forge, pr }) => forge.asPerson('ann').cancel(pr) },
  { name: 'schedule once more', act: schedule },
  { name: 'push', act: push },
  {
    name: 'push of a failing change',
    act: (play) => play.forge.pushToPullRequest(play.pr, { 'src/p1.txt': 'BAD\n' }),
  },
  { name: 'push by a guest', act: ({ forge, pr }) => forge.pushToPullRequest(pr, FILE, 'guest') },
  {
    name: 'push by a guest, approved',
    act: ({ forge, pr }) => forge.pushToPullRequest(pr, FILE, 'guest'),
    later: [SOON_MS, ({ forge, pr }) => forge.review(pr, 'rev2', 'approve')],
  },
  withHead('push, pushed back', push, AT_ONCE_MS, ({ forge, pr }, head) =>
    forge.forcePushPullRequest(pr, head),
  ),
  withHead('push, pushed back', push, SOON_MS, ({ forge, pr }, head) => forge.forcePushPullRequest(pr, head)),
  { name: 'cancel, push', act: cancel, later: [AT_ONCE_MS, push] },
  { name: 'update of the branch', act: ({ forge, pr }) => forge.updateBranch(pr) },
  { name: 'close', act: close },
  { name: 'close, reopen +0', act: close, later: [AT_ONCE_MS, open] },
  { name: `close, reopen +${SOON_MS}`, act: close, later: [SOON_MS, open] },
  { name: 'draft', act: title('WIP: x') },
  { name: 'draft, ready +0', act: title('WIP: x'), later: [AT_ONCE_MS, title('Add x')] },
  { name: `draft, ready +${SOON_MS}`, act: title('WIP: x'), later: [SOON_MS, title('Add x')] },
  { name: 'another title', act: title('Another title') },
  { name: 'retarget', act: (play) => retarget(play, OTHER_BRANCH) },
  ...[AT_ONCE_MS, SOON_MS].map(
    (waitMs): Act => ({
      name: `retarget, back +${waitMs}`,
      act: (play) => retarget(play, OTHER_BRANCH),
      later: [waitMs, (play) => retarget(play, play.forge.base)],
    }),
  ),
  {
    name: 'retarget and back, scheduled',
    act: async (play) => {
      await retarget(play, OTHER_BRANCH);
      await retarget(play, play.forge.base);
    },
    later: [SOON_MS, schedule],
  },
  { name: 'branch deleted', act: dropHead },
  ...[AT_ONCE_MS, SOON_MS].map((waitMs) =>
    withHead('branch deleted, pushed and reopened', dropHead, waitMs, async (play, head) => {
      await play.forge.pushBranch(branchOf(play), head);
      await play.forge.reopen(play.pr);
    }),
  ),
  { name: 'rejected', act: ({ forge, pr }) => forge.review(pr, 'rev', 'reject') },
  ...[AT_ONCE_MS, SOON_MS].map(
    (waitMs): Act => ({
      name: `rejected, dismissed +${waitMs}`,
      act: ({ forge, pr }) => forge.review(pr, 'rev', 'reject'),
      later: [waitMs, ({ forge, pr }) => forge.dismissReviews(pr)],
    }),
  ),
  {
    name: 'rejected, approved',
    act: ({ forge, pr }) => forge.review(pr, 'rev', 'reject'),
    later: [SOON_MS, ({ forge, pr }) => forge.review(pr, 'rev', 'approve')],
  },
  { name: 'reviews dismissed', act: ({ forge, pr }) => forge.dismissReviews(pr) },
  { name: 'reviews deleted', act: ({ forge, pr }) => forge.deleteReviews(pr) },
  { name: 'depends on an open one', act: openDependency },
  {
    name: 'depends on an open one, which is closed',
    act: openDependency,
    later: [
      SOON_MS,
      async ({ forge }) => {
        for (const { number } of forge.pullsFrom('dep')) await forge.close(number);
      },
    ],
  },
  {
    name: 'second of the head, to another branch',
    act: async (play) =>
      play.forge.openPullRequest({ branch: branchOf(play), head: await headOf(play), base: OTHER_BRANCH }),
  },
  {
    name: 'second of the head, to another branch with the rule, scheduled',
    act: async (play) => {
      const { forge, style } = play;
      await forge.protectBranch(OTHER_BRANCH, { requiredContexts: [CONTEXT] });
      const head = await headOf(play);
      const second = await forge.openPullRequest({ branch: branchOf(play), head, base: OTHER_BRANCH });
      await forge.schedule(second, style);
    },
  },
  {
    name: 'second of the head',
    act: async (play) => {
      const second = await play.forge.openPullRequest({ branch: 'twin', head: await headOf(play) });
      await play.forge.schedule(second, play.style);
      play.prs.push(second);
    },
  },
  { name: 'pull request deleted', act: ({ forge, pr }) => forge.deletePullRequest(pr) },
];
