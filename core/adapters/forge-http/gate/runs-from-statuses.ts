import type { GateReading } from '#core/domain/forge/forge.ts';
import { FORGE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import { listStatusHistory } from '../statuses.ts';
import { readBody } from '../wire/read-body.ts';
import { readLink } from '../wire/read-link.ts';
import { type StatusRow, TaskPage, type TaskRow } from '../wire/schema.ts';
import type { ForgeTransport } from '../wire/transport.ts';
import type { GateQuery } from './runs.ts';

/** Pages of tasks that are read, 2,000 job attempts: more than a repository starts while a gate run is out. */
const TASK_PAGES_MAX = 40;
/**
 * Login under which Actions posts: a user that no table holds, shown as null. An account with write access can post the
 * same context under its own name, and by a workflow of its own, with the token of a job, under this one.
 */
const ACTIONS_AUTHOR = '';
const RUN_LINK = /\/actions\/runs\/(\d+)(?:\/jobs\/\d+)?$/;

type JobState = 'success' | 'failure' | 'cancelled' | 'skipped' | 'error' | 'open';

/** The jobs of one run, as the statuses on its commit tell them. */
interface RunGroup {
  /** Number of the run within the repository, as in its link. */
  readonly index: number;
  readonly link: string;
  /** Of each context, the newest status of each job that has posted under it: jobs of one name share theirs. */
  readonly jobs: Map<string, Map<string, StatusRow>>;
}

/**
 * The gate's run where the forge lists no runs (Forgejo 11, Gitea 1.22 to 1.24): Actions posts one status per job, and
 * the task list says which run is of which workflow and branch. A task appears only once a runner has taken the job.
 * Neither is enough alone: statuses name no workflow file, tasks omit the jobs that still wait.
 *
 * A run of which each job was skipped is not found: no runner took one, so no task says that it is the gate's.
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
  const verdict = own === null ? 'open' : judgeRun(group, statuses, own.tasks);
  if (verdict === 'open') return { kind: 'running', ...run };
  const isSkipped = rowsOf(group).every((row) => readJobState(row) === 'skipped');
  return { kind: 'finished', verdict, ...run, ...(isSkipped ? { isSkipped } : {}) };
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
    const group = groups.get(index) ?? { index, link, jobs: new Map() };
    const jobs = group.jobs.get(row.context) ?? new Map<string, StatusRow>();
    const known = jobs.get(row.target_url);
    if (known === undefined || row.id > known.id) jobs.set(row.target_url, row);
    group.jobs.set(row.context, jobs);
    groups.set(index, group);
  }
  return groups;
}

function rowsOf({ jobs }: RunGroup): readonly StatusRow[] {
  return [...jobs.values()].flatMap((rows) => [...rows.values()]);
}

function judgeRun(
  group: RunGroup,
  statuses: readonly StatusRow[],
  tasks: readonly TaskRow[],
): ReturnType<typeof judgeJobs> {
  const states = [...group.jobs].flatMap(([context, rows]) =>
    readJobStates(
      [...rows.values()],
      tasks.filter(({ name }) => context.endsWith(` / ${name} (push)`)),
    ),
  );
  const verdict = judgeJobs(states);
  const mayBeOpen = tasks.some(({ status }) => !TASK_ENDS.includes(status)) || !hasAllJobs(group, statuses);
  return verdict === 'success' && mayBeOpen ? 'open' : verdict;
}

/**
 * States of the jobs that share one context. Actions posts nothing for a job where the newest row of its context says the
 * same already, so an open row may be of a job that has passed since: its tasks tell. They are newest first.
 */
function readJobStates(rows: readonly StatusRow[], tasks: readonly TaskRow[]): readonly JobState[] {
  const states = rows.map(readJobState);
  const passes = tasks.filter(({ status }) => status === 'success').length;
  if (rows.length > 1 && tasks.length >= rows.length && passes === tasks.length)
    return states.map((state) => (state === 'open' ? 'success' : state));
  return [...states, ...statesByTasks(states, tasks[0], passes)];
}

/** A status may be none of Actions' own: it makes no job pass that has no task which passed, or whose newest one did not. */
function statesByTasks(
  states: readonly JobState[],
  newest: TaskRow | undefined,
  passes: number,
): readonly JobState[] {
  if (newest?.status === 'failure' || newest?.status === 'cancelled') return [newest.status];
  return states.filter((state) => state === 'success').length > passes ? ['open'] : [];
}

/**
 * Whether a status of each job of this run is known. It is not where another run on this commit has a job of the same
 * workflow that this run lacks: Actions posts nothing when another run's job has just left the same state in the same
 * context, so the missing job may be open.
 */
function hasAllJobs(group: RunGroup, statuses: readonly StatusRow[]): boolean {
  const names = new Set([...group.jobs.keys()].map(workflowName));
  return statuses.every((row) => !names.has(workflowName(row.context)) || group.jobs.has(row.context));
}

function workflowName(context: string): string {
  return context.slice(0, context.lastIndexOf(' / '));
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

/** The runs of this commit that a runner has taken up: the gate's newest, and the numbers of those of other workflows. */
interface TakenRuns {
  readonly own: { readonly run: number; readonly tasks: readonly TaskRow[] } | null;
  readonly others: ReadonlySet<number>;
}

/** Tasks come newest first, so the first match is the newest run. */
async function readTasks(transport: ForgeTransport, gate: GateQuery, notBefore: number): Promise<TakenRuns> {
  const call = {
    method: 'GET',
    label: 'GET actions/tasks',
    path: [...transport.repoPath, 'actions', 'tasks'],
  } as const;
  const others = new Set<number>();
  const own: TaskRow[] = [];
  for (let page = 1; page <= TASK_PAGES_MAX; page += 1) {
    const answer = await transport.exchange({ ...call, query: { page, limit: FORGE_PAGE_SIZE_MAX } });
    // Forgejo 7 has no task list, and none is shown while Actions is off.
    if (answer.status === 404 || answer.status === 405) break;
    if (answer.status !== 200) throw transport.failure(call, answer);
    const rows = readBody(TaskPage, call, answer).workflow_runs.filter((row) => row !== null);
    for (const row of rows) {
      if (row.head_sha !== gate.sha) continue;
      if (isGateTask(row, gate)) own.push(row);
      else others.add(row.run_number);
    }
    const oldest = rows.at(-1);
    // Jobs older than the first status on the commit belong to other commits.
    if (oldest === undefined || oldest.created_at < notBefore) break;
  }
  const run = own[0]?.run_number;
  if (run === undefined) return { own: null, others };
  return { own: { run, tasks: own.filter(({ run_number }) => run_number === run) }, others };
}

function isGateTask(row: TaskRow, gate: GateQuery): boolean {
  return row.head_branch === gate.branch && row.workflow_id === gate.file && row.event === 'push';
}
