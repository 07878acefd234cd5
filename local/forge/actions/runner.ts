import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import { git } from '../git/process.ts';
import type { Repository } from '../git/repository.ts';
import type { JobRecord, RepoRecord, RunRecord, RunStatus } from '../model.ts';
import { gitOf, slugOf, type World } from '../world.ts';
import type { Workflow, WorkflowJob, WorkflowStep } from './workflow-file.ts';

/** A log beyond this is cut: it is kept in memory and in the state file. */
const LOG_CHARS_MAX = 200_000;

/** As runners choose: `bash`, and `sh` on an image without it. */
const SHELLS: readonly (readonly string[])[] = [
  ['bash', '--noprofile', '--norc', '-e', '-o', 'pipefail', '-c'],
  ['sh', '-e', '-c'],
];

export interface RunnerHooks {
  setJob(world: World, repo: RepoRecord, run: RunRecord, job: JobRecord, status: RunStatus): void;
  finishRun(world: World, repo: RepoRecord, run: RunRecord, status: 'success' | 'failure'): void;
}

const executing = new Map<RunRecord, { child: ChildProcess | null; stopped: boolean }>();
const slots = new WeakMap<World, { busy: number; waiting: (() => void)[] }>();

/** Runs the steps for real in an empty folder, beside all else, as slots become free. */
export function executeRun(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  workflow: Workflow,
  hooks: RunnerHooks,
): void {
  const execution = { child: null, stopped: false };
  executing.set(run, execution);
  world.background.enqueue(
    0,
    async () => {
      await takeSlot(world);
      try {
        if (!execution.stopped) await runJobs(world, repo, run, workflow, hooks);
      } finally {
        executing.delete(run);
        freeSlot(world);
      }
    },
    { detached: true },
  );
}

