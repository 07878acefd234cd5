import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { judgeWords, look, type Scenes, setStage, wordOn } from '../scene-stage.ts';

const MINUTE_MS = 60_000;

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

/** The forge drops the schedule of one before a merge that fails, and another one with its head was bounced: the head keeps the words of that. */
async function droppedBesideBounced(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { rowDeletedBeforeMerge: true } });
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a', 'NEEDS:src/b.txt\n');
  forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await stage.drain();
  await givenScheduled(forge, 'b');
  await stage.drain();
  const { headSha } = await forge.pull(first);
  const twin = await forge.openPullRequest({ branch: 'twin', head: headSha });
  await forge.schedule(twin, 'squash');
  forge.mergeFails = (pr) => pr === twin;
  const isDropped = async () => (await stage.events()).some(({ reason }) => reason === 'schedule_lost');
  await stage.drain({ maxMs: 30 * MINUTE_MS, until: isDropped });
  if (!(await isDropped())) return ['the scene did not come about'];
  await look(stage, 3);
  const isOver = forge
    .statusHistory(headSha)
    .some(({ description }) => description === PULL_CODES.schedule_lost.says);
  return isOver ? ['the words of one that left stand over the bounce of another one'] : judgeWords(stage);
}

export const TWIN_ORDER_SCENES = {
  'the schedule of one is dropped whose twin was bounced': droppedBesideBounced,
  'one is ready before its twin whose success stands': readyBeforeTwinInFlight,
} satisfies Scenes;
