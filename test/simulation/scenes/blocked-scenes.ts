import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../../scenario/stories.ts';
import { isSuccess, look, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

/** Scenes in which one pull request cannot be merged or tested, and the others are not to wait for it. */

export const MINUTE_MS = 60_000;
const OTHERS_WAIT_MS_MAX = 5 * MINUTE_MS;
const LINES = Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join('');

export async function givenOthers(stage: Stage): Promise<number[]> {
  const others: number[] = [];
  for (const name of ['b', 'c', 'd']) others.push(await givenScheduled(stage.forge, name));
  return others;
}

/** Whom the others waited for too long, and what was held against `pr` although something blocked it. */
export async function judgeBlocked(
  stage: Stage,
  pr: number,
  others: readonly number[],
  begun: number,
): Promise<string[]> {
  const problems: string[] = [];
  const landed = stage.forge.merges().filter((merge) => others.includes(merge.pr));
  if (landed.length < others.length) problems.push('the others never landed');
  else if (landed.some(({ at }) => at - begun > OTHERS_WAIT_MS_MAX))
    problems.push('the others waited for a merge that is blocked');
  if ((await stage.record()).mergeTimeoutCounts.length > 0)
    problems.push('what is blocked was counted as a merge that timed out');
  const events = await stage.events();
  if (events.some((each) => each.pr === pr && each.event === 'pr_bounced'))
    problems.push('what is blocked was bounced');
  return problems;
}

interface Block {
  /** From its success to what blocks it. */
  readonly afterMs: number;
  /** Its merge would not come anyway. */
  readonly isLost: boolean;
  /** The forge does not say what a pull request depends on. */
  readonly isUnread: boolean;
}

/**
 * Its dependency is opened again while its success stands, which leaves no trace on it, or is new where it cannot be
 * read: no merge time-out counted, and it lands once that is closed.
 */
function blockInLanding({ afterMs, isLost, isUnread }: Block): () => Promise<readonly string[]> {
  return async () => {
    let act: (() => Promise<void>) | null = null;
    const stage = await setStage({
      onEntry: (entry, { clock }) => {
        if (!isSuccess(entry) || act === null) return;
        clock.after(afterMs, act);
        act = null;
      },
    });
    const { forge } = stage;
    await givenProject(forge);
    const before = await forge.openPullRequest({ branch: 'first', files: { 'src/first.txt': 'x\n' } });
    const pr = await givenScheduled(forge, 'a');
    const others = await givenOthers(stage);
    act = () => (isUnread ? forge.addDependency(pr, before) : forge.reopen(before));
    if (!isUnread) {
      await forge.addDependency(pr, before);
      await forge.close(before);
    }
    forge.mergeBehaviour = (each) => (isLost && each === pr ? { kind: 'lost' } : { kind: 'now' });
    if (isUnread) forge.fault = ({ path }) => (path.endsWith('/dependencies') ? { status: 500 } : null);
    const begun = stage.clock.now();
    await stage.drain({ maxMs: 90 * MINUTE_MS });
    if (act !== null || forge.isMerged(pr)) return ['the scene did not come about'];
    // Asked is once a minute is over, and once more when its time is over.
    const waited = isLost || isUnread ? stage.clock.now() : begun;
    const problems = await judgeBlocked(stage, pr, others, waited);
    forge.fault = () => null;
    forge.mergeBehaviour = () => ({ kind: 'now' });
    await forge.close(before);
    await stage.drain({ maxMs: 30 * MINUTE_MS });
    if (!forge.isMerged(pr)) problems.push('it did not land once nothing blocked it');
    return problems;
  };
}

/** Blocked before anything is staged: no run is spent on it, and it lands when it may. */
async function blockBeforeAnything(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setProtection({ protectedFilePatterns: 'secrets/**' });
  const before = await forge.openPullRequest({ branch: 'first', files: { 'src/first.txt': 'x\n' } });
  const pr = await givenScheduled(forge, 'a');
  await forge.addDependency(pr, before);
  const other = await givenScheduled(forge, 'p', 'p\n', { path: 'secrets/p.txt' });
  await look(stage, 40);
  const problems: string[] = [];
  for (const blocked of [pr, other]) {
    if ((await stage.rows()).some(({ prs }) => prs.includes(blocked)))
      problems.push('a run was spent on what the forge would not merge');
    if ((await wordOn(stage, blocked)) !== 'error') problems.push('its author is not told what blocks it');
  }
  await forge.close(before);
  await forge.setProtection({ protectedFilePatterns: '' });
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  if (!forge.isMerged(pr) || !forge.isMerged(other)) problems.push('it did not land once nothing blocked it');
  return problems;
}

/** Git merges a changed mode with a changed content, the check of this forge does not, and our landings move the base. */
async function conflictForTheForge(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { modesClash: true } });
  const { forge } = stage;
  await givenProject(forge, { 'src/old.txt': LINES });
  const files = { 'src/old.txt': { content: LINES, mode: '100755' } };
  const pr = await forge.openPullRequest({ branch: 'mode', files });
  await forge.schedule(pr, 'squash');
  await forge.pushToBase({ 'src/old.txt': `first\n${LINES}` });
  const others: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    others.push(await givenScheduled(forge, `a${round}`));
    await stage.drain({ maxMs: 7 * MINUTE_MS });
  }
  const problems: string[] = [];
  const tornDown = (await stage.rows()).filter(
    ({ prs, terminalReason }) => prs.includes(pr) && terminalReason === 'merge_conflict',
  ).length;
  if (tornDown === 0) return ['the scene did not come about'];
  if (tornDown > 1) problems.push('a batch is torn down again for what the forge does not merge');
  if (!others.every((other) => forge.isMerged(other))) problems.push('the others did not land');
  if ((await wordOn(stage, pr)) !== 'error') problems.push('its author is not told of the conflict');
  forge.delaysChecks = true;
  await forge.pushToBase({ 'src/old.txt': LINES });
  await stage.drain({ maxMs: 20 * MINUTE_MS });
  if (!forge.isMerged(pr)) problems.push('it did not land once the forge would merge it');
  return problems;
}

