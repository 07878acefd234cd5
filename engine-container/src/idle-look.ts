import { LOOK_PULLS_MAX, LOOK_TIMELINES_MAX } from '#core/domain/limits.ts';
import { known } from '#core/domain/result.ts';
import { ForgeError, type ForgeReader } from '#core/ports/forge.ts';
import type { LookAnswer, LookMemory, LookRequest, SeenPull } from '#core/ports/idle-look.ts';
import type { Clock } from '#core/ports/system.ts';
import { isOpened } from './queue/admission.ts';
import type { PullRequestReading } from './queue/readings.ts';
import { emptyRecord } from './queue/record.ts';
import { isUntouched, type ReadPullRequest, readSchedules } from './read-schedules.ts';
import { StatusPatrol } from './status-patrol.ts';

export type LookedAtForge = Pick<
  ForgeReader,
  'listOpenPullRequests' | 'readTimeline' | 'readStatuses' | 'readBranchTip'
>;

/**
 * Does this repo need the engine? For one whose queue is empty and which has nothing in flight. It reads what an idle
 * reconcile reads, with the same code: the list, what changed in it, the tip of the base, and two heads' statuses in turn.
 */
export async function lookForWork(
  forge: LookedAtForge,
  clock: Clock,
  request: Pick<LookRequest, 'baseBranch' | 'statusContext' | 'memory'>,
): Promise<LookAnswer> {
  try {
    return await look(forge, clock, request);
  } catch (error) {
    if (!(error instanceof ForgeError)) throw error;
    const isRefusal = error.kind === 'denied' || error.kind === 'archived' || error.kind === 'missing';
    return { kind: 'failed', fault: isRefusal ? 'forge_access_denied' : 'forge_unreachable' };
  }
}

async function look(
  forge: LookedAtForge,
  clock: Clock,
  { baseBranch, statusContext, memory }: Pick<LookRequest, 'baseBranch' | 'statusContext' | 'memory'>,
): Promise<LookAnswer> {
  const tip = await forge.readBranchTip(baseBranch);
  const pulls = (await forge.listOpenPullRequests()).filter(({ baseRef }) => baseRef === baseBranch);
  const record = { ...emptyRecord(statusContext), readings: (memory?.pulls ?? []).map(toReading) };
  const isRead = new Map(record.readings.map((reading) => [reading.pr, reading]));
  const changed = pulls.filter((pull) => {
    const reading = isRead.get(pull.number);
    return reading === undefined || !isUntouched(reading, pull);
  });
  const isTooMuch = pulls.length > LOOK_PULLS_MAX || changed.length > LOOK_TIMELINES_MAX;
  const later = new Set(changed.slice(LOOK_TIMELINES_MAX));
  const attempt = async <T>(read: () => Promise<T>) => known(await read());
  const looked = await readSchedules(
    ...([forge, clock, attempt, record] as const),
    pulls.slice(0, LOOK_PULLS_MAX).filter((pull) => !later.has(pull)),
  );
  const seen = looked.flatMap(({ reading }) => toSeen(reading));
  const found: LookMemory = { tip, pulls: seen, blindUntil: null };
  const isScheduled = seen.length < looked.length;
  const isMoved = tip === null || tip !== memory?.tip;
  if (isTooMuch || isScheduled || isMoved) return { kind: 'needed', memory: found };
  const patrolled = new StatusPatrol().choose(
    record,
    looked.map(({ pull }) => ({ pull, isScheduled: false })),
    clock.now(),
  );
  for (const { headSha } of patrolled) {
    const statuses = await forge.readStatuses(headSha);
    // With no success of the queue standing, a success there is another's: it would open the gate to the next schedule (A7).
    if (isOpened(statuses, statusContext)) return { kind: 'needed', memory: found };
  }
  return { kind: 'idle', memory: found };
}

function toReading(pull: SeenPull): PullRequestReading {
  return { ...pull, schedule: { kind: 'none' }, reviews: null };
}

function toSeen(reading: ReadPullRequest['reading']): readonly SeenPull[] {
  if (!reading.known || reading.value.schedule.kind !== 'none') return [];
  const { pr, head, updatedAt, seenAt, readAt } = reading.value;
  return seenAt === undefined || readAt === undefined ? [] : [{ pr, head, updatedAt, seenAt, readAt }];
}
