import { ADVICE_DECISIONS_MAX } from '#core/domain/api-limits.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import { DEFAULT_SETTINGS } from '#core/domain/repos/repo-settings.ts';
import { decide } from '../queue/decide.ts';
import { fold } from '../queue/fold.ts';
import { emptyRecord, type QueueRecord } from '../queue/record/record.ts';
import { ReplayForge } from './replay-forge.ts';
import type { ReplayPlan } from './replay-plan.ts';

/** A change on a forge is seen by the queue after this. */
const SEEN_AFTER_MS = 5_000;

export interface ReplayResult {
  /** From the schedule to the landing, of each that landed, in ms. */
  readonly waits: readonly number[];
  readonly runs: number;
}

/**
 * The stays of a plan once more, with another fan-out, through the decision of the engine: the same for the same plan.
 * Yields between decisions, so that what is beside it in a process goes on. Null: it did not come to an end.
 */
export function* replay(
  plan: ReplayPlan,
  given: ManagedRepo,
  fanout: number,
  queueName: string,
): Generator<undefined, ReplayResult | null> {
  const repo = settingsOf(given, fanout);
  const forge = new ReplayForge(plan, repo, queueName);
  let record: QueueRecord = { ...emptyRecord(repo.statusContext), rebuilding: false, rate: plan.rate };
  let left = plan.stays.length * ADVICE_DECISIONS_MAX;
  let arrived = 0;
  let now = 0;
  let nextStartAt = Number.POSITIVE_INFINITY;
  for (;;) {
    const next = Math.min(
      plan.stays[arrived]?.at ?? Number.POSITIVE_INFINITY,
      forge.nextEnd(now),
      nextPlanned(record, nextStartAt, repo, now),
    );
    if (!Number.isFinite(next)) break;
    now = Math.max(now, next + SEEN_AFTER_MS);
    for (let stay = plan.stays[arrived]; stay !== undefined && stay.at <= now; stay = plan.stays[arrived]) {
      arrived += 1;
      forge.schedule(arrived, stay);
    }
    let full = true;
    for (;;) {
      if (left <= 0) return null;
      left -= 1;
      yield;
      const snapshot = forge.look(now, record, full);
      const decision = decide(snapshot, record);
      record = decision.record;
      nextStartAt = decision.nextStartAt ?? Number.POSITIVE_INFINITY;
      full = decision.refresh || record.batches.length === 0;
      for (const action of decision.actions) {
        const folded = fold(snapshot, record, action, forge.perform(now, action), now);
        record = folded.record;
        full ||= folded.refresh;
      }
      if (decision.actions.length === 0 && decision.pollMs !== 0) break;
    }
  }
  const waits = [...forge.mergedAt].map(([number, at]) => at - (plan.stays[number - 1]?.at ?? at));
  return { waits, runs: forge.runs.length };
}

/** The settings that stored rows can be replayed with: how many wait for more, and for how long. */
function settingsOf(repo: ManagedRepo, fanout: number): ManagedRepo {
  const { batchLingerSeconds, batchTarget } = repo;
  return {
    ...repo,
    ...DEFAULT_SETTINGS,
    batchLingerSeconds,
    batchTarget,
    bisectFanout: fanout,
    pause: null,
    enabledAt: 0,
  };
}

/** When the queue does something by itself; infinite: never. */
function nextPlanned(
  { deferred, entries }: QueueRecord,
  nextStartAt: number,
  { batchLingerSeconds }: ManagedRepo,
  now: number,
): number {
  const lingered = entries.flatMap(({ readyAt }) =>
    readyAt === null || batchLingerSeconds === 0 ? [] : readyAt + batchLingerSeconds * 1000,
  );
  const later = [nextStartAt, ...lingered, ...deferred.flatMap(({ until }) => until ?? [])];
  return Math.min(Number.POSITIVE_INFINITY, ...later.filter((at) => at > now));
}
