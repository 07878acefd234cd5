import type { PullRequest } from '#core/domain/forge/forge.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import {
  isSuccess,
  look,
  openLostMerge,
  type Scenes,
  type Stage,
  setStage,
  wordOn,
  wordsOn,
} from '../scene-stage.ts';

/** Scenes in which a pull request leaves the queue while its head has other words than those of the line. */

const DID_NOT_COME = ['the scene did not come about'];

/** The queue goes off with a success posted, and the schedules of its batch are cancelled; later it goes on again. */
async function cancelAfterOff(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')] as const;
  await stage.drain({ until: async () => (await wordOn(stage, prs[0])) === 'success' });
  await stage.settings({ queueEnabled: false });
  await look(stage, 1);
  if ((await wordsOn(stage, prs[1])) !== PULL_CODES.queue_disabled.says) return DID_NOT_COME;
  for (const pr of prs) await forge.cancelSchedule(pr);
  await look(stage, 4);
  await stage.settings({ queueEnabled: true, enabledAt: stage.clock.now() });
  await look(stage, 10);
  const words = await Promise.all(prs.map((pr) => wordsOn(stage, pr)));
  return words
    .filter((each) => each !== PULL_CODES.cancelled_while_off.says)
    .map((each) => `one whose schedule went with the queue is told "${each}"`);
}

/** The one that lands is sent to another branch. */
async function retargetInLanding(): Promise<readonly string[]> {
  const opened = await openLostMerge();
  if (opened === null) return DID_NOT_COME;
  const { stage, pr } = opened;
  await stage.forge.pushBranch('next', await stage.forge.tip(stage.forge.base));
  await stage.forge.retarget(pr, 'next');
  await look(stage, 10);
  const words = await wordsOn(stage, pr);
  return words === PULL_CODES.retargeted.says ? [] : [`one that has another target is told "${words}"`];
}

/** The schedule of the one that lands is cancelled right after its `success`, before the look that posted it has ended. */
async function cancelAtSuccess(): Promise<readonly string[]> {
  let landing = 0;
  const stage = await setStage({
    onEntry: (entry, { forge }) => {
      if (isSuccess(entry)) void forge.cancelSchedule(landing);
    },
  });
  await givenProject(stage.forge);
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  landing = await givenScheduled(stage.forge, 'a');
  const hasLeft = async () => (await stage.events()).some(({ reason }) => reason === 'auto_merge_cancelled');
  await stage.drain({ until: hasLeft });
  if (!(await hasLeft())) return DID_NOT_COME;
  const words = await wordsOn(stage, landing);
  const says = PULL_CODES.auto_merge_cancelled.says;
  return words === says ? [] : [`one whose auto-merge was cancelled is told "${words}"`];
}

/** One that waits for an approval, and says that the queue looks again, is cancelled. */
async function cancelBeforeApproval(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ requiredApprovals: 1 });
  const pr = await givenScheduled(forge, 'a');
  await look(stage, 2);
  if ((await wordsOn(stage, pr)) !== PULL_CODES.approvals_missing.says) return DID_NOT_COME;
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  const words = await wordsOn(stage, pr);
  return words === PULL_CODES.auto_merge_cancelled.says ? [] : [`one that was cancelled is told "${words}"`];
}

/** One that conflicts with the base, as its head says; null: its head does not. */
async function givenConflict(stage: Stage): Promise<number | null> {
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await forge.pushToBase({ 'src/a.txt': 'other\n' });
  await look(stage, 4);
  return (await wordsOn(stage, pr)) === PULL_CODES.conflict.says ? pr : null;
}

/** One that conflicts with the base becomes a draft, whose head says so, and is ready again. */
async function conflictIsBack(): Promise<readonly string[]> {
  const stage = await setStage({ lastingEngine: true });
  const { forge } = stage;
  const pr = await givenConflict(stage);
  if (pr === null) return DID_NOT_COME;
  await forge.setTitle(pr, 'WIP: a');
  await look(stage, 1);
  if ((await wordsOn(stage, pr)) !== PULL_CODES.draft.says) return DID_NOT_COME;
  await forge.setTitle(pr, 'Add a');
  await look(stage, 1);
  const words = await wordsOn(stage, pr);
  return words === PULL_CODES.conflict.says ? [] : [`one that is back with its conflict is told "${words}"`];
}

/** Another account posts a success on one that conflicts with the base, once its schedule is cancelled. */
async function foreignSuccessOnCancelled(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  const pr = await givenConflict(stage);
  if (pr === null) return DID_NOT_COME;
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  const { headSha } = await forge.pull(pr);
  await forge.postStatusAs('mallory', headSha, DEFAULT_SERVICE_NAME, 'success');
  await look(stage, 20);
  const isTakenBack = (await wordOn(stage, pr)) !== 'success';
  const words = await wordsOn(stage, pr);
  return isTakenBack && !words.includes('the queue goes on')
    ? []
    : [`one that was cancelled is told "${words}"`];
}

/** One that conflicts with the base is cancelled, and the record that refused it is lost before the next look. */
async function cancelBesideLostRecord(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  const pr = await givenConflict(stage);
  if (pr === null) return DID_NOT_COME;
  await forge.cancelSchedule(pr);
  await stage.loseRecord();
  await look(stage, 4);
  const words = await wordsOn(stage, pr);
  return words === PULL_CODES.left_the_queue.says ? [] : [`one that was cancelled is told "${words}"`];
}

