import * as z from 'zod';
import type { EpochMs } from '../../domain/ids.ts';
import type { ManagedRepo } from '../../domain/repos/repo.ts';
import { DRIFT_KINDS, type Drift, type DriftFacts, findDrifts, sayDrift } from '../../domain/set-up/drift.ts';
import {
  REPAIR_STATES,
  REPAIRS_A_DAY_MAX,
  type RepairState,
  repairStateOf,
  repairsAt,
} from '../../domain/set-up/repair.ts';
import { REPAIR_RESULTS, REPAIRS, type Repair } from '../../domain/set-up/repair-note.ts';
import { formatTime, formatTimeOrNull, Time } from '../fields.ts';

const NEXT: Readonly<Record<RepairState, (next: string) => string>> = {
  off: (next) => `${next} With "Repairs" switched on in the settings the service puts it back by itself.`,
  people: (next) => next,
  planned: () => 'The service puts it back by itself, once an hour at most.',
  given_up: (next) =>
    `The service tried to put it back ${REPAIRS_A_DAY_MAX} times within a day and does not try again now. Look for a person or another service that changes it, and check the rights of the bot. ${next}`,
};

/** Next steps where a person changed the rule in a way that no call of the queue puts back. */
const BY_HAND: Readonly<Partial<Record<Drift['kind'], string>>> = {
  protection: 'Restore the rule on the forge by hand.',
  required_context: 'By hand, add the status to the rule on the forge.',
};

const DriftView = z.object({
  kind: z.enum(DRIFT_KINDS),
  /** First look that saw it; of `base` and `rights`, the last look that went well before it; null: not known. */
  since: Time.nullable(),
  /** Forges do not say who changed a rule, a hook or a right. */
  by: z.literal('unknown'),
  /** Whether the service puts it back by itself. */
  repair: z.enum(REPAIR_STATES),
  says: z.string(),
  next: z.string(),
});

/** A part that the service tried to put back within the last day. */
const RepairView = z.object({
  part: z.enum(REPAIRS),
  at: Time,
  result: z.enum(REPAIR_RESULTS),
  /** Who changed it on the forge: forges do not say. */
  by: z.literal('unknown'),
});

/** The fields of drift in the activity of a repository. */
export const DRIFT_FIELDS = {
  /** Parts of the set-up that are not as they were made. */
  drifts: z.array(DriftView),
  /** Tries of the last day to put such parts back, oldest first. */
  repairs: z.array(RepairView),
};

export function toDriftFields(facts: DriftFacts, now: EpochMs) {
  return {
    drifts: findDrifts(facts).map((drift) => toDriftView(facts.repo, drift, now)),
    repairs: repairsAt(facts.repo, now).map(toRepairView),
  };
}

function toDriftView(repo: ManagedRepo, drift: Drift, now: EpochMs): z.infer<typeof DriftView> {
  const { kind, since, detail } = drift;
  const repair = repairStateOf(repo, drift, now);
  const { says: words, next: usual } = sayDrift(drift);
  const next = drift.onlyPeople === true ? (BY_HAND[kind] ?? usual) : usual;
  const says = detail === undefined ? words : `${words}: ${detail}`;
  return { kind, since: formatTimeOrNull(since), by: 'unknown', repair, says, next: NEXT[repair](next) };
}

function toRepairView({ kind, at, result }: Repair): z.infer<typeof RepairView> {
  return { part: kind, at: formatTime(at), result, by: 'unknown' };
}
