import { DEFAULT_SERVICE_NAME, stagingPattern, stagingPrefix } from '#core/domain/queue/queue-names.ts';
import { CI_AUTHOR, CI_CONTEXTS } from '../../fakes/abstract-forge/pipeline-statuses.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../../scenario/stories.ts';
import { STATUS_GATE } from '../../scenario/world.ts';
import { look, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

/** Scenes about decision 0193: a run of the head itself proves a tree only where it is one of the gate on it. */

const EVERYWHERE = GATE_FILE.replace(stagingPattern(DEFAULT_SERVICE_NAME), '**');
const RUN_ENDS_MS = 10 * 60_000;
const IN_VAIN = ['a run of a head that is no evidence proved a landing'];

async function openStage(
  ci: 'actions' | 'statuses',
  options: Parameters<typeof setStage>[0] = {},
): Promise<Stage> {
  const stage = await setStage({
    ...options,
    switches: { ci, runsOnHeads: true, ...(ci === 'statuses' ? { forkPermission: false } : {}) },
    repo: { reuseCi: true, ...(ci === 'statuses' ? STATUS_GATE : {}) },
  });
  await givenProject(stage.forge, { [GATE_PATH]: EVERYWHERE });
  return stage;
}

/** Nothing landed that no gate run of the queue has seen, although a run of the head has passed. */
async function judge(stage: Stage, pr: number): Promise<readonly string[]> {
  await stage.clock.advance(RUN_ENDS_MS);
  await stage.drain();
  return judgeLanding(stage, pr);
}

function judgeLanding(stage: Stage, pr: number): readonly string[] {
  const isGated = stage.forge
    .runs()
    .some(({ branch }) => branch.startsWith(stagingPrefix(DEFAULT_SERVICE_NAME)));
  return isGated || !stage.forge.isMerged(pr) ? [] : IN_VAIN;
}

async function runOnEditedGate(): Promise<readonly string[]> {
  const stage = await openStage('actions');
  return judge(stage, await givenScheduled(stage.forge, 'a', `${EVERYWHERE}# less\n`, { path: GATE_PATH }));
}

async function runOnNamesakeOfFork(): Promise<readonly string[]> {
  const stage = await openStage('statuses');
  const { forge } = stage;
  const pr = await forge.openPullRequest({
    branch: 'outside',
    files: { 'src/a.txt': 'a\n' },
    author: 'guest',
    fork: true,
  });
  await forge.pushBranch('outside', (await forge.pull(pr)).headSha);
  await forge.review(pr, 'reviewer', 'approve');
  await forge.schedule(pr, 'squash');
  return judge(stage, pr);
}

async function runOnOldBase(): Promise<readonly string[]> {
  const stage = await openStage('actions');
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.forge.pushToBase({ 'src/other.txt': 'other\n' });
  return judge(stage, pr);
}

/** The merge does not come while the success stands that a run of the head has proven. */
async function openStanding(ci: 'actions' | 'statuses'): Promise<{ stage: Stage; pr: number }> {
  const stage = await openStage(ci);
  const pr = await givenScheduled(stage.forge, 'a');
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  await stage.clock.advance(RUN_ENDS_MS);
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  return { stage, pr };
}

/** The owner does not want runs of heads any more, after one has proven what is about to land. */
async function runNoLongerWanted(): Promise<readonly string[]> {
  const { stage, pr } = await openStanding('actions');
  await stage.settings({ reuseCi: false });
  await look(stage, 1);
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 10);
  return judge(stage, pr);
}

/** In a pause the run of the head is repeated, and fails: what it proved before proves nothing of the next staging. */
async function runRepeatedInPause(): Promise<readonly string[]> {
  const { stage, pr } = await openStanding('statuses');
  await stage.settings({
    pause: { kind: 'pause', reason: null, since: stage.clock.now(), until: null },
  });
  await look(stage, 8);
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  const { headSha } = await stage.forge.pull(pr);
  await stage.forge.postStatusAs(CI_AUTHOR, headSha, CI_CONTEXTS[0], 'failure');
  await stage.settings({ pause: null });
  return judge(stage, pr);
}

/** The run of the head is repeated, and fails, between the staging that it answers for and the `success`. */
async function runRepeatedAfterStaging(): Promise<readonly string[]> {
  let head = '';
  let isFailed = false;
  const stage: Stage = await openStage('statuses', {
    wrapForge: wrapForge(async (name, [sha], answer) => {
      const found = await answer();
      if (name === 'listStatusHistory' && sha === head && !isFailed) {
        isFailed = true;
        await stage.forge.postStatusAs(CI_AUTHOR, head, CI_CONTEXTS[0], 'failure');
      }
      return found;
    }),
  });
  const pr = await givenScheduled(stage.forge, 'a');
  head = (await stage.forge.pull(pr)).headSha;
  const found = await judge(stage, pr);
  if (!isFailed) return ['the scene did not come about'];
  const told = (await stage.events()).some(({ reason }) => reason === 'own_run_lost');
  return told ? found : [...found, 'a head that lost its pass is told another reason'];
}

async function runThatFails(): Promise<readonly string[]> {
  const stage = await openStage('actions');
  stage.forge.judge = (_files, { branch }) =>
    branch.startsWith(stagingPrefix(DEFAULT_SERVICE_NAME)) ? 'success' : 'failure';
  return judge(stage, await givenScheduled(stage.forge, 'a'));
}

async function runUnderPattern(): Promise<readonly string[]> {
  const stage = await openStage('statuses');
  await stage.settings({ gateContexts: ['ci/**'] });
  return judge(stage, await givenScheduled(stage.forge, 'a'));
}

async function runWhereNoneIsWanted(): Promise<readonly string[]> {
  const stage = await openStage('actions');
  await stage.settings({ reuseCi: false });
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.clock.advance(RUN_ENDS_MS);
  // So many looks, and no drain: a queue that takes such a run stages it anew in each look, and has never done.
  await look(stage, 12);
  return [...judgeLanding(stage, pr), ...(stage.forge.isMerged(pr) ? [] : ['it did not land'])];
}

/** The last of a proven batch is paused before its merge: once the queue goes on, its tree is the one that has passed. */
async function provenRestComesBack(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  const [first = 0, last = 0] = prs;
  forge.mergeBehaviour = (pr) => (pr === last ? { kind: 'lost' } : { kind: 'now' });
  await stage.drain({ until: async () => (await wordOn(stage, last)) === 'success' });
  await stage.settings({ pause: { kind: 'pause', reason: null, since: stage.clock.now(), until: null } });
  await look(stage, 10);
  await stage.settings({ pause: null });
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await stage.drain();
  if (!forge.isMerged(first) || !forge.isMerged(last)) return ['the scene did not come about'];
  return forge.runs().length === 1 ? [] : ['a tree that has passed is run again'];
}

export const OWN_RUN_SCENES = {
  'runs of heads are switched off after one has passed': runNoLongerWanted,
  'a run of a head is repeated in a pause, and fails': runRepeatedInPause,
  'a run of a head is repeated, and fails, before its success': runRepeatedAfterStaging,
  'the rest of a proven batch comes back': provenRestComesBack,
  'a head has run a gate that it changed itself': runOnEditedGate,
  'a branch that was run has the name and the head of a fork': runOnNamesakeOfFork,
  'a head was run before the base moved': runOnOldBase,
  'a run of a head has failed': runThatFails,
  'a head has passed all that a pattern shows': runUnderPattern,
  'a head has passed, and its owner does not want that to count': runWhereNoneIsWanted,
} satisfies Scenes;
