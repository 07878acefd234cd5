import { codeOfEvent } from '#core/domain/pulls/find-pull-code.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { ManagedRepo } from '#core/domain/repos/repo.ts';
import type { GateRunView } from '../../../local/forge/control.ts';
import { CI_AUTHOR, CI_CONTEXTS, linkOfWorkflow } from '../../fakes/abstract-forge/pipeline-statuses.ts';
import { GITEA_126_SWITCHES } from '../../fakes/abstract-forge/world.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../../scenario/stories.ts';
import { STATUS_GATE } from '../../scenario/world.ts';
import { look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

const GATE_MS = 5 * 60_000;
/** Less than a pass has to stand. */
const LATE_JOB_MS = 6_000;
const SHORT_JOB_MS = 10_000;
const LATE_JOBS_END_S = 600;
const [BUILD, TEST] = CI_CONTEXTS;
const SHARED = 'ci/shared';

/** A post of the CI: under which context, of which workflow, and what it says. */
type Post = readonly [context: string, workflow: number, state: string, description?: string];

async function postAsCi({ forge }: Stage, run: GateRunView, posts: readonly Post[]): Promise<void> {
  for (const [context, workflow, state, description] of posts)
    await forge.postStatusAs(CI_AUTHOR, run.sha, context, state, description, linkOfWorkflow(run, workflow));
}

/** Another CI, of which the scene posts each end itself. */
async function setStageOfCi(repo: Partial<ManagedRepo> = {}): Promise<Stage> {
  const stage = await setStage({ switches: { ci: 'statuses' }, repo: { ...STATUS_GATE, ...repo } });
  await givenProject(stage.forge);
  stage.forge.judge = () => 'hold';
  return stage;
}

/** The CI names contexts without the workflow, so that two share one: the first passes, and the second still runs. */
async function shareContext(): Promise<readonly string[]> {
  const stage = await setStageOfCi({ gateContexts: [SHARED] });
  const { forge } = stage;
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 3);
  const [run] = forge.runs();
  if (run === undefined) return ['the scene did not come about'];
  await postAsCi(stage, run, [
    [SHARED, 1, 'pending'],
    [SHARED, 2, 'pending'],
    [SHARED, 1, 'success'],
  ]);
  await look(stage, 6);
  if (forge.isMerged(pr)) return ['a batch landed by the pass of one workflow while another one ran'];
  await postAsCi(stage, run, [[SHARED, 2, 'success']]);
  await look(stage, 6);
  return forge.isMerged(pr) ? [] : ['a batch whose workflows have all passed did not land'];
}

const PASSED: readonly Post[] = [
  [BUILD, 1, 'success'],
  [TEST, 2, 'success'],
];
/** In the order in which Woodpecker posts them. */
const STOPPED: readonly Post[] = [
  [TEST, 2, 'failure', 'unknown status'],
  [BUILD, 1, 'failure', 'Pipeline was canceled'],
];

/** An agent stops amid a workflow, twice. The CI leaves out the one that waits for it, and posts a failure for that. */
async function leaveOutBehindStopped(): Promise<readonly string[]> {
  const stage = await setStageOfCi();
  const { forge } = stage;
  const pr = await givenScheduled(forge, 'a');
  const seen = new Set<string>();
  let stopped = 0;
  for (let looks = 0; looks < 40; looks += 1) {
    await look(stage, 1);
    for (const run of forge.runs().filter(({ id }) => !seen.has(id))) {
      seen.add(run.id);
      const isStopped = stopped < 2 && (await forge.readFiles(run.sha)).has('src/a.txt');
      if (isStopped) stopped += 1;
      const ends = isStopped ? STOPPED : PASSED;
      await postAsCi(stage, run, ends);
    }
  }
  if (stopped < 2) return ['the scene did not come about'];
  return forge.isMerged(pr) ? [] : ['one whose workflows an agent stopped did not land'];
}

