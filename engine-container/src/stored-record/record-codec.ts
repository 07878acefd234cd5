import * as z from 'zod';
import { SettingsSeenShape } from '#core/contracts/repos/settings-seen.ts';
import { BISECT_FANOUT_MAX, BISECT_FANOUT_MIN } from '#core/domain/limits.ts';
import { FANOUT_REASONS } from '#core/domain/queue/auto-fanout.ts';
import { ACTIVITY_EVENTS, BATCH_OUTCOMES } from '#core/domain/queue/batch.ts';
import { SIGNALS } from '#core/domain/queue/forecast.ts';
import { HOOK_STATES } from '#core/domain/set-up/hook-seen.ts';
import { PROTECTION_REASONS } from '#core/domain/set-up/provisioning.ts';
import { COUNTED_STATES } from '../queue/admission/reviews.ts';
import type { QueueRecord } from '../queue/record/record.ts';
import { REST_CAUSES } from '../queue/record/stop-state.ts';
import { migrate, WRITTEN_FORMAT } from './record-migrations.ts';
import { type StoredField, toCodeNames, toCodeRows, toStoredNames, toStoredRows } from './record-names.ts';
import { withoutUnknownReasons } from './unknown-reasons.ts';
import { isEmpty, NOTHING_UNSENT, type Unsent } from './unsent.ts';

/**
 * Reads a stored queue record. Checked are the shapes that `decide` relies on, not every leaf: the writer is this very
 * program, so what can go wrong is a damaged or foreign document, and that must never be half understood (A32). Fields that are
 * not named here are kept all the same: no shape is asked for its copy, and one that keeps them in it takes twice as long.
 */