/** The one conflict of the forge that nothing else tells of: no other is open, and none lands. */
async function conflictOfTheOnlyOne(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { modesClash: true } });
  const { forge } = stage;
  await givenProject(forge, { 'src/old.txt': LINES });
  const files = { 'src/old.txt': { content: LINES, mode: '100755' } };
  const pr = await forge.openPullRequest({ branch: 'mode', files });
  await forge.schedule(pr, 'squash');
  await forge.pushToBase({ 'src/old.txt': `first\n${LINES}` });
  await stage.drain({ maxMs: 90 * MINUTE_MS });
  return (await wordOn(stage, pr)) === 'error' ? [] : ['its author is not told of the conflict'];
}

/** The forge ends no check for the better part of an hour: what it says of each of them is no answer. */
async function checksStandStill(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  forge.checkDelayMs = 55 * MINUTE_MS;
  await forge.pushToBase({ 'z.txt': 'z\n' });
  await stage.drain({ maxMs: 45 * MINUTE_MS });
  const isAside = (await stage.rows()).some(({ terminalReason }) => terminalReason === 'merge_conflict');
  if (!isAside) return ['the scene did not come about'];
  const problems: string[] = [];
  for (const pr of prs)
    if ((await wordOn(stage, pr)) === 'error') problems.push('an author is blamed for a check that goes on');
  forge.checkDelayMs = 0;
  await stage.drain({ maxMs: 60 * MINUTE_MS });
  if (!prs.every((pr) => forge.isMerged(pr))) problems.push('they did not land once they were checked');
  return problems;
}

/** A pull request silences the gate: with room for more runs than one no other waits for it. */
async function silenceGate(): Promise<readonly string[]> {
  const stage = await setStage({ repo: { bisectFanout: 4 } });
  const { forge } = stage;
  await givenProject(forge);
  const silent = GATE_FILE.replace('push', 'workflow_dispatch');
  const pr = await forge.openPullRequest({ branch: 'gate', files: { [GATE_PATH]: silent } });
  await forge.schedule(pr, 'squash');
  const others = await givenOthers(stage);
  const begun = stage.clock.now();
  await stage.drain({ maxMs: 60 * MINUTE_MS });
  const landed = forge.merges().filter((merge) => others.includes(merge.pr));
  if (landed.length < others.length) return ['the others never landed'];
  if (landed.some(({ at }) => at - begun > 3 * MINUTE_MS))
    return ['the others waited for a gate that never speaks'];
  return (await wordOn(stage, pr)) === 'error' ? [] : ['its author is not told that no run began'];
}

/** The landing ahead makes a conflict of the next one, whose success is posted on a reading from before that landing. */
async function conflictSeenTooLate(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { modesClash: true } });
  const { forge } = stage;
  await givenProject(forge, { 'src/old.txt': LINES });
  const open = async (branch: string, content: string, mode: '100644' | '100755') => {
    const pr = await forge.openPullRequest({ branch, files: { 'src/old.txt': { content, mode } } });
    await forge.schedule(pr, 'merge');
    return pr;
  };
  const ahead = await open('mode', LINES, '100755');
  const pr = await open('content', `first\n${LINES}`, '100644');
  const others = await givenOthers(stage);
  forge.lags = { ...NO_LAGS, pull: 10_000 };
  await stage.drain({ maxMs: 120 * MINUTE_MS });
  const { headSha } = await forge.pull(pr);
  const opened = forge.journal().some((entry) => isSuccess(entry) && 'sha' in entry && entry.sha === headSha);
  const begun = forge.merges().find((merge) => merge.pr === ahead)?.at;
  if (begun === undefined || !opened) return ['the scene did not come about'];
  const problems = await judgeBlocked(stage, pr, others, begun);
  if ((await wordOn(stage, pr)) !== 'error') problems.push('its author is not told of the conflict');
  return problems;
}

