import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { GITEA_126_SWITCHES } from '../../fakes/abstract-forge/world.ts';
import { givenScheduled } from '../../scenario/stories.ts';
import type { Story } from './story.ts';

const SLOW_MERGE_MS = 20_000;
const LOST_MERGES = 5;

/** One pull request for each content, of the branches p1, p2 and so on. */
const given =
  (...contents: readonly string[]) =>
  async (forge: AbstractForge): Promise<PullRequestNumber[]> => {
    const prs: PullRequestNumber[] = [];
    for (const [index, content] of contents.entries())
      prs.push(await givenScheduled(forge, `p${index + 1}`, `${content}\n`));
    return prs;
  };

export const STORIES: readonly Story[] = [
  { name: 'one', lands: [0], targets: [0], given: given('a') },
  { name: 'three', lands: [0, 1, 2], targets: [0, 2], given: given('a', 'b', 'c') },
  { name: 'two-one-bad', lands: [0], targets: [0, 1], given: given('a', 'BAD') },
  {
    name: 'stack',
    style: 'merge',
    lands: [0, 1],
    targets: [0, 1],
    given: async (forge) => {
      const lower = await givenScheduled(forge, 'p1', 'a\n', { style: 'merge' });
      const files = { 'src/p2.txt': 'b\n' };
      const upper = await forge.openPullRequest({ branch: 'p2', title: 'Add p2', from: 'p1', files });
      await forge.schedule(upper, 'merge');
      return [lower, upper];
    },
  },
  {
    name: 'clash',
    lands: [0],
    targets: [0, 1],
    given: async (forge) => [
      await givenScheduled(forge, 'p1', 'one\n', { path: 'shared.txt' }),
      await givenScheduled(forge, 'p2', 'two\n', { path: 'shared.txt' }),
    ],
  },
  {
    name: 'taken-back',
    losesMerges: true,
    lands: [0, 1],
    targets: [0, 1],
    given: async (forge) => {
      const prs = await given('a', 'b')(forge);
      let left = LOST_MERGES;
      forge.mergeBehaviour = (pr) => {
        if (pr !== prs[0] || left === 0) return { kind: 'now' };
        left -= 1;
        return { kind: 'lost' };
      };
      return prs;
    },
  },
  {
    name: 'approved',
    lands: [0, 1],
    targets: [0, 1],
    given: async (forge) => {
      await forge.setProtection({
        requiredApprovals: 1,
        blockOnRejectedReviews: true,
        ignoreStaleApprovals: true,
      });
      const prs = await given('a', 'b')(forge);
      for (const pr of prs) await forge.review(pr, 'rev', 'approve');
      return prs;
    },
  },
  {
    name: 'gitea-two',
    switches: GITEA_126_SWITCHES,
    lands: [0, 1],
    targets: [0, 1],
    given: given('a', 'b'),
  },
  {
    name: 'slow-merge',
    lands: [0, 1],
    targets: [0, 1],
    given: async (forge) => {
      forge.mergeBehaviour = () => ({ kind: 'slow', ms: SLOW_MERGE_MS });
      return given('a', 'b')(forge);
    },
  },
];
