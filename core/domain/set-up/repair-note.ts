import type { EpochMs } from '../ids.ts';

/** Parts of the set-up that the service can put back. */
export const REPAIRS = ['webhook', 'protection'] as const;
export type RepairKind = (typeof REPAIRS)[number];

/** `done`: the forge has it again. `begun`: by a function that did not come to its end, or is at work. */
export const REPAIR_RESULTS = ['begun', 'done', 'failed'] as const;

/** One try to put a part back. Kept for a day. */
export interface Repair {
  readonly kind: RepairKind;
  readonly at: EpochMs;
  readonly result: (typeof REPAIR_RESULTS)[number];
}
