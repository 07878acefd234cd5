import type { CommitSha } from '#core/domain/ids.ts';
import {
  DEFAULT_SERVICE_NAME,
  gateFileName,
  gateFileNames,
  stagingPrefix,
} from '#core/domain/queue/queue-names.ts';
import {
  isAllOff,
  readWorkflow,
  startsOnPush,
  type Workflow,
} from '../../../local/forge/actions/workflow-file.ts';
import { YamlError } from '../../../local/forge/actions/yaml.ts';
import type { StoredTree } from './object-store.ts';
import { postPipeline } from './pipeline-statuses.ts';
import { appendStatus } from './statuses.ts';
import { type LateJob, type Run, type WaitingRun, type World, writeJournal } from './world.ts';

export const GATE_WORKFLOW_PATH = `.forgejo/workflows/${gateFileName(DEFAULT_SERVICE_NAME)}`;
export const GATE_WORKFLOW_FILE = gateFileName(DEFAULT_SERVICE_NAME);
const GATE_FILE_NAMES = gateFileNames(DEFAULT_SERVICE_NAME);
export const GATE_STATUS_CONTEXT = `${DEFAULT_SERVICE_NAME}-gate / gate (push)`;
const ACTIONS_USER = 'forgejo-actions';
const GATE_BRANCH_PREFIX = stagingPrefix(DEFAULT_SERVICE_NAME);
const SKIP_WORDS = ['[skip ci]', '[ci skip]', '[no ci]', '[skip actions]', '[actions skip]'];

/** A push is looked at a little later, and then as the branch is by that time: gone, or at a newer commit. */
export function queueGateRun(world: World, branch: string): void {
  if (!world.switches.runsOnHeads && !branch.startsWith(GATE_BRANCH_PREFIX)) return;
  world.timers.after(world.delays.runVisibleMs, () => {
    const sha = world.branches.get(branch);
    if (sha !== undefined) startGateRun(world, branch, sha);
  });
}

function startGateRun(world: World, branch: string, sha: CommitSha): void {
  const tree = world.objects.treeOf(sha);
  const { message } = world.objects.mustCommit(sha);
  const gate = world.switches.ci === 'statuses' ? OTHER_CI : findGate(world, tree, branch);
  if (gate === null || SKIP_WORDS.some((word) => message.includes(word))) return;
  const judgement = gate.isAllOff ? 'error' : world.knobs.judge(world.objects.filesOf(tree), { branch, sha });
  if (judgement === 'never') return;
  const earlier = world.runsByBranch.get(branch) ?? [];
  for (const run of earlier) if (isUnfinished(run)) endRun(world, run, 'cancelled');
  const run: Run = {
    id: String(world.nextId++),
    sha,
    branch,
    tree: tree.hash,
    state: world.knobs.runnerWaitMs > 0 || !hasFreeRunner(world) ? 'waiting' : 'running',
    createdAt: world.timers.now(),
    workflowFile: gate.file,
    ...(gate.isAllOff ? { isSkipped: true } : {}),
  };
  world.runs.push(run);
  world.runsByBranch.set(branch, [...earlier, run]);
  postResults(world, run);
  if (run.state === 'running') return scheduleEnd(world, run, judgement);
  if (world.knobs.runnerWaitMs === Number.POSITIVE_INFINITY) return;
  const waiting = { run, judgement };
  if (world.knobs.runnerWaitMs === 0) return void world.runnerLine.push(waiting);
  world.timers.after(world.knobs.runnerWaitMs, () => {
    world.runnerLine.push(waiting);
    takeWaitingRuns(world);
  });
}

function hasFreeRunner({ runs, knobs, runnersResting }: World): boolean {
  if (knobs.runners === Number.POSITIVE_INFINITY) return true;
  return runs.filter(({ state }) => state === 'running').length + runnersResting < knobs.runners;
}

/** A runner asks for work every few seconds. */
function restRunner(world: World): void {
  if (world.knobs.runnerRestMs === 0) return;
  world.runnersResting += 1;
  world.timers.after(world.knobs.runnerRestMs, () => {
    world.runnersResting -= 1;
    takeWaitingRuns(world);
  });
}

/** A runner that is free takes the run that has waited longest. */
function takeWaitingRuns(world: World): void {
  while (world.runnerLine.length > 0 && hasFreeRunner(world)) {
    const next = world.runnerLine.shift();
    if (next?.run.state !== 'waiting') continue;
    next.run.state = 'running';
    scheduleEnd(world, next.run, next.judgement);
  }
}

interface Gate {
  readonly file: string;
  /** Conditions skip each job of it. */
  readonly isAllOff: boolean;
}

