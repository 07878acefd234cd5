import type { CommitStatus } from '#core/domain/forge/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { LOOK_PULLS_MAX, LOOK_TIMELINES_MAX } from '#core/domain/limits.ts';
import { known, UNKNOWN } from '#core/domain/result.ts';
import { hookStateOf } from '#core/domain/set-up/hook-seen.ts';
import { ForgeError, type ForgeReader } from '#core/ports/forge.ts';
import type { LookAnswer, LookMemory, LookRequest, SeenPull, SetUpQuestion } from '#core/ports/idle-look.ts';
import type { Clock } from '#core/ports/system.ts';
import { isOpened } from '../queue/admission/admission.ts';
import type { PullRequestReading } from '../queue/admission/readings.ts';
import { noteRule } from '../queue/admission/rule-notes.ts';
import { emptyRecord } from '../queue/record/record.ts';
import { isPromised } from '../queue/words/gone-words.ts';
import type { TryRead } from '../reading/look-reads.ts';
import { isUntouched, type ReadPullRequest, readSchedules } from '../reading/read-schedules.ts';
import { TimelineMemory, TimelineReader } from '../reading/read-timelines.ts';
import { AnotherRepo, RepoIdentity } from '../reading/repo-identity.ts';
import { StatusPatrol } from '../reading/status-patrol.ts';
import { OF_EVERYTHING } from '../reconcile/action-kinds.ts';

export type LookedAtForge = Pick<
  ForgeReader,
  | 'listOpenPullRequests'
  | 'readTimeline'
  | 'readStatuses'
  | 'readBranchTip'
  | 'listOwnHooks'
  | 'readProtection'
  | 'readRepoId'
>;
type Question = Pick<LookRequest, 'baseBranch' | 'statusContext' | 'repoId' | 'setUp' | 'memory'>;

/**
 * Does this repo need the engine? For one whose queue is empty and which has nothing in flight. It reads what an idle
 * reconcile reads, with the same code: the list, what changed in it, the tip of the base, and two heads' statuses in turn.
 * A look that compares a part of the set-up reads that in their place, so that no look at rest makes more than four calls. Of
 * another repository that has the name it says nothing but that the bot does not reach its own: the engine tells why.
 */
export async function lookForWork(
  forge: LookedAtForge,
  clock: Clock,
  request: Question,
): Promise<LookAnswer> {
  try {
    return await look(forge, clock, request);
  } catch (error) {
    if (error instanceof AnotherRepo) return { kind: 'failed', fault: 'forge_access_denied' };
    if (!(error instanceof ForgeError)) throw error;
    const isRefusal = error.kind === 'denied' || error.kind === 'archived' || error.kind === 'missing';
    return { kind: 'failed', fault: isRefusal ? 'forge_access_denied' : 'forge_unreachable' };
  }
}

async function look(
  forge: LookedAtForge,
  clock: Clock,
  { baseBranch, statusContext, repoId, setUp, memory }: Question,
): Promise<LookAnswer> {
  const tip = await forge.readBranchTip(baseBranch);
  const listed = await new RepoIdentity(repoId).guard(forge).listOpenPullRequests();
  const pulls = listed.filter(({ baseRef }) => baseRef === baseBranch);
  if (pulls.some(({ isArchived }) => isArchived === true))
    return { kind: 'failed', fault: 'forge_access_denied' };
  const record = { ...emptyRecord(statusContext), readings: (memory?.pulls ?? []).map(toReading) };
  const isRead = new Map(record.readings.map((reading) => [reading.pr, reading]));
  const changed = pulls.filter((pull) => {
    const reading = isRead.get(pull.number);
    return reading === undefined || !isUntouched(reading, pull);
  });
  const isTooMuch = pulls.length > LOOK_PULLS_MAX || changed.length > LOOK_TIMELINES_MAX;
  const later = new Set(changed.slice(LOOK_TIMELINES_MAX));
  const looked = await readSchedules(
    new TimelineReader(forge, new TimelineMemory()),
    clock,
    createTryRead(),
    record,
    pulls.slice(0, LOOK_PULLS_MAX).filter((pull) => !later.has(pull)),
  );
  const seen = looked.flatMap(({ reading }) => toSeen(reading));
  const { hookAt, ruleAt } = memory ?? {};
  const found: LookMemory = {
    tip,
    pulls: seen,
    blindUntil: null,
    ...(hookAt === undefined ? {} : { hookAt }),
    ...(ruleAt === undefined ? {} : { ruleAt }),
    ...(setUp === null ? {} : { [`${setUp.part}At`]: clock.now() }),
  };
  const mayBeScheduled = seen.length < looked.length;
  const isMoved = tip === null || tip !== memory?.tip;
  if (isTooMuch || mayBeScheduled || isMoved) return { kind: 'needed', memory: found };
  if (setUp !== null) {
    const isAsBefore = await isSetUpAsBefore(forge, { baseBranch, statusContext, setUp });
    return { kind: isAsBefore ? 'idle' : 'needed', memory: found };
  }
  const patrolled = new StatusPatrol({ doneTurn: null }).choose(
    record,
    looked.map(({ pull }) => ({ pull, isScheduled: false })),
    clock.now(),
  );
  for (const { headSha } of patrolled) {
    const statuses = await readStatusesOf(forge, headSha);
    if (statuses === null) continue;
    // With no success of the queue standing, a success there is another's: it would open the gate to the next schedule (A7).
    if (isOpened(statuses, statusContext)) return { kind: 'needed', memory: found };
    // No pull request is scheduled: words that promise that the queue goes on are untrue, and the engine has others (A145).
    if (isPromised(statuses, statusContext)) return { kind: 'needed', memory: found };
  }
  return { kind: 'idle', memory: found };
}

/**
 * Null: the repository, which this look has just read, does not have the head. Its author may bring that about (forge facts,
 * 3.4), and no engine could read it either.
 */
async function readStatusesOf(
  forge: LookedAtForge,
  head: CommitSha,
): Promise<readonly CommitStatus[] | null> {
  try {
    return await forge.readStatuses(head);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'missing') return null;
    throw error;
  }
}

/** Up to the first pull request that cannot be read: the engine is needed then, which goes on with the others. */
function createTryRead(): TryRead {
  let isOver = false;
  return async (read) => {
    if (isOver) return UNKNOWN;
    try {
      return known(await read());
    } catch (error) {
      if (!(error instanceof ForgeError) || OF_EVERYTHING.includes(error.kind)) throw error;
      isOver = true;
      return UNKNOWN;
    }
  };
}

async function isSetUpAsBefore(
  forge: LookedAtForge,
  {
    baseBranch,
    statusContext,
    setUp,
  }: Omit<Question, 'memory' | 'repoId'> & { readonly setUp: SetUpQuestion },
): Promise<boolean> {
  if (setUp.part === 'hook') return hookStateOf(setUp.hookId, await forge.listOwnHooks()) === setUp.was;
  const reasons = noteRule(await forge.readProtection(baseBranch), statusContext);
  return String(reasons) === String(setUp.was);
}

function toReading(pull: SeenPull): PullRequestReading {
  return { ...pull, schedule: { kind: 'none' }, reviews: null };
}

function toSeen(reading: ReadPullRequest['reading']): readonly SeenPull[] {
  if (!reading.known || reading.value.schedule.kind !== 'none') return [];
  const { pr, head, updatedAt, seenAt, readAt } = reading.value;
  return seenAt === undefined || readAt === undefined ? [] : [{ pr, head, updatedAt, seenAt, readAt }];
}