/** The owner asks one more context while a batch is out: what the old gate passes must not land. */
async function changeGateInFlight(): Promise<readonly string[]> {
  const stage = await setStage({
    switches: { ci: 'statuses' },
    repo: { ...STATUS_GATE, gateContexts: [BUILD] },
  });
  const { forge } = stage;
  await givenProject(forge);
  forge.gateDurationMs = GATE_MS;
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 3);
  if (forge.runs().length === 0) return ['the scene did not come about'];
  await stage.settings({ gateContexts: [BUILD, 'ci/never-answers'] });
  await look(stage, 30);
  const problems = forge.isMerged(pr) ? ['a batch landed by a gate that is no longer asked'] : [];
  const told = (await stage.events()).filter(({ reason }) => reason === 'gate_changed');
  if (told.length === 0)
    problems.push('a batch that waits for another gate is not told to be out of the queue');
  const nameless = told.some(({ event, reason }) => codeOfEvent(event, reason) === null);
  return nameless ? [...problems, 'a change of the gate is told without a code'] : problems;
}

/** The base has no gate workflow, and the owner chooses a gate by statuses: what waited for the file waits no longer. */
async function chooseGateWhileMissing(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { ci: 'statuses' } });
  const { forge } = stage;
  await givenProject(forge);
  await forge.pushToBase({ [GATE_PATH]: null });
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 2);
  if ((await stage.record()).deferred[0]?.reason !== 'gate_missing') return ['the scene did not come about'];
  await stage.settings(STATUS_GATE);
  await look(stage, 4);
  return forge.isMerged(pr) ? [] : ['a pull request waits for a gate that is not the one of the settings'];
}

/** Every runner is busy for longer than the deadline of the gate. */
async function waitForRunner(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { gateTimeoutMinutes: 10 } });
  const { forge } = stage;
  await givenProject(forge);
  Object.assign(forge, { runnerWaitMs: 3 * GATE_MS, gateDurationMs: GATE_MS });
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 60);
  if (forge.runs().length > 1) return ['a run that waited for a runner was staged anew'];
  return forge.isMerged(pr) ? [] : ['one whose gate run waited for a runner did not land'];
}

/** A run has its first job done and waits for a runner of the second, and for no end. */
async function waitBetweenJobs(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { gateTimeoutMinutes: 10 } });
  const { forge } = stage;
  await givenProject(forge);
  let isBetween = false;
  const { readGate } = forge.forge;
  forge.forge.readGate = async (...asked) => {
    const gate = await readGate(...asked);
    return gate.kind === 'running' && isBetween ? { ...gate, waitsForRunner: true } : gate;
  };
  forge.judge = () => 'hold';
  await givenScheduled(forge, 'a');
  await look(stage, 4);
  if (forge.runs().length === 0) return ['the scene did not come about'];
  isBetween = true;
  await look(stage, 36);
  return forge.runs().length > 1 ? [] : ['a gate run that waits between two jobs has no deadline'];
}

/** An account that may write deletes a gate run that the queue has seen, before its verdict is read. */
async function deleteRunSeen(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 4);
  const [run] = forge.runs();
  if (run === undefined) return ['the scene did not come about'];
  const { readGate } = forge.forge;
  forge.forge.readGate = async (sha, ...asked) =>
    sha === run.sha ? { kind: 'none' } : readGate(sha, ...asked);
  forge.judge = () => 'success';
  await look(stage, 20);
  return forge.isMerged(pr) ? [] : ['a pull request waits for the verdict of a gate run that was deleted'];
}

/** A pull request changes the gate so that a condition skips each of its jobs. */
async function skipChangedGate(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const source = `# if: false\n${GATE_FILE}`;
  forge.judge = (files) => (files.get(GATE_PATH) === source ? 'hold' : 'success');
  const editor = await givenScheduled(forge, 'skipping', source, { path: GATE_PATH });
  await look(stage, 4);
  const [run] = forge.runs();
  if (run === undefined) return ['the scene did not come about'];
  await forge.skipRun(run.id);
  const other = await givenScheduled(forge, 'other');
  await look(stage, 8);
  const words = await wordsOn(stage, editor);
  const problems = words === PULL_CODES.gate_not_started.says ? [] : [`its author is told "${words}"`];
  if (!forge.isMerged(other)) problems.push('another one waits for a gate run that was skipped');
  return forge.runs().length > 2 ? [...problems, 'a gate that is skipped is tried again'] : problems;
}

