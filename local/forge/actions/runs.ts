import { postAsOtherCi } from '../ci/other-ci.ts';
import type { GateJudgement } from '../control.ts';
import { convertRepo, convertUser, type Json } from '../convert/entities.ts';
import { type ObjectStore, parseTree } from '../git/objects.ts';
import type { JobRecord, RepoRecord, RunRecord, RunStatus } from '../model.ts';
import { latestStatuses, postStatus } from '../world/statuses.ts';
import { sendWebhooks } from '../world/webhooks.ts';
import { gitOf, slugOf, takeId, timestamp, type World } from '../world.ts';
import { executeRun, stopExecution } from './runner.ts';
import { isAllOff, readWorkflow, startsOnPush, type Workflow } from './workflow-file.ts';

/** `[actions] SKIP_WORKFLOW_STRINGS` as shipped. Only the head commit's message counts. */
const SKIP_STRINGS = ['[skip ci]', '[ci skip]', '[no ci]', '[skip actions]', '[actions skip]'];

const OPEN: readonly RunStatus[] = ['waiting', 'running'];

export function isOpen(run: RunRecord): boolean {
  return OPEN.includes(run.status);
}

/** Starts the runs of a push. Reads the branch as it is now: a branch that is gone by now starts nothing. */
export async function startRuns(
  world: World,
  repo: RepoRecord,
  branch: string,
  pusher: string,
): Promise<void> {
  if (!repo.hasActions || repo.archived || pusher === world.profile.actionsUser) return;
  const git = gitOf(world, repo);
  const sha = git.tip(branch);
  if (sha === null) return;
  const commit = await git.mustCommit(sha);
  if (SKIP_STRINGS.some((skip) => commit.message.includes(skip))) return;
  const { message } = commit;
  for (const workflow of await readWorkflows(world, repo, sha)) {
    if (!startsOnPush(workflow, branch)) continue;
    const judged =
      world.knobs.gate === 'judge' ? world.knobs.judge(await git.readFiles(sha), { branch, sha }) : null;
    if (judged === 'never') continue;
    for (const older of repo.runs) {
      const samePipeline =
        older.branch === branch && older.workflowFile === workflow.file && older.event === 'push';
      if (samePipeline && isOpen(older)) finishRun(world, repo, older, 'cancelled');
    }
    createRun(world, repo, workflow, { branch, sha, tree: commit.tree, message, pusher }, judged);
  }
  if (!world.profile.scopedWorkflows) return;
  for (const { file, verdict } of world.knobs.scopedWorkflows) {
    const workflow = readWorkflow(file, SCOPED_WORKFLOW);
    const source = { branch, sha, tree: commit.tree, message, pusher, isScoped: true } as const;
    createRun(world, repo, workflow, source, verdict);
  }
}

const SCOPED_WORKFLOW = 'on: push\njobs:\n  gate:\n    runs-on: any\n    steps:\n      - run: exit 0\n';

/**
 * The first directory that exists counts alone, with the folders below it: a workflow is called by its path from there. A
 * file that cannot be read starts nothing.
 */
export async function readWorkflows(world: World, repo: RepoRecord, sha: string): Promise<Workflow[]> {
  const git = gitOf(world, repo);
  for (const dir of world.profile.workflowDirs) {
    const tree = await findFolder(git.objects, sha, dir);
    if (tree === null) continue;
    const workflows: Workflow[] = [];
    for (const [path, { id }] of await git.objects.readFlat(tree)) {
      if (!/\.ya?ml$/.test(path)) continue;
      const file = await git.objects.read(id);
      try {
        workflows.push(readWorkflow(path, file?.type === 'blob' ? file.data.toString('utf8') : ''));
      } catch {
        // The forge logs it and goes on.
      }
    }
    return workflows;
  }
  return [];
}

/** A forge reads the commit of a submodule as a folder where the repository has that commit (forge facts, 8). */
async function findFolder(objects: ObjectStore, sha: string, path: string): Promise<string | null> {
  let tree = await treeOf(objects, sha);
  for (const name of path.split('/')) {
    const object = tree === null ? null : await objects.read(tree);
    const entry = object === null ? undefined : parseTree(object.data).find((each) => each.name === name);
    tree = entry === undefined ? null : await treeOf(objects, entry.id);
  }
  return tree;
}

async function treeOf(objects: ObjectStore, id: string): Promise<string | null> {
  const object = await objects.read(id);
  if (object?.type === 'tree') return id;
  return object?.type === 'commit' ? ((await objects.readCommit(id))?.tree ?? null) : null;
}

interface RunSource {
  readonly branch: string;
  readonly sha: string;
  readonly tree: string;
  readonly message: string;
  readonly pusher: string;
  readonly isScoped?: true;
}

