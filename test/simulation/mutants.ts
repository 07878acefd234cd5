import type { Mutation } from './bundle.ts';
import { ARCHIVE_MUTANTS } from './mutants/archive-mutants.ts';
import { ASSUMPTION_MUTANTS } from './mutants/assumption-mutants.ts';
import { BACKPORT_MUTANTS } from './mutants/backport-mutants.ts';
import { BAD_HEAD_MUTANTS } from './mutants/bad-head-mutants.ts';
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
import { LEFT_BY_SEARCH_MUTANTS } from './mutants/left-by-search-mutants.ts';
import { LIVENESS_MUTANTS } from './mutants/liveness-mutants.ts';
import { LONG_BRANCH_MUTANTS } from './mutants/long-branch-mutants.ts';
import { MACHINE_MUTANTS } from './mutants/machine-mutants.ts';
import { OTHERS_MUTANTS } from './mutants/others-mutants.ts';
import { OWN_RUN_MUTANTS } from './mutants/own-run-mutants.ts';
import { PAUSE_MUTANTS } from './mutants/pause-mutants.ts';
import { PRIORITY_MUTANTS } from './mutants/priority-mutants.ts';
import { PROMOTION_MUTANTS } from './mutants/promotion-mutants.ts';
import { PUT_BACK_MUTANTS } from './mutants/put-back-mutants.ts';
import { REBASE_MUTANTS } from './mutants/rebase-mutants.ts';
import { RECALL_MUTANTS } from './mutants/recall-mutants.ts';
import { RECEIPT_MUTANTS } from './mutants/receipt-mutants.ts';
import { RECORD_MUTANTS } from './mutants/record-mutants.ts';
import { RENEWAL_MUTANTS } from './mutants/renewal-mutants.ts';
import { REPAIR_MUTANTS } from './mutants/repair-mutants.ts';
import { RULE_MUTANTS } from './mutants/rule-mutants.ts';
import { RUNNER_MUTANTS } from './mutants/runner-mutants.ts';
import { SHARED_RUN_MUTANTS } from './mutants/shared-run-mutants.ts';
import { WHO_MAY_MUTANTS } from './mutants/who-may-mutants.ts';
import { WORD_MUTANTS } from './mutants/word-mutants.ts';
import type { Family } from './odds.ts';
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

