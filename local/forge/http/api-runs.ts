import { convertRun, finishRun, readWorkflows } from '../actions/runs.ts';
import { convertRepo, convertStatus } from '../convert/entities.ts';
import type { RunRecord, StatusRecord } from '../model.ts';
import { combineStates, latestStatuses, postStatus } from '../world/statuses.ts';
import { gitOf, slugOf, timestamp } from '../world.ts';
import {
  type Call,
  callerOf,
  created,
  NO_CONTENT,
  ok,
  paged,
  REPO,
  Refusal,
  type Route,
  route,
  textField,
} from './router.ts';

async function createStatus(call: Call) {
  const { repo, world } = call;
  const sha = await gitOf(world, repo).resolve(call.params.sha ?? '');
  if (sha === null) throw new Refusal(world.profile.unknownShaStatusCode, 'object does not exist');
  const input = {
    state: textField(call, 'state'),
    context: textField(call, 'context'),
    description: textField(call, 'description'),
    targetUrl: textField(call, 'target_url'),
  };
  return created(convertStatus(world, repo, postStatus(world, repo, sha, input, callerOf(call))));
}

/** A pipeline of another CI is no run of the forge. */
function shownRuns({ repo, world }: Call): readonly RunRecord[] {
  return world.knobs.ci === 'actions' ? repo.runs : [];
}

async function shaOf(call: Call): Promise<string> {
  const sha = await gitOf(call.world, call.repo).resolve(call.params.sha ?? '');
  if (sha === null) throw new Refusal(404, "The target couldn't be found.");
  return sha;
}

/** Both forges look for a branch and for a tag of this name before they take it for a commit. */
async function shaByNameFirst(call: Call): Promise<string> {
  const git = gitOf(call.world, call.repo);
  const name = call.params.sha ?? '';
  return git.tip(name) ?? git.ref(`refs/tags/${name}`) ?? shaOf(call);
}

/** No name is looked for, and no commit either. */
const listStatuses = (call: Call) => listStatusesOf(call, call.params.sha ?? '');

async function listStatusesByName(call: Call) {
  return listStatusesOf(call, await shaByNameFirst(call));
}

function listStatusesOf(call: Call, sha: string) {
  const { repo, world } = call;
  const state = call.query.get('state');
  const rows = repo.statuses.filter((row) => row.sha === sha && (state === null || row.state === state));
  const newestFirst = (a: StatusRecord, b: StatusRecord): number => b.id - a.id;
  const oldestFirst = ['oldest', 'leastupdate', 'highestindex'].includes(call.query.get('sort') ?? '');
  rows.sort(oldestFirst ? (a, b) => newestFirst(b, a) : newestFirst);
  const { page, headers } = paged(call, rows, `/api/v1/repos/${slugOf(repo)}/statuses/${sha}`);
  return ok(
    page.map((row) => convertStatus(world, repo, row)),
    headers,
  );
}

async function combinedStatus(call: Call) {
  const { repo, world } = call;
  const sha = await shaByNameFirst(call);
  const latest = latestStatuses(repo, sha);
  const repository = convertRepo(world, repo, call.user);
  if (latest.length === 0) {
    return ok({ state: '', sha: '', total_count: 0, statuses: null, repository, commit_url: '', url: '' });
  }
  const { page, headers } = paged(call, latest, `/api/v1/repos/${slugOf(repo)}/commits/${sha}/status`);
  return ok(
    {
      state: combineStates(
        world,
        latest.map((row) => row.state),
      ),
      sha,
      total_count: latest.length,
      statuses: page.map((row) => convertStatus(world, repo, row)),
      repository,
      commit_url: `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/commits/${sha}`,
      url: `${world.rootUrl()}/api/v1/repos/${slugOf(repo)}/commits/${sha}/status`,
    },
    headers,
  );
}

const RUN_STATES = ['unknown', 'waiting', 'running', 'success', 'failure', 'cancelled', 'skipped', 'blocked'];

/** Of one workflow file of this repository. One that never ran is looked for on the default branch. */
async function listRunsOfWorkflow(call: Call) {
  const { params, repo, world } = call;
  if (!world.profile.scopedWorkflows) throw new Refusal(404, 'Not Found');
  const runs = shownRuns(call).filter(
    ({ workflowFile, isScoped }) => workflowFile === params.file && isScoped !== true,
  );
  const tip = gitOf(world, repo).tip(repo.defaultBranch);
  const files = runs.length > 0 || tip === null ? [] : await readWorkflows(world, repo, tip);
  if (runs.length === 0 && !files.some(({ file }) => file === params.file))
    throw new Refusal(404, `workflow "${params.file}" not found`);
  return listRuns(call, runs);
}

function listRuns(call: Call, runs = shownRuns(call)) {
  const { query, repo, user, world } = call;
  requireRuns(call);
  if (world.profile.runsForOwners && user !== repo.owner)
    throw new Refusal(403, 'user should be the owner of the repo');
  const rows = [...runs].sort((a, b) => b.id - a.id).filter((run) => matchesQuery(call, run));
  const wrong = query
    .getAll('status')
    .find((state) => world.profile.runsApi === 'forgejo' && !RUN_STATES.includes(state));
  if (wrong !== undefined) throw new Refusal(400, `invalid status ${wrong}`);
  const { page, headers } = paged(call, rows, `/api/v1/repos/${slugOf(repo)}/actions/runs`);
  return ok(
    {
      workflow_runs: page.map((run) => ({ ...convertRun(world, repo, run), ...pullsOf(call, run) })),
      total_count: rows.length,
    },
    headers,
  );
}

