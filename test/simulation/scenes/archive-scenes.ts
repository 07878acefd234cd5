import { ARCHIVED } from '#core/domain/repos/pause-words.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { look, openLostMerge, type Scenes, type Stage, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes in which the repository is archived on the forge, and taken out again (decision 0287). */

const DID_NOT_COME = ['the scene did not come about'];

/** The words of each that do not say so, and the report of the look. */
async function missedIn(stage: Stage, prs: readonly number[]): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const pr of prs) {
    const words = await wordsOn(stage, pr);
    if (words !== ARCHIVED) problems.push(`#${pr} is told "${words}"`);
  }
  const report = await stage.reconcile();
  if (report?.errorCode !== 'forge_access_denied' || report.refusal !== 'archived')
    problems.push(`the report says ${report?.errorCode ?? 'nothing'}, ${report?.refusal ?? 'no cause'}`);
  return problems;
}

async function landAll(stage: Stage, prs: readonly number[]): Promise<readonly string[]> {
  stage.forge.setArchived(false);
  await look(stage, 40);
  const order = String(stage.forge.merges().map(({ pr }) => pr));
  return order === String(prs) ? [] : [`taken out of the archive, what landed is ${order}`];
}

/** It is archived before anything is staged: nothing is tried there, and the words say why. */
async function archiveBeforeStaging(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const prs = [await givenScheduled(stage.forge, 'a')];
  stage.forge.setArchived(true);
  const before = stage.forge.calls().length;
  await look(stage, 4);
  const missed = await missedIn(stage, prs);
  const tried = stage.forge
    .calls()
    .slice(before)
    .filter(({ write, status }) => write && status === 423);
  return [
    ...missed,
    ...tried.map(({ call }) => `${call} was tried in an archived repository`),
    ...(await landAll(stage, prs)),
  ];
}

/** It is archived while a gate run is out, which then ends in success. */
async function archiveInGate(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const prs = [await givenScheduled(stage.forge, 'a'), await givenScheduled(stage.forge, 'b')];
  stage.forge.gateDurationMs = 5 * 60_000;
  await look(stage, 3);
  if (stage.forge.runs().length === 0) return DID_NOT_COME;
  stage.forge.setArchived(true);
  await look(stage, 20);
  const landed = stage.forge.merges().length;
  return [
    ...(landed > 0 ? [`${landed} landed in an archived repository`] : []),
    ...(await missedIn(stage, prs)),
    ...(await landAll(stage, prs)),
  ];
}

/** It leaves the archive as its only pull request, which was never scheduled, is closed. */
async function leaveArchiveEmpty(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await stage.forge.openPullRequest({ branch: 'idle', files: { 'idle.txt': 'x\n' } });
  stage.forge.setArchived(true);
  const archived = await stage.reconcile();
  if (archived?.refusal !== 'archived') return DID_NOT_COME;
  stage.forge.setArchived(false);
  await stage.forge.close(pr);
  await stage.clock.advance(30_000);
  const report = await stage.reconcile();
  return report?.errorCode === null ? [] : [`an empty queue is told ${report?.refusal ?? report?.errorCode}`];
}

/** It is archived while a success stands whose merge does not come. */
async function archiveInLanding(): Promise<readonly string[]> {
  const opened = await openLostMerge();
  if (opened === null) return DID_NOT_COME;
  const { stage, pr } = opened;
  stage.forge.setArchived(true);
  await look(stage, 8);
  const stands =
    (await wordOn(stage, pr)) === 'success' ? ['a success stands in an archived repository'] : [];
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  return [...stands, ...(await landAll(stage, [pr]))];
}

/** It is archived once a merge that did not come is given up: the question for its schedule would be refused there. */
async function archiveAfterTimeout(): Promise<readonly string[]> {
  const opened = await openLostMerge();
  if (opened === null) return DID_NOT_COME;
  const { stage, pr } = opened;
  for (let count = 0; count < 60 && (await wordOn(stage, pr)) === 'success'; count += 1) await look(stage, 1);
  if ((await wordOn(stage, pr)) !== 'pending') return DID_NOT_COME;
  stage.forge.setArchived(true);
  await look(stage, 8);
  const missed = await missedIn(stage, [pr]);
  const asked = stage.forge.calls().filter(({ status }) => status === 423);
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  return [
    ...missed,
    ...asked.map(({ call }) => `${call} was tried in an archived repository`),
    ...(await landAll(stage, [pr])),
  ];
}

/** It is archived as the first of a batch lands: the list of that look is of before. */
async function archiveBetweenLandings(): Promise<readonly string[]> {
  let archive = () => {};
  const stage = await setStage({
    onEntry: (entry) => {
      if (entry.kind === 'merge') archive();
    },
  });
  await givenProject(stage.forge);
  const prs = [await givenScheduled(stage.forge, 'a'), await givenScheduled(stage.forge, 'b')];
  archive = () => stage.forge.setArchived(true);
  await look(stage, 20);
  const landed = stage.forge.merges().map(({ pr }) => pr);
  archive = () => {};
  if (landed.length !== 1) return [`${landed.length} landed, and one was on its way`];
  return landAll(stage, prs);
}

export const ARCHIVE_SCENES = {
  'a repository is archived before anything is staged': archiveBeforeStaging,
  'a repository is archived while a gate run is out': archiveInGate,
  'a repository is archived while a success stands': archiveInLanding,
  'a repository is taken out of the archive as its last pull request is closed': leaveArchiveEmpty,
  'a repository is archived after a merge that did not come is given up': archiveAfterTimeout,
  'a repository is archived as the first of a batch lands': archiveBetweenLandings,
} satisfies Scenes;