/** Kills the steps of a run, with all they started. */
export function stopExecution(run: RunRecord): void {
  const execution = executing.get(run);
  if (execution === undefined) return;
  execution.stopped = true;
  const pid = execution.child?.pid;
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

function slotsOf(world: World): { busy: number; waiting: (() => void)[] } {
  const known = slots.get(world) ?? { busy: 0, waiting: [] };
  slots.set(world, known);
  return known;
}

async function takeSlot(world: World): Promise<void> {
  const pool = slotsOf(world);
  if (pool.busy >= world.knobs.runnerSlots) await new Promise<void>((free) => pool.waiting.push(free));
  else pool.busy++;
}

/** The slot passes on to the next that waits. */
function freeSlot(world: World): void {
  const pool = slotsOf(world);
  const next = pool.waiting.shift();
  if (next === undefined) pool.busy--;
  else next();
}

async function runJobs(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  workflow: Workflow,
  hooks: RunnerHooks,
): Promise<void> {
  let failed = workflow.jobs.length === 0;
  for (const [at, job] of workflow.jobs.entries()) {
    const record = run.jobs[at];
    if (record === undefined || executing.get(run)?.stopped !== false) return;
    await world.background.exclusive(async () => hooks.setJob(world, repo, run, record, 'running'));
    const passed = await runJob(world, repo, run, workflow, job, record);
    // Cancelled, which has been written down; or the forge stops, and the run starts again with it.
    if (executing.get(run)?.stopped !== false) return;
    failed ||= !passed;
    await world.background.exclusive(async () => {
      if (run.stoppedAt === null) hooks.setJob(world, repo, run, record, passed ? 'success' : 'failure');
    });
  }
  await world.background.exclusive(async () =>
    hooks.finishRun(world, repo, run, failed ? 'failure' : 'success'),
  );
}

async function runJob(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  workflow: Workflow,
  job: WorkflowJob,
  record: JobRecord,
): Promise<boolean> {
  const root = mkdtempSync(join(tmpdir(), 'forge-run-'));
  const write = (text: string): void => {
    if (record.log.length < LOG_CHARS_MAX) record.log += text.slice(0, LOG_CHARS_MAX - record.log.length);
    world.store.changed();
  };
  try {
    const work = join(root, 'work');
    mkdirSync(work, { recursive: true });
    const checkOutHere = async (): Promise<void> => {
      await checkOut(gitOf(world, repo), run.sha, work, join(root, 'index'));
      write(`Checked out ${slugOf(repo)} at ${run.sha} (${run.branch})\n`);
    };
    for (const step of job.steps) {
      if (executing.get(run)?.stopped !== false) return false;
      const env = stepEnv(world, repo, run, workflow, job, step, root);
      if (!(await runStep(run, step, env, work, write, checkOutHere))) return false;
    }
    return true;
  } catch (error) {
    write(`runner: ${error instanceof Error ? error.message : 'failed'}\n`);
    return false;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

async function checkOut(repository: Repository, sha: string, work: string, index: string): Promise<void> {
  const env = { GIT_INDEX_FILE: index, GIT_WORK_TREE: work };
  await git(repository.dir, ['-c', 'core.bare=false', 'read-tree', sha], { env });
  await git(
    repository.dir,
    ['-c', 'core.bare=false', 'checkout-index', '--all', '--force', `--prefix=${work}/`],
    {
      env,
    },
  );
}

/** Only what a step needs: the steps are other people's code, and the forge's environment is not theirs. */
function stepEnv(
  world: World,
  repo: RepoRecord,
  run: RunRecord,
  workflow: Workflow,
  job: WorkflowJob,
  step: WorkflowStep,
  home: string,
): Record<string, string> {
  const caFile = world.caFile();
  return {
    PATH: process.env.PATH ?? '/usr/bin:/bin',
    HOME: home,
    LANG: 'C.UTF-8',
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_SERVER_URL: world.rootUrl(),
    // The owner of a runner sets this up beside it: without it git would trust no forge with an authority of its own.
    ...(caFile === null ? {} : { GIT_SSL_CAINFO: caFile }),
    GITHUB_REPOSITORY: slugOf(repo),
    GITHUB_SHA: run.sha,
    GITHUB_REF: `refs/heads/${run.branch}`,
    GITHUB_REF_NAME: run.branch,
    GITHUB_EVENT_NAME: run.event,
    GITHUB_WORKSPACE: join(home, 'work'),
    ...workflow.env,
    ...job.env,
    ...step.env,
  };
}

async function runStep(
  run: RunRecord,
  step: WorkflowStep,
  env: Record<string, string>,
  work: string,
  write: (text: string) => void,
  checkOutHere: () => Promise<void>,
): Promise<boolean> {
  write(`\n> ${step.name}\n`);
  if (step.run === null) {
    const isCheckout = step.uses !== null && /(^|\/)checkout(@|$)/.test(step.uses);
    if (isCheckout) await checkOutHere();
    else write(`This runner executes run: steps only, not ${step.uses ?? 'this'}.\n`);
    return isCheckout;
  }
  const cwd = resolve(work, step.workingDirectory ?? '.');
  if (cwd !== work && !cwd.startsWith(work + sep)) {
    write('working-directory lies outside the checkout\n');
    return false;
  }
  const code = await runScript(run, step.run, cwd, env, write);
  if (code !== 0) write(`exit code ${code}\n`);
  return code === 0;
}

function runScript(
  run: RunRecord,
  script: string,
  cwd: string,
  env: Record<string, string>,
  write: (text: string) => void,
): Promise<number> {
  return new Promise((done) => startIn(0, done));

  function startIn(shell: number, done: (code: number) => void): void {
    const [program = 'sh', ...flags] = SHELLS[shell] ?? [];
    const child = spawn(program, [...flags, script], {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const execution = executing.get(run);
    if (execution !== undefined) execution.child = child;
    child.stdout.on('data', (chunk: Buffer) => write(chunk.toString('utf8')));
    child.stderr.on('data', (chunk: Buffer) => write(chunk.toString('utf8')));
    let absent = false;
    child.on('error', (error: NodeJS.ErrnoException) => {
      absent = error.code === 'ENOENT' && shell + 1 < SHELLS.length;
      if (absent) return startIn(shell + 1, done);
      write(`${error.message}\n`);
      done(127);
    });
    child.on('close', (code) => {
      if (!absent) done(code ?? 137);
    });
  }
}
