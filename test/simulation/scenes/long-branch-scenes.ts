import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { hasAlarm, look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes about branches with more merges of the base, or more commits, than can be asked for one by one. */

const MINUTE_MS = 60_000;
/** Stands for the 10,000 rows that a listing may have. */
const ROWS_MAX = 10;

const landedAs = async (stage: Stage, pr: number): Promise<ReadonlyMap<string, string> | null> =>
  stage.forge.isMerged(pr) ? stage.forge.readFiles(await stage.forge.tip('main')) : null;

const listings = ({ forge }: Stage): number =>
  forge.calls().filter(({ call }) => call === 'GET commits?not').length;

/** A pull request into which the base is merged every day. */
async function updateDaily({ forge, clock }: Stage, pr: number, days: number): Promise<void> {
  for (let day = 1; day <= days; day += 1) {
    await forge.pushToBase({ 'main.txt': `day ${day}\n` });
    await clock.advance(MINUTE_MS);
    await forge.updateBranch(pr);
  }
}

/** It merges the branch of another one, as the person can by hand. */
async function mergeIn({ forge, clock }: Stage, pr: number, branch: string): Promise<void> {
  await forge.retarget(pr, branch);
  await clock.advance(MINUTE_MS);
  await forge.updateBranch(pr);
  await forge.retarget(pr, 'main');
  await clock.advance(MINUTE_MS);
}

/** The base is merged into a branch for weeks, and goes on. */
async function updateForWeeks(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'long', files: { 'src/long.txt': 'x\n' } });
  await updateDaily(stage, pr, 40);
  await forge.pushToBase({ 'other.txt': 'one more\n' });
  await stage.clock.advance(MINUTE_MS);
  await forge.schedule(pr, 'squash');
  forge.clearCalls();
  await look(stage, 20);
  if (!forge.isMerged(pr)) return [`one with many merges of the base is told "${await wordsOn(stage, pr)}"`];
  const calls = listings(stage);
  return calls < 10 ? [] : [`${calls} listings of commits for one merge base`];
}

/** The same branch merged another one too, which then came onto the base by itself: neither merge base contains the other. */
async function updateForWeeksAcross(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const across = await forge.openPullRequest({ branch: 'across', files: { 'src/across.txt': 'x\n' } });
  const pr = await forge.openPullRequest({ branch: 'long', files: { 'src/long.txt': 'x\n' } });
  await updateDaily(stage, pr, 6);
  await mergeIn(stage, pr, 'across');
  await forge.mergeByHand(across);
  await stage.clock.advance(MINUTE_MS);
  await forge.schedule(pr, 'squash');
  await look(stage, 20);
  const words = await wordsOn(stage, pr);
  return words.includes('two merge bases') ? [] : [`one with two merge bases is told "${words}"`];
}

/** More commits than can be listed are to be replayed, beside a base that stands and then moves. */
async function replayTooMany(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { mergeStyle: 'rebase' } });
  const { forge } = stage;
  await givenProject(forge);
  forge.listingRowsMax = ROWS_MAX;
  const pr = await givenImport(stage);
  await forge.schedule(pr, 'rebase');
  forge.clearCalls();
  await look(stage, 60);
  const calls = listings(stage);
  const told = await wordsOn(stage, pr);
  const other = await givenScheduled(forge, 'other', 'b\n', { style: 'rebase' });
  await look(stage, 20);
  return [
    ...(told.startsWith('refused: more than 10,000 commits') ? [] : [`too many commits are told "${told}"`]),
    ...(calls <= 3 ? [] : [`${calls} listings of commits that are known to be too many`]),
    ...(forge.isMerged(other) ? [] : ['the one behind it did not land']),
  ];
}

/** The base is further ahead of an import than can be listed, until it is merged in as the words say. */
async function importFarBehind(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.listingRowsMax = ROWS_MAX;
  const pr = await givenImport(stage);
  for (let at = 0; at < ROWS_MAX; at += 1) await forge.pushToBase({ 'main.txt': `${at}\n` });
  await stage.clock.advance(MINUTE_MS);
  await forge.schedule(pr, 'squash');
  forge.clearCalls();
  await look(stage, 40);
  const calls = listings(stage);
  const told = await wordsOn(stage, pr);
  await forge.updateBranch(pr);
  await look(stage, 20);
  return [
    ...(told.startsWith('refused: more than 10,000 commits') ? [] : [`too many commits are told "${told}"`]),
    ...(calls <= 5 ? [] : [`${calls} listings of commits that are known to be too many`]),
    ...(forge.isMerged(pr) ? [] : [`after the base was merged in it is told "${await wordsOn(stage, pr)}"`]),
  ];
}

