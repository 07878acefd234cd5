import { activeMembers, inFlightOf } from '../batches/pipeline.ts';
import type { DecisionContext } from '../decision-context.ts';
import { gateRunsMax, policyFor } from '../policy/in-force.ts';
import type { QueueEntry } from '../record/queue-entry.ts';
import { isIncident } from './incidents.ts';
import { crowdsIn, type Line, lineOf } from './turns.ts';

/** A crowd is tried beside the line for so long after one of the others was last seen in it. */
const OTHERS_KEPT_MS = 60 * 60_000;
/** The presence of others is noted this often at most, so that the record is not written at each look. */
const OTHERS_NOTED_MS = 5 * 60_000;
/** Share of the slots that a crowd leaves to the others, rounded up. */
const SLOTS_KEPT_SHARE = 3 / 8;

/** Rule for authors who crowd the line while others come (decision 0253). */
export interface CrowdRule {
  /** One of an author who crowds the line. */
  readonly isOfCrowd: (entry: QueueEntry) => boolean;
  /** One of a crowd that has not passed yet: it is tried beside the pipeline before it may hold others up in it. */
  readonly isUntried: (entry: QueueEntry) => boolean;
  /** One of those, of an author whose turn it is: the last turns were of others, and no batch beside the line is theirs. */
  readonly isInTurn: (entry: QueueEntry) => boolean;
  /** Slots that what is tried of a crowd leaves to the others; less than all. */
  readonly slotsKept: number;
}

/** Notes that others are there beside a crowd. */
export function noteOthers(pass: DecisionContext): void {
  const { record, s } = pass;
  const crowd = crowdOf(pass);
  if (crowd?.hasOthers === true && s.now - (record.othersAt ?? 0) >= OTHERS_NOTED_MS) record.othersAt = s.now;
  if (record.othersAt !== undefined && s.now - record.othersAt >= OTHERS_KEPT_MS) delete record.othersAt;
}

/** Null: no author crowds the line, no other came lately, or there is no slot to try anything beside it. */
export function crowdRuleOf(pass: DecisionContext): CrowdRule | null {
  const { record, s } = pass;
  const isOneByOne = !s.protection.known || s.protection.value?.blockOnOutdatedBranch !== false;
  const slots = gateRunsMax(pass);
  if (record.othersAt === undefined || isOneByOne || slots < 2 || !policyFor(pass).pieces.trials) return null;
  const crowd = crowdOf(pass);
  if (crowd === null) return null;
  const { isOfCrowd } = crowd;
  const isUntried = (entry: QueueEntry): boolean =>
    !entry.passedOnStaleBase && !isIncident(entry) && isOfCrowd(entry);
  const beside = record.batches.filter(({ place }) => place !== 'pipeline').flatMap(activeMembers);
  const served = new Set([...(record.turns ?? []), ...beside.map(({ author }) => author?.toLowerCase())]);
  return {
    isOfCrowd,
    isUntried,
    isInTurn: (entry) => isUntried(entry) && !served.has(crowd.authorOf(entry.pr)),
    slotsKept: Math.ceil(slots * SLOTS_KEPT_SHARE),
  };
}

/** Pull requests in flight count as well: a crowd that many slots take in at once stays a crowd. */
function crowdOf(
  pass: DecisionContext,
): (Pick<CrowdRule, 'isOfCrowd'> & Pick<Line, 'authorOf'> & { readonly hasOthers: boolean }) | null {
  const { record } = pass;
  const line = lineOf(pass);
  if (line === null) return null;
  const inFlight = inFlightOf(record);
  const isThere = (entry: QueueEntry): boolean => line.isWaiting(entry) || inFlight.has(entry.pr);
  const isOfCrowd = crowdsIn(record.entries, { ...line, isWaiting: isThere });
  if (isOfCrowd === null) return null;
  const there = record.entries.filter(isThere);
  const crowding = new Set(there.filter(isOfCrowd).map(({ pr }) => line.authorOf(pr)));
  // An incident overtakes what is there without room that a crowd makes.
  const isOther = (entry: QueueEntry): boolean =>
    !isIncident(entry) && !crowding.has(line.authorOf(entry.pr));
  return { isOfCrowd, authorOf: line.authorOf, hasOthers: there.some(isOther) };
}