const pr = z.number().int().positive();
const sha = z.string().min(1);
const Node = z.object({
  id: z.string(),
  nodeId: z.string(),
  from: z.number().int().nonnegative(),
  to: z.number().int().nonnegative(),
  state: z.enum(['wanted', 'gating', 'done']),
  outcome: z.enum(BATCH_OUTCOMES),
  runnerWait: z.object({ labels: z.array(z.string()).nullish() }).optional(),
  actions: z.array(z.object({ pr })),
});
const Batch = z.object({
  runId: z.string(),
  members: z.array(z.object({ pr, head: sha })),
  chain: z.array(z.object({ sha, tree: sha })),
  baseSha: sha,
  baseTree: sha,
  tip: sha,
  landed: z.number().int().nonnegative(),
  released: z.number().int().nonnegative(),
  place: z.enum(['lane', 'suspect', 'screen']),
  onto: z.string().nullable(),
  limit: z.number().int().nonnegative(),
  receipts: z.array(z.object({ tree: sha })),
  untraced: z
    .array(
      z.object({
        index: z.number().int(),
        receipt: z.object({ baseBefore: sha, mergeCommit: sha }),
      }),
    )
    .optional(),
  fates: z.array(z.object({ pr })),
  nodes: z.array(Node),
  landing: z.object({ pr, head: sha, tree: sha, baseBefore: sha, index: z.number().int() }).nullable(),
});
const AutoFanout = z.object({
  inForce: z.int().min(BISECT_FANOUT_MIN).max(BISECT_FANOUT_MAX),
  reason: z.enum(FANOUT_REASONS),
  runs: z.number().nonnegative(),
  expected: z.number().nonnegative(),
  budget: z.number().nonnegative(),
  since: z.object({ runs: z.int().nonnegative(), landed: z.int().nonnegative() }),
  arrivals: z.object({ at: z.number(), gapMs: z.number().nonnegative().nullable() }).optional(),
});
const Outcomes = z.object({ landed: z.number().nonnegative(), bounced: z.number().nonnegative() });
const Forecast = Outcomes.extend({ with: z.partialRecord(z.enum(SIGNALS), Outcomes) });
const RunnersSeen = z.int().min(1).max(BISECT_FANOUT_MAX);
const RunnersKnown = z.object({ count: z.number(), at: z.number(), again: z.number() });
const BegunLately = z.object({ count: z.number(), at: z.number(), stagedAt: z.number() });
const SlowPatches = z.object({ until: z.number(), isGivenUp: z.boolean() });
const HookSeen = z.object({ since: z.number(), at: z.number(), state: z.enum(HOOK_STATES) });
const GateMissing = z.object({ gate: z.string(), since: z.number() });
const RestsFor = z.enum(REST_CAUSES);
const RuleSeen = z.object({
  at: z.number(),
  lookedAt: z.number().optional(),
  context: z.string().optional(),
  reasons: z.array(z.enum(PROTECTION_REASONS)),
});
/** Fields that were only learned or seen: one that is damaged, or of a newer release, is learned anew. */
const LEARNED: Readonly<Record<string, z.ZodType>> = {
  autoFanout: AutoFanout,
  forecast: Forecast,
  runnersSeen: RunnersSeen,
  runnersKnown: RunnersKnown,
  begunLately: BegunLately,
  slowPatches: SlowPatches,
  hook: HookSeen,
  rule: RuleSeen,
  gateMissing: GateMissing,
  restsFor: RestsFor,
};
const StoredShape = z.object({
  schema: z.literal(WRITTEN_FORMAT),
  context: z.string(),
  rebuilding: z.boolean(),
  unread: z.array(pr).optional(),
  recall: z.array(pr).optional(),
  recallHeads: z
    .array(z.object({ pr, head: sha, mayStand: z.literal(true).optional(), until: z.number().optional() }))
    .optional(),
  recallContexts: z.array(z.string()).optional(),
  recalledAt: z.number().optional(),
  lateUntil: z.number().optional(),
  reread: z.object({ untried: z.array(pr).nullable() }).optional(),
  line: z.array(
    z.object({
      pr,
      head: sha,
      scheduleId: z.number(),
      queuedAt: z.number(),
      cleared: z.boolean(),
      doubt: z.object({ by: z.string(), chance: z.number() }).nullable(),
      signals: z.array(z.string()).optional(),
    }),
  ),
  roots: z.array(Batch),
  tip: sha.nullable(),
  evidence: z.array(
    z.object({ tree: sha, gate: sha, verdict: z.enum(['success', 'failure']), runKey: z.string(), sha }),
  ),
  strikes: z.array(z.object({ pr, head: sha, count: z.number() })),
  bounced: z.array(z.object({ pr, head: sha })),
  attempts: z.array(z.object({ pr, head: sha, scheduleId: z.number(), times: z.number() })).optional(),
  turns: z.array(z.string()).optional(),
  othersAt: z.number().optional(),
  parked: z.array(z.object({ pr, head: sha, baseTree: sha })),
  outbox: z.array(z.object({ pr, sha, state: z.enum(['pending', 'success', 'error']) })),
  garbage: z.array(z.object({ branch: z.string(), notBefore: z.number() })),
  readings: z.array(
    z.object({
      pr,
      head: sha,
      updatedAt: z.number(),
      reviews: z.array(z.object({ state: z.enum(COUNTED_STATES), count: z.number() })).nullable(),
    }),
  ),
  forge: z.object({ readAt: z.number() }).optional(),
  storedBy: z.object({ engine: z.string(), wall: z.number(), monotonic: z.number() }).optional(),
  passed: z.object({ from: sha, to: sha, since: z.number(), own: z.array(pr) }).optional(),
  givenUp: z.array(z.object({ pr, head: sha, tree: sha, baseBefore: sha, at: z.number() })).optional(),
  landedNumbers: z.array(pr).optional(),
  gateTimes: z.array(z.number()).optional(),
  outside: z.array(z.object({ pr, at: z.number() })).optional(),
  rival: z.object({ pr, at: z.number() }).optional(),
  archivedSince: z.number().optional(),
  nameInTheWay: z
    .object({ branches: z.array(z.string()), isNamesake: z.literal(true).optional() })
    .optional(),
  ruledBranch: z.string().optional(),
  doubtedTip: sha.optional(),
  stagingRefused: z.object({ since: z.number(), at: z.number() }).optional(),
  rate: z.object({
    landed: z.number(),
    bounced: z.number(),
    steady: z.number(),
    flaked: z.number(),
    paces: z.array(z.object({ ms: z.number(), runs: z.number(), spread: z.number().optional() })),
    passedBefore: z.object({ landed: z.number(), bounced: z.number() }).optional(),
  }),
  autoFanout: AutoFanout.optional(),
  runnersSeen: RunnersSeen.optional(),
  runnersKnown: RunnersKnown.optional(),
  begunLately: BegunLately.optional(),
  slowPatches: SlowPatches.optional(),
  repoId: z.int().optional(),
  forecast: Forecast.optional(),
  gateLooks: z
    .object({
      at: z.number().optional(),
      missedAt: z.object({ status: z.number().optional(), run: z.number().optional() }).optional(),
    })
    .optional(),
  gateMissing: GateMissing.optional(),
  restsFor: RestsFor.optional(),
  rule: RuleSeen.optional(),
  settingsSeen: SettingsSeenShape.optional(),
  hook: HookSeen.optional(),
});

