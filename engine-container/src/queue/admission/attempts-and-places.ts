import type { PullRequestNumber } from '#core/domain/ids.ts';
import { queuedMaxOf, type ScheduleRules } from '#core/domain/repos/schedule-rules.ts';
import { activeMembers, inFlightOf } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import type { QueueRecord } from '../record/record.ts';
import type { HeadAttempts } from '../record/tried-heads-state.ts';
import type { Admission, Refusal } from './admission-facts.ts';

/** Heads of one pull request whose attempts are kept, the newest: an open one may be pushed to without end. */
const ATTEMPTED_HEADS_MAX = 10;

function refused(reason: Refusal): Admission {
  return { kind: 'refused', reason };
}

/**
 * Has this head been staged with as many schedules as the settings allow? The schedule that is under way is one of them, and
 * goes on.
 */
export function areAttemptsSpent(
  { record, s }: DecisionContext,
  { head, scheduleId }: Pick<QueueEntry, 'head' | 'scheduleId'>,
): boolean {
  const max = s.repo.headAttemptsMax;
  const known = record.attempts?.find((each) => each.head === head);
  return max > 0 && known !== undefined && known.times >= max && known.scheduleId !== scheduleId;
}

/** Counted only while there is a limit: a repository without one keeps nothing. */
export function noteAttempts({ record, s }: DecisionContext): void {
  if (s.repo.headAttemptsMax === 0) {
    delete record.attempts;
    return;
  }
  const before = record.attempts ?? [];
  const byHead = new Map(before.map((each) => [each.head, each]));
  for (const { pr, head, scheduleId } of record.batches.flatMap(activeMembers)) {
    const known = byHead.get(head);
    // What is in flight counts as the newest, also one that was pushed back to.
    byHead.delete(head);
    if (known?.scheduleId === scheduleId) byHead.set(head, known);
    else byHead.set(head, { pr, head, scheduleId, times: (known?.times ?? 0) + 1 });
  }
  if (byHead.size > 0) record.attempts = keepNewestHeads([...byHead.values()]);
}

/** @param attempts - The newest last. */
function keepNewestHeads(attempts: readonly HeadAttempts[]): readonly HeadAttempts[] {
  const counts = new Map<PullRequestNumber, number>();
  const kept = attempts.toReversed().filter(({ pr }) => {
    const count = (counts.get(pr) ?? 0) + 1;
    counts.set(pr, count);
    return count <= ATTEMPTED_HEADS_MAX;
  });
  return kept.reverse();
}

/**
 * The places that one author may have. What is in flight has its place; the others come in the order of the queue, and a
 * pull request that is aside for a reason of its own takes none.
 */
export class AuthorPlaces {
  readonly #rules: ScheduleRules;
  readonly #taken = new Map<string, number>();
  readonly #inFlight: ReadonlySet<PullRequestNumber>;

  constructor(rules: ScheduleRules, record: QueueRecord, authors: ReadonlyMap<PullRequestNumber, string>) {
    this.#rules = rules;
    this.#inFlight = inFlightOf(record);
    for (const pr of this.#inFlight) {
      const author = authors.get(pr);
      if (author !== undefined) this.#take(author);
    }
  }

  /** The admission, or the refusal of one for which its author has no place left. */
  judge(pr: PullRequestNumber, author: string, admission: Admission): Admission {
    const max = queuedMaxOf(this.#rules, author);
    if (max === 0 || admission.kind === 'refused' || this.#inFlight.has(pr)) return admission;
    const isFull = (this.#taken.get(author.toLowerCase()) ?? 0) >= max;
    // One that was admitted before is staged while it is not known: its place is not.
    const mayRefuse = admission.kind === 'admitted' || ['other_checks', 'unknown'].includes(admission.reason);
    if (isFull && mayRefuse) return refused('author_limit');
    this.#take(author);
    return admission;
  }

  #take(author: string): void {
    const login = author.toLowerCase();
    this.#taken.set(login, (this.#taken.get(login) ?? 0) + 1);
  }
}
