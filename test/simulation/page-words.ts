import { codeOfPlace } from '#core/domain/pulls/find-pull-code.ts';
import { BY_ITSELF } from '#core/domain/pulls/pull-code-kinds.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { PlaceState, QueuePlace, QueueView } from '#core/domain/queue/queue-view.ts';
import { PAUSED_PREFIX } from '#core/domain/repos/pause-words.ts';
import type { QueueRecord } from '../../engine-container/src/queue/record/record.ts';
import type { AbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';

/** The beginnings of words which say that the queue goes on by itself. They may be of an earlier moment, or name a reason. */
const GOES_ON = ['queued:', 'staged:', 'requeued:'];

/** Beginnings of the words of codes that are told in several ways. */
const FAMILIES: ReadonlyMap<string, string> = new Map([
  ['landing', 'proven:'],
  ['head_changed', 'requeued: head changed'],
  ['paused', PAUSED_PREFIX],
]);

/** States that a status begins with. */
const NAMED_STATES: ReadonlySet<string> = new Set<PlaceState>(['refused', 'waiting']);

/**
 * Words and state never contradict (A146): the stored view, which the page reads, and the status on the head say the same of each
 * pull request. Judged where the forge was left alone for a while, because a status is written after the record is stored.
 */
export async function judgePageWords(
  forge: AbstractForge,
  record: QueueRecord,
  view: QueueView | undefined,
  contexts: readonly string[] = [],
): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const place of view?.places ?? []) {
    const { head = '' } = record.entries.find(({ pr }) => pr === place.pr) ?? {};
    // A status belongs to the commit: of several with one head, one speaks.
    if (record.entries.filter((entry) => entry.head === head).length > 1) continue;
    // One that was bounced under the context of before is told under that.
    const said = await Promise.all([record.context, ...contexts].map((each) => forge.status(head, each)));
    const status = said.find((each) => each !== null) ?? null;
    if (status?.creator === 'mallory') continue;
    // A memory of a bounce may stand on a head that could not be read: nothing is written over it.
    if (status === null && record.unread?.includes(place.pr) === true) continue;
    if (status === null || !saysTheSame(place, status.description))
      problems.push(
        `#${place.pr} is ${place.state} ${place.reason ?? ''} on the page, and its head says "${status?.description ?? 'nothing'}"`,
      );
  }
  return problems;
}

function saysTheSame({ state, reason }: QueuePlace, words: string): boolean {
  const code = codeOfPlace(state, reason);
  if (code === null) return false;
  const family = state === 'bounced' ? 'bounced:' : FAMILIES.get(code);
  if (family !== undefined) return words.startsWith(family);
  const [word = ''] = words.split(':');
  if (NAMED_STATES.has(word) && word !== state) return false;
  if (words.startsWith(PULL_CODES[code].says)) return true;
  // Words that begin like those of one that goes on.
  if (state === 'ready' && words === PULL_CODES.queue_stopped.says) return false;
  const goesOn = state === 'ready' || state === 'staged' || PULL_CODES[code].next === BY_ITSELF;
  return goesOn && GOES_ON.some((prefix) => words.startsWith(prefix));
}
