import type { CommitStatus } from '#core/domain/forge/forge.ts';
import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { hasAlarm, look, type Scenes, type Stage, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/**
 * Scenes of a stack whose upper pull request lands first, in a repository that calls merged what the base
 * holds: nothing but the landing merged the lower one.
 */
type Style = 'merge' | 'rebase';

/** How long the forge is busy before it calls one merged. */
const LATE_MS = 5_000;

/** It may be read as open, on the moved base, before the forge calls it merged. */
const TRUE_WORDS = [PULL_CODES.merged_along.says, PULL_CODES.no_changes.says];

/** Both open, the upper one scheduled. */
async function givenStack(style: Style, options: Parameters<typeof setStage>[0] = {}) {
  const stage = await setStage({
    ...options,
    switches: { autodetectsMerges: true },
    repo: { mergeStyle: style },
  });
  const { forge } = stage;
  await givenProject(forge);
  const lower = await forge.openPullRequest({ branch: 'lower', files: { 'src/l.txt': '1\n' } });
  const { headSha } = await forge.pull(lower);
  const upper = await forge.openPullRequest({
    branch: 'upper',
    from: headSha,
    files: { 'src/u.txt': '2\n' },
  });
  await forge.schedule(upper, style);
  return { stage, lower, upper };
}

async function scheduleLower({ stage, lower }: Awaited<ReturnType<typeof givenStack>>, style: Style) {
  await stage.clock.advance(20_000);
  await stage.forge.schedule(lower, style);
}

/** By a merge commit, or by a fast-forward, after which the forge names the head itself. */
function lowerComesAlong(style: Style): () => Promise<readonly string[]> {
  return async () => {
    const given = await givenStack(style);
    const { stage, lower } = given;
    await look(stage, 1);
    await scheduleLower(given, style);
    await look(stage, 30);
    return judgeAlong(stage, lower);
  };
}

/** The landing ends and the lower one is called merged between two looks. */
function lowerComesAlongUnseen(style: Style): () => Promise<readonly string[]> {
  return async () => {
    const given = await givenStack(style);
    const { stage, lower, upper } = given;
    await look(stage, 1);
    await scheduleLower(given, style);
    stage.forge.mergeBehaviour = () => ({ kind: 'slow', ms: 30_000 });
    await stage.drain({ until: async () => (await wordOn(stage, upper)) === 'success' });
    await stage.clock.advance(90_000);
    await look(stage, 30);
    return judgeAlong(stage, lower);
  };
}

async function endOf(stage: Stage, pr: number): Promise<string> {
  const ends = (await stage.events()).filter((each) => each.pr === pr && each.event !== 'pr_refused');
  return `${ends[0]?.event} ${ends[0]?.reason}`;
}

async function judgeAlong(stage: Stage, lower: number): Promise<readonly string[]> {
  if (!stage.forge.isMerged(lower)) return ['the scene did not come about'];
  const problems = hasAlarm(stage, 'unverified_landing') ? ['what a landing brought along is alarmed'] : [];
  const end = await endOf(stage, lower);
  if (end !== 'pr_skipped merged_along') problems.push(`one that came along is told as "${end}"`);
  const words = await wordsOn(stage, lower);
  return TRUE_WORDS.includes(words) ? problems : [...problems, `its words are "${words}"`];
}

/** Answers the forge's calls as if one that is merged were open, for a while from its merge. */
function calledLate(forge: EngineForge, isLate: (pr: number) => boolean): EngineForge {
  return {
    ...forge,
    readPullRequest: async (pr) => {
      const pull = await forge.readPullRequest(pr);
      return isLate(pr) ? { ...pull, merged: false, state: 'open', mergeCommitSha: null } : pull;
    },
    listMergedPullRequests: async () =>
      (await forge.listMergedPullRequests()).filter(({ number }) => !isLate(number)),
  };
}

/** The forge has ended the landing, and calls the lower one merged before the one that landed. */
async function lowerIsCalledMergedFirst(): Promise<readonly string[]> {
  let given: Awaited<ReturnType<typeof givenStack>> | null = null;
  let mergedAt: number | null = null;
  let isHeldUp = false;
  const isLate = (pr: number): boolean => {
    if (given === null || pr !== given.upper || !given.stage.forge.isMerged(pr)) return false;
    const now = given.stage.clock.now();
    mergedAt ??= now;
    const isNow = now - mergedAt < LATE_MS;
    isHeldUp ||= isNow && given.stage.forge.isMerged(given.lower);
    return isNow;
  };
  given = await givenStack('merge', { wrapForge: (forge) => calledLate(forge, isLate) });
  const { stage, lower, upper } = given;
  await look(stage, 1);
  await scheduleLower(given, 'merge');
  await look(stage, 30);
  if (!isHeldUp) return ['the scene did not come about'];
  const problems = await judgeAlong(stage, lower);
  const end = (await stage.events()).find(({ event, pr }) => event === 'pr_landed' && pr === upper);
  return end === undefined ? [...problems, 'the upper one landed and is not told'] : problems;
}

/** The head of one that waits is pushed to the base past the queue, after a landing: no landing brought it. */
async function headIsPushedAfterLanding(): Promise<readonly string[]> {
  const { stage, lower, upper } = await givenStack('rebase');
  const { forge } = stage;
  await forge.cancelSchedule(upper);
  const other = await forge.openPullRequest({ branch: 'other', files: { 'src/o.txt': '3\n' } });
  await forge.schedule(other, 'rebase');
  await look(stage, 12);
  const tip = await forge.tip('main');
  const next = await forge.openPullRequest({ branch: 'next', from: tip, files: { 'src/n.txt': '4\n' } });
  forge.judge = () => 'hold';
  await forge.schedule(next, 'rebase');
  await look(stage, 2);
  await forge.pushBranch('main', (await forge.pull(next)).headSha);
  await look(stage, 12);
  if (!forge.isMerged(other) || !forge.isMerged(next) || forge.isMerged(lower))
    return ['the scene did not come about'];
  const problems = hasAlarm(stage, 'unverified_landing') ? [] : ['a push past the queue is not alarmed'];
  const end = await endOf(stage, next);
  return end.endsWith('merged_outside_the_queue') ? problems : [...problems, `its end is told as "${end}"`];
}

/** Three in one batch; a person fast-forwards the third past the queue just before the success of the first, whose merge so is another. */
async function headIsMergedBeforeLanding(): Promise<readonly string[]> {
  const prs: number[] = [];
  const stage: Stage = await setStage({
    wrapForge: wrapForge(async (name, [, post], answer) => {
      const opens = name === 'postStatus' && (post as CommitStatus).state === 'success';
      const third = prs[2] ?? 0;
      if (opens && !stage.forge.isMerged(third)) await stage.forge.mergeByHand(third, 'rebase');
      return answer();
    }),
  });
  await givenProject(stage.forge);
  for (const name of ['a', 'b', 'c']) prs.push(await givenScheduled(stage.forge, name));
  await look(stage, 6);
  if ((await stage.record()).halted === null) return ['the scene did not come about'];
  const end = await endOf(stage, prs[2] ?? 0);
  return end.endsWith('merged_outside_the_queue')
    ? []
    : [`the end of one merged by hand is told as "${end}"`];
}

/** A person pushes the head to the base just before its success: the forge has nothing to merge. */
async function headIsPushedBeforeSuccess(): Promise<readonly string[]> {
  let isPushed = false;
  const stage: Stage = await setStage({
    wrapForge: wrapForge(async (name, [sha, post], answer) => {
      const opens = name === 'postStatus' && (post as CommitStatus).state === 'success';
      if (opens && !isPushed) await stage.forge.pushBranch(stage.forge.base, String(sha));
      isPushed ||= opens;
      return answer();
    }),
  });
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  await look(stage, 8);
  if (!isPushed || stage.forge.isMerged(pr)) return ['the scene did not come about'];
  return (await wordOn(stage, pr)) === 'success' ? ['a success stands on a head that the base holds'] : [];
}

export const ALONG_SCENES = {
  'one is merged by hand below a landing': headIsMergedBeforeLanding,
  'a head is pushed to the base before its success': headIsPushedBeforeSuccess,
  'a landing brings what is below it': lowerComesAlong('merge'),
  'a landing brings what is below it, by a fast-forward': lowerComesAlong('rebase'),
  'a landing brings what is below it between two looks': lowerComesAlongUnseen('merge'),
  'a landing brings what is below it between two looks, by a fast-forward': lowerComesAlongUnseen('rebase'),
  'what a landing brings is called merged before it': lowerIsCalledMergedFirst,
  'a head is pushed past the queue after a landing': headIsPushedAfterLanding,
} satisfies Scenes;
