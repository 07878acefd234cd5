import { TURN_NAMES } from '#core/contracts/pulls/turn-names.ts';
import type { ResultOf } from '#core/contracts/routes/client.ts';
import { isPullCode } from '../../core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '../../core/domain/pulls/pull-code-table.ts';
import type { ActivityDoc, RepoActivity } from './blocker.ts';
import { plural, showDuration } from './format.ts';
import type { Tone } from './tone.ts';
import { sayWords, withoutStep } from './words.ts';

export type PullStory = ResultOf<'readPull'>;
type Told = Pick<PullStory['now'], 'code' | 'kind' | 'turn' | 'words'>;

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
  return sayWords(hasStep ? withoutStep(words, told) : words);
}

export function sayTurn({ turn, kind }: Told): string {
  if (turn === null) return 'Unknown';
  if (turn === 'none' && kind === 'exit') return 'Nothing is left to do';
  return `The next step is for ${TURN_NAMES[turn]}`;
}

export function sayStanding({ in_queue, place, now }: PullStory): string {
  if (place !== null) return `In the queue, place ${place}`;
  if (in_queue) return 'In the queue, place unknown';
  if (now.code === 'unverified') return 'Landed, but not as proven';
  return now.code === 'landed' ? 'Landed' : 'Not in the queue';
}

/** Null: it is not in the queue, so no time is expected of it. */
export function sayEstimate({ in_queue, estimate, now }: PullStory): string | null {
  if (!in_queue) return null;
  if (estimate === null) {
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
