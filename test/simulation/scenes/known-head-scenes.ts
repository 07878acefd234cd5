import { givenProject } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes about a head whose failure is known, and which a bot brings again by another way (A133). */

const HOUR_LOOKS = 120;
const BAD = { 'src/bad.txt': 'BAD\n' };

async function givenFailed(): Promise<{ stage: Stage; pr: number; head: string }> {
  const stage = await setStage({ repo: { bots: ['agent'] } });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'bad', author: 'agent', files: BAD });
  await forge.scheduleAs('agent', pr);
  await look(stage, HOUR_LOOKS);
  return { stage, pr, head: (await forge.pull(pr)).headSha };
}

/** Another one lands, so that what was tested before is no evidence; then the bot asks. */
async function runsOfAsking({ forge, ...stage }: Stage, pr: number): Promise<number> {
  await forge.pushToBase({ 'other.txt': 'moves the base\n' });
  const before = forge.runs().length;
  await forge.cancelSchedule(pr).catch(() => undefined);
  await stage.clock.advance(60_000);
  await forge.scheduleAs('agent', pr);
  await look({ ...stage, forge }, HOUR_LOOKS);
  return forge.runs().length - before;
}

/** Closed, and its head opened under another number. */
async function failUnderNewNumber(): Promise<readonly string[]> {
  const { stage, pr, head } = await givenFailed();
  await stage.forge.close(pr);
  const anew = await stage.forge.openPullRequest({ branch: 'anew', author: 'agent', files: {}, head });
  const runs = await runsOfAsking(stage, anew);
  return runs === 0 ? [] : [`${runs} gate runs of a head that failed, under another number`];
}

/** Another head is pushed over it, fails too, and is pushed back. */
async function failAfterPushingBack(): Promise<readonly string[]> {
  const { stage, pr, head } = await givenFailed();
  await stage.forge.pushToPullRequest(pr, { 'src/more.txt': 'BAD\n' }, 'agent');
  await runsOfAsking(stage, pr);
  await stage.forge.forcePushPullRequest(pr, head);
  const runs = await runsOfAsking(stage, pr);
  return runs === 0 ? [] : [`${runs} gate runs of a head that failed, and was pushed back`];
}

export const KNOWN_HEAD_SCENES = {
  'a bot brings a head that failed under another number': failUnderNewNumber,
  'a bot pushes a head that failed back': failAfterPushingBack,
} satisfies Scenes;