/** A pull request breaks a workflow that the gate calls: Gitea from 1.27 on begins no gate run then. */
async function breakCalledWorkflow(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const called = GATE_PATH.replace(/[^/]+$/, 'called.yml');
  forge.judge = (files) => (files.has(called) ? 'never' : 'success');
  const breaker = await givenScheduled(forge, 'breaking', 'on: [\n', { path: called });
  const other = await givenScheduled(forge, 'other');
  await look(stage, 20);
  const words = await wordsOn(stage, breaker);
  const problems = words === PULL_CODES.gate_not_started.says ? [] : [`its author is told "${words}"`];
  return forge.isMerged(other)
    ? problems
    : [...problems, 'another one waits for a gate run that never begins'];
}

/** What stands on a batch changes the gate so that it passes all, and passes before the gate run of that batch has ended. */
async function passByChangedGateOnTop(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 16 } });
  const { forge } = stage;
  await givenProject(forge);
  const lax = `# passes all\n${GATE_FILE}`;
  forge.gateDurationMs = GATE_MS;
  forge.judge = (files) => (files.get(GATE_PATH) !== lax && files.has('src/bad.txt') ? 'hold' : 'success');
  // Nothing is built on a batch before a gate run has shown how long one takes.
  await givenScheduled(forge, 'first');
  await look(stage, 16);
  const bad = await givenScheduled(forge, 'bad');
  await look(stage, 2);
  const editor = await givenScheduled(forge, 'lax', lax, { path: GATE_PATH });
  await look(stage, 16);
  if (forge.isMerged(bad)) return ['a batch landed by the pass of a gate that is not its own'];
  const [below, above] = (await stage.record()).batches;
  const isBuiltOn = above?.stagedOn === below?.batchId && above?.members[0]?.pr === editor;
  return isBuiltOn && above?.nodes[0]?.verdict === 'success' ? [] : ['the scene did not come about'];
}

/** A pull request puts a submodule before the folder of the gate. The forge has the commit of the submodule, and reads its workflows. */
async function hideGateBySubmodule(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const [later, file] = [
    GATE_PATH.replace('.forgejo', '.gitea'),
    GATE_PATH.replace('.forgejo/workflows/', ''),
  ];
  await forge.pushToBase({ [GATE_PATH]: null, [later]: GATE_FILE });
  const decoy = await forge.openPullRequest({ branch: 'decoy', files: { [file]: GATE_FILE } });
  const content = (await forge.pull(decoy)).headSha;
  const hiding = await forge.openPullRequest({
    branch: 'hiding',
    files: { '.forgejo/workflows': { content, mode: '160000' } },
  });
  await forge.schedule(hiding, 'squash');
  const other = await givenScheduled(forge, 'other');
  await look(stage, 8);
  const words = await wordsOn(stage, hiding);
  const problems = words === PULL_CODES.removes_gate.says ? [] : [`its author is told "${words}"`];
  if (forge.isMerged(hiding)) problems.push('one landed by the workflow of a submodule');
  return forge.isMerged(other) ? problems : [...problems, 'another one did not land'];
}

/** A Gitea that hides its version: a copy of the gate where a Forgejo would look first, beside the gate, changed so that it passes all. */
async function changeGateBehindCopy(): Promise<readonly string[]> {
  const stage = await setStage({ switches: GITEA_126_SWITCHES });
  const { forge } = stage;
  forge.fault = ({ path }) => (path.endsWith('/version') ? { status: 403 } : null);
  const read = GATE_PATH.replace('.forgejo', '.gitea');
  const lax = `# passes all\n${GATE_FILE}`;
  await givenProject(forge);
  await forge.pushToBase({ [GATE_PATH]: null, [read]: GATE_FILE });
  forge.judge = (files) => (files.get(read) !== lax && files.has('src/bad.txt') ? 'failure' : 'success');
  const editor = await forge.openPullRequest({
    branch: 'editor',
    files: { [GATE_PATH]: GATE_FILE, [read]: lax },
  });
  await forge.schedule(editor, 'squash');
  const bad = await givenScheduled(forge, 'bad');
  for (let count = 0; count < 20 && !forge.isMerged(editor); count += 1) await look(stage, 1);
  if (!forge.isMerged(editor)) return ['the scene did not come about'];
  return forge.isMerged(bad) ? ['one landed by a gate that another one of its batch has changed'] : [];
}

