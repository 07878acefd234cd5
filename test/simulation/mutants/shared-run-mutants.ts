import type { Mutant } from '../mutants.ts';

const SHARED = 'engine-container/src/queue/batches/shared-run.ts';
const PIPELINE = 'engine-container/src/queue/batches/open-pipeline.ts';
const PEOPLE = ['people', 'everything'] as const;

/** Guards of decision 0259: batches that share a gate run. */
export const SHARED_RUN_MUTANTS: readonly Mutant[] = [
  {
    guard: 'those behind a conflict share the gate run of the batch below',
    file: 'engine-container/src/queue/fold-staging.ts',
    find: '    batch.sharesRun = true;\n',
    replace: '',
    families: PEOPLE,
    dies: 'one in the middle of a batch conflicts with it',
  },
  {
    guard: 'a batch that shares a gate run takes no slot',
    file: 'engine-container/src/queue/batches/pipeline.ts',
    find: " || (state === 'wanted' && sharesRun !== true)",
    replace: " || state === 'wanted'",
    families: PEOPLE,
    dies: 'one in the middle of a batch conflicts with it',
  },
  {
    guard: 'a batch whose upper one failed has a gate run of its own',
    file: SHARED,
    find: 'isOver || above.gateKey',
    replace: 'above.gateKey',
    families: PEOPLE,
    dies: 'what stands on a batch that ended at a conflict fails',
  },
  {
    guard: 'where slots are free, several below have a gate run of their own at once',
    file: SHARED,
    find: 'const count = Math.min(free, below.length);',
    replace: 'const count = Math.min(free, 0);',
    families: PEOPLE,
    dies: 'two batches end at a conflict, and what stands on both fails',
  },
  {
    guard: 'a pipeline of several batches shares a gate run where many are likely to pass',
    file: SHARED,
    find: '&& !isWorthSharing(pass, batch)',
    replace: '',
    families: PEOPLE,
    dies: 'one of seven that are good as a rule conflicts, and slots are free',
  },
  {
    guard: 'a pipeline of several batches shares no gate run of few',
    file: SHARED,
    find: 'batch.members.length >= SHARED_RUN_MEMBERS_MIN && ',
    replace: '',
    families: PEOPLE,
    dies: 'one of six that are good as a rule conflicts, and slots are free',
  },
  {
    guard: 'a pipeline of several batches shares no gate run that fails often',
    file: SHARED,
    find: ' && chanceOf(pass, batch) >= SHARED_RUN_PASS_CHANCE_MIN',
    replace: '',
    families: PEOPLE,
    dies: 'one of seven that are often bad conflicts, and slots are free',
  },
  {
    guard: 'a batch does not wait for what the forge does not build',
    file: SHARED,
    find: '(above.stagingFailures ?? 0) > 0',
    replace: 'false',
    families: ['faults', 'everything'],
    dies: 'the forge does not build what comes on top of a batch',
  },
  {
    guard: 'a gate run under another gate workflow is not waited for',
    file: SHARED,
    find: ' || above.gateKey !== batch.gateKey',
    replace: '',
    families: ['everything'],
    dies: 'what comes on top of a batch changes the gate',
  },
  {
    guard: 'an incident shares no gate run',
    file: SHARED,
    find: '  if (isIncidentIn(record, above)) return null;\n',
    replace: '',
    families: ['priorities', 'everything'],
    dies: 'an incident comes while a batch that ends at a conflict is built',
  },
  {
    guard: 'who comes while a batch is built lingers (A33)',
    file: PIPELINE,
    find: 'readyAt < sharing.createdAt || readyAt + s.repo.batchLingerSeconds * 1000 <= s.now',
    replace: 'true',
    families: PEOPLE,
    dies: 'one is scheduled while a batch that ends at a conflict is built',
  },
  {
    guard: 'others that keep coming hold a line up for five lingers at most (A33)',
    file: 'engine-container/src/queue/batches/start-batch.ts',
    find: 'Math.min(Math.max(...readyAts) + lingerMs, Math.min(...readyAts) + LINGERS_MAX * lingerMs)',
    replace: 'Math.max(...readyAts) + lingerMs * Math.min(1, LINGERS_MAX)',
    families: PEOPLE,
    dies: 'one more is scheduled each minute, and they linger',
  },
];