function createRun(
  world: World,
  repo: RepoRecord,
  workflow: Workflow,
  source: RunSource,
  judged: GateJudgement | null,
): void {
  const jobs = workflow.jobs.length > 0 ? workflow.jobs : [{ name: 'gate', runsOn: [] }];
  const run: RunRecord = {
    id: takeId(world),
    index: repo.nextRunIndex++,
    workflowFile: workflow.file,
    workflowName: workflow.name,
    title: source.message.split('\n')[0] ?? '',
    message: source.message,
    branch: source.branch,
    sha: source.sha,
    tree: source.tree,
    event: 'push',
    ...(source.isScoped === true ? { isScoped: true } : {}),
    triggerUser: source.pusher,
    status: 'waiting',
    createdAt: world.timers.now(),
    startedAt: null,
    stoppedAt: null,
    jobs: jobs.map(({ name, runsOn }) => ({
      id: takeId(world),
      name,
      runsOn,
      status: 'waiting',
      startedAt: null,
      stoppedAt: null,
      log: '',
    })),
  };
  repo.runs.push(run);
  for (const job of run.jobs) postJobStatus(world, repo, run, job);
  if (isAllOff(workflow)) world.background.enqueue(0, async () => skipRun(world, repo, run));
  else if (judged === null) executeRun(world, repo, run, workflow, runnerHooks);
  else judgeRun(world, repo, run, judged);
}

/** A runner takes each job, and finds that its condition leaves it out. */
function skipRun(world: World, repo: RepoRecord, run: RunRecord): void {
  if (!isOpen(run)) return;
  for (const job of run.jobs) setJob(world, repo, run, job, 'running');
  finishRun(world, repo, run, 'skipped');
}

/** Runs that were open when the forge stopped start again. */
export async function resumeRun(world: World, repo: RepoRecord, run: RunRecord): Promise<void> {
  for (const job of run.jobs)
    if (OPEN.includes(job.status)) Object.assign(job, { status: 'waiting', log: '' });
  const git = gitOf(world, repo);
  const workflow = (await readWorkflows(world, repo, run.sha)).find((each) => each.file === run.workflowFile);
  if (workflow === undefined) return finishRun(world, repo, run, 'failure');
  if (world.knobs.gate === 'run') return executeRun(world, repo, run, workflow, runnerHooks);
  judgeRun(world, repo, run, world.knobs.judge(await git.readFiles(run.sha), run));
}

function judgeRun(world: World, repo: RepoRecord, run: RunRecord, judged: GateJudgement): void {
  for (const job of run.jobs) setJob(world, repo, run, job, 'running');
  if (judged === 'hold' || judged === 'never') return;
  for (const job of run.jobs) job.log = `Judged ${run.sha} (${run.branch})\nThe judge says: ${judged}\n`;
  world.background.enqueue(world.knobs.gateDurationMs, async () => finishRun(world, repo, run, judged));
}

/** The functions that the runner needs of this file; passed in, so that the two do not import each other. */
const runnerHooks = { setJob, finishRun };

export function setJob(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  job: JobRecord,
  status: RunStatus,
): void {
  if (job.status === status) return;
  const now = world.timers.now();
  job.status = status;
  if (status === 'running') {
    job.startedAt = now;
    run.startedAt ??= now;
    run.status = 'running';
  } else job.stoppedAt = now;
  world.store.changed();
  postJobStatus(world, repo, run, job);
}

/** Ends what is still open of a run; a run that has ended stays as it is. */
export function finishRun(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  status: Exclude<RunStatus, 'waiting' | 'running'>,
): void {
  if (!isOpen(run)) return;
  run.status = status;
  run.stoppedAt = world.timers.now();
  for (const job of run.jobs) if (OPEN.includes(job.status)) setJob(world, repo, run, job, status);
  stopExecution(run);
  world.store.changed();
  sendRunEvents(world, repo, run);
}

