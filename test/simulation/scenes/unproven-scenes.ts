import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import {
  hasAlarm,
  isSuccess,
  look,
  type Scene,
  type Scenes,
  type Stage,
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

/** … of a queue in which nothing was scheduled yet. */
async function mergeBeforeAnyWork(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const stranger = await stage.forge.openPullRequest({ branch: 'stranger', files: { 'src/x.txt': 'x\n' } });
  await look(stage, 3);
  await stage.forge.mergeByHand(stranger);
  await look(stage, 3);
  return hasAlarm(stage, 'unverified_landing')
    ? []
    : ['a merge past a queue that never worked raised no alarm'];
}

const unverifiedIn = (stage: Stage): number =>
  stage.log.filter(({ fields }) => fields.alarm === 'unverified_landing').length;

/** A person who may write takes the base away by another name, its rule with it, and gives its name to another branch (A39). */
function swapBase(names: readonly string[]): Scene {
  return async () => {
    const stage = await setStage();
    const { forge } = stage;
    await givenProject(forge);
    for (const name of names) await givenScheduled(forge, name);
    await stage.drain();
    await look(stage, 3);
    await forge.openPullRequest({ branch: 'other', files: { 'src/unproven.txt': 'x\n' } });
    await forge.renameBranch('main', 'old');
    await look(stage, 1);
    await forge.renameBranch('other', 'main');
    await look(stage, 3);
    const problems = unverifiedIn(stage) === 1 ? [] : [`a swapped base: ${unverifiedIn(stage)} alarms`];
    // The owner knows that no rule stands: what comes then is no news.
    await forge.pushToBase({ 'later.txt': 'x\n' });
    await look(stage, 3);
    if (unverifiedIn(stage) > 1) problems.push('a base without a rule is alarmed at each move');
    await forge.protectBranch('main');
    await givenScheduled(forge, 'again');
    await stage.drain();
    await forge.pushToBase({ 'latest.txt': 'x\n' });
    await look(stage, 3);
    return unverifiedIn(stage) < 2 ? [...problems, 'a push under the new rule is not alarmed'] : problems;
  };
}

/** The base moves past the queue while its rule cannot be read. */
async function mergeBehindAnUnreadRule(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.unprotectBranch('main');
  await look(stage, 3);
  await forge.protectBranch('main');
  forge.fault = ({ path }) => (path.endsWith('/branch_protections') ? { status: 502 } : null);
  await forge.pushToBase({ 'unproven.txt': 'x\n' });
  await look(stage, 3);
  forge.fault = () => null;
  await look(stage, 3);
  return hasAlarm(stage, 'unverified_landing')
    ? []
    : ['a move behind a rule that could not be read is forgotten'];
}

const isUnprovenTold = async (stage: Stage): Promise<boolean> =>
  (await stage.store.readQueueViews(['repo-1'])).get('repo-1')?.unprovenSince !== undefined;

/** Its owner is told of a base that was moved past the queue, until a landing on it or a person ends that. */
async function tellMovedBase(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await givenScheduled(forge, 'a');
  await stage.drain();
  const problems: string[] = [];
  if (await isUnprovenTold(stage)) problems.push('a base that the queue moved is told as unproven');
  await forge.pushToBase({ 'unproven.txt': 'x\n' });
  await look(stage, 3);
  if (!(await isUnprovenTold(stage))) problems.push('a base that was moved past the queue is not told');
  await givenScheduled(forge, 'b');
  await stage.drain();
  await look(stage, 1);
  if (await isUnprovenTold(stage)) problems.push('a base that a landing has proven is told as unproven');
  await forge.pushToBase({ 'later.txt': 'x\n' });
  await look(stage, 3);
  if (!(await isUnprovenTold(stage))) problems.push('the second time is not told');
  await stage.settings({ queueEnabled: false });
  await look(stage, 1);
  await stage.settings({ queueEnabled: true, enabledAt: stage.clock.now() });
  await look(stage, 3);
  if (await isUnprovenTold(stage)) problems.push('a queue that was switched on again is told as unproven');
  return problems;
}

/** The base is moved past the queue while a batch searches on, of which one has landed: that one proves nothing of it. */
async function moveBaseAmidABatch(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = (files) => (files.has('src/b.txt') ? 'failure' : 'success');
  const prs: number[] = [];
  for (const name of ['a', 'b', 'c']) prs.push(await givenScheduled(forge, name));
  const countMerged = (): number => forge.merges().filter(({ pr }) => prs.includes(pr)).length;
  for (let count = 0; count < 60 && countMerged() === 0; count += 1) await look(stage, 1);
  const isSearching = (await stage.record()).batches.some(({ landed }) => landed > 0);
  await forge.pushToBase({ 'unproven.txt': 'x\n' });
  for (let count = 0; count < 10 && !hasAlarm(stage, 'unverified_landing'); count += 1) await look(stage, 1);
  if (!isSearching || countMerged() !== 1) return ['the scene did not come about'];
  return (await isUnprovenTold(stage))
    ? []
    : ['a batch from before it ends, and with it what is told of the base'];
}

export const UNPROVEN_SCENES = {
  'a newer head is merged': mergeNewerHead,
  'the base is rewritten under the last landing': rewriteBase(['a']),
  'the base is rewritten under a landing with another behind it': rewriteBase(['a', 'b', 'c']),
  'a merge past the queue': mergeBehindItsBack,
  'a merge past the queue while it lands': mergeBesideALanding,
  'a merge past a queue in which nothing was scheduled yet': mergeBeforeAnyWork,
  'another branch gets the name of the base': swapBase(['a']),
  'another branch gets the name of the base of a queue that never worked': swapBase([]),
  'the base moves while its rule cannot be read': mergeBehindAnUnreadRule,
  'its owner is told of a base that was moved past the queue': tellMovedBase,
  'the base is moved past the queue while a batch searches on': moveBaseAmidABatch,
} satisfies Scenes;
