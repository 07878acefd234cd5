import {
  STATUS_RETRY_MS,
  STATUS_RETRY_MS_MAX,
  STATUS_TRIES_MAX,
  TAKING_BACK_RETRY_MS_MAX,
  TAKING_BACK_TRIES_MAX,
} from '#core/domain/limits.ts';
import type { Action } from '../actions.ts';
import type { DecisionContext } from '../decision-context.ts';

/** Tries in a queue that is off: mere words do not keep it from its end. */
const TRIES_OFF_MAX = 2;

export type PostStatus = Extract<Action, { kind: 'post_status' }>;

/**
 * Words that a forge cannot write on one head, while it is otherwise well, are tried again at growing intervals, so that
 * they hold up no others, and dropped in the end. What takes back a success is tried each time, and never dropped.
 */
export function countPostFailure(
  { record, s, log }: DecisionContext,
  action: PostStatus,
  forgeAnswers: boolean,
): void {
  const isOff = !s.repo.queueEnabled;
  // A queue that is off waits for no forge only to say a word.
  if (!forgeAnswers && (!isOff || action.takesBack === true)) return;
  const triesMax = isOff ? TRIES_OFF_MAX : STATUS_TRIES_MAX;
  record.pendingStatuses = record.pendingStatuses.flatMap((waiting) => {
    const isIt =
      waiting.sha === action.sha &&
      waiting.context === action.context &&
      waiting.description === action.description;
    if (!isIt) return [waiting];
    const failures = (waiting.failures ?? 0) + 1;
    if (waiting.takesBack === true) {
      const more = failures - TAKING_BACK_TRIES_MAX;
      if (more < 0) return [{ ...waiting, failures }];
      const pauseMs = Math.min(STATUS_RETRY_MS * 2 ** more, TAKING_BACK_RETRY_MS_MAX);
      return [{ ...waiting, failures, retryAt: s.now + pauseMs }];
    }
    const waitMs = Math.min(STATUS_RETRY_MS * 2 ** (failures - 1), STATUS_RETRY_MS_MAX);
    if (failures < triesMax) return [{ ...waiting, failures, retryAt: s.now + waitMs }];
    log.push(`#${waiting.pr}: its status cannot be written and is dropped`);
    return [];
  });
}
