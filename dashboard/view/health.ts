import type { ResultOf } from '#core/contracts/routes/client.ts';

export type Health = ResultOf<'checkQueue'>;
export type Signal = keyof Health['signals'];

/** In the order of the page: the name of each sign of trouble, and what is wrong where it shows. */
export const SIGNAL_WORDS: Readonly<Record<Signal, readonly [name: string, trouble: string]>> = {
  tick_freshness: ['Five-minute timer', 'the five-minute timer is late'],
  overdue_repo: ['Looks at repositories', 'a repository waits too long to be looked at'],
  phase_age: ['Batches', 'a batch has waited very long'],
  supersede_rate: ['Repeated work', 'much work is being repeated'],
};

/** Empty: nothing is, or it is not known what. A newer service may know more signs. */
export function sayTrouble(by: string | undefined): string {
  return Object.entries(SIGNAL_WORDS).find(([signal]) => signal === by)?.[1][1] ?? '';
}