/** A person pushes the staging branch to and fro: the gate finds nothing changed by that push, and its run passes. */
async function pushToAndFro(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'failure';
  const pr = await givenScheduled(forge, 'a');
  const { readGate } = forge.forge;
  let isAsked = false;
  forge.forge.readGate = async (sha, branch, file, startedBy) => {
    isAsked = true;
    if (startedBy === 'us') return readGate(sha, branch, file, startedBy);
    return { kind: 'finished', verdict: 'success', runId: '999', url: null };
  };
  await look(stage, 20);
  if (!isAsked) return ['the scene did not come about'];
  return forge.isMerged(pr) ? ['one landed by a gate run that the push of another account began'] : [];
}

/** A person moves the staging branch before the forge got to its push, and back: the one gate run is that of the person's push. */
async function beginRunFirst(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  const { readGate } = forge.forge;
  let moved: string | null = null;
  forge.forge.readGate = async (sha, ...asked) => {
    moved ??= sha;
    return sha === moved ? { kind: 'none', isOfOthers: true } : readGate(sha, ...asked);
  };
  await look(stage, 3);
  if (moved === null || forge.isMerged(pr)) return ['the scene did not come about'];
  for (let minutes = 0; minutes < 5; minutes += 1) {
    await clock.advance(60_000);
    await look(stage, 2);
  }
  return forge.isMerged(pr) ? [] : ['one waits for a gate run that never comes'];
}

/** A forge without a list of runs: jobs of the gate are told seconds after those before them have passed, and the last one fails. */
function tellJobsLate(jobs: number): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage();
    const { forge, clock } = stage;
    await givenProject(forge);
    forge.gateDurationMs = SHORT_JOB_MS;
    forge.lateJobs = Array.from({ length: jobs }, () => ({
      toldAfterMs: LATE_JOB_MS,
      takesMs: SHORT_JOB_MS,
    }));
    const bad = await givenScheduled(forge, 'bad', 'BAD\n');
    const good = await givenScheduled(forge, 'good');
    let passes = 0;
    const { readGate } = forge.forge;
    forge.forge.readGate = async (...asked) => {
      const reading = await readGate(...asked);
      if (reading.kind === 'finished' && reading.verdict === 'success') passes += 1;
      return reading;
    };
    for (let seconds = 0; seconds < LATE_JOBS_END_S && !forge.isMerged(good); seconds += 1) {
      await stage.reconcile();
      await clock.advance(1_000);
    }
    if (passes < jobs) return ['the scene did not come about'];
    if (forge.isMerged(bad)) return ['one landed by jobs that passed, before the one that fails was told'];
    return forge.isMerged(good) ? [] : ['one whose jobs have all passed did not land'];
  };
}

export const GATE_SCENES = {
  'a job of the gate is told late, and fails': tellJobsLate(1),
  'a job of the gate is told late, and then another one, which fails': tellJobsLate(2),
  'a person pushes the staging branch to and fro': pushToAndFro,
  'a person begins the gate run of a staged commit in our place': beginRunFirst,
  'a copy of the gate workflow hides that the gate is changed': changeGateBehindCopy,
  'a submodule hides the gate workflow': hideGateBySubmodule,
  'a gate run is deleted before its verdict is read': deleteRunSeen,
  'two workflows of a pipeline share a context': shareContext,
  'a workflow is left out behind one that was stopped': leaveOutBehindStopped,
  'a gate run waits for a runner longer than its deadline': waitForRunner,
  'a gate run waits for a runner between two jobs': waitBetweenJobs,
  'a changed gate skips each of its jobs': skipChangedGate,
  'a workflow that the gate calls is broken': breakCalledWorkflow,
  'what stands on a batch changes the gate and passes': passByChangedGateOnTop,
  'the gate is changed while a batch is out': changeGateInFlight,
  'another gate is chosen while the one of before is missing': chooseGateWhileMissing,
} satisfies Scenes;