const QUEUE = 'engine-container/src/queue';
const HURT: readonly Family[] = ['workers', 'everything', 'fleet'];

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
  ...OTHERS_MUTANTS,
  ...BAD_HEAD_MUTANTS,
  ...CLOCK_MUTANTS,
  ...OWN_RUN_MUTANTS,
  ...PAUSE_MUTANTS,
  ...FREEZE_MUTANTS,
  ...FILE_MUTANTS,
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
  ...LIVENESS_MUTANTS,
  ...LONG_BRANCH_MUTANTS,
  ...MACHINE_MUTANTS,
  ...WORD_MUTANTS,
  {
    guard: 'one landing after the other (D-02)',
    file: `${QUEUE}/landing/landing.ts`,
    find: '  batch.landing = landing;\n  postSuccess(pass, batch, landing);',
    replace: `  batch.landing = landing;
  postSuccess(pass, batch, landing);
  for (const other of batch.members.slice(batch.landed + 1, low)) pass.actions.push({ kind: 'post_status', pr: other.pr, sha: other.head, context: record.context, state: 'success', description: 'all at once', targetUrl: null, purpose: 'pending' });`,
    families: ['calm', 'faults', 'people'],
    dies: { family: 'calm', seed: 0 },
  },
  {
    guard: 'the fence of a request (A40)',
    file: 'core/services/wakes/lease.ts',
    find: 'if (grant === null || grant.fence !== fence) return null;',
    replace: 'if (grant === null) return null;',
    families: HURT,
    dies: 'a request comes under the lease of another',
  },
  {
    guard: 'the deadline before a lease ends (A41)',
    file: 'core/domain/wakes/lease.ts',
    find: 'isPastDeadline: () => monotonicNow() >= deadlineMonotonicMs,',
    replace: 'isPastDeadline: () => false && monotonicNow() >= deadlineMonotonicMs,',
    families: HURT,
    dies: { family: 'everything', seed: 5 },
  },
  {
    guard: 'a lease is left running while its engine may be at work',
    file: 'core/services/wakes/lease.ts',
    find: 'release = options.leaveRunning?.(value) !== true;',
    replace: 'release = true;',
    families: HURT,
    dies: { family: 'workers', seed: 0 },
  },
  {
    guard: 'a posted success is taken back (A23, A24)',
    file: `${QUEUE}/batches/batch.ts`,
    find: '  if (landing === null || landing.takeBack !== null) return;\n',
    replace: '  batch.landing = null;\n  if (batch.landing === null) return;\n',
    families: ['people', 'settings', 'faults'],
    dies: { family: 'people', seed: 18 },
  },
  {
    guard: 'the nudge (D-11)',
    file: 'core/domain/limits.ts',
    find: 'export const LANDING_NUDGE_AGES_MS: readonly number[] = [15_000, 60_000, 180_000, 360_000];',
    replace: 'export const LANDING_NUDGE_AGES_MS: readonly number[] = [];',
    families: ['people', 'faults'],
    dies: { family: 'people', seed: 8 },
  },
  {
    guard: 'two time-outs before a bounce (A21)',
    file: 'core/domain/limits.ts',
    find: 'export const MERGE_TIMEOUTS_MAX = 2;',
    replace: 'export const MERGE_TIMEOUTS_MAX = 1;',
    families: ['people', 'faults'],
    dies: { family: 'people', seed: 8 },
  },
  {
    guard: 'the probe of the base (A35)',
    file: `${QUEUE}/gate/search.ts`,
    find: "low > 0 ? 'proven' : judgeBase(pass, batch)",
    replace: "low >= 0 ? 'proven' : judgeBase(pass, batch)",
    families: ['base_pushed', 'calm', 'people'],
    dies: { family: 'base_pushed', seed: 10 },
  },
  {
    guard: 'the confirming run (D-08)',
    file: 'core/domain/limits.ts',
    find: 'export const CONFIRMED_FAILURES_MIN = 2;',
    replace: 'export const CONFIRMED_FAILURES_MIN = 1;',
    families: ['calm'],
    dies: { family: 'calm', seed: 0 },
  },
  {
    guard: 'the memory of a bounce (A37)',
    file: `${QUEUE}/record/bounced.ts`,
    find: '    (known) => known.pr === pr && known.head === head && known.scheduleId === scheduleId,',
    replace:
      '    (known) => known.pr === pr && known.head === head && known.scheduleId === scheduleId && pr < 0,',
    families: ['calm', 'faults'],
    dies: { family: 'faults', seed: 3 },
  },
  {
    guard: 'the tree of a merge (A2)',
    file: `${QUEUE}/landing/proof.ts`,
    find: 'merge.commit.tree === landing.tree &&',
    replace: '',
    families: ['unchecked_head', 'base_pushed'],
    dies: 'a newer head is merged',
  },
  {
    guard: 'the parent of a merge (A2)',
    file: `${QUEUE}/landing/proof.ts`,
    find: ' && merge.standsOnTip !== false',
    replace: '',
    families: ['base_pushed', 'unchecked_head', 'everything'],
    dies: 'the base is rewritten under the last landing',
  },
  {
    guard: 'the schedule on exactly this head (A30)',
    file: `${QUEUE}/admission/eligibility.ts`,
    find: "  if (!lateEntry) return { kind: 'moved', ...schedule, ...push };\n",
    replace: '',
    families: ['people', 'reviews'],
    dies: 'a second push is not told yet',
  },
  {
    guard: 'a head that moved under its schedule (D-03)',
    file: `${QUEUE}/admission/entries.ts`,
    find: 'const movedUnderIt = entry.head !== pull.headSha && entry.scheduleId === schedule.id;',
    replace: 'const movedUnderIt = false;',
    families: ['people', 'reviews', 'everything'],
    dies: 'a push right after a schedule',
  },
  {
    guard: 'the review policy (A29, A31)',
    file: `${QUEUE}/admission/admission.ts`,
    find: '  if (review !== null) return review;\n',
    replace: '',
    families: ['reviews'],
    dies: 'no approval',
  },
  {
    guard: 'stale approvals (A31)',
    file: `${QUEUE}/admission/admission.ts`,
    find: ' && !(ignoreStaleApprovals && stale)',
    replace: '',
    families: ['reviews'],
    dies: 'a stale approval',
  },
  {
    guard: 'the base right before a success (A4)',
    file: `${QUEUE}/landing/landing.ts`,
    find: 'if (pull.baseTip !== batch.tip) {',
    replace: 'if (pull.baseTip === null) {',
    families: ['base_pushed', 'foreign_status'],
    dies: 'a push to the base before each call',
  },
  {
    guard: 'the base under a batch (A23)',
    file: `${QUEUE}/batches/batch.ts`,
    find: "s.base.value.sha !== record.tip ? 'base_advanced' : null",
    replace: 'false ? null : null',
    families: ['base_pushed', 'foreign_status', 'unchecked_head'],
    dies: 'a push to the base while gated',
  },
  {
    guard: 'the intent before the success (A5)',
    file: 'engine-container/src/reconcile/reconcile.ts',
    find: '      await this.#keeper.save(record, snapshot.now);\n',
    replace: '',
    families: ['calm', 'crashes'],
    dies: { family: 'calm', seed: 4 },
  },
  {
    guard: 'the standstill after a wrong tree (A2)',
    file: `${QUEUE}/landing/proof.ts`,
    find: "  pass.record.halted = { reason: 'tree_mismatch',",
    replace: "  const ignored = { reason: 'tree_mismatch',",
    families: ['unchecked_head', 'base_pushed'],
    dies: 'a newer head is merged',
  },
  {
    guard: 'evidence is of one tree (E17)',
    file: `${QUEUE}/gate/evidence.ts`,
    find: `evidenceByKey(record).get(\`\${tree} \${gate}\`) ?? []`,
    replace: 'record.evidence.filter((each) => each.gate === gate)',
    families: ['calm'],
    dies: { family: 'calm', seed: 0 },
  },
  {
    guard: 'what a late call leaves behind is swept (E7)',
    file: `${QUEUE}/batches/late-branches.ts`,
    find: 'const LATE_EFFECT_MS = 125_000;',
    replace: 'const LATE_EFFECT_MS = 0;',
    families: ['faults', 'workers', 'everything'],
    dies: 'a branch comes late',
  },
  {
    guard: 'what a staging of a batch without a known end leaves behind is swept (E7)',
    file: `${QUEUE}/batches/stage.ts`,
    find: '  if (batch.builds > 1) sweepLate(',
    replace: '  if (batch.builds < 0) sweepLate(',
    families: ['faults', 'workers', 'everything'],
    dies: 'the staging of a batch comes late and unsaid',
  },
  {
    guard: 'what a staging of a part without a known end leaves behind is swept (E7)',
    file: `${QUEUE}/batches/stage.ts`,
    find: '  if (isTriedAgain) sweepLate(',
    replace: '  if (isTriedAgain && batch.builds < 0) sweepLate(',
    families: ['faults', 'workers', 'everything'],
    dies: 'the staging of a part comes late and unsaid',
  },
  {
    guard: 'a run that can never come, because its branch is gone',
    file: 'engine-container/src/reading/read-gates.ts',
    find: "if (gate.kind !== 'none' || !isLate) return gate;",
    replace: "if (gate.kind !== 'none' || isLate || !isLate) return gate;",
    families: ['people', 'everything'],
    dies: 'a branch goes early',
  },
  {
    guard: 'what is held for payment takes back what it posted (A24, A107)',
    file: 'core/services/wind-down/wind-down.ts',
    find: 'if (obligations?.open !== true) return false;',
    replace: 'if (obligations?.open !== true || obligations.open) return false;',
    families: ['interrupted'],
    dies: 'a hold in a landing',
  },
  {
    guard: 'a tenant that leaves takes back what its queues posted (A24, A100)',
    file: 'core/services/tenants/offboard.ts',
    find: 'await windDownAll(deps, tenantId, end);',
    replace:
      'for (const repo of await deps.store.listRepos(tenantId)) await deps.store.deleteRepo(repo); void end;',
    families: ['interrupted'],
    dies: 'a tenant leaves in a landing',
  },
  {
    guard: 'a merge into another base is no landing',
    file: `${QUEUE}/decision-context.ts`,
    find: 'return pull.merged && pull.baseRef === pass.s.repo.baseBranch;',
    replace: 'return pull.merged;',
    families: ['interrupted', 'people'],
    dies: 'one is merged into another branch under its success',
  },
  {
    guard: 'the name of a deletion that may still be under way (E7)',
    file: `${QUEUE}/fold.ts`,
    find: "if (action.kind === 'delete_branch') return reserveName(pass, action.branch);",
    replace: "if (action.kind === 'delete_branch') return;",
    families: ['faults', 'workers', 'everything'],
    dies: 'a deletion comes late',
  },
  {
    guard: 'a success that this record knows nothing of (A7, A24)',
    file: `${QUEUE}/landing/recall.ts`,
    find: '  if (mayOpenMerge(ours)) {',
    replace: "  if (ours.state === 'never') {",
    families: ['foreign_status', 'everything'],
    dies: 'the success of another account',
  },
  {
    guard: 'rows of a lost record (A42)',
    file: `${QUEUE}/told/rows.ts`,
    find: '!isTerminal(row.outcome))',
    replace: '!isTerminal(row.outcome) && at < 0)',
    families: ['crashes', 'everything'],
    dies: 'the record of a batch is lost whose gate run goes on',
  },
  {
    guard: 'a base that moves past the queue (A39)',
    file: `${QUEUE}/record/adopt-snapshot.ts`,
    find: '  noticeBase(pass);\n',
    replace: '  if (s.full && s.base.known) record.baseSeen = s.base.value;\n',
    families: ['unchecked_head', 'foreign_status'],
    dies: 'a merge past the queue',
  },
  {
    guard: 'a cancelled or broken run blames no pull request (A22)',
    file: `${QUEUE}/gate/gates.ts`,
    find: '  if (!isJudged(gate)) return retryNode(pass, batch, node);',
    replace: "  if (gate.verdict !== 'success') gate.verdict = node.verdict = 'failure';",
    families: ['faults', 'flaky'],
    dies: { family: 'faults', seed: 61 },
  },
  {
    guard: 'the last look of a queue that is off (A24)',
    file: 'core/services/wakes/dispatch-reconcile.ts',
    find: '  if (off && repo.dueAt === null) {',
    replace: "  if (off) {\n    if (repo.queueEnabled === false) return { kind: 'disabled' };",
    families: ['settings', 'everything'],
    dies: { family: 'everything', seed: 4 },
  },
  {
    guard: 'the tick finds what no event announced (A46)',
    file: 'core/domain/limits.ts',
    find: 'export const TICK_REPOS_MAX = 20_000;',
    replace: 'export const TICK_REPOS_MAX = 0;',
    families: ['calm'],
    dies: { family: 'calm', seed: 12 },
  },
  {
    guard: 'another context ends the batch (A23)',
    file: `${QUEUE}/batches/batch.ts`,
    find: "  if (record.context !== s.repo.statusContext) return 'context_changed';\n",
    replace: '',
    families: ['settings', 'everything'],
    dies: { family: 'settings', seed: 4 },
  },
  {
    guard: 'the order of the queue (A9, A18)',
    file: `${QUEUE}/record/queue-entry.ts`,
    find: 'a.queuedAt - b.queuedAt || a.pr - b.pr',
    replace: 'b.queuedAt - a.queuedAt || b.pr - a.pr',
    families: ['calm'],
    dies: { family: 'calm', seed: 1 },
  },
  {
    guard: 'the line below a landing, read later (A2)',
    file: `${QUEUE}/landing/proof.ts`,
    find: '      if (!trace.value) {',
    replace: '      if (!trace.value && batch.landed < 0) {',
    families: ['base_pushed', 'unchecked_head', 'everything'],
    dies: 'the base is rewritten under a landing with another behind it',
  },
  {
    guard: 'exactly our context is required (E14)',
    file: `${QUEUE}/admission/admission.ts`,
    find: 'protection.requiredContexts.includes(context)',
    replace: 'new GlobSet(protection.requiredContexts, null).mayMatch(context)',
    families: ['interrupted'],
    dies: 'a pattern is required',
  },
  {
    guard: 'the grace before a lease is taken over (E7)',
    file: 'core/domain/limits.ts',
    find: 'export const LEASE_TAKEOVER_GRACE_MS = 12_000;',
    replace: 'export const LEASE_TAKEOVER_GRACE_MS = 0;',
    families: HURT,
    dies: 'a lease is taken over',
  },
  {
    guard: 'the last word after a success was taken back (E19)',
    file: `${QUEUE}/landing/landing.ts`,
    find: '  sayLastWord(pass, landing, takeBack.reason);\n',
    replace: '',
    families: ['workers', 'everything'],
    dies: 'one leaves while it lands',
  },
  {
    guard: 'the words of a bounce are its memory (D-05)',
    file: `${QUEUE}/landing/recall.ts`,
    find: 'if (bouncedSince && schedule.known',
    replace: 'if (bouncedSince && pull.number < 0 && schedule.known',
    families: ['crashes', 'everything'],
    dies: 'the record is lost after a bounce',
  },
  {
    guard: 'an approval before a fork is staged (D-99)',
    file: `${QUEUE}/admission/admission.ts`,
    find: '  if (pull.fromFork) return',
    replace: '  if (pull.fromFork && pull.number < 0) return',
    families: ['reviews'],
    dies: 'a fork without approval',
  },
  {
    guard: 'an approval before an AGit head is staged (D-99)',
    file: `${QUEUE}/admission/admission.ts`,
    find: '  if (pull.agit) return',
    replace: '  if (pull.agit && pull.number < 0) return',
    families: ['reviews'],
    dies: 'an AGit head without approval',
  },
  {
    guard: 'an approval before the branch of one who may only read is staged (D-99)',
    file: `${QUEUE}/admission/admission.ts`,
    find: 'return authorWrites?.known === true && !authorWrites.value',
    replace: 'return authorWrites?.known === true && pull.number < 0 && !authorWrites.value',
    families: ['reviews'],
    dies: 'a branch of an author who may only read',
  },
  {
    guard: 'who was in flight when the record was lost (A24, A32)',
    file: `${QUEUE}/decide.ts`,
    find: '  recallLost(pass);\n',
    replace: '',
    families: ['everything'],
    dies: 'the record is lost, and the pull request that wears a success is deleted',
  },
  ...PUT_BACK_MUTANTS,
  ...REBASE_MUTANTS,
  ...CONVERTED_MUTANTS,
  ...RECALL_MUTANTS,
  ...RECORD_MUTANTS,
];
