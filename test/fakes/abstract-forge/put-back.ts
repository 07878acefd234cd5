import type { CommitSha } from '#core/domain/ids.ts';
import { DEFAULT_PERSON } from './people.ts';
import { moveBranch } from './refs.ts';
import { mustTip, type Pull, setPullState, setSchedule, type World } from './world.ts';

/**
 * The forge is put back from a copy of the time at which its base ended in `tip`: commits that were made on top of it are not
 * there, and what they merged is open again, with its schedule.
 */
export function putBack(world: World, tip: CommitSha): void {
  const lost = new Set(
    world.objects.listMissingCommits(tip, mustTip(world, world.base)).map(({ sha }) => sha),
  );
  for (const pull of world.pulls.values()) {
    if (pull.mergeCommit !== null && lost.has(pull.mergeCommit)) openAgain(world, pull);
  }
  const copiedAt = world.moves.get(world.base)?.findLast(({ to }) => to === tip)?.at ?? 0;
  for (const [sha, { history }] of [...world.statuses]) {
    const kept = history.filter(({ at }) => at <= copiedAt);
    world.statuses.set(sha, { history: kept, latest: new Map(kept.map((row) => [row.context, row])) });
  }
  moveBranch(world, world.base, tip, DEFAULT_PERSON);
  const gone = world.objects.forget(lost);
  for (const [branch, sha] of [...world.branches]) if (gone.has(sha)) world.branches.delete(branch);
}

function openAgain(world: World, pull: Pull): void {
  const scheduled = pull.timeline.findLastIndex(({ kind }) => kind === 'scheduled');
  pull.timeline.splice(scheduled + 1);
  pull.mergeCommit = null;
  setPullState(world, pull, 'open');
  setSchedule(world, pull, { doer: DEFAULT_PERSON, style: 'squash', title: pull.title });
}
