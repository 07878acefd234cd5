import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, type Scenes, setStage, wordOn } from '../scene-stage.ts';

/** Scenes in which one comes to stand before its twin that is in flight. */

/** The success of one stands, as its twin with the older schedule is a draft no longer: the head says nothing of that one's place. */
async function readyBeforeTwinInFlight(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  const early = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(early);
  await forge.setTitle(early, 'WIP: early');
  await clock.advance(5_000);
  const late = await forge.openPullRequest({ branch: 'late', head: headSha });
  await forge.schedule(late, 'squash');
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  await stage.drain({ until: async () => (await wordOn(stage, late)) === 'success' });
  await forge.setTitle(early, 'early');
  const before = forge.statusHistory(headSha).length;
  await look(stage, 4);
  const [entry] = (await stage.record()).entries;
  if (entry?.pr !== early || entry.head !== headSha) return ['the scene did not come about'];
  const said = forge
    .statusHistory(headSha)
    .slice(before)
    .map(({ state, description }) => `${state} "${description}"`);
  forge.mergeBehaviour = (pr) => (pr === late ? { kind: 'now' } : { kind: 'lost' });
  await look(stage, 20);
  if (!forge.isMerged(late)) return ['a success stands, and its merge is not the landing'];
  return said.every((each) => each.startsWith('success'))
    ? []
    : [`over a success its head is told ${said.join(', ')}`];
}

export const TWIN_ORDER_SCENES = {
  'one is ready before its twin whose success stands': readyBeforeTwinInFlight,
} satisfies Scenes;
