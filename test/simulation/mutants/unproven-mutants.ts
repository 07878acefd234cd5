import type { Mutant } from '../mutants.ts';

const QUEUE = 'engine-container/src/queue';

/** Guards of the proof: what landed is the tree that has passed, on the base that it has passed on. */
export const UNPROVEN_MUTANTS: readonly Mutant[] = [
  {
    guard: 'the tree of a merge (A2)',
    file: `${QUEUE}/landing/proof.ts`,
    find: 'merge.commit.tree === landing.tree &&',
    replace: '',
    families: ['unchecked_head', 'base_pushed'],
    dies: 'a newer head is merged',
  },
  {
    guard: 'a pass under another gate workflow proves nothing below (A1)',
    file: `${QUEUE}/batches/pipeline.ts`,
    find: '    if (above.gateKey !== batch.gateKey) continue;\n',
    replace: '',
    families: ['everything'],
    dies: 'what stands on a batch changes the gate and passes',
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
    guard: 'the line below a landing, read later (A2)',
    file: `${QUEUE}/landing/proof.ts`,
    find: '      if (!trace.value) {',
    replace: '      if (!trace.value && batch.landed < 0) {',
    families: ['base_pushed', 'unchecked_head', 'everything'],
    dies: 'the base is rewritten under a landing with another behind it',
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
    guard: 'a base that moves past the queue (A39)',
    file: `${QUEUE}/record/adopt-snapshot.ts`,
    find: '  noticeBase(pass);\n',
    replace: '  if (s.full && s.base.known) record.baseSeen = s.base.value;\n',
    families: ['unchecked_head', 'foreign_status'],
    dies: 'a merge past the queue',
  },
  {
    guard: 'a base that moves before anything was scheduled (A39)',
    file: 'engine-container/src/reading/read-settings-file.ts',
    find: '  if (!tip.known) return false;',
    replace: '  if (!tip.known || record.baseSeen === null) return false;',
    families: ['foreign_status'],
    dies: 'a merge past a queue in which nothing was scheduled yet',
  },
  {
    guard: 'a base that is swapped as its rule goes (A39)',
    file: `${QUEUE}/landing/base-seen.ts`,
    find: 'seen?.isGuarded === true || isGuardedSince(s.repo, seenAt)',
    replace: 'false',
    families: ['rules'],
    dies: 'another branch gets the name of the base',
  },
  {
    guard: 'a base without a rule is alarmed once',
    file: `${QUEUE}/landing/base-seen.ts`,
    find: '  record.baseSeen = { sha, tree, at: s.now };\n  searchOutside',
    replace: '  searchOutside',
    families: ['rules'],
    dies: 'another branch gets the name of the base',
  },
  {
    guard: 'a move of the base is judged once its rule is read (A39)',
    file: `${QUEUE}/landing/base-seen.ts`,
    find: '  if (guarded === null && !wasGuarded && watched && seen !== null) return;\n',
    replace: '',
    families: ['rules'],
    dies: 'the base moves while its rule cannot be read',
  },
];
