import { ALONG_SCENES } from './scenes/along-scenes.ts';
import { ARCHIVE_SCENES } from './scenes/archive-scenes.ts';
import { BACKPORT_SCENES } from './scenes/backport-scenes.ts';
import { BACKPORT_TROUBLE_SCENES } from './scenes/backport-trouble-scenes.ts';
import { BAD_HEAD_SCENES } from './scenes/bad-head-scenes.ts';
import { BLOCKED_SCENES } from './scenes/blocked-scenes.ts';
import { BRANCH_SCENES } from './scenes/branch-scenes.ts';
import { BROKEN_OFF_SCENES } from './scenes/broken-off-scenes.ts';
import { CLOCK_SCENES } from './scenes/clock-scenes.ts';
import { CODE_SCENES } from './scenes/code-scenes.ts';
import { CONTEXT_SCENES } from './scenes/context-scenes.ts';
import { CONVERTED_SCENES } from './scenes/converted-scenes.ts';
import { COST_SCENES } from './scenes/cost-scenes.ts';
import { CROWD_SCENES } from './scenes/crowd-scenes.ts';
import { DEPARTURE_SCENES } from './scenes/departure-scenes.ts';
import { EVENT_SCENES } from './scenes/event-scenes.ts';
import { FAIR_SCENES } from './scenes/fair-scenes.ts';
import { FANOUT_SCENES } from './scenes/fanout-scenes.ts';
import { FILE_SCENES } from './scenes/file-scenes.ts';
import { FORECAST_SCENES } from './scenes/forecast-scenes.ts';
import { FORGE_SCENES } from './scenes/forge-scenes.ts';
import { FREEZE_SCENES } from './scenes/freeze-scenes.ts';
import { GATE_SCENES } from './scenes/gate-scenes.ts';
import { GLANCE_SCENES } from './scenes/glance-scenes.ts';
import { HIDDEN_SCENES } from './scenes/hidden-scenes.ts';
import { HOLD_SCENES } from './scenes/hold-scenes.ts';
import { INSTEAD_ORDER_SCENES } from './scenes/instead-order-scenes.ts';
import { KNOWN_HEAD_SCENES } from './scenes/known-head-scenes.ts';
import { LANDING_SCENES } from './scenes/landing-scenes.ts';
import { LATE_SCENES } from './scenes/late-scenes.ts';
import { LATE_SUCCESS_SCENES } from './scenes/late-success-scenes.ts';
import { LEAVING_SCENES } from './scenes/leaving-scenes.ts';
import { LEFT_BY_SEARCH_SCENES } from './scenes/left-by-search-scenes.ts';
import { LIVENESS_SCENES } from './scenes/liveness-scenes.ts';
import { LONG_BRANCH_SCENES } from './scenes/long-branch-scenes.ts';
import { LONG_TIMELINE_SCENES } from './scenes/long-timeline-scenes.ts';
import { MACHINE_SCENES } from './scenes/machine-scenes.ts';
import { MERGE_RULE_SCENES } from './scenes/merge-rule-scenes.ts';
import { MERGED_INSTEAD_SCENES } from './scenes/merged-instead-scenes.ts';
import { MOVED_BASE_SCENES } from './scenes/moved-base-scenes.ts';
import { OTHERS_SCENES } from './scenes/others-scenes.ts';
import { OWN_RUN_SCENES } from './scenes/own-run-scenes.ts';
import { PAUSE_SCENES } from './scenes/pause-scenes.ts';
import { PLACE_SCENES } from './scenes/place-scenes.ts';
import { PRIORITY_SCENES } from './scenes/priority-scenes.ts';
import { PROMOTION_SCENES } from './scenes/promotion-scenes.ts';
import { PUT_BACK_SCENES } from './scenes/put-back-scenes.ts';
import { REBASE_SCENES } from './scenes/rebase-scenes.ts';
import { RECALL_SCENES } from './scenes/recall-scenes.ts';
import { RECEIPT_SCENES } from './scenes/receipt-scenes.ts';
import { RECORD_SCENES } from './scenes/record-scenes.ts';
import { REFUSED_SCENES } from './scenes/refused-scenes.ts';
import { RENEWAL_SCENES } from './scenes/renewal-scenes.ts';
import { REPAIR_SCENES } from './scenes/repair-scenes.ts';
import { REVIEW_SCENES } from './scenes/review-scenes.ts';
import { RULE_SCENES } from './scenes/rule-scenes.ts';
import { RUNNER_SCENES } from './scenes/runner-scenes.ts';
import { SAME_CHANGE_SCENES } from './scenes/same-change-scenes.ts';
import { SHARED_RUN_SCENES } from './scenes/shared-run-scenes.ts';
import { SLOW_PATCH_SCENES } from './scenes/slow-patch-scenes.ts';
import { TAKEN_NAME_SCENES } from './scenes/taken-name-scenes.ts';
import { TWIN_ORDER_SCENES } from './scenes/twin-order-scenes.ts';
import { TWIN_SCENES } from './scenes/twin-scenes.ts';
import { UNPROVEN_SCENES } from './scenes/unproven-scenes.ts';
import { UNREAD_HEAD_SCENES } from './scenes/unread-head-scenes.ts';
import { UNSENT_SCENES } from './scenes/unsent-scenes.ts';
import { WHO_MAY_SCENES } from './scenes/who-may-scenes.ts';
import { WORD_SCENES } from './scenes/word-scenes.ts';

