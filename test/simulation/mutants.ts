import type { Mutation } from './bundle.ts';
import type { Family } from './families.ts';
import { ARCHIVE_MUTANTS } from './mutants/archive-mutants.ts';
import { ASSUMPTION_MUTANTS } from './mutants/assumption-mutants.ts';
import { BACKPORT_MUTANTS } from './mutants/backport-mutants.ts';
import { BAD_HEAD_MUTANTS } from './mutants/bad-head-mutants.ts';
import { BATCH_END_MUTANTS } from './mutants/batch-end-mutants.ts';
import { BLAME_MUTANTS } from './mutants/blame-mutants.ts';
import { BLOCKED_MUTANTS } from './mutants/blocked-mutants.ts';
import { BRANCH_MUTANTS } from './mutants/branch-mutants.ts';
import { CLOCK_MUTANTS } from './mutants/clock-mutants.ts';
import { CONVERTED_MUTANTS } from './mutants/converted-mutants.ts';
import { COST_MUTANTS } from './mutants/cost-mutants.ts';
import { EVENT_MUTANTS } from './mutants/event-mutants.ts';
import { FAIR_MUTANTS } from './mutants/fair-mutants.ts';
import { FANOUT_MUTANTS } from './mutants/fanout-mutants.ts';
import { FILE_MUTANTS } from './mutants/file-mutants.ts';
import { FORECAST_MUTANTS } from './mutants/forecast-mutants.ts';
import { FREEZE_MUTANTS } from './mutants/freeze-mutants.ts';
import { GATE_MUTANTS } from './mutants/gate-mutants.ts';
import { GLANCE_MUTANTS } from './mutants/glance-mutants.ts';
import { LANDING_MUTANTS } from './mutants/landing-mutants.ts';
import { LATE_MUTANTS } from './mutants/late-mutants.ts';
import { LEASE_MUTANTS } from './mutants/lease-mutants.ts';
import { LEFT_BY_SEARCH_MUTANTS } from './mutants/left-by-search-mutants.ts';
import { LISTED_TIP_MUTANTS } from './mutants/listed-tip-mutants.ts';
import { LIVENESS_MUTANTS } from './mutants/liveness-mutants.ts';
import { LONG_BRANCH_MUTANTS } from './mutants/long-branch-mutants.ts';
import { LONG_TIMELINE_MUTANTS } from './mutants/long-timeline-mutants.ts';
import { MACHINE_MUTANTS } from './mutants/machine-mutants.ts';
import { MERGED_INSTEAD_MUTANTS } from './mutants/merged-instead-mutants.ts';
import { OTHERS_MUTANTS } from './mutants/others-mutants.ts';
import { OWN_RUN_MUTANTS } from './mutants/own-run-mutants.ts';
import { PAUSE_MUTANTS } from './mutants/pause-mutants.ts';
import { PLACE_MUTANTS } from './mutants/place-mutants.ts';
import { PRIORITY_MUTANTS } from './mutants/priority-mutants.ts';
import { PROMOTION_MUTANTS } from './mutants/promotion-mutants.ts';
import { PUT_BACK_MUTANTS } from './mutants/put-back-mutants.ts';
import { REBASE_MUTANTS } from './mutants/rebase-mutants.ts';
import { RECALL_MUTANTS } from './mutants/recall-mutants.ts';
import { RECEIPT_MUTANTS } from './mutants/receipt-mutants.ts';
import { RECORD_MUTANTS } from './mutants/record-mutants.ts';
import { RENEWAL_MUTANTS } from './mutants/renewal-mutants.ts';
import { REPAIR_MUTANTS } from './mutants/repair-mutants.ts';
import { REVIEW_MUTANTS } from './mutants/review-mutants.ts';
import { RULE_MUTANTS } from './mutants/rule-mutants.ts';
import { RUNNER_MUTANTS } from './mutants/runner-mutants.ts';
import { SHARED_RUN_MUTANTS } from './mutants/shared-run-mutants.ts';
import { SLOW_PATCH_MUTANTS } from './mutants/slow-patch-mutants.ts';
import { SUCCESS_MUTANTS } from './mutants/success-mutants.ts';
import { TAKEN_NAME_MUTANTS } from './mutants/taken-name-mutants.ts';
import { UNPROVEN_MUTANTS } from './mutants/unproven-mutants.ts';
import { WHO_MAY_MUTANTS } from './mutants/who-may-mutants.ts';
import { WIND_DOWN_MUTANTS } from './mutants/wind-down-mutants.ts';
import { WORD_MUTANTS } from './mutants/word-mutants.ts';
import type { SceneName } from './scenes.ts';

/** A guard of the engine and what the engine is without it. */
export interface Mutant extends Mutation {
  readonly guard: string;
  /** Where its absence shows to chance. */
  readonly families: readonly Family[];
  /** Where it was seen to die: tried first. A life is one of chance; a scene is made for what chance hardly meets. */
  readonly dies: Death;
}
export type Death = SceneName | { readonly family: Family; readonly seed: number };

/** Every guard has one: a guard whose absence nothing notices is not tested, whatever else is green. */
export const MUTANTS: readonly Mutant[] = [
  ...ARCHIVE_MUTANTS,
  ...ASSUMPTION_MUTANTS,
  ...BACKPORT_MUTANTS,
  ...BLOCKED_MUTANTS,
  ...RULE_MUTANTS,
  ...PROMOTION_MUTANTS,
  ...BRANCH_MUTANTS,
  ...GATE_MUTANTS,
  ...RUNNER_MUTANTS,
  ...GLANCE_MUTANTS,
  ...EVENT_MUTANTS,
  ...LANDING_MUTANTS,
  ...MERGED_INSTEAD_MUTANTS,
  ...OTHERS_MUTANTS,
  ...BAD_HEAD_MUTANTS,
  ...SLOW_PATCH_MUTANTS,
  ...TAKEN_NAME_MUTANTS,
  ...CLOCK_MUTANTS,
  ...OWN_RUN_MUTANTS,
  ...PAUSE_MUTANTS,
  ...FREEZE_MUTANTS,
  ...FILE_MUTANTS,
  ...PLACE_MUTANTS,
  ...PRIORITY_MUTANTS,
  ...COST_MUTANTS,
  ...SHARED_RUN_MUTANTS,
  ...LEFT_BY_SEARCH_MUTANTS,
  ...RECEIPT_MUTANTS,
  ...WHO_MAY_MUTANTS,
  ...FAIR_MUTANTS,
  ...FANOUT_MUTANTS,
  ...FORECAST_MUTANTS,
  ...RENEWAL_MUTANTS,
  ...REPAIR_MUTANTS,
  ...LISTED_TIP_MUTANTS,
  ...LONG_TIMELINE_MUTANTS,
  ...LIVENESS_MUTANTS,
  ...LONG_BRANCH_MUTANTS,
  ...MACHINE_MUTANTS,
  ...WORD_MUTANTS,
  ...SUCCESS_MUTANTS,
  ...UNPROVEN_MUTANTS,
  ...BATCH_END_MUTANTS,
  ...BLAME_MUTANTS,
  ...REVIEW_MUTANTS,
  ...LATE_MUTANTS,
  ...LEASE_MUTANTS,
  ...WIND_DOWN_MUTANTS,
  ...PUT_BACK_MUTANTS,
  ...REBASE_MUTANTS,
  ...CONVERTED_MUTANTS,
  ...RECALL_MUTANTS,
  ...RECORD_MUTANTS,
];
