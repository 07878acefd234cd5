import { TURN_NAMES } from '#core/contracts/pulls/turn-names.ts';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { codeOfPlace, isPullCode, type PullCodeName } from '../../core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '../../core/domain/pulls/pull-code-table.ts';
import { PAUSED_PREFIX } from '../../core/domain/repos/pause-words.ts';
import type { ActivityDoc, Blocker, RepoActivity } from './blocker.ts';
import { plural, showDuration } from './format.ts';
import type { Tone } from './tone.ts';
import { sayWords, withoutStep } from './words.ts';

export type PullStory = ResultOf<'readPull'>;
type Told = Pick<PullStory['now'], 'code' | 'kind' | 'turn' | 'words'>;
type Place = NonNullable<RepoActivity['queue']>['line'][number];

const CLEAR: readonly Told['code'][] = ['landed', 'landing', 'ready'];

export function toneOfTold({ code, kind, turn }: Told): Tone {
  if (code === null) return 'unknown';
  if (CLEAR.includes(code)) return 'clear';
  if (turn === 'author' || turn === 'reviewer' || turn === 'operator') return 'stop';
  return kind === 'exit' ? 'quiet' : 'busy';
}

/** The words of the commit status as a sentence, without its first word, the step that follows beside it, and full stop. */
export function sayTold(told: Pick<Told, 'code' | 'kind' | 'turn' | 'words'>): string {
  const { code, words } = told;
  if (words === null) return 'Unknown: this page does not know the reason yet; reload it';
  // Other words than those of the table have none of its steps: a semicolon there may be one of the owner.
  const hasStep = code !== null && isPullCode(code) && PULL_CODES[code].says === words;
  if (hasStep) return sayWords(withoutStep(words, told));
  // A reason of the owner does not say that the queue is paused.
  return words.startsWith(PAUSED_PREFIX)
    ? `${words.charAt(0).toUpperCase()}${words.slice(1)}`
    : sayWords(words);
}

export function sayTurn(now: Told & Partial<Pick<PullStory['now'], 'until'>>): string {
  const { turn, kind } = now;
  if (turn === null) return 'Unknown';
  if (endsByItself(now)) return 'No person has to act: it goes on by itself';
  if (turn === 'none' && kind === 'exit') return 'Nothing is left to do';
  return `The next step is for ${TURN_NAMES[turn]}`;
}

/** A pause with an end, or a freeze window. */
function endsByItself({
  code,
  until,
}: Pick<Told, 'code'> & Partial<Pick<PullStory['now'], 'until'>>): boolean {
  return code === 'paused' && until != null;
}

/** Codes of a wait that holds up all of them: each keeps its place in the order. */
const OF_ALL: readonly PullCodeName[] = ['paused', 'archived', 'queue_stopped', 'base_red', 'gate_missing'];
const PERSONS: readonly Told['turn'][] = ['author', 'reviewer', 'operator'];

/** The queue does not go on with it by itself: its author, a reviewer or the owner of the queue has to act. */
function waitsForPerson(code: string | null): boolean {
  if (code === null || !isPullCode(code) || OF_ALL.includes(code)) return false;
  return PERSONS.includes(PULL_CODES[code].turn);
}

export function needsPerson({ state, reason }: Pick<Place, 'state' | 'reason'>): boolean {
  return state === 'bounced' || waitsForPerson(codeOfPlace(state, reason));
}

/**
 * The trouble that keeps the whole queue from going on, where the words of this pull request promise that it goes on by itself; null:
 * nothing does, or a person has to act on this one first.
 */
export function findTrouble({ in_queue, now }: PullStory, blocker: Blocker): Blocker | null {
  const isStill = blocker.tone === 'stop' || blocker.tone === 'unknown';
  return in_queue && isStill && !PERSONS.includes(now.turn) ? blocker : null;
}

/** Pull requests that have a place before this one and wait for a person: the queue passes them. */
export function countPassed(number: number, line: readonly Place[]): number {
  const places = line.filter(({ state }) => state !== 'bounced');
  const at = places.findIndex(({ pr }) => pr === number);
  return places.slice(0, Math.max(at, 0)).filter(needsPerson).length;
}

/** @param passed - As `countPassed` counts; the page of the queue shows those apart. */
export function sayStanding({ in_queue, place, now }: PullStory, passed = 0): string {
  const at = place === null ? 'place unknown' : `place ${place}`;
  if (in_queue && now.turn !== null && waitsForPerson(now.code))
    return `Waits for ${TURN_NAMES[now.turn]}; keeps ${place === null ? 'its place' : at}`;
  if (in_queue && passed > 0)
    return `In the queue, ${at}; ${plural(passed, 'before it waits', 'before it wait')} for a person`;
  if (in_queue) return `In the queue, ${at}`;
  if (now.words?.startsWith('bounced:') === true) return 'Bounced: not in the queue';
  if (now.code === 'unverified') return 'Landed, but not as proven';
  return now.code === 'landed' ? 'Landed' : 'Not in the queue';
}

/** Null: it is not in the queue, so no time is expected of it. */
export function sayEstimate({ in_queue, estimate, now }: PullStory): string | null {
  if (!in_queue) return null;
  if (estimate === null) {
    if (endsByItself(now)) return 'Unknown until the queue goes on';
    return toneOfTold(now) === 'stop'
      ? 'Unknown until a person has acted'
      : 'Unknown: this repository has landed too little to tell, or this pull request has waited longer than nine in ten did';
  }
  const { seconds, error_seconds: error, landings } = estimate;
  const from = `by ${plural(landings, 'landing')} of this repository`;
  if (seconds === 0)
    return `Any moment: it has waited longer than half of them; four in five land within ${showDuration(error)} of now, ${from}`;
  const least = Math.max(0, seconds - error);
  return `About ${showDuration(seconds)}; four in five within ${showDuration(least)} to ${showDuration(seconds + error)}, ${from}`;
}

export interface FoundPull {
  readonly pr: number;
  /** Null: not among the titles of the page. */
  readonly title: string | null;
}

const NUMBER = /^#?([1-9]\d{0,8})$/;

/** Pull requests whose number begins with the text or whose title has it; the number itself always, and first. */
export function findPulls(
  text: string,
  activity: RepoActivity,
  feed: Pick<ActivityDoc, 'recent_activity' | 'queue_batches'>,
): readonly FoundPull[] {
  const asked = text.trim().toLowerCase();
  if (asked === '') return [];
  const known = new Map<number, string | null>();
  const { repo_id: repoId, repo_slug: slug, instance_url: instance } = activity;
  for (const row of feed.queue_batches) {
    if (row.repo_slug === slug && row.instance_url === instance)
      for (const pr of row.prs) known.set(pr, null);
  }
  for (const event of feed.recent_activity.toReversed())
    if (event.repo_id === repoId) known.set(event.pr, event.title);
  for (const place of activity.queue?.line ?? []) known.set(place.pr, place.title);
  const digits = NUMBER.exec(asked)?.[1];
  const exact = digits === undefined ? null : Number(digits);
  if (exact !== null && !known.has(exact)) known.set(exact, null);
  return [...known]
    .filter(
      ([pr, title]) =>
        (digits !== undefined && String(pr).startsWith(digits)) ||
        title?.toLowerCase().includes(asked) === true,
    )
    .map(([pr, title]) => ({ pr, title }))
    .toSorted((one, other) => Number(other.pr === exact) - Number(one.pr === exact) || other.pr - one.pr);
}
