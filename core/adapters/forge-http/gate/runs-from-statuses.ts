import type { GateReading } from '#core/domain/forge/forge.ts';
import { GATE_CONTEXTS_SETTLE_MS } from '#core/domain/limits.ts';
import { listStatusHistory } from '../statuses.ts';
import { readLink } from '../wire/read-link.ts';
import type { StatusRow, TaskRow } from '../wire/schema.ts';
import type { ForgeTransport } from '../wire/transport.ts';
import type { GateQuery } from './runs.ts';
import { listTasks } from './tasks.ts';

/**
 * Login under which Actions posts: a user that no table holds, shown as null. An account with write access can post the
 * same context under its own name, and by a workflow of its own, with the token of a job, under this one.
 */
const ACTIONS_AUTHOR = '';
const JOB_LINK = /\/jobs\/(\d+)$/;
const RUN_LINK = /\/actions\/runs\/(\d+)(?:\/jobs\/\d+)?$/;

type JobState = 'success' | 'failure' | 'cancelled' | 'skipped' | 'error' | 'open';

/** The jobs of one run, as the statuses on its commit tell them. */
interface RunGroup {
  /** Number of the run within the repository, as in its link. */
  readonly index: number;
  readonly link: string;
  /** Of each context, the newest status of each job that has posted under it: jobs of one name share theirs. */
  readonly jobs: Map<string, Map<string, StatusRow>>;
  /** When each job was first told of, by its link. */
  readonly toldAt: Map<string, number>;
}

/**
 * The gate's run where the forge lists no runs (Forgejo 11, Gitea 1.23 and 1.24, and 1.25 for a bot that is no owner): Actions
 * posts one status per job, and the task list says which run is of which workflow and branch. A task appears only once a runner
 * has taken the job. Neither is enough alone: statuses name no workflow file, tasks omit the jobs that still wait.
 *
 * A run that ended before a runner took a job of it is not found: no task says that it is the gate's. Of two jobs with one
 * name the second may have neither status nor task until a moment after the first has ended (forge facts, 8): so a success
 * is open ended.
 *
 * Reads the whole history, because two runs on one commit share their contexts and the latest status of a context
 * shows only one of them.
 */
export async function readRunFromStatuses(transport: ForgeTransport, gate: GateQuery): Promise<GateReading> {
  const statuses = (await listStatusHistory(transport, gate.sha)).filter(isPushJob);
  const groups = groupByRun(statuses);
  if (groups.size === 0) return { kind: 'none' };
  const { own, others } = await readTasks(
    transport,
    gate,
    Math.min(...statuses.map((row) => row.created_at)),
  );
  const group = own === null ? newestWaiting(groups, others) : groups.get(own.run);
  if (group === undefined) return { kind: 'none' };
  const run = { runId: String(group.index), url: readLink(transport, group.link) };
  const verdict = own === null ? 'open' : judgeRun(group, statuses, own);
  if (verdict === 'open') return { kind: 'running', ...run };
  if (verdict === 'success') {
    const settlesInMs = tellsForMs(group, own?.readAt ?? null);
    if (settlesInMs > 0) return { kind: 'running', ...run, settlesInMs };
    // The forge may still tell of further jobs.
    return { kind: 'finished', verdict, ...run, isOpenEnded: true };
  }
  const areSkipped = rowsOf(group).every(isSkipped);
  return { kind: 'finished', verdict, ...run, ...(areSkipped ? { isSkipped: true } : {}) };
}

function isPushJob(row: StatusRow): boolean {
  return row.creator === ACTIONS_AUTHOR && row.context.endsWith(' (push)');
}

function groupByRun(statuses: readonly StatusRow[]): ReadonlyMap<number, RunGroup> {
  const groups = new Map<number, RunGroup>();
  for (const row of statuses) {
    const match = RUN_LINK.exec(row.target_url);
    if (match === null) continue;
    const index = Number(match[1]);
    const link = row.target_url.replace(/\/jobs\/\d+$/, '');
    const group = groups.get(index) ?? { index, link, jobs: new Map(), toldAt: new Map() };
    const jobs = group.jobs.get(row.context) ?? new Map<string, StatusRow>();
    const known = jobs.get(row.target_url);
    if (known === undefined || row.id > known.id) jobs.set(row.target_url, row);
    group.jobs.set(row.context, jobs);
    const toldAt = group.toldAt.get(row.target_url) ?? row.created_at;
    group.toldAt.set(row.target_url, Math.min(toldAt, row.created_at));
    groups.set(index, group);
  }
  return groups;
}

function rowsOf({ jobs }: RunGroup): readonly StatusRow[] {
  return [...jobs.values()].flatMap((rows) => [...rows.values()]);
}

