import type { PullRequestNumber } from '#core/domain/ids.ts';
import type { Batch, Fate } from './record.ts';

/** Reasons that no other end of a member has. */
const INSTEAD = ['base_advanced', 'merged_outside_the_queue'] as const;
export type InsteadReason = (typeof INSTEAD)[number];

/**
 * The end of a member that was taken for landed, where another pull request was merged instead. Any other fate of a member that
 * landed is of before: its merge came late.
 */
export function fateInstead({ fates }: Pick<Batch, 'fates'>, pr: PullRequestNumber): Fate | undefined {
  return fates.find((fate) => fate.pr === pr && INSTEAD.some((reason) => reason === fate.reason));
}
