import type { GateKind } from '../forge/status-gate.ts';
import type { EpochMs } from '../ids.ts';
import { CLOCKS_DIFFER_MS_MAX } from './clocks.ts';

/** Events of workflow runs and of their jobs. */
export const RUN_EVENT_TYPE = /^(workflow_run|workflow_job|action_run_)/;

/**
 * `delivery`: whatever the secret of the webhook has signed. `status`: of commit statuses. `run`: of workflow runs and their jobs.
 * Some forges send neither of these two, some one of them.
 */
const HEARD_KINDS = ['delivery', 'status', 'run'] as const;
export type HeardKind = (typeof HEARD_KINDS)[number];

/** When one of each kind arrived, to the hour. Absent: unknown, as none has since this is kept. */
export type HeardEvents = Readonly<Partial<Record<HeardKind, EpochMs>>>;

/** An arrival is written down at most so often. */
export const HEARD_NOTED_EVERY_MS = 60 * 60_000;
/** An arrival of longer ago says nothing about the next event. */
export const HEARD_COUNTS_MS = 24 * 60 * 60_000;
/** A gate whose verdict an event tells of is polled so rarely: an event that is lost costs this much time, once. */
export const HEARD_GATE_LOOK_MS = 2 * 60_000;

/** Null: an event that tells of no gate. `type`: coarse name from the event header. */
export function heardKindOf(type: string): HeardKind | null {
  if (type === 'status') return 'status';
  return RUN_EVENT_TYPE.test(type) ? 'run' : null;
}

/** When a delivery of the webhook arrived last; null: none was seen. Older versions noted those that tell of a gate alone. */
export function lastDeliveryOf(heard: HeardEvents | undefined): EpochMs | null {
  const times = HEARD_KINDS.flatMap((kind) => heard?.[kind] ?? []);
  return times.length === 0 ? null : Math.max(...times);
}

/** The kind of event that tells how a gate ended. */
export function verdictEventOf(gate: GateKind): HeardKind {
  return gate === 'statuses' ? 'status' : 'run';
}

/** Is an arrival worth a write? A note that lies ahead is of a clock that has been set back since. */
export function isHeardNoteDue(notedAt: EpochMs | undefined, now: EpochMs): boolean {
  if (notedAt === undefined || notedAt > now + CLOCKS_DIFFER_MS_MAX) return true;
  return now - notedAt >= HEARD_NOTED_EVERY_MS;
}

/**
 * Does an event tell of a verdict before a poll finds it? Only where one arrived within a day, and after the last verdict
 * that no event had told of; `missedAt` absent: there was none.
 */
export function isTold(heardAt: EpochMs | undefined, missedAt: EpochMs | undefined, now: EpochMs): boolean {
  if (heardAt === undefined || now - heardAt >= HEARD_COUNTS_MS) return false;
  return missedAt === undefined || missedAt < heardAt;
}
