import { AUTO_MERGE, exit, type PullCode, SCHEDULE, SCHEDULE_AGAIN } from './pull-code-kinds.ts';

/** The ways in which a person or the forge takes a pull request out of the queue. */
export const DEPARTURE_CODES = {
  auto_merge_cancelled: exit('author', 'not queued: its auto-merge was cancelled', SCHEDULE),
  cancelled_while_off: exit(
    'author',
    'not queued: its auto-merge was cancelled while the queue was switched off or on hold; schedule it again when the queue is on',
    `Press ${AUTO_MERGE} on the forge once the queue is on.`,
  ),
  draft: exit('author', 'not queued: it was turned into a draft', 'Mark it as ready for review.'),
  closed: exit(
    'author',
    'not queued: it was closed',
    `Restore its branch if it is gone, and reopen it; where its fork is gone, open a new pull request. If it does not go on by itself, ${SCHEDULE_AGAIN}.`,
  ),
  deleted: exit('none', 'not queued: it was deleted on the forge', 'Nothing: it is gone.'),
  retargeted: exit(
    'author',
    'not queued: it now targets another branch',
    'Change its target branch back on the forge. If that branch was renamed, ask the owner of the repository to enroll its new name.',
  ),
  merged_outside_the_queue: exit(
    'operator',
    'not queued: it was merged past the queue',
    'Check on the forge who may merge past the branch rule.',
  ),
  merged_along: exit(
    'none',
    'not queued: another pull request of the queue brought its commits to the base',
    'Nothing: its commits are on the base branch.',
  ),
  left_the_queue: exit('author', 'not queued: it left the queue', SCHEDULE),
} as const satisfies Readonly<Record<string, PullCode>>;
