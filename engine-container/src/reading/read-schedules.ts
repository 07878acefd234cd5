import type { PullRequest, TimelineEntry } from '#core/domain/forge/forge.ts';
import type { CommitSha } from '#core/domain/ids.ts';
import { known, type Reading, UNKNOWN } from '#core/domain/result.ts';
import { type ForgeSight, isSettled, sightOf } from '#core/domain/wakes/forge-sight.ts';
import type { Clock } from '#core/ports/system.ts';
import { readSchedule } from '../queue/admission/eligibility.ts';
import type { PullRequestReading, ScheduleReading } from '../queue/admission/readings.ts';
import { isAwaited, isRenewedBy, needsRenewal, renewed } from '../queue/admission/renewal.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import type { TryRead } from './look-reads.ts';
import type { TimelineReader } from './read-timelines.ts';
import type { SeenPullRequest } from './status-patrol.ts';

/** The earlier reading of it still holds. */
export function isUntouched(cached: PullRequestReading, pull: PullRequest): boolean {
  const isOfOlder = cached.schedule.kind !== 'none' && cached.judgedTarget !== true;
  return isOf(cached, pull) && isSettled(cached) && !isOfOlder;
}

function isOf(reading: PullRequestReading, pull: PullRequest): boolean {
  return reading.head === pull.headSha && reading.updatedAt === pull.updatedAt;
}

/** A label need not move the time of the last change; one whose author was not told is asked about again. */
function hasSameLabels(
  { labelled = [] }: PullRequestReading,
  { labels = [] }: PullRequest,
  counted: ReadonlySet<string>,
): boolean {
  const has = labels.filter((name) => counted.has(name));
  if (labelled.some(({ by }) => by === '') || has.length !== labelled.length) return false;
  return labelled.every(({ name }) => has.includes(name));
}

/** The list says which labels it has, the timeline which account put each on last. */
function readLabels(
  timeline: readonly TimelineEntry[],
  { labels = [] }: PullRequest,
  counted: ReadonlySet<string>,
): Pick<PullRequestReading, 'labelled'> {
  const labelled = labels
    .filter((name) => counted.has(name))
    .map((name) => {
      const last = timeline.findLast(({ label }) => label === name);
      return { name, by: last?.kind === 'labelled' ? last.user : '' };
    });
  return labelled.length === 0 ? {} : { labelled };
}

/** Labels decide over what is in flight as well, so that each view has them, whatever else a look could not read. */
export function labelsOf(reading: Reading<PullRequestReading>): Pick<PullRequestReading, 'labelled'> {
  const labelled = reading.known ? reading.value.labelled : undefined;
  return labelled === undefined ? {} : { labelled };
}

export interface ReadPullRequest {
  readonly pull: PullRequest;
  readonly reading: Reading<PullRequestReading>;
}

/** Who is scheduled on which head: from the timeline of each, or from what was read while nothing has touched it since. */
export async function readSchedules(
  timelines: Pick<TimelineReader, 'read' | 'isPartial'>,
  clock: Clock,
  tryRead: TryRead,
  record: Pick<QueueRecord, 'readings'>,
  pulls: readonly PullRequest[],
  counted: ReadonlySet<string> = new Set(),
): Promise<readonly ReadPullRequest[]> {
  const earlier = new Map(record.readings.map((reading) => [reading.pr, reading]));
  const result: ReadPullRequest[] = [];
  for (const pull of pulls) {
    const cached = earlier.get(pull.number);
    if (cached !== undefined && isUntouched(cached, pull) && hasSameLabels(cached, pull, counted)) {
      result.push({ pull, reading: known(cached) });
      continue;
    }
    if (timelines.isPartial(pull.number)) {
      result.push({ pull, reading: UNKNOWN });
      continue;
    }
    const now = clock.now();
    const same = cached !== undefined && isOf(cached, pull) ? cached : undefined;
    const seenAt = same?.seenAt ?? now;
    const read = await tryRead(() => timelines.read(pull));
    const timeline = read.known ? read.value : null;
    const reading: Reading<PullRequestReading> =
      timeline !== null
        ? known({
            pr: pull.number,
            head: pull.headSha,
            updatedAt: pull.updatedAt,
            schedule: readSchedule(timeline, pull),
            judgedTarget: true,
            reviews: null,
            seenAt,
            readAt: now,
            ...readLabels(timeline, pull, counted),
            ...(timeline.some(({ kind }) => kind === 'dependency') ? { mayDepend: true as const } : {}),
            ...(cached?.head === pull.headSha && cached.checkedFor !== undefined
              ? { checkedFor: cached.checkedFor }
              : {}),
            // Read again for its timeline alone.
            ...(same?.authorWrites === undefined ? {} : { authorWrites: same.authorWrites }),
          })
        : UNKNOWN;
    result.push({ pull, reading });
  }
  return result;
}

/** A pull request that could not be read may be scheduled. */
export function toSeen(pulls: readonly ReadPullRequest[]): readonly SeenPullRequest[] {
  return pulls.map(({ pull, reading }) => ({
    pull,
    isScheduled: !reading.known || reading.value.schedule.kind !== 'none',
  }));
}

/** Null: not all of it is known. */
export function sightIn(
  tip: Reading<CommitSha | null>,
  pulls: readonly ReadPullRequest[] | null,
): ForgeSight | null {
  const readings = (pulls ?? []).flatMap(({ reading }) => (reading.known ? [reading.value] : []));
  return tip.known && readings.length === pulls?.length ? sightOf(tip.value, readings) : null;
}

/** The schedule of a pull request in flight: a push that renewed its schedule does so still, and no other does before the next full look. */
export function readKnownSchedule(
  record: Pick<QueueRecord, 'entries'>,
  pull: PullRequest,
  timeline: readonly TimelineEntry[],
): Reading<ScheduleReading> {
  const { number, headSha } = pull;
  const schedule = readSchedule(timeline, pull);
  if (schedule.kind === 'none' || !needsRenewal(schedule)) return known(schedule);
  const entry = record.entries.find(({ pr }) => pr === number);
  const { push, id, at } = schedule;
  if (push !== undefined && isRenewedBy(push, entry, headSha))
    return known(renewed(schedule, push, entry, headSha));
  return isAwaited(schedule, entry, headSha) ? UNKNOWN : known({ kind: 'moved', id, at });
}