/** Eleven commits, one of which makes a file that a later one deletes. */
async function givenImport({ forge, clock }: Stage): Promise<number> {
  const pr = await forge.openPullRequest({ branch: 'import', files: { 'src/import.txt': '0\n' } });
  for (let at = 1; at <= ROWS_MAX; at += 1) {
    const made = at === 4 ? 'made\n' : null;
    const files = at === 4 || at === 8 ? { 'src/made.txt': made } : { [`src/import${at}.txt`]: 'x\n' };
    await forge.pushToPullRequest(pr, files);
  }
  await forge.pushToBase({ 'other.txt': 'one more\n' });
  await clock.advance(MINUTE_MS);
  return pr;
}

/** Another one stands in the middle of an import whose commits cannot be listed: beside it, or behind it in its batch. */
function standOnTooMany(gateMs: number): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage({ repo: { mergeStyle: 'merge' } });
    const { forge } = stage;
    await givenProject(forge);
    forge.listingRowsMax = ROWS_MAX;
    const pr = await givenImport(stage);
    let middle = forge.headOf(pr);
    for (let back = 0; back < 5; back += 1) middle = forge.commit(middle).parents[0] ?? middle;
    forge.gateDurationMs = gateMs;
    await forge.schedule(pr, 'merge');
    if (gateMs > MINUTE_MS) await look(stage, 4);
    const top = await forge.openPullRequest({ branch: 'top', from: middle, files: { 'src/top.txt': 'x\n' } });
    await stage.clock.advance(MINUTE_MS);
    await forge.schedule(top, 'merge');
    await look(stage, 60);
    if (hasAlarm(stage, 'unverified_landing')) return ['another tree than the proven one landed'];
    if (!forge.isMerged(pr)) return [`an import is told "${await wordsOn(stage, pr)}"`];
    const files = await landedAs(stage, top);
    if (files === null) return [`what stands on an import is told "${await wordsOn(stage, top)}"`];
    return files.has('src/made.txt') ? ['a file landed that the import deletes'] : [];
  };
}

/** The merge base that the forge tells of a branch with more commits than can be listed is of before its last merge. */
async function tellOldMergeBase(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.listingRowsMax = ROWS_MAX;
  const across = await forge.openPullRequest({ branch: 'across', files: { 'src/across.txt': 'x\n' } });
  const pr = await givenImport(stage);
  forge.checkDelayMs = 100_000;
  await mergeIn(stage, pr, 'across');
  await forge.pushToPullRequest(pr, { 'src/across.txt': null });
  await forge.mergeByHand(across);
  await forge.schedule(pr, 'squash');
  await look(stage, 60);
  if (hasAlarm(stage, 'unverified_landing')) return ['another tree than the proven one landed'];
  const files = await landedAs(stage, pr);
  if (files === null) return [`an import is told "${await wordsOn(stage, pr)}"`];
  return files.has('src/across.txt') ? ['a file landed that the pull request deletes'] : [];
}

/** A few objects stand for a million files: it is told so, and the others of its batch land. */
async function addMillion(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'million', files: { 'src/million.txt': 'x\n' } });
  await forge.addRepeated(pr, 1_000);
  await forge.schedule(pr, 'squash');
  const other = await givenScheduled(forge, 'a');
  await look(stage, 8);
  const words = await wordsOn(stage, pr);
  return [
    ...(words === PULL_CODES.too_many_files.says ? [] : [`one with a million files is told "${words}"`]),
    ...(forge.isMerged(other) ? [] : ['another one does not land beside it']),
  ];
}

export const LONG_BRANCH_SCENES = {
  'the base is merged into a branch for weeks': updateForWeeks,
  'a branch has two merge bases among many merges': updateForWeeksAcross,
  'more commits than can be listed are to be replayed': replayTooMany,
  'a few objects stand for a million files': addMillion,
  'an import is further behind than can be listed': importFarBehind,
  'one stands on an import in the same batch': standOnTooMany(60_000),
  'one stands on an import that is under way': standOnTooMany(5 * 60_000),
  'the forge tells a merge base of before': tellOldMergeBase,
} satisfies Scenes;
