import { PULL_CODES } from '#core/domain/pull-code-table.ts';
import { givenProject, unprovenLandings } from '../scenario/stories.ts';
import { look, type Stage, setStage, wordsOn } from './scene-stage.ts';

/** Scenes of `scenes.ts` in which the forge's rebase leaves something out that a replay by the letter would bring. */
const FEATURE = { 'src/feature.txt': 'on\n' };
const LOOKS = 20;

async function openStage(options: Parameters<typeof setStage>[0] = {}): Promise<Stage> {
  const stage = await setStage({ ...options, repo: { mergeStyle: 'rebase', ...options.repo } });
  await givenProject(stage.forge, { 'src/feature.txt': 'off\n' });
  return stage;
}

async function judge(stage: Stage, problems: readonly string[]): Promise<readonly string[]> {
  const unproven = await unprovenLandings(stage.forge);
  return [...problems, ...unproven.map((pr) => `#${pr} landed with a tree that no gate run saw`)];
}

/** The base made a change and took it back: a rebase of the branch that the change came from leaves it out. */
export async function relandAfterRevert(): Promise<readonly string[]> {
  const stage = await openStage();
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'feature', files: FEATURE });
  await forge.pushToPullRequest(pr, { 'src/fix.txt': 'fix\n' });
  await forge.pushToBase({ 'src/base.txt': '1\n' });
  await forge.pushToBase(FEATURE);
  await forge.pushToBase({ 'src/feature.txt': 'off\n' });
  await stage.clock.advance(60_000);
  await forge.schedule(pr, 'rebase');
  await look(stage, LOOKS);
  const words = await wordsOn(stage, pr);
  if (forge.isMerged(pr) || words !== PULL_CODES.commit_left_out.says)
    return judge(stage, [`a commit that the rebase leaves out: "${words}"`]);
  await forge.updateBranch(pr);
  await look(stage, LOOKS);
  return judge(stage, forge.isMerged(pr) ? [] : ['the way back that its words name does not lead back']);
}

/** The same by one that lands before it in its batch. */
export async function relandInOneBatch(): Promise<readonly string[]> {
  const stage = await openStage({ repo: { batchLingerSeconds: 60 } });
  const { forge } = stage;
  const first = await forge.openPullRequest({ branch: 'first', files: FEATURE });
  const { headSha } = await forge.pull(first);
  const back = await forge.openPullRequest({
    branch: 'back',
    from: headSha,
    files: { 'src/feature.txt': 'off\n' },
  });
  const again = await forge.openPullRequest({ branch: 'again', files: { ...FEATURE } });
  await forge.pushToPullRequest(again, { 'src/fix.txt': 'fix\n' });
  await stage.clock.advance(60_000);
  for (const pr of [first, back, again]) await forge.schedule(pr, 'rebase');
  await look(stage, 2 * LOOKS);
  const words = await wordsOn(stage, again);
  const isTold = forge.isMerged(again) || words === PULL_CODES.commit_left_out.says;
  const problems = isTold ? [] : [`one whose commit landed before and was taken back: "${words}"`];
  return judge(stage, forge.isMerged(first) && forge.isMerged(back) ? problems : ['the others did not land']);
}

/** Its author changed something in a merge of the base: Forgejo lands it as it is, where it holds the whole base. */
export async function editInMerge(): Promise<readonly string[]> {
  const stage = await openStage();
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'feature', files: { 'src/own.txt': '1\n' } });
  await forge.pushToBase({ 'src/base.txt': '1\n' });
  await forge.updateBranch(pr, { 'src/edit.txt': 'in the merge\n' });
  await stage.clock.advance(60_000);
  await forge.schedule(pr, 'rebase');
  await look(stage, LOOKS);
  const words = await wordsOn(stage, pr);
  return judge(stage, words === PULL_CODES.merges_in_rebase.says ? [] : [`an edit in a merge: "${words}"`]);
}
