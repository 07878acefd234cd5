import { ForgeError } from '#core/ports/forge.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { givenBackportWorld } from '../../scenario/backport-world.ts';
import type { Hook } from '../../scenario/hooks.ts';
import { TICK_MS } from '../../scenario/queue-world.ts';
import { givenRepairWorld } from '../../scenario/repair-world.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { givenTaken } from '../../scenario/taken-name.ts';
import { type Scenes, setStage, wordOn } from '../scene-stage.ts';
import { lookUntil } from './bad-head-scenes.ts';

/** Scenes about decision 0355: the repository gets another name, and another account makes one of the former name. */

const MINUTE_MS = 60_000;
const LABEL = 'backport v15';

/** It has a pull request of the same number, which is scheduled. */
async function goOnElsewhere(): Promise<readonly string[]> {
  const { world: stage, other, take } = await givenTaken(setStage);
  const pr = await givenScheduled(stage.forge, 'a');
  await lookUntil(stage, 5 * MINUTE_MS, () => stage.forge.isMerged(pr));
  const foreign = [await givenScheduled(other, 'x'), await givenScheduled(other, 'y')];
  take(true);
  const codes: (string | null)[] = [];
  await lookUntil(stage, 10 * MINUTE_MS, () => false, codes);
  const wrong = foreign
    .filter((each) => other.isMerged(each))
    .map(() => 'a pull request of another repository lands');
  if (other.runs().length > 0) wrong.push('a gate run of another repository is begun');
  const isTold = codes.every((code) => code === 'forge_access_denied');
  return isTold ? wrong : [...wrong, `it is told as ${[...new Set(codes)].join()}`];
}

/** It has another base, and no rule. */
async function tellItsBase(fault?: Hook): Promise<readonly string[]> {
  const { world: stage, other, take } = await givenTaken(setStage, fault);
  const pr = await givenScheduled(stage.forge, 'a');
  await lookUntil(stage, 5 * MINUTE_MS, () => stage.forge.isMerged(pr));
  await stage.drain();
  await other.pushToBase({ 'src/x.txt': 'x' });
  take(true);
  await lookUntil(stage, 10 * MINUTE_MS, () => false);
  const { unprovenBase } = await stage.record();
  return unprovenBase === undefined ? [] : ['the base of another repository is told as moved past the queue'];
}

/** A success stands in the former one, whose list is read just before. */
async function forgetSuccess(): Promise<readonly string[]> {
  const given = await givenTaken(setStage, (name, _values, answer) =>
    name === 'listOpenPullRequests' ? given.world.forge.forge.listOpenPullRequests() : answer(),
  );
  const { world: stage, take } = given;
  const { forge } = stage;
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  if ((await wordOn(stage, pr)) !== 'success') return ['the scene did not come about'];
  take(true);
  await lookUntil(stage, 30 * MINUTE_MS, () => false);
  const { batches, pendingStatuses } = await stage.record();
  const isKnown = batches.length + pendingStatuses.length > 0;
  take(false);
  await lookUntil(stage, 30 * MINUTE_MS, () => false);
  const unproven = (await unprovenLandings(forge)).map(() => 'a landing is not proven');
  return isKnown ? unproven : [...unproven, 'a success is forgotten that stands where the name was'];
}

/** Its list of pull requests is not read. */
const hideItsList: Hook = async (name, _values, answer) => {
  if (name === 'listOpenPullRequests') throw new ForgeError('unreachable', 'GET pulls', 502);
  return answer();
};

/** It is a copy, so that its base ends in the same commit, and no pull request is open. */
async function callItWell(): Promise<readonly string[]> {
  const world = await givenRepairWorld({ repairSetup: false });
  const pr = await givenScheduled(world.forge, 'a');
  await world.pass(2 * TICK_MS, { until: async () => world.forge.isMerged(pr) });
  await world.pass(4 * TICK_MS);
  const runs = world.engineRuns;
  await world.pass(2 * TICK_MS);
  if (world.engineRuns > runs) return ['the queue is not at rest'];
  const other = createAbstractForge({ clock: world.clock, repoId: 2 });
  const { readBranchTip } = world.forge.forge;
  world.named = { admin: other.admin, backports: other.backports, forge: { ...other.forge, readBranchTip } };
  await world.pass(2 * TICK_MS);
  const { last_reconcile_error_code: code } = await world.told();
  return code === 'forge_access_denied' ? [] : [`a queue without its repository is told as ${code}`];
}

/** What landed is carried only then. */
async function carryElsewhere(): Promise<readonly string[]> {
  const world = await givenBackportWorld();
  world.afterLook = async () => {};
  const other = createAbstractForge({ clock: world.clock, repoId: 2 });
  await givenProject(other);
  await other.pushBranch('v15', await other.tip('main'));
  const foreign = await other.openPullRequest({ branch: 'x', files: { 'src/x.txt': 'x\n' } });
  await other.setLabel(foreign, LABEL, true, 'dev');
  await other.mergeByHand(foreign);
  await world.land('a', [LABEL]);
  const before = await other.branches();
  world.named = other;
  await world.carry();
  const made = (await other.branches()).filter((branch) => !before.includes(branch));
  world.named = world.forge;
  await world.carry();
  const { backported = [] } = await world.row();
  return [
    ...made.map((branch) => `another repository has the branch ${branch}`),
    ...(backported.length === 1 ? [] : ['the landing is not carried once the name is back']),
  ];
}

export const TAKEN_NAME_SCENES = {
  'another repository takes the name': goOnElsewhere,
  'a repository without a pull request takes the name': () => tellItsBase(),
  'a repository whose list is not read takes the name': () => tellItsBase(hideItsList),
  'a copy takes the name of a repository at rest': callItWell,
  'another repository has the name when a landing is carried': carryElsewhere,
  'another repository takes the name amid a look while a success stands': forgetSuccess,
} satisfies Scenes;