/** The jobs of one context, and the tasks of their name, newest first. */
interface NamedJobs {
  readonly rows: readonly StatusRow[];
  readonly tasks: readonly TaskRow[];
}

function judgeRun(
  group: RunGroup,
  statuses: readonly StatusRow[],
  { tasks }: OwnRun,
): ReturnType<typeof judgeJobs> {
  const workflows = workflowsOf(group, tasks);
  const jobs = [...group.jobs].map(([context, rows]) => ({
    rows: [...rows.values()],
    tasks: tasks.filter(({ name }) => isOneOf(workflows, workflowOf(context, name))),
  }));
  const verdict = judgeJobs([...jobs.flatMap(readJobStates), ...readUntoldEnds(jobs, tasks)]);
  if (verdict !== 'success') return verdict;
  const mayBeOpen =
    tasks.some(({ status }) => !TASK_ENDS.includes(status)) ||
    !hasAllJobs(group, statuses, workflows) ||
    lacksNumber(jobs) ||
    hasGroundlessSkip(jobs);
  return mayBeOpen ? 'open' : 'success';
}

/**
 * How jobs ended that have no status, by the newest task of each name. A pass says nothing there: another job of that name may wait
 * for a runner.
 */
function readUntoldEnds(jobs: readonly NamedJobs[], tasks: readonly TaskRow[]): readonly JobState[] {
  const untold = tasks.filter((task) => !jobs.some((each) => each.tasks.includes(task)));
  const newest = untold.filter((task, at) => untold.findIndex(({ name }) => name === task.name) === at);
  return newest.flatMap(readBrokenEnd);
}

function readBrokenEnd({ status }: TaskRow): readonly JobState[] {
  return status === 'failure' || status === 'cancelled' ? [status] : [];
}

/**
 * For how long the forge may still have jobs to tell: it posts their first statuses one after the other, after a runner may have taken
 * the first (seen: 71 seconds for 82 jobs on a busy machine, six between two).
 */
function tellsForMs({ toldAt }: RunGroup, readAt: number | null): number {
  return readAt === null ? 0 : GATE_CONTEXTS_SETTLE_MS - (readAt - Math.max(...toldAt.values()));
}

/**
 * Whether a job of the run has no status: one below the number of another has none, and no task beside those of the known jobs
 * passed under a known name. The forge goes on where it fails to post one, and posts none that repeats that of a job of the same
 * name.
 */
function lacksNumber(jobs: readonly NamedJobs[]): boolean {
  const links = jobs.flatMap(({ rows }) => rows.map((row) => JOB_LINK.exec(row.target_url)?.[1]));
  const numbers = links.filter((number) => number !== undefined).map(Number);
  const missing = Math.max(-1, ...numbers) + 1 - new Set(numbers).size;
  // Of jobs of one name that were skipped before a runner took them only the first is told, and there is no task.
  const mayHide = jobs.some(({ rows, tasks }) => tasks.length === 0 && rows.every(isSkipped));
  const untold = jobs.reduce((sum, { rows, tasks }) => sum + Math.max(0, tasks.length - rows.length), 0);
  return missing > untold && !mayHide;
}

/**
 * Whether a job is told as skipped without a task, and none that it could wait for was skipped: the forge leaves the conditions of a
 * job to the runner, and skips one by itself only behind another one that did not pass. Such a status may be none of Actions' own.
 */
function hasGroundlessSkip(jobs: readonly NamedJobs[]): boolean {
  const isTaken = ({ tasks }: NamedJobs) => tasks.some(({ status }) => status === 'skipped');
  return !jobs.some(isTaken) && jobs.some(({ rows }) => rows.some(isSkipped));
}

function isSkipped(row: StatusRow): boolean {
  return readJobState(row) === 'skipped';
}

/**
 * States of the jobs that share one context. An open row may be of a job that has passed since: Actions posts nothing for a job
 * where the newest row of its context says the same already, and may post that a new job waits after a runner has ended it (seen
 * after one had begun it). Its tasks tell. They are newest first.
 */
function readJobStates({ rows, tasks }: NamedJobs): readonly JobState[] {
  const states = rows.map(readJobState);
  const passes = tasks.filter(({ status }) => status === 'success').length;
  if (tasks.length >= rows.length && passes === tasks.length)
    return states.map((state) => (state === 'open' ? 'success' : state));
  return [...states, ...statesByTasks(states, tasks[0], passes)];
}

/** A status may be none of Actions' own: it makes no job pass that has no task which passed, or whose newest one did not. */
function statesByTasks(
  states: readonly JobState[],
  newest: TaskRow | undefined,
  passes: number,
): readonly JobState[] {
  const broken = newest === undefined ? [] : readBrokenEnd(newest);
  if (broken.length > 0) return broken;
  return states.filter((state) => state === 'success').length > passes ? ['open'] : [];
}

