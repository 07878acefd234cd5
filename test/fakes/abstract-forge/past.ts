import type { CommitSha, EpochMs } from '#core/domain/ids.ts';
import { forkKey, type Pull, type PullFacts, type World } from './world.ts';

/** The last of some dated things that was there at `at`. */
function lastBefore<Thing extends { readonly at: EpochMs }>(
  things: readonly Thing[],
  at: EpochMs,
): Thing | undefined {
  for (let index = things.length - 1; index >= 0; index -= 1) {
    const thing = things[index];
    if (thing !== undefined && thing.at <= at) return thing;
  }
  return undefined;
}

/** Where a branch stood `lagMs` ago; undefined where there was none. */
export function branchAgo(world: World, branch: string, lagMs: number): CommitSha | undefined {
  if (world.halfMade.has(branch)) return undefined;
  if (lagMs === 0) return world.branches.get(branch);
  return tipAgo(world, branch, lagMs);
}

/** Where the head branch of a pull request stood `lagMs` ago: where it began, for one that is younger. */
export function headAgo(world: World, pull: Pull, lagMs: number): CommitSha | undefined {
  const key = pull.fork ? forkRef(pull.author, pull.branch) : pull.branch;
  const moves = world.moves.get(key) ?? [];
  const began = moves.find((move) => move.to !== null)?.to ?? undefined;
  return lastBefore(moves, world.timers.now() - lagMs) === undefined ? began : tipAgo(world, key, lagMs);
}

function tipAgo(world: World, key: string, lagMs: number): CommitSha | undefined {
  return lastBefore(world.moves.get(key) ?? [], world.timers.now() - lagMs)?.to ?? undefined;
}

/** A pull request as it was `lagMs` ago; undefined before it was opened. */
export function factsAgo(world: World, pull: Pull, lagMs: number): PullFacts | undefined {
  return lastBefore(pull.past, world.timers.now() - lagMs);
}

export function noteMove(world: World, key: string, to: CommitSha | null): void {
  const moves = world.moves.get(key);
  const move = { at: world.timers.now(), to };
  if (moves === undefined) world.moves.set(key, [move]);
  else moves.push(move);
}

export function forkRef(owner: string, branch: string): string {
  // No branch has such a name.
  return `fork ${forkKey(owner, branch)}`;
}
