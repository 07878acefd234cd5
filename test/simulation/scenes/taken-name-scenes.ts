import { givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { givenTaken } from '../../scenario/taken-name.ts';
import { type Scenes, setStage, wordOn } from '../scene-stage.ts';
import { lookUntil } from './bad-head-scenes.ts';

/** Scenes about decision 0355: the repository gets another name, and another account makes one of the former name. */

const MINUTE_MS = 60_000;

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

/** It has no pull request at all, another base, and no rule. */
async function tellItsBase(): Promise<readonly string[]> {
  const { world: stage, other, take } = await givenTaken(setStage);
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

export const TAKEN_NAME_SCENES = {
  'another repository takes the name': goOnElsewhere,
  'a repository without a pull request takes the name': tellItsBase,
  'another repository takes the name amid a look while a success stands': forgetSuccess,
} satisfies Scenes;