/**
 * Whether a status of each job of this run is known. It is not where another run on this commit has a job that may be of
 * the same workflow and that this run lacks: Actions posts nothing when another run's job has just left the same state in
 * the same context, so the missing job may be open.
 */
function hasAllJobs(group: RunGroup, statuses: readonly StatusRow[], workflows: readonly string[]): boolean {
  return statuses.every(
    ({ context }) => group.jobs.has(context) || !workflows.some((workflow) => mayBeOf(context, workflow)),
  );
}

/** Names that the workflow of this run may have: all its contexts begin with it. */
function workflowsOf({ jobs }: RunGroup, tasks: readonly TaskRow[]): readonly string[] {
  const contexts = [...jobs.keys()];
  const told = tasks.flatMap(({ name }) => contexts.map((context) => workflowOf(context, name)));
  const names = new Set(told.filter((name) => name !== null));
  return [...names].filter((name) => contexts.every((context) => mayBeOf(context, name)));
}

/**
 * Name of the workflow whose job of this name has that context; null: none has. A workflow without a name leaves the
 * context with its slash in front, because the forge takes the space before that away.
 */
function workflowOf(context: string, job: string): string | null {
  const end = `/ ${job} (push)`;
  if (context === end) return '';
  return context.endsWith(` ${end}`) ? context.slice(0, -end.length - 1) : null;
}

function isOneOf(workflows: readonly string[], workflow: string | null): boolean {
  return workflow !== null && workflows.includes(workflow);
}

/** Where names have slashes, a context does not tell which of them stands between workflow and job. */
function mayBeOf(context: string, workflow: string): boolean {
  return context.startsWith(`${workflow} / `.trimStart());
}

/**
 * State of a job. Old versions post a cancelled job as failure and a skipped one as success; only the description tells
 * them apart.
 */
function readJobState(row: StatusRow): JobState {
  switch (row.status) {
    case 'success':
      return row.description === 'Has been skipped' ? 'skipped' : 'success';
    case 'failure':
      return row.description === 'Has been cancelled' ? 'cancelled' : 'failure';
    case 'skipped':
    case 'error':
      return row.status;
    default:
      return 'open';
  }
}

/**
 * State of a run by those of its jobs: it passed where no job failed and one passed; a job that was skipped counts for
 * nothing.
 */
function judgeJobs(states: readonly JobState[]): Exclude<JobState, 'skipped'> {
  if (states.includes('failure')) return 'failure';
  if (states.includes('cancelled')) return 'cancelled';
  if (states.includes('error')) return 'error';
  if (states.includes('open')) return 'open';
  return states.includes('success') ? 'success' : 'error';
}

/**
 * The newest run that waits for a runner. It may be the gate's unless it is known for another's; a run that has ended
 * proves nothing.
 */
function newestWaiting(
  groups: ReadonlyMap<number, RunGroup>,
  others: ReadonlySet<number>,
): RunGroup | undefined {
  return [...groups.values()]
    .filter((group) => isOpen(group) && !others.has(group.index))
    .sort((a, b) => b.index - a.index)[0];
}

function isOpen(group: RunGroup): boolean {
  return rowsOf(group).some((row) => readJobState(row) === 'open');
}

/** Words of a task that has ended. */
const TASK_ENDS: readonly string[] = ['success', 'failure', 'cancelled', 'skipped'];

interface OwnRun {
  readonly run: number;
  readonly tasks: readonly TaskRow[];
  /** By the forge's clock; null: its answer has no date. */
  readonly readAt: number | null;
}

/** The runs of this commit that a runner has taken up: the gate's newest, and the numbers of those of other workflows. */
interface TakenRuns {
  readonly own: OwnRun | null;
  readonly others: ReadonlySet<number>;
}

/** Tasks come newest first, so the first match is the newest run. */
async function readTasks(transport: ForgeTransport, gate: GateQuery, notBefore: number): Promise<TakenRuns> {
  const { rows, readAt } = await listTasks(transport, notBefore);
  const ofCommit = rows.filter((row) => row.head_sha === gate.sha);
  const own = ofCommit.filter((row) => isGateTask(row, gate));
  const others = new Set(ofCommit.filter((row) => !isGateTask(row, gate)).map((row) => row.run_number));
  const run = own[0]?.run_number;
  if (run === undefined) return { own: null, others };
  return { own: { run, tasks: own.filter(({ run_number }) => run_number === run), readAt }, others };
}

function isGateTask(row: TaskRow, gate: GateQuery): boolean {
  return row.head_branch === gate.branch && row.workflow_id === gate.file && row.event === 'push';
}