function postJobStatus(world: World, repo: RepoRecord, run: RunRecord, job: JobRecord): void {
  const { ci } = world.knobs;
  if (ci !== 'actions') return postAsOtherCi(world, repo, run, job, ci);
  const seconds = Math.round(((job.stoppedAt ?? 0) - (job.startedAt ?? job.stoppedAt ?? 0)) / 1000);
  const { dropsSameState, namesJobsByFile: isShort } = world.profile;
  const words: Record<RunStatus, readonly [state: string, description: string]> = {
    waiting: ['pending', 'Waiting to run'],
    running: ['pending', isShort ? 'In progress' : 'Has started running'],
    success: ['success', `Successful in ${seconds}s`],
    failure: ['failure', `Failing after ${seconds}s`],
    cancelled: ['failure', isShort ? `Canceled after ${seconds}s` : 'Has been cancelled'],
    error: ['error', 'Unknown failure'],
    skipped: [world.profile.postsSkipped ? 'skipped' : 'success', isShort ? 'Skipped' : 'Has been skipped'],
  };
  const [state, description] = words[job.status];
  const workflow = run.workflowName === '' && isShort ? run.workflowFile : run.workflowName;
  const context = `${workflow} / ${job.name} (push)`.trim();
  // Jobs of one name share a context, within a run and between runs of one commit.
  const last = latestStatuses(repo, run.sha).find((status) => status.context === context);
  const saysTheSame = dropsSameState || last?.description === description;
  if (last?.state === state && saysTheSame) return;
  postStatus(
    world,
    repo,
    run.sha,
    {
      state,
      description,
      context,
      targetUrl: `/${slugOf(repo)}/actions/runs/${run.index}/jobs/${run.jobs.indexOf(job)}`,
    },
    world.profile.actionsUser,
  );
}

function sendRunEvents(world: World, repo: RepoRecord, run: RunRecord): void {
  if (world.knobs.ci !== 'actions') return;
  if (world.profile.kind === 'gitea') {
    sendWebhooks(world, repo, {
      event: 'workflow_run',
      type: 'workflow_run',
      selectedBy: ['workflow_run'],
      branch: null,
      payload: {
        action: 'completed',
        workflow_run: convertRun(world, repo, run),
        repository: convertRepo(world, repo, null),
        sender: convertUser(world, run.triggerUser),
      },
    });
    return;
  }
  const name = run.status === 'success' ? 'action_run_success' : 'action_run_failure';
  sendWebhooks(world, repo, {
    event: name,
    type: name,
    selectedBy: [name],
    branch: null,
    // No `repository` at the top: it is inside the run.
    payload: {
      action: run.status === 'success' ? 'success' : 'failure',
      run: { ...convertRun(world, repo, run), repository: convertRepo(world, repo, null) },
      prior_status: 'running',
      last_run: null,
    },
  });
}

/** `error` is not a state of a run: the API shows a failure, only the commit status tells them apart. */
function shownStatus(status: RunStatus): string {
  return status === 'error' ? 'failure' : status;
}

/** The event that began the run, as far as its size matters: the message of its newest commit stands in it twice. */
function pushPayload({ branch, sha, message = '' }: RunRecord): string {
  const commit = { id: sha, message };
  return JSON.stringify({ ref: `refs/heads/${branch}`, after: sha, commits: [commit], head_commit: commit });
}

export function convertRun(world: World, repo: RepoRecord, run: RunRecord): Json {
  const url = `${world.rootUrl()}/${slugOf(repo)}/actions/runs/${run.index}`;
  if (world.profile.runsApi === 'gitea') {
    const open = isOpen(run);
    return {
      id: run.id,
      url: `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/actions/runs/${run.id}`,
      html_url: url,
      display_title: run.title,
      path: `${run.workflowFile}@refs/heads/${run.branch}`,
      event: run.event,
      run_number: run.index,
      run_attempt: 1,
      ...(world.profile.scopedWorkflows ? { previous_attempt_url: null } : {}),
      head_sha: run.sha,
      head_branch: run.branch,
      status: open ? (run.status === 'running' ? 'in_progress' : 'queued') : 'completed',
      ...(open ? {} : { conclusion: shownStatus(run.status) }),
      started_at: timestamp(run.startedAt) ?? '1970-01-01T00:00:00Z',
      completed_at: timestamp(run.stoppedAt) ?? '1970-01-01T00:00:00Z',
      actor: convertUser(world, run.triggerUser),
      trigger_actor: convertUser(world, run.triggerUser),
      repository: convertRepo(world, repo, null),
    };
  }
  return {
    id: run.id,
    title: run.title,
    workflow_id: run.workflowFile,
    index_in_repo: run.index,
    prettyref: run.branch,
    commit_sha: run.sha,
    event: run.event,
    trigger_event: run.event,
    status: shownStatus(run.status),
    need_approval: false,
    is_fork_pull_request: false,
    is_ref_deleted: gitOf(world, repo).tip(run.branch) === null,
    event_payload: pushPayload(run),
    started: timestamp(run.startedAt) ?? '0001-01-01T00:00:00Z',
    stopped: timestamp(run.stoppedAt) ?? '0001-01-01T00:00:00Z',
    created: timestamp(run.createdAt),
    updated: timestamp(run.stoppedAt ?? run.startedAt ?? run.createdAt),
    html_url: url,
    trigger_user: convertUser(world, run.triggerUser),
    repository: convertRepo(world, repo, null),
  };
}
