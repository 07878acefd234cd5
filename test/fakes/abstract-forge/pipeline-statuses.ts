import { appendStatus } from './statuses.ts';
import type { Run, World } from './world.ts';

/** The account whose token the CI posts with. */
export const CI_AUTHOR = 'ci-bot';
/** Woodpecker's: `ci/woodpecker/<event>/<workflow>`. */
export const CI_CONTEXTS = ['ci/woodpecker/push/build', 'ci/woodpecker/push/test'] as const;
type CiContext = (typeof CI_CONTEXTS)[number];
/** May write to the repository, and is no author of the gate. */
export const CI_STRANGER = 'mallory';

interface Result {
  readonly state: string;
  readonly description: string;
}

const PENDING: Result = { state: 'pending', description: 'Pipeline is running' };
const PASSED: Result = { state: 'success', description: 'Pipeline was successful' };
const FAILED: Result = { state: 'failure', description: 'Pipeline failed' };
/** As Woodpecker posts the states of a pipeline: one that was stopped is a failure with words of its own. */
const RESULTS: Readonly<Record<Run['state'], Result>> = {
  waiting: PENDING,
  running: PENDING,
  success: PASSED,
  failure: FAILED,
  cancelled: { state: 'failure', description: 'Pipeline was canceled' },
  error: { state: 'error', description: 'Pipeline failed' },
};

/** What the CI posts of a pipeline as it stands now: of two workflows the first passes always, the second decides. */
export function postPipeline(world: World, run: Run): void {
  const { lateMs, strangers, restarts } = world.knobs.ciHabits;
  const result = RESULTS[run.state];
  const [first, last] = CI_CONTEXTS;
  const isOver = result !== PENDING;
  if (strangers) postAll(world, run, result === PASSED ? FAILED : PASSED);
  if (isOver && restarts && result === PASSED) {
    post(world, run, last, FAILED);
    post(world, run, last, PENDING);
  }
  post(world, run, first, isOver ? PASSED : PENDING);
  if (isOver && lateMs > 0) world.timers.after(lateMs, () => post(world, run, last, result));
  else post(world, run, last, result);
}

/** As Woodpecker's: the number of the pipeline, then that of the workflow in it. */
export function linkOfWorkflow({ id }: Pick<Run, 'id'>, workflow: number): string {
  return `https://ci.test/repos/1/pipeline/${id}/${workflow}`;
}

function postAll(world: World, run: Run, result: Result): void {
  for (const context of CI_CONTEXTS) post(world, run, context, result, CI_STRANGER);
}

function post(world: World, run: Run, context: CiContext, result: Result, creator: string = CI_AUTHOR): void {
  const times = world.knobs.ciHabits.repeats ? 2 : 1;
  for (let time = 0; time < times; time += 1) {
    const targetUrl = linkOfWorkflow(run, CI_CONTEXTS.indexOf(context) + 1);
    appendStatus(world, run.sha, { context, ...result, creator, targetUrl });
  }
}