/** Of a push: those whose head is the branch. */
function pullsOf({ query, repo, world }: Call, { branch }: RunRecord) {
  if (!world.profile.runsTellPulls) return {};
  const isLeftOut = query.get('exclude_pull_requests') === 'true';
  const pulls = repo.pulls.filter(
    ({ headRepoId, headBranch, state }) =>
      !isLeftOut && state === 'open' && headRepoId === repo.id && headBranch === branch,
  );
  return { pull_requests: pulls.map(({ id, index }) => ({ id, number: index })) };
}

function matchesQuery(call: Call, run: RunRecord): boolean {
  const { query, world } = call;
  const is = (name: string, value: string): boolean => {
    const wanted = query.getAll(name).filter((each) => each !== '');
    return wanted.length === 0 || wanted.includes(value);
  };
  if (!is('head_sha', run.sha) || !is('event', run.event)) return false;
  const shown = convertRun(world, call.repo, run);
  if (world.profile.runsApi === 'gitea') {
    return (
      is('branch', run.branch) &&
      (is('status', String(shown.status)) || is('status', String(shown.conclusion)))
    );
  }
  if (!is('status', String(shown.status)) || !is('run_number', String(run.index))) return false;
  if (!world.profile.runsFilterByRef) return true;
  return is('ref', `refs/heads/${run.branch}`) && is('workflow_id', run.workflowFile);
}

function requireRuns(call: Call): void {
  if (call.world.profile.runsApi === null || !call.repo.hasActions) throw new Refusal(404, 'Not Found');
}

function runOf(call: Call): RunRecord {
  requireRuns(call);
  const run = shownRuns(call).find((each) => each.id === Number(call.params.id));
  if (run === undefined) throw new Refusal(404, "The target couldn't be found.");
  return run;
}

function listJobs(call: Call) {
  if (!call.world.profile.runJobsApi) throw new Refusal(404, 'Not Found');
  const run = runOf(call);
  const isGitea = call.world.profile.runsApi === 'gitea';
  const jobs = run.jobs.map((job) => ({
    id: job.id,
    run_id: run.id,
    name: job.name,
    ...(isGitea ? { labels: job.runsOn ?? [] } : { runs_on: job.runsOn ?? [] }),
    status: job.status === 'error' ? 'failure' : isGitea && job.status === 'waiting' ? 'queued' : job.status,
    started_at: timestamp(job.startedAt),
    completed_at: timestamp(job.stoppedAt),
  }));
  return ok(call.world.profile.runsApi === 'gitea' ? { jobs, total_count: jobs.length } : jobs);
}

/** A job that no runner has begun has none. */
function showLog(call: Call) {
  if (!call.world.profile.runJobsApi) throw new Refusal(404, 'Not Found');
  requireRuns(call);
  const job = shownRuns(call)
    .flatMap(({ jobs }) => jobs)
    .find(({ id }) => id === Number(call.params.id));
  if (job === undefined || job.startedAt === null) throw new Refusal(404, "The target couldn't be found.");
  return { status: 200, text: job.log };
}

/** A run that has ended stays as it is, and the answer is the same (forge facts, 8). */
function cancelRun(call: Call) {
  if (!call.world.profile.runCancelApi) throw new Refusal(404, 'Not Found');
  const run = runOf(call);
  finishRun(call.world, call.repo, run, 'cancelled');
  return NO_CONTENT;
}

/** One row per job that a runner has picked up: waiting ones are absent. */
function listTasks(call: Call) {
  const { repo, world } = call;
  if (!repo.hasActions) throw new Refusal(404, 'Not Found');
  const rows = shownRuns(call).flatMap((run) =>
    run.jobs
      .filter((job) => job.startedAt !== null)
      .map((job, at) => ({
        id: job.id,
        name: job.name,
        head_branch: run.branch,
        head_sha: run.sha,
        run_number: run.index,
        event: run.event,
        display_title: run.title,
        status: job.status === 'error' ? 'failure' : job.status,
        workflow_id: run.workflowFile,
        url: `${world.rootUrl()}/${slugOf(repo)}/actions/runs/${run.index}/jobs/${at}`,
        created_at: timestamp(run.createdAt),
        updated_at: timestamp(job.stoppedAt ?? job.startedAt),
        run_started_at: timestamp(job.startedAt),
      })),
  );
  rows.sort((a, b) => b.id - a.id);
  const { page, headers } = paged(call, rows, `/api/v1/repos/${slugOf(repo)}/actions/tasks`);
  return ok({ workflow_runs: page, total_count: rows.length }, headers);
}

export const RUN_ROUTES: readonly Route[] = [
  route('POST', `${REPO}/statuses/:sha`, createStatus, { whenArchived: true }),
  route('GET', `${REPO}/statuses/:sha`, listStatuses),
  route('GET', `${REPO}/commits/:sha/statuses`, listStatusesByName),
  route('GET', `${REPO}/commits/:sha/status`, combinedStatus),
  route('GET', `${REPO}/actions/runs`, (call) => listRuns(call)),
  route('GET', `${REPO}/actions/workflows/:file/runs`, listRunsOfWorkflow),
  route('GET', `${REPO}/actions/runs/:id`, (call) => ok(convertRun(call.world, call.repo, runOf(call)))),
  route('GET', `${REPO}/actions/runs/:id/jobs`, listJobs),
  route('GET', `${REPO}/actions/jobs/:id/logs`, showLog),
  route('POST', `${REPO}/actions/runs/:id/cancel`, cancelRun),
  route('GET', `${REPO}/actions/tasks`, listTasks),
];
