import type { ResultOf } from '#core/contracts/routes/client.ts';

type Pause = NonNullable<ResultOf<'readQueueStatus'>['repos'][number]['pause']>;

/** One whose end has passed is over, whether or not it was looked at since. */
export function isPaused({ until }: Pick<Pause, 'until'>, now: number): boolean {
  return until === null || Date.parse(until) > now;
}

/** The sentence about what holds the queue up, without its times. */
export function sayPaused({ kind, reason }: Pick<Pause, 'kind' | 'reason'>): string {
  const why = reason === null ? '' : `: ${reason}`;
  return kind === 'pause'
    ? `Paused by its owner${why}. Nothing lands, and no pull request loses its place`
    : `Drained by its owner${why}. Batches that are under way land, and nothing new is staged`;
}
