import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { judgeWords, look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes in which the forge refuses to let anything be staged, as over a quota, and takes words all the same. */

const DID_NOT_COME = ['the scene did not come about'];
const OVER_QUOTA = 413;

function refuseContents({ forge }: Stage): void {
  forge.fault = ({ method, path }) =>
    method !== 'GET' && !path.includes('/statuses/') ? { status: OVER_QUOTA } : null;
}

/** The words of each that do not say that the queue has stopped, on its head and on the page. */
async function missedIn(stage: Stage, prs: readonly number[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const pr of prs) {
    const words = await wordsOn(stage, pr);
    if (words !== PULL_CODES.queue_stopped.says) problems.push(`#${pr} is told "${words}"`);
  }
  const report = await stage.reconcile();
  if (report?.errorCode !== 'forge_access_denied' || report.refusal !== 'over_quota')
    problems.push(`the report says ${report?.errorCode ?? 'nothing'}, ${report?.refusal ?? 'no cause'}`);
  return [...problems, ...(await judgeWords(stage))];
}

/** The forge stages again: all of them land, and none that comes next is told of the stop. */
async function landAll(stage: Stage, prs: readonly number[]): Promise<readonly string[]> {
  stage.forge.fault = () => null;
  stage.forge.gateDurationMs = 5 * 60_000;
  await look(stage, 3);
  const next = await givenScheduled(stage.forge, 'next');
  const told = new Set<string>();
  for (let count = 0; count < 60; count += 1) {
    await look(stage, 1);
    told.add(await wordsOn(stage, next));
  }
  const landed = stage.forge.merges().map(({ pr }) => pr);
  const isLanded = String(landed) === String([...prs, next]);
  return [
    ...(isLanded ? [] : [`once the forge stages again, what landed is ${landed}`]),
    ...(told.has(PULL_CODES.queue_stopped.says) ? ['the next one is told of a stop that is over'] : []),
  ];
}

/** Before anything is staged: all who wait are told, and one refusal alone is chance. */
async function refuseStaging(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const prs = [await givenScheduled(stage.forge, 'a'), await givenScheduled(stage.forge, 'b')];
  refuseContents(stage);
  await look(stage, 2);
  const early = await wordsOn(stage, prs[0] ?? 0);
  await look(stage, 8);
  return [
    ...(early.startsWith('queued: waits for its batch') ? [] : [`after one refusal it is told "${early}"`]),
    ...(await missedIn(stage, prs)),
    ...(await landAll(stage, prs)),
  ];
}

/** While a batch is out that then fails: those of it that wait for their turn say "staged" no longer. */
async function refuseAfterSearch(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 1 } });
  await givenProject(stage.forge);
  const bad = await stage.forge.openPullRequest({ branch: 'bad', files: { 'bad.txt': 'BAD\n' } });
  await stage.forge.schedule(bad);
  const good = await givenScheduled(stage.forge, 'a');
  await look(stage, 2);
  if (stage.forge.runs().length === 0) return DID_NOT_COME;
  refuseContents(stage);
  await look(stage, 30);
  return [...(await missedIn(stage, [good])), ...(await landAll(stage, [good]))];
}

/** The last that waited leaves: what the forge refused before says nothing of the next one. */
async function refuseOneThatLeaves(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  refuseContents(stage);
  await look(stage, 8);
  if ((await wordsOn(stage, pr)) !== PULL_CODES.queue_stopped.says) return DID_NOT_COME;
  await stage.forge.close(pr);
  await look(stage, 2);
  stage.forge.fault = () => null;
  const next = await givenScheduled(stage.forge, 'b');
  await look(stage, 6);
  const told = stage.forge.statusHistory((await stage.forge.pull(next)).headSha);
  const isStale = told.some(({ description }) => description === PULL_CODES.queue_stopped.says);
  return isStale ? ['the next one is told of a stop that is over'] : [];
}

export const REFUSED_SCENES = {
  'the forge lets nothing be staged': refuseStaging,
  'the forge lets nothing be staged after a search began': refuseAfterSearch,
  'the last one leaves while the forge lets nothing be staged': refuseOneThatLeaves,
} satisfies Scenes;