/** Who scheduled loses the right to write amid the gate run: the forge merges nothing in their name, and says nothing. */
async function schedulerLeaves(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': '1\n' }, author: 'ann' });
  await forge.schedule(pr, 'squash');
  const others = await givenOthers(stage);
  for (const other of others) {
    await forge.cancelSchedule(other);
    await forge.scheduleAs('ann', other, 'squash');
  }
  await stage.drain({ until: async () => forge.runs().length > 0 });
  await forge.setAccess('dev', 'read');
  const begun = clock.now();
  await look(stage, 40);
  const problems = await judgeBlocked(stage, pr, others, begun);
  const told = (await stage.events()).some((each) => each.pr === pr && each.reason === 'scheduler_left');
  return told ? problems : [...problems, 'its author is not told that another account has to schedule it'];
}

/** Its branch goes and it is opened again without one: the forge never merges it by itself, so that no run is spent on it. */
async function reopenedWithoutBranch(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  const { headSha } = await forge.pull(pr);
  await forge.deleteBranch('a');
  await forge.reopen(pr);
  const others = await givenOthers(stage);
  const begun = clock.now();
  await stage.drain({ maxMs: 90 * MINUTE_MS });
  const problems = await judgeBlocked(stage, pr, others, begun);
  if (!(await stage.events()).some((each) => each.pr === pr && each.reason === 'branch_gone'))
    problems.push('its author is not told that its branch is gone');
  await forge.pushBranch('a', headSha);
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land once its branch was back'];
}

/** Only a team may merge: one outside it pushes more after the schedule of a member, and no member stands for that. */
async function pushFromOutsideTheTeam(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  await forge.lendByTeam({ name: 'leads', members: ['lead'], code: 'write' });
  await forge.setProtection({ mergeList: [], mergeTeams: ['leads'] });
  const pr = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': '1\n' } });
  await forge.scheduleAs('lead', pr, 'squash');
  await clock.advance(MINUTE_MS);
  await forge.pushToPullRequest(pr, { 'src/unseen.txt': '1\n' }, 'dev');
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(pr) ? ['what no account that may merge has asked for has landed'] : [];
}

/** Only a team may merge from now on, and who scheduled is not in it. */
async function outOfTheTeam(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  await forge.lendByTeam({ name: 'leads', members: ['lead'], code: 'write' });
  const pr = await givenScheduled(forge, 'a');
  const others = await givenOthers(stage);
  for (const other of others) {
    await forge.cancelSchedule(other);
    await forge.scheduleAs('lead', other, 'squash');
  }
  await stage.drain({ until: async () => forge.runs().length > 0 });
  await forge.setProtection({ mergeList: [], mergeTeams: ['leads'] });
  const begun = clock.now();
  await look(stage, 40);
  const problems = await judgeBlocked(stage, pr, others, begun);
  const told = (await stage.events()).some((each) => each.pr === pr && each.reason === 'merge_list');
  return told
    ? problems
    : [...problems, 'its author is not told that a member of the team has to schedule it'];
}

/** A busy forge takes more than a minute to check what is open after each landing: one gate run is all that a batch of good ones takes. */
async function checksTakeLong(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const prs: number[] = [];
  for (const name of ['a', 'b', 'c', 'd']) prs.push(await givenScheduled(forge, name));
  forge.checkDelayMs = 2 * MINUTE_MS;
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  if (!prs.every((pr) => forge.isMerged(pr))) return ['a good one did not land'];
  return forge.runs().length === 1 ? [] : ['a check that goes on took a batch apart'];
}

export const BLOCKED_SCENES = {
  'each check of the forge takes two minutes': checksTakeLong,
  'a merge is blocked before anything is staged': blockBeforeAnything,
  'a merge is blocked in a landing': blockInLanding({ afterMs: 0, isLost: false, isUnread: false }),
  'a merge is blocked late in a landing': blockInLanding({
    afterMs: 7 * 60_000,
    isLost: true,
    isUnread: false,
  }),
  'the block of a merge cannot be read': blockInLanding({ afterMs: 0, isLost: false, isUnread: true }),
  'the forge alone sees a conflict': conflictForTheForge,
  'the forge alone sees a conflict, of the only pull request': conflictOfTheOnlyOne,
  'the forge ends no check for conflicts': checksStandStill,
  'the forge sees a conflict after the success': conflictSeenTooLate,
  'a gate is silenced': silenceGate,
  'a pull request is opened again without its branch': reopenedWithoutBranch,
  'one outside the team that may merge pushes to what a member scheduled': pushFromOutsideTheTeam,
  'who scheduled is not in the team that may merge from now on': outOfTheTeam,
  'who scheduled loses the right to write': schedulerLeaves,
} satisfies Scenes;
