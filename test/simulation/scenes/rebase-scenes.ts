import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { MergeStyle } from '#core/domain/repos/merge-style.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes in which the forge's rebase leaves something out that a replay by the letter would bring. */
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
async function relandAfterRevert(): Promise<readonly string[]> {
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
async function relandInOneBatch(): Promise<readonly string[]> {
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
async function editInMerge(): Promise<readonly string[]> {
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

/** The same once another one has landed: the forge would rebase it, and leave the edit out without a word. */
async function editInMergeBehind(): Promise<readonly string[]> {
  const stage = await openStage();
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'feature', files: { 'src/own.txt': '1\n' } });
  await forge.pushToBase({ 'src/base.txt': '1\n' });
  await forge.updateBranch(pr, { 'src/edit.txt': 'in the merge\n' });
  const plain = await forge.openPullRequest({ branch: 'plain', files: { 'src/plain.txt': '1\n' } });
  await forge.pushToBase({ 'src/more.txt': '1\n' });
  await forge.updateBranch(plain);
  await givenScheduled(forge, 'other', undefined, { style: 'rebase' });
  await stage.clock.advance(60_000);
  for (const each of [pr, plain]) await forge.schedule(each, 'rebase');
  await look(stage, 2 * LOOKS);
  const words = await wordsOn(stage, pr);
  const problems = words === PULL_CODES.merges_in_rebase.says ? [] : [`an edit in a merge: "${words}"`];
  return judge(
    stage,
    forge.isMerged(plain) ? problems : [...problems, 'a merge without an edit did not land'],
  );
}

/** The base made a change and took it back, and the same lines come again with other white space: one patch to git. */
async function otherWhiteSpace(): Promise<readonly string[]> {
  const stage = await openStage();
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'feature', files: { 'src/feature.txt': '  on\n' } });
  await forge.pushToPullRequest(pr, { 'src/fix.txt': 'fix\n' });
  await forge.pushToBase(FEATURE);
  await forge.pushToBase({ 'src/feature.txt': 'off\n' });
  await stage.clock.advance(60_000);
  await forge.schedule(pr, 'rebase');
  await look(stage, LOOKS);
  const words = await wordsOn(stage, pr);
  return judge(
    stage,
    words === PULL_CODES.commit_left_out.says ? [] : [`with other white space: "${words}"`],
  );
}

/** Adds a draft beside a change that the base gets later, takes the draft back, and has a file of its own. */
async function givenDraft({ forge }: Stage, branch: string): Promise<number> {
  const pr = await forge.openPullRequest({ branch, files: { ...FEATURE, 'draft.txt': 'draft\n' } });
  await forge.pushToPullRequest(pr, { 'draft.txt': null });
  await forge.pushToPullRequest(pr, { [`src/${branch}.txt`]: '1\n' });
  return pr;
}

/**
 * The lower one adds a draft beside a change that the base has by now, and removes it: newly written, the first commit is
 * another patch and is replayed, and the second is the same one and is left out.
 */
async function standOnRewritten(): Promise<readonly string[]> {
  const stage = await openStage({ repo: { batchLingerSeconds: 60 } });
  const { forge } = stage;
  const lower = await givenDraft(stage, 'lower');
  const { headSha } = await forge.pull(lower);
  const upper = await forge.openPullRequest({
    branch: 'upper',
    from: headSha,
    files: { 'src/upper.txt': '1\n' },
  });
  await forge.pushToBase(FEATURE);
  await stage.clock.advance(60_000);
  for (const pr of [lower, upper]) await forge.schedule(pr, 'rebase');
  await look(stage, 2 * LOOKS);
  return judge(stage, forge.isMerged(lower) ? [] : ['the lower one did not land']);
}

/** Of a commit of the first one the base has a part by now; the rest is what the second one does, after the first has taken it back. */
async function restOfCommit(): Promise<readonly string[]> {
  const stage = await openStage({ repo: { batchLingerSeconds: 60 } });
  const { forge } = stage;
  const first = await givenDraft(stage, 'first');
  const second = await forge.openPullRequest({ branch: 'second', files: { 'draft.txt': 'draft\n' } });
  await forge.pushToPullRequest(second, { 'src/second.txt': '1\n' });
  await forge.pushToBase(FEATURE);
  await stage.clock.advance(60_000);
  for (const pr of [first, second]) await forge.schedule(pr, 'rebase');
  await look(stage, 2 * LOOKS);
  return judge(stage, forge.isMerged(first) ? [] : ['the first one did not land']);
}