/** The scenes of `scenes`, each under its name. A spread hides a name that two tables have: `tables.test.ts` finds it. */
export const SCENES = {
  ...ALONG_SCENES,
  ...ARCHIVE_SCENES,
  ...BACKPORT_SCENES,
  ...BACKPORT_TROUBLE_SCENES,
  ...BAD_HEAD_SCENES,
  ...SLOW_PATCH_SCENES,
  ...TAKEN_NAME_SCENES,
  ...BLOCKED_SCENES,
  ...BRANCH_SCENES,
  ...BROKEN_OFF_SCENES,
  ...CLOCK_SCENES,
  ...CODE_SCENES,
  ...CONTEXT_SCENES,
  ...CONVERTED_SCENES,
  ...COST_SCENES,
  ...CROWD_SCENES,
  ...DEPARTURE_SCENES,
  ...EVENT_SCENES,
  ...FAIR_SCENES,
  ...FANOUT_SCENES,
  ...FILE_SCENES,
  ...FORECAST_SCENES,
  ...FORGE_SCENES,
  ...FREEZE_SCENES,
  ...GATE_SCENES,
  ...GLANCE_SCENES,
  ...HIDDEN_SCENES,
  ...HOLD_SCENES,
  ...KNOWN_HEAD_SCENES,
  ...LANDING_SCENES,
  ...LATE_SCENES,
  ...LATE_SUCCESS_SCENES,
  ...LEAVING_SCENES,
  ...LEFT_BY_SEARCH_SCENES,
  ...LIVENESS_SCENES,
  ...LONG_BRANCH_SCENES,
  ...MACHINE_SCENES,
  ...MERGE_RULE_SCENES,
  ...INSTEAD_ORDER_SCENES,
  ...MERGED_INSTEAD_SCENES,
  ...MOVED_BASE_SCENES,
  ...OTHERS_SCENES,
  ...OWN_RUN_SCENES,
  ...PAUSE_SCENES,
  ...PLACE_SCENES,
  ...PRIORITY_SCENES,
  ...PROMOTION_SCENES,
  ...PUT_BACK_SCENES,
  ...REBASE_SCENES,
  ...RECALL_SCENES,
  ...RECEIPT_SCENES,
  ...RECORD_SCENES,
  ...REFUSED_SCENES,
  ...LONG_TIMELINE_SCENES,
  ...RENEWAL_SCENES,
  ...REPAIR_SCENES,
  ...REVIEW_SCENES,
  ...RULE_SCENES,
  ...RUNNER_SCENES,
  ...SAME_CHANGE_SCENES,
  ...SHARED_RUN_SCENES,
  ...TWIN_SCENES,
  ...TWIN_ORDER_SCENES,
  ...UNPROVEN_SCENES,
  ...UNREAD_HEAD_SCENES,
  ...WHO_MAY_SCENES,
  ...UNSENT_SCENES,
  ...WORD_SCENES,
};
export type SceneName = keyof typeof SCENES;
export const SCENE_NAMES = Object.keys(SCENES) as readonly SceneName[];

/** Each of these plays hours, or its story once for every call: `npm run test:long` plays them. */
export const LONG_SCENES: readonly SceneName[] = [
  'a push to the base before each call',
  'a success cannot be taken back for hours',
  'a quiet repository is glanced at no more',
  // Seconds each.
  'a few objects stand for a million files',
  'a function that carries landings dies at each of its calls',
  'a second gate run asks for a runner that does not exist',
  'one that changes the gate waits behind a run, and runs for long',
  'the base heads a pull request to another branch, and a check is late',
  'a third one with a head that has merged twice waits for its merge',
  // How well a line goes on, not whether what lands is proven: half a second or more each.
  'none but those behind suspects waits',
  'one behind suspects is pushed to',
  'another one comes beside those behind suspects',
  'one behind suspects becomes an incident',
  'those behind suspects wait, and several cuts are tried',
  'one of seven that are often bad conflicts, and slots are free',
  'there are three runners and a line that never ends',
  'there were three runners, and now there are plenty',
  'three runners take their next run thirty seconds later',
  'a bad one comes with each four good ones',
  'there are three runners and a long line',
  'many are scheduled, and the queue may spend little',
  'the first that land after a choice are dear',
  'many are scheduled, and the queue may spend what it wants',
  'few are scheduled, and the queue may spend little',
  'runners ask for work once a minute',
  'one account schedules many beside the gate run of a person',
  'one account schedules many beside the gate run of a person, with few slots',
  'one account schedules many beside the gate run of a person, and others come',
  'one account is tried for hours beside the gate runs of others',
  'what is urgent stands before a suspect by its schedule, and behind it in its turn',
  'what is urgent stands behind a suspect that has aged',
];
