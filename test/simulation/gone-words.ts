import type { Managed } from './managed.ts';

/** Words that promise that the queue goes on with a pull request. */
const PROMISES = ['queued:', 'staged:', 'paused:', 'requeued:'];
/** Refusals that promise another look at it. */
const LOOKS_AGAIN = /^refused: .* the queue (goes on|looks again) /;

/** A145: who is out of the queue, and open, is promised nothing on its head. */
export async function judgeGoneWords(
  { forge, project }: Pick<Managed, 'forge' | 'project'>,
  context: string,
  recordsLost = 0,
): Promise<readonly string[]> {
  const pulls = await Promise.all(project.prs.map((pr) => forge.pull(pr)));
  // Also one that was retargeted: it left the queue of its former base. In no list of this base, a new record never learns of it.
  const open = pulls.filter(
    ({ state, baseRef }) => state === 'open' && (recordsLost === 0 || baseRef === forge.base),
  );
  const isIn = (pull: (typeof open)[number]): boolean =>
    pull.baseRef === forge.base && forge.isScheduled(pull.number) && !pull.draft;
  const spoken = new Set(open.filter(isIn).map(({ headSha }) => headSha));
  const problems: string[] = [];
  for (const pull of open) {
    if (isIn(pull) || spoken.has(pull.headSha)) continue;
    const status = await forge.status(pull.headSha, context);
    const words = status?.description ?? '';
    const isPromise = status?.state === 'pending' && PROMISES.some((prefix) => words.startsWith(prefix));
    if (status?.creator !== 'mallory' && (isPromise || LOOKS_AGAIN.test(words)))
      problems.push(`#${pull.number} is out of the queue, and its head says "${words}"`);
  }
  return problems;
}