/** A history that shares nothing with the base is merged into the head: a rebase replays it from its first commit. */
async function importHistory(): Promise<readonly string[]> {
  const stage = await openStage();
  const { forge } = stage;
  const pr = await forge.openPullRequest({ branch: 'feature', files: { 'src/own.txt': '1\n' } });
  await forge.importHistory(pr, { 'lib/lib.txt': 'lib\n' });
  await forge.pushToBase({ 'src/base.txt': '1\n' });
  await stage.clock.advance(60_000);
  await forge.schedule(pr, 'rebase');
  await look(stage, LOOKS);
  const words = await wordsOn(stage, pr);
  return judge(stage, words === PULL_CODES.merges_in_rebase.says ? [] : [`an imported history: "${words}"`]);
}

/** Its branch began with a commit of its own; then its author makes it anew from the base, as its words say. */
function beginAnew(mergeStyle: MergeStyle): () => Promise<readonly string[]> {
  return async () => {
    const stage = await openStage({ repo: { mergeStyle } });
    const { forge } = stage;
    const files = { 'src/own.txt': '1\n' };
    const pr = await forge.openPullRequest({ branch: 'feature', files });
    const beside = await forge.openPullRequest({ branch: 'beside', files: { 'src/beside.txt': '1\n' } });
    await stage.clock.advance(60_000);
    for (const each of [beside, pr]) await forge.schedule(each, mergeStyle);
    const [, root = ''] = forge.commit(await forge.importHistory(pr, files)).parents;
    await forge.forcePushPullRequest(pr, root);
    await look(stage, LOOKS);
    const words = await wordsOn(stage, pr);
    if (words !== PULL_CODES.unrelated_history.says)
      return judge(stage, [`a branch of another history: "${words}"`]);
    if (!forge.isMerged(beside)) return judge(stage, ['the other one did not land']);
    await forge.forcePushPullRequest(pr, await forge.tip('main'));
    await forge.pushToPullRequest(pr, files);
    await look(stage, LOOKS);
    return judge(stage, forge.isMerged(pr) ? [] : ['the way back that its words name does not lead back']);
  };
}

/** The same is tried again on a batch in flight, once the base has moved: it has nothing to do with that either. */
async function beginAnewBehind(): Promise<readonly string[]> {
  const labels = { highLabels: ['high'], priorityPeople: ['oncall'] };
  const stage = await setStage({ repo: { ...labels, bisectFanout: 16 } });
  const { forge } = stage;
  await givenProject(forge);
  await givenScheduled(forge, 'before');
  await look(stage, 12);
  const pr = await givenScheduled(forge, 'feature');
  const [, root = ''] = forge.commit(await forge.importHistory(pr, { 'src/own.txt': '1\n' })).parents;
  await forge.forcePushPullRequest(pr, root);
  await look(stage, 4);
  if ((await wordsOn(stage, pr)) !== PULL_CODES.unrelated_history.says)
    return ['the scene did not come about'];
  forge.judge = () => 'hold';
  await forge.setLabel(await givenScheduled(forge, 'ahead'), 'high', true, 'oncall');
  await forge.pushToBase({ 'src/other.txt': 'other\n' });
  await look(stage, 20);
  const { deferred, batches } = await stage.record();
  const [batch] = batches;
  const reason = deferred.find((each) => each.pr === pr)?.reason ?? 'none';
  if (batch === undefined) return ['the scene did not come about'];
  return reason === 'unrelated_history' ? [] : [`behind a batch in flight it is set aside as "${reason}"`];
}

export const REBASE_SCENES = {
  'a change that the base took back comes again in a rebase': relandAfterRevert,
  'a change that was taken back in its batch comes again in a rebase': relandInOneBatch,
  'an author changes something in a merge that a rebase drops': editInMerge,
  'an author changes something in a merge that a rebase drops, and the base moves on': editInMergeBehind,
  'a change comes again with other white space in a rebase': otherWhiteSpace,
  'a pull request stands on one that a rebase writes anew': standOnRewritten,
  'what a rebase leaves of a commit is the change of another one': restOfCommit,
  'a pull request imports a history in a rebase': importHistory,
  'the branch of a pull request shares no commit with the base, in a rebase': beginAnew('rebase'),
  'the branch of a pull request shares no commit with the base, in a squash': beginAnew('squash'),
  'the branch of a pull request shares no commit with the base, in a merge': beginAnew('merge'),
  'the branch of a pull request shares no commit with the base, behind a batch in flight': beginAnewBehind,
} satisfies Scenes;
