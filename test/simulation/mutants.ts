import type { Mutation } from './bundle.ts';
import type { Family } from './odds.ts';

/** A guard of the engine and what the engine is without it. */
export interface Mutant extends Mutation {
  readonly guard: string;
  /** Where its absence shows. */
  readonly families: readonly Family[];
}

const QUEUE = 'engine-container/src/queue';
const HURT: readonly Family[] = ['workers', 'everything', 'fleet'];

/**
 * Every guard has one: a guard whose absence no seed notices is not tested, whatever else is green. The grace before a
 * lease is taken over is shown in `test/model` instead: it covers four seconds of a lease, and hundreds of seeds miss them.
 */
export const MUTANTS: readonly Mutant[] = [
  {
    guard: 'one landing after the other (section 0.1)',
    file: `${QUEUE}/landing.ts`,
    find: '  root.landing = landing;\n  postSuccess(pass, root, landing);',
    replace: `  root.landing = landing;
  postSuccess(pass, root, landing);
  for (const other of root.members.slice(root.landed + 1, low)) pass.actions.push({ kind: 'post_status', pr: other.pr, sha: other.head, context: record.context, state: 'success', description: 'all at once', targetUrl: null, purpose: 'outbox' });`,
    families: ['calm', 'faults', 'people'],
  },
  {
    guard: 'the fence of a request (A40)',
    file: 'core/services/lease.ts',
    find: 'if (grant === null || grant.fence !== fence) return null;',
    replace: 'if (grant === null) return null;',
    families: HURT,
  },
  {
    guard: 'the deadline before a lease ends (A41)',
    file: 'core/domain/lease.ts',
    find: 'isPastDeadline: () => monotonicNow() >= deadlineMonotonicMs,',
    replace: 'isPastDeadline: () => false && monotonicNow() >= deadlineMonotonicMs,',
    families: HURT,
  },
  {
    guard: 'a lease is left running while its engine may be at work',
    file: 'core/services/lease.ts',
    find: 'release = options.leaveRunning?.(value) !== true;',
    replace: 'release = true;',
    families: HURT,
  },
  {
    guard: 'the revoke of a posted success (A23, A24)',
    file: `${QUEUE}/root.ts`,
    find: '  if (landing === null || landing.revoke !== null) return;\n',
    replace: '  root.landing = null;\n  if (root.landing === null) return;\n',
    families: ['people', 'settings', 'faults'],
  },
  {
    guard: 'the nudge (D-11)',
    file: 'core/domain/limits.ts',
    find: 'export const LANDING_NUDGE_AGES_MS: readonly number[] = [15_000, 60_000, 180_000, 360_000];',
    replace: 'export const LANDING_NUDGE_AGES_MS: readonly number[] = [];',
    families: ['people', 'faults'],
  },
  {
    guard: 'two time-outs before a bounce (A21)',
    file: 'core/domain/limits.ts',
    find: 'export const LANDING_STRIKES_MAX = 2;',
    replace: 'export const LANDING_STRIKES_MAX = 1;',
    families: ['people', 'faults'],
  },
  {
    guard: 'the probe of the base (A35)',
    file: `${QUEUE}/search.ts`,
    find: "low > 0 ? 'proven' : judgeBase(pass, root)",
    replace: "low >= 0 ? 'proven' : judgeBase(pass, root)",
    families: ['base_pushed', 'calm', 'people'],
  },
  {
    guard: 'the confirming run (D-08)',
    file: 'core/domain/limits.ts',
    find: 'export const CONFIRMED_FAILURES_MIN = 2;',
    replace: 'export const CONFIRMED_FAILURES_MIN = 1;',
    families: ['calm'],
  },
  {
    guard: 'the memory of a bounce (A37)',
    file: `${QUEUE}/line.ts`,
    find: '    (known) => known.pr === pr && known.head === head && known.scheduleId === scheduleId,',
    replace:
      '    (known) => known.pr === pr && known.head === head && known.scheduleId === scheduleId && pr < 0,',
    families: ['calm', 'faults'],
  },
  {
    guard: 'the tree of a merge (A2)',
    file: `${QUEUE}/proof.ts`,
    find: 'merge.commit.tree === landing.tree &&',
    replace: '',
    families: ['unchecked_head', 'base_pushed'],
  },
  {
    guard: 'the parent of a merge (A2)',
    file: `${QUEUE}/proof.ts`,
    find: 'return lineage === null || lineage.includes(tip);',
    replace: 'return lineage !== undefined || tip === undefined;',
    families: ['base_pushed', 'unchecked_head', 'everything'],
  },
  {
    guard: 'the schedule on exactly this head (A30)',
    file: `${QUEUE}/eligibility.ts`,
    find: "  if (!lateEntry) return { kind: 'moved', id: last.id, at: last.at };\n",
    replace: '',
    families: ['people', 'reviews'],
  },
  {
    guard: 'a head that moved under its schedule (D-03)',
    file: `${QUEUE}/line.ts`,
    find: 'const movedUnderIt = entry.head !== pull.headSha && entry.scheduleId === schedule.id;',
    replace: 'const movedUnderIt = false;',
    families: ['people', 'reviews', 'everything'],
  },
  {
    guard: 'the review policy (A29, A31)',
    file: `${QUEUE}/admission.ts`,
    find: '  if (review !== null) return review;\n',
    replace: '',
    families: ['reviews'],
  },
  {
    guard: 'stale approvals (A31)',
    file: `${QUEUE}/admission.ts`,
    find: ' && !(protection.ignoreStaleApprovals && review.stale)',
    replace: '',
    families: ['reviews'],
  },
  {
    guard: 'the base right before a success (A4)',
    file: `${QUEUE}/landing.ts`,
    find: 'if (pull.baseTip !== root.tip) {',
    replace: 'if (pull.baseTip === null) {',
    families: ['base_pushed', 'foreign_status'],
  },
  {
    guard: 'the base under a batch (A23)',
    file: `${QUEUE}/root.ts`,
    find: "s.base.value.sha !== record.tip ? 'base_advanced' : null",
    replace: 'false ? null : null',
    families: ['base_pushed', 'foreign_status', 'unchecked_head'],
  },
  {
    guard: 'the intent before the success (A5)',
    file: 'engine-container/src/reconcile.ts',
    find: '      await this.#save(record, decision.events, snapshot.now);\n',
    replace: '',
    families: ['calm', 'crashes'],
  },
  {
    guard: 'the standstill after a wrong tree (section 0.2)',
    file: `${QUEUE}/proof.ts`,
    find: "  pass.record.halted = { reason: 'tree_mismatch',",
    replace: "  const ignored = { reason: 'tree_mismatch',",
    families: ['unchecked_head', 'base_pushed'],
  },
  {
    guard: 'evidence is of one tree (E17)',
    file: `${QUEUE}/evidence.ts`,
    find: `ledgerOf(record).get(\`\${tree} \${gate}\`) ?? []`,
    replace: 'record.evidence.filter((each) => each.gate === gate)',
    families: ['calm'],
  },
  {
    guard: 'what a late call leaves behind is swept (E7)',
    file: `${QUEUE}/fold.ts`,
    find: 'const LATE_EFFECT_MS = 20_000;',
    replace: 'const LATE_EFFECT_MS = 0;',
    families: ['faults', 'workers', 'everything'],
  },
  {
    guard: 'a success of before the record was lost (A32, A24)',
    file: `${QUEUE}/line.ts`,
    find: "  if (ours.state === 'success') {",
    replace: "  if (ours.state === 'never') {",
    families: ['crashes', 'everything'],
  },
  {
    guard: 'rows of a lost record (A42)',
    file: `${QUEUE}/rows.ts`,
    find: '!isTerminal(row.outcome))',
    replace: '!isTerminal(row.outcome) && at < 0)',
    families: ['crashes', 'everything'],
  },
  {
    guard: 'a base that moves past the queue (A39)',
    file: `${QUEUE}/decide.ts`,
    find: '  noticeBase(pass);\n',
    replace: '  if (s.full && s.base.known) record.baseSeen = s.base.value;\n',
    families: ['unchecked_head', 'foreign_status'],
  },
  {
    guard: 'a cancelled or broken run is nobody’s fault (A22)',
    file: `${QUEUE}/gates.ts`,
    find: "  if (gate.verdict !== 'success' && gate.verdict !== 'failure') return retryNode(pass, root, node);",
    replace: "  if (gate.verdict !== 'success') gate.verdict = node.verdict = 'failure';",
    families: ['faults', 'flaky'],
  },
  {
    guard: 'the last look of a queue that is off (A24)',
    file: 'core/services/dispatch-reconcile.ts',
    find: '  if (off && repo.dueAt === null) {',
    replace: "  if (off) {\n    if (repo.queueEnabled === false) return { kind: 'disabled' };",
    families: ['settings', 'everything'],
  },
  {
    guard: 'the tick finds what no event announced (A46)',
    file: 'core/domain/limits.ts',
    find: 'export const TICK_REPOS_MAX = 1000;',
    replace: 'export const TICK_REPOS_MAX = 0;',
    families: ['calm'],
  },
  {
    guard: 'another context ends the batch (A23)',
    file: `${QUEUE}/root.ts`,
    find: "  if (record.context !== s.repo.statusContext) return 'context_changed';\n",
    replace: '',
    families: ['settings', 'everything'],
  },
  {
    guard: 'the order of the line (A9, A18)',
    file: `${QUEUE}/line.ts`,
    find: 'a.queuedAt - b.queuedAt || a.pr - b.pr',
    replace: 'b.queuedAt - a.queuedAt || b.pr - a.pr',
    families: ['calm'],
  },
];
