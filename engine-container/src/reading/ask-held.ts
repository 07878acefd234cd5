import type { EngineForge } from '#core/ports/forge.ts';
import { isHeldByForge } from '../queue/record/deferral.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { PullRequestView } from '../queue/snapshot.ts';
import type { TryRead } from './look-reads.ts';
import { readOrNone } from './read-pull.ts';

/** Pull requests that the forge alone holds never rest by themselves, and each look has to come to an end. */
const HELD_ASKED_MAX = 5;

/**
 * Views of the open list, with what the forge says by its number of each that it alone holds: a forge may begin the check of one
 * that was not touched for days only when it is asked for so (forge facts, 2). At most `HELD_ASKED_MAX` in a look, in turn by `fence`.
 */
export async function askHeld(
  forge: EngineForge,
  baseBranch: string,
  tryRead: TryRead,
  record: QueueRecord,
  views: readonly PullRequestView[],
  fence: number,
): Promise<readonly PullRequestView[]> {
  const held = views
    .map(({ pull }) => pull)
    .filter((pull) => !pull.mergeable && isHeld(record, pull.number, pull.headSha));
  const first = held.length === 0 ? 0 : (fence * HELD_ASKED_MAX) % held.length;
  const turn = new Set([...held.slice(first), ...held.slice(0, first)].slice(0, HELD_ASKED_MAX));
  const asked: PullRequestView[] = [];
  for (const view of views) {
    const { pull } = view;
    const read = turn.has(pull) ? await tryRead(() => readOrNone(forge, baseBranch, pull.number)) : null;
    const isSame = read?.known === true && read.value?.headSha === pull.headSha;
    const mergeable = isSame ? read.value?.mergeable === true : pull.mergeable;
    asked.push({ ...view, pull: { ...pull, mergeable } });
  }
  return asked;
}

function isHeld({ deferred }: QueueRecord, pr: number, head: string): boolean {
  return deferred.some((each) => each.pr === pr && each.head === head && isHeldByForge(each));
}
