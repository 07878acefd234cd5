import type { Mutant } from './mutants.ts';

const STATUS_GATE = 'core/domain/status-gate.ts';

/** Guards of a gate by commit statuses. */
export const GATE_MUTANTS: readonly Mutant[] = [
  {
    guard: 'a status counts only of an author of the gate',
    file: STATUS_GATE,
    find: 'authors.has(creator.toLowerCase())',
    replace: '(creator !== "" || authors.has(creator))',
    families: ['other_ci'],
    dies: { family: 'other_ci', seed: 6 },
  },
  {
    guard: 'every context has to pass',
    file: STATUS_GATE,
    find: "answers.every((answer) => answer === 'success')",
    replace: "answers.some((answer) => answer === 'success')",
    families: ['other_ci'],
    dies: { family: 'other_ci', seed: 9 },
  },
  {
    guard: 'the newest status of a context counts',
    file: STATUS_GATE,
    find: 'if (known === undefined || status.id > known.id) newest',
    replace: 'if (known === undefined || status.state === "failure") newest',
    families: ['other_ci'],
    dies: { family: 'other_ci', seed: 0 },
  },
  {
    guard: 'a context that fails is not made good by one that passes',
    file: STATUS_GATE,
    find: "const WORST_FIRST = ['failure', 'cancelled', 'error'] as const;",
    replace: "const WORST_FIRST = ['cancelled', 'error'] as const;",
    families: ['other_ci'],
    dies: { family: 'other_ci', seed: 9 },
  },
  {
    guard: 'a pipeline that was stopped blames no pull request',
    file: STATUS_GATE,
    find: "description === WORDS_OF_CANCELLED ? 'cancelled' : 'failure'",
    replace: "description === '' ? 'cancelled' : 'failure'",
    families: ['other_ci'],
    dies: { family: 'other_ci', seed: 51 },
  },
  {
    guard: 'a batch is judged by the gate that is asked now (A12)',
    file: 'engine-container/src/queue/batches/batch.ts',
    find: '!isSameGate(batch.statusGate ?? null, statusGateOf(s.repo))',
    replace: '!isSameGate(batch.statusGate ?? null, batch.statusGate ?? null)',
    families: ['other_ci'],
    dies: 'the gate is changed while a batch is out',
  },
  {
    guard: 'a change of the gate is told with its code',
    file: 'core/domain/pull-code-table.ts',
    find: "  gate_changed: wait('none', 'requeued: the queue now asks another gate', BY_ITSELF),",
    replace: "  gate_changed_once: wait('none', 'requeued: the queue now asks another gate', BY_ITSELF),",
    families: ['other_ci'],
    dies: 'the gate is changed while a batch is out',
  },
  {
    guard: 'the deadline of a gate counts from the start of a run that waited for a runner',
    file: 'engine-container/src/queue/gate/gate-deadline.ts',
    find: 'return runnerWait?.isOver === true ? runnerWait.until : stagedAt;',
    replace: 'return stagedAt;',
    families: ['other_ci'],
    dies: 'a gate run waits for a runner longer than its deadline',
  },
  {
    guard: 'a gate run that waits for a runner is not staged anew at its deadline',
    file: 'engine-container/src/queue/gate/gate-deadline.ts',
    find: 'waitsForRunner(node) ? GATE_RUNNER_WAIT_FACTOR : 1',
    replace: '1',
    families: ['other_ci'],
    dies: 'a gate run waits for a runner longer than its deadline',
  },
  {
    guard: 'only the wait before the first job counts as the wait for a runner',
    file: 'engine-container/src/queue/gate/gate-deadline.ts',
    find: 'if (node.runnerWait?.isOver === true) return;',
    replace: '',
    families: ['other_ci'],
    dies: 'a gate run waits for a runner between two jobs',
  },
];