const OTHER_CI: Gate = { file: '', isAllOff: false };

/** The gate in the one folder that the forge reads, if a push to this branch starts it. */
function findGate(world: World, tree: StoredTree, branch: string): Gate | null {
  for (const folder of world.switches.workflowFolders) {
    const found = findFolder(world, tree, folder);
    if (found === null) continue;
    for (const name of GATE_FILE_NAMES) {
      const entry = found.tree.byPath.get(found.prefix + name);
      const source = entry === undefined ? undefined : world.objects.blob(entry.id);
      const workflow = source === undefined ? null : workflowOf(source);
      if (workflow !== null && startsOnPush(workflow, branch))
        return { file: name, isAllOff: isAllOff(workflow) };
    }
    return null;
  }
  return null;
}

/** A forge reads the commit of a submodule as a folder where the repository has that commit (forge facts, 8). */
function findFolder(
  { objects }: World,
  tree: StoredTree,
  folder: string,
): { readonly tree: StoredTree; readonly prefix: string } | null {
  if (tree.directories.has(folder)) return { tree, prefix: `${folder}/` };
  const names = folder.split('/');
  for (const at of names.keys()) {
    const entry = tree.byPath.get(names.slice(0, at + 1).join('/'));
    const commit = entry?.id as string | undefined as CommitSha | undefined;
    if (commit === undefined || objects.commit(commit) === undefined) continue;
    const within = objects.treeOf(commit);
    const below = names.slice(at + 1).join('/');
    if (below === '') return { tree: within, prefix: '' };
    return within.directories.has(below) ? { tree: within, prefix: `${below}/` } : null;
  }
  return null;
}

/** Each text is read once for all forges. Null: it is no workflow. */
const workflows = new Map<string, Workflow | null>();

function workflowOf(source: string): Workflow | null {
  let workflow = workflows.get(source);
  if (workflow === undefined) {
    workflow = parseWorkflow(source);
    workflows.set(source, workflow);
  }
  return workflow;
}

function parseWorkflow(source: string): Workflow | null {
  try {
    return readWorkflow(GATE_WORKFLOW_FILE, source);
  } catch (error) {
    if (error instanceof YamlError) return null;
    throw error;
  }
}

function scheduleEnd(world: World, run: Run, judgement: WaitingRun['judgement']): void {
  if (judgement === 'hold') return;
  const [first, ...others] = world.knobs.lateJobs ?? [];
  world.timers.after(world.knobs.gateDurationMs, () => {
    if (first === undefined) endRun(world, run, judgement);
    else hideJob(world, run, judgement, [first, ...others]);
  });
}

/** The jobs that are told have passed. The next one is told in a while, under their name, and the last of them decides. */
function hideJob(
  world: World,
  run: Run,
  judgement: Exclude<WaitingRun['judgement'], 'hold'>,
  [next, ...others]: readonly [LateJob, ...LateJob[]],
): void {
  if (!isUnfinished(run)) return;
  run.hidesJob = true;
  postJobStatus(world, run, 'success');
  world.timers.after(next.toldAfterMs, () => {
    if (!isUnfinished(run)) return;
    run.hidesJob = false;
    postJobStatus(world, run, 'pending');
    const [second, ...rest] = others;
    world.timers.after(next.takesMs, () => {
      if (second === undefined) endRun(world, run, judgement);
      else hideJob(world, run, judgement, [second, ...rest]);
    });
  });
}

export function isUnfinished(run: Run): boolean {
  return run.state === 'waiting' || run.state === 'running';
}

/** The first end counts. */
export function endRun(world: World, run: Run, state: 'success' | 'failure' | 'cancelled' | 'error'): void {
  if (!isUnfinished(run)) return;
  if (run.state === 'running') restRunner(world);
  run.state = state;
  writeJournal(world, { kind: 'run', at: world.timers.now(), run: { ...run, state } });
  postResults(world, run);
  takeWaitingRuns(world);
}

function postResults(world: World, run: Run): void {
  if (world.switches.ci === 'statuses') postPipeline(world, run);
  else
    postJobStatus(
      world,
      run,
      isUnfinished(run) ? 'pending' : run.state === 'success' ? 'success' : 'failure',
    );
}

/** The forge itself posts one status per job of a run, `failure` also for a cancelled one. */
function postJobStatus(world: World, run: Run, state: string): void {
  appendStatus(world, run.sha, {
    context: GATE_STATUS_CONTEXT,
    state,
    description: run.state === 'cancelled' ? 'Has been cancelled' : '',
    creator: ACTIONS_USER,
    targetUrl: `/${world.slug}/actions/runs/${run.id}/jobs/0`,
  });
}
