import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import {
  hasAlarm,
  isSuccess,
  look,
  type Scene,
  type Scenes,
  setStage,
  wordOn,
  wordsOn,
} from '../scene-stage.ts';

/** Scenes in which something lands that the queue has not proven. */

/** The forge merges what was pushed after it had checked (E1): seen, alarmed, and nothing lands after it. */
async function mergeNewerHead(): Promise<readonly string[]> {
  let pushed = false;
  const stage = await setStage({
    switches: { mergesUncheckedHead: true },
    onEntry: (entry, { clock, forge }) => {
      if (!isSuccess(entry) || pushed) return;
      pushed = true;
      clock.after(1_000, async () => {
        await forge.pushToPullRequest(prs[0] ?? 0, { 'src/a.txt': 'newer\n' });
      });
    },
  });
  await givenProject(stage.forge);
  stage.forge.mergeBehaviour = (pr) => (pr === prs[0] ? { kind: 'slow', ms: 3_000 } : { kind: 'now' });
  const prs = [await givenScheduled(stage.forge, 'a'), await givenScheduled(stage.forge, 'b')];
  await stage.drain();
  const merged = stage.forge.merges().map((merge) => merge.pr);
  const problems: string[] = [];
  if (merged[0] !== prs[0]) return ['the scene did not come about'];
  if (!hasAlarm(stage, 'tree_mismatch'))
    problems.push('a landed tree that is not the proven one was not noticed');
  if (merged.length > 1) problems.push('something landed after a wrong tree');
  return problems;
}

/** The base is written anew between a success and its merge: the tree is the proven one, what lies below it is not. */
function rewriteBase(contents: readonly string[]): Scene {
  return async () => {
    let rewritten = false;
    let older = '';
    const stage = await setStage({
      onEntry: (entry, { clock, forge }) => {
        if (!isSuccess(entry) || rewritten) return;
        rewritten = true;
        // Right before the automatic merge.
        clock.after(400, () => forge.pushBranch('main', older));
      },
    });
    await givenProject(stage.forge);
    older = await stage.forge.tip('main');
    await stage.forge.pushToBase({ 'passing.txt': 'here\n' });
    await stage.forge.pushToBase({ 'passing.txt': null });
    for (const name of contents) await givenScheduled(stage.forge, name);
    await stage.drain({ maxMs: 30 * 60_000 });
    const [merged] = stage.forge.merges().map(({ pr }) => pr);
    if (merged === undefined) return ['the scene did not come about'];
    await look(stage, 4);
    const words = await wordsOn(stage, merged);
    return [
      ...(hasAlarm(stage, 'tree_mismatch')
        ? []
        : ['a landing on a base that was written anew was not noticed']),
      ...(words === PULL_CODES.unverified.says ? [] : [`the head of an unproven landing: "${words}"`]),
    ];
  };
}

/** A person merges what the queue never saw (A39). */
async function mergeBehindItsBack(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  await givenScheduled(stage.forge, 'a');
  await stage.drain();
  const stranger = await stage.forge.openPullRequest({ branch: 'stranger', files: { 'src/x.txt': 'x\n' } });
  await look(stage, 3);
  await stage.forge.mergeByHand(stranger);
  await look(stage, 3);
  return hasAlarm(stage, 'unverified_landing') ? [] : ['a merge past the queue raised no alarm'];
}

/** … while a merge of the queue's own is awaited (A39): what moved the base was not that one. */
async function mergeBesideALanding(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const stranger = await stage.forge.openPullRequest({ branch: 'stranger', files: { 'src/x.txt': 'x\n' } });
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await givenScheduled(stage.forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await stage.forge.mergeByHand(stranger);
  await look(stage, 6);
  return hasAlarm(stage, 'unverified_landing') ? [] : ['a merge past a landing raised no alarm'];
}

export const UNPROVEN_SCENES = {
  'a newer head is merged': mergeNewerHead,
  'the base is rewritten under the last landing': rewriteBase(['a']),
  'the base is rewritten under a landing with another behind it': rewriteBase(['a', 'b', 'c']),
  'a merge past the queue': mergeBehindItsBack,
  'a merge past the queue while it lands': mergeBesideALanding,
} satisfies Scenes;
