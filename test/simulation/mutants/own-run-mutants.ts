import type { Mutant } from '../mutants.ts';

const HEAD = 'engine-container/src/staging/head-evidence.ts';
const STAGE = 'engine-container/src/queue/batches/stage.ts';

/** Guards of decision 0193: a run of the head itself proves a tree only where it is one of the gate on exactly it. */
export const OWN_RUN_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a run of another workflow content is no evidence (D-18)',
    file: HEAD,
    find: ' || judgeGateChange(baseGate, gate) !== null) return null;',
    replace: ' || judgeGateChange(gate, gate) !== null) return null;',
    families: ['own_runs'],
    dies: 'a head has run a gate that it changed itself',
  },
  {
    guard: 'a run of a fork is no evidence (D-99)',
    file: STAGE,
    find: 'pull?.headSha !== head || pull.fromFork || pull.agit',
    replace: 'pull?.headSha !== head',
    families: ['own_runs'],
    dies: 'a branch that was run has the name and the head of a fork',
  },
  {
    guard: 'a run on another tree is no evidence (A1)',
    file: HEAD,
    find: 'if ((await objects.treeOf(head)) !== tree) return null;',
    replace: 'await objects.treeOf(head);',
    families: ['own_runs'],
    dies: 'a head was run before the base moved',
  },
  {
    guard: 'of runs of heads only a pass counts',
    file: HEAD,
    find: "reading.kind !== 'finished' || reading.verdict !== 'success'",
    replace: "reading.kind !== 'finished'",
    families: ['own_runs'],
    dies: 'a run of a head has failed',
  },
  {
    guard: 'statuses of a head under a pattern are no evidence',
    file: HEAD,
    find: "judged.isOpenEnded ? { kind: 'none' } : judged.gate",
    replace: 'judged.gate',
    families: ['own_runs'],
    dies: 'a head has passed all that a pattern shows',
  },
  {
    guard: 'runs of heads count only where the owner wants that',
    file: STAGE,
    find: '!s.repo.reuseCi || !s.pulls.known',
    replace: '!s.pulls.known',
    families: ['own_runs'],
    dies: 'a head has passed, and its owner does not want that to count',
  },
  {
    guard: 'a tree that has passed is not run again',
    file: 'engine-container/src/staging/stage-batch.ts',
    find: 'return this.#action.knownTrees.some((known) => known.tree === tree && known.gate === gate.id);',
    replace: 'return this.#action.knownTrees.some((known) => known.tree === tree && known.gate === tree);',
    families: ['calm'],
    dies: 'the rest of a proven batch comes back',
  },
  {
    guard: 'what a run of a head has proven is taken back once such runs are switched off (0193)',
    file: 'engine-container/src/queue/batches/end-batch.ts',
    find: 'return !s.repo.reuseCi && restsOnHead(record, batch);',
    replace: 'return false;',
    families: ['own_runs'],
    dies: 'runs of heads are switched off after one has passed',
  },
  {
    guard: 'each staging asks for the run of a head anew (0193)',
    file: 'engine-container/src/queue/batches/end-batch.ts',
    find: '  forgetHeadEvidence(record, batch);\n',
    replace: '',
    families: ['own_runs'],
    dies: 'a run of a head is repeated in a pause, and fails',
  },
  {
    guard: 'a run of a head is read again right before the success that rests on it (0193)',
    file: 'engine-container/src/queue/landing/last-refusal.ts',
    find: 'if (hasOwnPass?.known !== true || hasOwnPass.value) return false;',
    replace: 'return false;',
    families: ['own_runs'],
    dies: 'a run of a head is repeated, and fails, before its success',
  },
  {
    guard: 'a run of a head that does not pass any more is told as that (0193)',
    file: 'engine-container/src/queue/landing/last-refusal.ts',
    find: "startTeardown(pass, batch, 'own_run_lost');",
    replace: "startTeardown(pass, batch, 'gate_changed');",
    families: ['own_runs'],
    dies: 'a run of a head is repeated, and fails, before its success',
  },
];
