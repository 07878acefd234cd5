import type { BackportForge } from '#core/ports/backport.ts';
import type { PatchRequest } from '#core/ports/forge.ts';
import { type Call, exchange, Refusal } from './exchange.ts';
import { openPull } from './people.ts';
import { isNameInTheWay, moveBranch, removeBranch } from './refs.ts';
import { viewCommit } from './views.ts';
import type { Pull, World } from './world.ts';

const call = (method: Call['method'], label: string): Call => ({
  method,
  path: label,
  label: `${method} ${label}`,
});

/** What this fake answers in the place of a diff: the two commits, for a merge of three trees. */
const DIFF = /^diff ([0-9a-f]+)\.\.([0-9a-f]+)\n$/;

/** The forge as the function that carries landings sees it. */
export function createBackportPort(world: World): BackportForge {
  const { objects } = world;
  return {
    readLanded: async (pr) =>
      exchange(world, call('GET', 'pulls/{n}'), () => {
        const { title, author, labels, mergeCommit } = found(world.pulls.get(pr));
        return { title, author, labels: [...labels], mergeCommit };
      }),
    readDiff: async (pr) =>
      exchange(world, call('GET', 'pulls/{n}.diff'), () => {
        const { mergeCommit, pullHead } = found(world.pulls.get(pr));
        const [before = ''] = found(objects.commit(found(mergeCommit ?? undefined))).parents;
        return `diff ${found(objects.mergeBase(before, pullHead) ?? undefined)}..${pullHead}\n`;
      }),
    readBranchTip: async (branch) =>
      exchange(world, call('GET', 'branches/{branch}'), () => world.branches.get(branch) ?? null),
    readCommit: async (sha) =>
      exchange(world, call('GET', 'git/commits/{sha}'), () => viewCommit(found(objects.commit(sha)))),
    readTreeId: async (sha) =>
      exchange(world, call('GET', 'git/trees/{sha}'), () => found(objects.commit(sha)).tree),
    applyPatch: async (request) => exchange(world, call('POST', 'diffpatch'), () => commit(world, request)),
    deleteBranch: async (branch) => {
      exchange(
        world,
        call('DELETE', 'branches/{branch}'),
        () => {
          found(world.branches.get(branch));
          removeBranch(world, branch, world.bot);
          return true;
        },
        new Map([[404, true]]),
      );
    },
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

/** A patch that does not apply is a bare 500, like a fault of the server. */
function commit(world: World, { branch, newBranch, patch, message }: PatchRequest) {
  const { objects } = world;
  const tip = found(world.branches.get(branch));
  const target = newBranch ?? branch;
  if (world.branches.has(target)) throw new Refusal(422);
  const [, fork = '', head = ''] = DIFF.exec(patch) ?? [];
  const tree = world.merger.merge(objects.treeOf(fork), objects.treeOf(tip), objects.treeOf(head));
  if (tree === null || isNameInTheWay(world, target)) throw new Refusal(500);
  const atMs = world.timers.now();
  const made = objects.putCommit({ tree, parents: [tip], message, author: world.bot, atMs });
  moveBranch(world, target, made.sha, world.bot);
  return viewCommit(made);
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

function found<Thing>(thing: Thing | undefined): Thing {
  if (thing === undefined) throw new Refusal(404);
  return thing;
}
