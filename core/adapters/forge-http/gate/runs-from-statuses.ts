import type { GateReading } from '#core/domain/forge/forge.ts';
import { FORGE_PAGE_SIZE_MAX } from '#core/domain/limits.ts';
import { listStatusHistory } from '../statuses.ts';
import { readBody } from '../wire/read-body.ts';
import { readLink } from '../wire/read-link.ts';
import { type StatusRow, TaskPage, type TaskRow } from '../wire/schema.ts';
import type { ForgeTransport } from '../wire/transport.ts';
import type { GateQuery } from './runs.ts';

/** Pages of tasks that are read, 500 job attempts: more than a repository starts between two looks. */
const TASK_PAGES_MAX = 10;
/**
 * Login under which Actions posts: a user that no table holds, shown as null. An account with write access can post the
 * same context under its own name.
 */
const ACTIONS_AUTHOR = '';
const RUN_LINK = /\/actions\/runs\/(\d+)(?:\/jobs\/\d+)?$/;

type JobState = 'success' | 'failure' | 'cancelled' | 'skipped' | 'error' | 'open';

/** The jobs of one run, as the statuses on its commit tell them. */
interface RunGroup {
  /** Number of the run within the repository, as in its link. */
  readonly index: number;
  readonly link: string;
  /** Newest status per context. */
  readonly jobs: Map<string, StatusRow>;
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
  const tasks = await readTasks(transport, gate, Math.min(...statuses.map((row) => row.created_at)));
  const group = tasks.own === null ? newestWaiting(groups, tasks.others) : groups.get(tasks.own);
  if (group === undefined) return { kind: 'none' };
  const run = { runId: String(group.index), url: readLink(transport, group.link) };
  const verdict = tasks.own === null ? 'open' : judgeRun(group, statuses);
  if (verdict === 'open') return { kind: 'running', ...run };
  const isSkipped = [...group.jobs.values()].every((row) => readJobState(row) === 'skipped');
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
    const known = group.jobs.get(row.context);
    if (known === undefined || row.id > known.id) group.jobs.set(row.context, row);
    groups.set(index, group);
  }
  return groups;
}

function judgeRun(group: RunGroup, statuses: readonly StatusRow[]): ReturnType<typeof judgeJobs> {
  const verdict = judgeJobs([...group.jobs.values()].map(readJobState));
  return verdict === 'success' && !hasAllJobs(group, statuses) ? 'open' : verdict;
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
  return [...group.jobs.values()].some((row) => readJobState(row) === 'open');
}

/** Numbers of the runs of this commit that a runner has taken up: the gate's newest, and those of other workflows. */
interface TakenRuns {
  readonly own: number | null;
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
  for (let page = 1; page <= TASK_PAGES_MAX; page += 1) {
    const answer = await transport.exchange({ ...call, query: { page, limit: FORGE_PAGE_SIZE_MAX } });
    // Forgejo 7 has no task list, and none is shown while Actions is off.
    if (answer.status === 404 || answer.status === 405) break;
    if (answer.status !== 200) throw transport.failure(call, answer);
    const rows = readBody(TaskPage, call, answer).workflow_runs.filter((row) => row !== null);
    for (const row of rows) {
      if (row.head_sha !== gate.sha) continue;
      if (isGateTask(row, gate)) return { own: row.run_number, others };
      others.add(row.run_number);
    }
    const oldest = rows.at(-1);
    // Jobs older than the first status on the commit belong to other commits.
    if (oldest === undefined || oldest.created_at < notBefore) break;
  }
  return { own: null, others };
}

function isGateTask(row: TaskRow, gate: GateQuery): boolean {
  return row.head_branch === gate.branch && row.workflow_id === gate.file && row.event === 'push';
}
