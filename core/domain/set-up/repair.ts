import { DAY_MS } from '../api-limits.ts';
import type { EpochMs } from '../ids.ts';
import type { ManagedRepo } from '../repos/repo.ts';
import type { Drift, DriftKind } from './drift.ts';
import { REPAIRS, type Repair, type RepairKind } from './repair-note.ts';

/** A part of a set-up is put back once in this time at most. */
export const REPAIR_EVERY_MS = 60 * 60_000;
/** A part that was put back so often within a day is being changed by a person or by another service: it is handed over. */
export const REPAIRS_A_DAY_MAX = 3;

/**
 * `off`: not allowed here. `people`: no call of the forge puts it back. `planned`: at the next look, or an hour after the
 * last try. `given_up`: it was tried `REPAIRS_A_DAY_MAX` times within a day.
 */
export const REPAIR_STATES = ['off', 'people', 'planned', 'given_up'] as const;
export type RepairState = (typeof REPAIR_STATES)[number];

const PUTS_BACK: Readonly<Partial<Record<DriftKind, RepairKind>>> = {
  protection: 'protection',
  required_context: 'protection',
  webhook_missing: 'webhook',
  webhook_changed: 'webhook',
};

type RepairedRepo = Pick<ManagedRepo, 'repairSetup' | 'repairs'>;

function repairOf({ kind, onlyPeople }: Drift): RepairKind | null {
  return onlyPeople === true ? null : (PUTS_BACK[kind] ?? null);
}

export function repairStateOf(repo: RepairedRepo, drift: Drift, now: EpochMs): RepairState {
  const kind = repairOf(drift);
  if (kind === null) return 'people';
  if (!repo.repairSetup) return 'off';
  return triesOf(repo, kind, now).length >= REPAIRS_A_DAY_MAX ? 'given_up' : 'planned';
}

/** The parts to put back now. */
export function planRepairs(
  repo: RepairedRepo & Pick<ManagedRepo, 'queueEnabled' | 'tombstone'>,
  drifts: readonly Drift[],
  now: EpochMs,
): readonly RepairKind[] {
  if (!repo.repairSetup || !repo.queueEnabled || repo.tombstone) return [];
  const wanted = new Set(drifts.map(repairOf));
  return REPAIRS.filter((kind) => wanted.has(kind) && mayTry(triesOf(repo, kind, now), now));
}

function mayTry(tries: readonly Repair[], now: EpochMs): boolean {
  return tries.length < REPAIRS_A_DAY_MAX && tries.every(({ at }) => now - at >= REPAIR_EVERY_MS);
}

/** With these tries noted as begun; those of before the last day go. */
export function noteBegun(repo: RepairedRepo, kinds: readonly RepairKind[], now: EpochMs): readonly Repair[] {
  return [...repairsAt(repo, now), ...kinds.map((kind): Repair => ({ kind, at: now, result: 'begun' }))];
}

export function noteEnded(repairs: readonly Repair[] = [], { kind, at, result }: Repair): readonly Repair[] {
  return repairs.map((each) => (each.kind === kind && each.at === at ? { ...each, result } : each));
}

function triesOf(repo: RepairedRepo, kind: RepairKind, now: EpochMs): readonly Repair[] {
  return repairsAt(repo, now).filter((each) => each.kind === kind);
}

/** The repairs of the last day. */
export function repairsAt({ repairs = [] }: Pick<ManagedRepo, 'repairs'>, now: EpochMs): readonly Repair[] {
  return repairs.filter(({ at }) => now - at < DAY_MS);
}