/**
 * Fields whose shape nothing here checks: each is given by the engine to itself, and read with a default. The types below hold
 * this list and the schema to the record's type: a field is in one of them, and neither names a field that is none.
 */
type Unchecked =
  | 'halted'
  | 'pausedUntil'
  | 'baseSeen'
  | 'unprovenBase'
  | 'stagingAsides'
  | 'stagingFailuresInARow'
  | 'stagedAlone'
  | 'unreadSince'
  | 'landed'
  | 'crowded'
  | 'unheard';
type Described = keyof typeof StoredShape.shape | Unchecked;
type Difference = Exclude<StoredField, Described> | Exclude<Described, StoredField>;
true satisfies [Difference] extends [never] ? true : Difference;

/** Rows and events of an unfinished save. */
const Left = z.object({
  batches: z.array(z.object({ id: z.string(), prs: z.array(pr), createdAt: z.number() })),
  events: z.array(z.object({ event: z.enum(ACTIVITY_EVENTS), pr, head: sha, at: z.number() })),
});

export interface StoredRecord {
  readonly record: QueueRecord;
  readonly unsent: Unsent;
}

/** Null when the document is not a record this version understands. */
export function parseRecord(document: unknown): StoredRecord | null {
  const { unsent = NOTHING_UNSENT, ...newest } = migrate(document) ?? {};
  // What is written is what the release before reads.
  const known = withoutForeignValues(withoutUnknownReasons(newest));
  const record = { ...withoutDamaged(known), schema: WRITTEN_FORMAT };
  if (!isRecord(record) || !Left.safeParse(unsent).success) return null;
  const left = unsent as Unsent;
  return { record: toCodeNames(record), unsent: { ...left, batches: toCodeRows(left.batches) } };
}

function withoutDamaged(record: object): object {
  const kept = Object.entries(record).filter(
    ([name, value]) => LEARNED[name]?.safeParse(value).success ?? true,
  );
  return Object.fromEntries(kept);
}

/** Values of a settings file decide much: where they are none that a file may give, the file is read again (A137). */
function withoutForeignValues({ settingsSeen, ...record }: Readonly<Record<string, unknown>>): object {
  return SettingsSeenShape.safeParse(settingsSeen).success ? { ...record, settingsSeen } : record;
}

/** Not the copy that the check makes: built key by key, its objects are slow ever after, and all of a reconcile works on them. */
function isRecord(document: object): document is z.infer<typeof StoredShape> {
  return StoredShape.safeParse(document).success;
}

/** The stored form: the record, and the rows and events that did not fit the write. */
export function toDocument(record: QueueRecord, unsent: Unsent = NOTHING_UNSENT): object {
  const document = toStoredNames(record);
  return isEmpty(unsent)
    ? document
    : { ...document, unsent: { ...unsent, batches: toStoredRows(unsent.batches) } };
}
