import { isOwnBranch } from '#core/domain/queue/queue-names.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import { GATE_PATH } from '../../scenario/stories.ts';
import { type Act, CONTEXT, headOf, type Play } from './story.ts';
import { SOON_MS } from './waits.ts';

const mergeByHand =
  (style: MergeStyle) =>
  ({ forge, pr, handMerged }: Play): Promise<unknown> => {
    handMerged.add(pr);
    return forge.mergeByHand(pr, style);
  };

const postAs =
  (person: string, state: 'success' | 'failure') =>
  async (play: Play): Promise<unknown> =>
    play.forge.postStatusAs(person, await headOf(play), CONTEXT, state);

/** What people do past the queue: to the base, to its branches, its runs and its statuses. */
export const BASE_ACTS: readonly Act[] = [
  { name: 'merge by hand', act: mergeByHand('merge'), isUnguarded: true },
  { name: 'squash by hand', act: mergeByHand('squash'), isUnguarded: true },
  { name: 'rebase by hand', act: mergeByHand('rebase'), isUnguarded: true },
  {
    name: 'push to the base',
    act: ({ forge }) => forge.pushToBase({ 'pushed.txt': 'x\n' }),
    isUnguarded: true,
  },
  {
    name: 'push of the head to the base',
    act: async (play) => play.forge.pushBranch(play.forge.base, await headOf(play)),
    isUnguarded: true,
    keepsOthers: true,
  },
  {
    name: 'base forced back',
    act: ({ forge, start }) => forge.pushBranch(forge.base, start),
    isUnguarded: true,
    keepsOthers: true,
  },
  {
    name: 'base forced back further',
    act: ({ forge, start }) => forge.pushBranch(forge.base, forge.commit(start).parents[0] ?? start),
    isUnguarded: true,
    keepsOthers: true,
  },
  {
    name: 'gate file deleted',
    act: ({ forge }) => forge.pushToBase({ [GATE_PATH]: null }),
    isUnguarded: true,
    keepsOthers: true,
  },
  {
    name: 'archived, and back',
    act: async ({ forge }) => forge.setArchived(true),
    later: [SOON_MS, async ({ forge }) => forge.setArchived(false)],
    keepsOthers: true,
  },
  {
    name: 'branches of the queue deleted',
    act: async ({ forge }) => {
      for (const branch of await forge.branches())
        if (isOwnBranch(CONTEXT, branch)) await forge.deleteBranch(branch);
    },
  },
  {
    name: 'gate runs cancelled',
    act: async ({ forge }) => {
      const going = forge.runs().filter(({ state }) => state === 'running' || state === 'waiting');
      for (const { id } of going) await forge.finishRun(id, 'cancelled');
    },
  },
  { name: 'success of a stranger', act: postAs('mallory', 'success'), isUnguarded: true },
  { name: 'failure of a stranger', act: postAs('mallory', 'failure') },
  {
    name: 'marked as merged',
    act: async ({ forge, pr, start }) => {
      if (!forge.isMerged(pr)) await forge.markMerged(pr, start);
    },
    isUnguarded: true,
  },
];