/** An administrator merges one of a batch past the queue while its gate runs. */
async function mergeOneOfBatch(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.judge = () => 'hold';
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')] as const;
  await look(stage, 2);
  if (!(await wordsOn(stage, prs[1])).startsWith('staged')) return DID_NOT_COME;
  await forge.mergeByHand(prs[1]);
  forge.judge = () => 'success';
  await look(stage, 20);
  const words = await wordsOn(stage, prs[1]);
  const problems =
    words === PULL_CODES.merged_outside_the_queue.says ? [] : [`one that is merged is told "${words}"`];
  return forge.isMerged(prs[0]) ? problems : [...problems, 'the other one of its batch did not land'];
}

/** More than a look reads are merged past the queue in a pause. What stands on their heads may not be told, or nothing of them. */
async function mergeManyByHand(trouble: 'none' | 'heads hang' | 'none is read'): Promise<readonly string[]> {
  const merged = new Set<string>();
  const seen = { looks: 0, inLook: 0, most: 0 };
  const countAndHang = async (name: string, about: unknown): Promise<void> => {
    const isOfMerged = name === 'readPullRequest' && stage.forge.isMerged(Number(about));
    if (name === 'listOpenPullRequests') {
      seen.inLook = 0;
      seen.looks += 1;
    }
    if (isOfMerged) seen.inLook += 1;
    seen.most = Math.max(seen.most, seen.inLook);
    if (isOfMerged && trouble === 'none is read') throw new ForgeError('unreachable', name, 500, null, true);
    if (trouble === 'heads hang' && name === 'readStatuses' && merged.has(String(about)))
      await stage.clock.advance(10_000);
  };
  const wrap = wrapForge(async (name, [about], real) => {
    await countAndHang(name, about);
    return real();
  });
  const stage: Stage = await setStage({ lastingEngine: true, wrapForge: wrap });
  const { forge } = stage;
  await givenProject(forge);
  const pause = { kind: 'pause', reason: null, since: stage.clock.now(), until: null } as const;
  await stage.settings({ pause });
  const prs: number[] = [];
  for (let count = 0; count < 30; count += 1) prs.push(await givenScheduled(forge, `p${count}`));
  const last = await givenScheduled(forge, 'last');
  await look(stage, 3);
  for (const pr of prs) merged.add((await forge.pull(pr)).headSha);
  for (const pr of prs) await forge.mergeByHand(pr);
  if (trouble === 'heads hang')
    forge.fault = ({ path }) => ([...merged].some((sha) => path.includes(sha)) ? { status: 500 } : null);
  await stage.settings({ pause: null });
  await look(stage, 30);
  seen.looks = 0;
  await stage.reconcile();
  const problems = forge.isMerged(last) ? [] : ['those that were merged past the queue hold up another one'];
  if (seen.looks > 3) problems.push(`one reconcile looks ${seen.looks} times at those that cannot be read`);
  if (seen.most > 20) problems.push(`one look reads ${seen.most} that have departed`);
  return problems;
}

/** The list does not show more than a look reads, although they are open and stay in the queue: each reconcile reads them once. */
async function missManyInList(): Promise<readonly string[]> {
  const missing = new Set<number>();
  let isMissed = false;
  const seen = { looks: 0, asked: new Set<unknown>() };
  const stage = await setStage({
    lastingEngine: true,
    wrapForge: wrapForge(async (name, [about], real) => {
      if (name === 'readPullRequest' && isMissed) seen.asked.add(about);
      const answer = await real();
      if (name !== 'listOpenPullRequests') return answer;
      seen.looks += 1;
      return isMissed
        ? (answer as readonly PullRequest[]).filter(({ number }) => !missing.has(number))
        : answer;
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  const pause = { kind: 'pause', reason: null, since: stage.clock.now(), until: null } as const;
  await stage.settings({ pause });
  for (let count = 0; count < 30; count += 1) missing.add(await givenScheduled(forge, `p${count}`));
  await look(stage, 3);
  isMissed = true;
  seen.looks = 0;
  await stage.reconcile();
  const problems = seen.looks > 3 ? [`one reconcile looks ${seen.looks} times at those that stay`] : [];
  return seen.asked.size === missing.size
    ? problems
    : [...problems, `${seen.asked.size} of ${missing.size} are read`];
}

export const DEPARTURE_SCENES = {
  'the list misses many that are open': missManyInList,
  'many are merged past the queue at once': () => mergeManyByHand('none'),
  'many are merged past the queue, and what stands on their heads is not told': () =>
    mergeManyByHand('heads hang'),
  'many are merged past the queue, and none of them can be read': () => mergeManyByHand('none is read'),
  'a queue goes off, the schedules of its batch are cancelled, and it goes on': cancelAfterOff,
  'one is sent to another branch while it lands': retargetInLanding,
  'the schedule of one is cancelled right after its success': cancelAtSuccess,
  'one of a batch is merged past the queue': mergeOneOfBatch,
  'one that conflicts with the base was a draft for a while': conflictIsBack,
  'one that waits for an approval is cancelled': cancelBeforeApproval,
  'another account posts a success on one that was refused and cancelled': foreignSuccessOnCancelled,
  'one that was refused is cancelled, and the record is lost': cancelBesideLostRecord,
} satisfies Scenes;
