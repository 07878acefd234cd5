import type { BackportForge } from '#core/ports/backport.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { type Call, exchange, found, Refusal } from './exchange.ts';
import { openPull } from './people.ts';
import type { Pull, World } from './world.ts';

const call = (method: Call['method'], label: string): Call => ({
  method,
  path: label,
  label: `${method} ${label}`,
});

/** The forge as the function that carries landings sees it: `bot` is the same token. */
export function createBackportPort(world: World, bot: EngineForge): BackportForge {
  return {
    readRepoId: bot.readRepoId,
    readLanded: async (pr) => {
      const { title, author, labels = [], mergeCommitSha, mergeBase } = await bot.readPullRequest(pr);
      return { title, author, labels, mergeCommit: mergeCommitSha, mergeBase };
    },
    readBranchTip: bot.readBranchTip,
    readCommit: bot.readCommit,
    readTree: bot.readTree,
    readBlob: bot.readBlob,
    applyPatch: bot.applyPatch,
    deleteBranch: bot.deleteBranch,
    findPull: async (base, head) =>
      exchange(world, call('GET', 'pulls'), () => view(pullOf(world, base, head))),
    openPull: async ({ base, head, title }) =>
      exchange(world, call('POST', 'pulls'), () => {
        if (pullOf(world, base, head)?.state === 'open') throw new Refusal(409);
        const tip = found(world.branches.get(head));
        found(world.branches.get(base));
        const number = openPull(world, { branch: head, base, title, head: tip, author: world.bot });
        return found(view(world.pulls.get(number)) ?? undefined);
      }),
    remark: async (pr, body) => {
      exchange(world, call('POST', 'pulls/{n}/reviews'), () => {
        found(world.pulls.get(pr));
        world.remarks.push({ pr, body });
        return true;
      });
    },
  };
}

function pullOf(world: World, base: string, head: string): Pull | undefined {
  const all = [...world.pulls.values()].filter(
    (pull) => !pull.fork && pull.base === base && pull.branch === head,
  );
  return all.find(({ state }) => state === 'open') ?? all.at(-1);
}

function view(pull: Pull | undefined) {
  return pull === undefined
    ? null
    : { number: pull.number, url: `https://forge.example/pulls/${pull.number}` };
}
