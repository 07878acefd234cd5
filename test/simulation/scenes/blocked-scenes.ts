import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../../scenario/stories.ts';
import { isSuccess, look, type Scenes, type Stage, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes in which one pull request cannot be merged or tested, and the others are not to wait for it. */

const MINUTE_MS = 60_000;
const OTHERS_WAIT_MS_MAX = 5 * MINUTE_MS;
const LINES = Array.from({ length: 12 }, (_, at) => `line ${at}\n`).join('');

async function givenOthers(stage: Stage): Promise<number[]> {
  const others: number[] = [];
  for (const name of ['b', 'c', 'd']) others.push(await givenScheduled(stage.forge, name));
  return others;
}

/** Whom the others waited for too long, and what was held against `pr` although something blocked it. */
async function judgeBlocked(
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
  for (let round = 0; round < 8; round += 1) {
    others.push(await givenScheduled(forge, `a${round}`));
    await stage.drain({ maxMs: 7 * MINUTE_MS });
  }
  const problems: string[] = [];
  const tornDown = (await stage.rows()).filter(
    ({ prs, terminalReason }) => prs.includes(pr) && terminalReason === 'merge_conflict',
  ).length;
  if (tornDown === 0) return ['the scene did not come about'];
  if (tornDown > 2) problems.push('batches are torn down again and again for what the forge does not merge');
  if (!others.every((other) => forge.isMerged(other))) problems.push('the others did not land');
  await stage.drain({ maxMs: 60 * MINUTE_MS });
  if ((await wordOn(stage, pr)) !== 'error') problems.push('its author is not told of the conflict');
  await forge.pushToBase({ 'src/old.txt': LINES });
  await stage.drain({ maxMs: 20 * MINUTE_MS });
  if (!forge.isMerged(pr)) problems.push('it did not land once the forge would merge it');
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

/** Several are scheduled in the style that is switched off: the first is waited for to the end, the others are not. */
async function styleOffForSeveral(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { rowDeletedBeforeMerge: false } });
  const { forge } = stage;
  await givenProject(forge);
  const all: number[] = [];
  for (const branch of ['a', 'b', 'c', 'd']) all.push(await givenScheduled(forge, branch));
  await stage.drain({ until: async () => forge.runs().length > 0 });
  forge.forbidStyle('squash');
  const words = async () => Promise.all(all.map((pr) => wordsOn(stage, pr)));
  const begun = stage.clock.now();
  const isTold = async () => (await words()).every((each) => each === PULL_CODES.style_off.says);
  await stage.drain({ maxMs: 60 * MINUTE_MS, until: isTold });
  if (!(await isTold())) return [`a style that is off: ${JSON.stringify(await words())}`];
  const minutes = (stage.clock.now() - begun) / MINUTE_MS;
  return minutes < 20
    ? []
    : [`four were told only after ${Math.round(minutes)} minutes that their style is off`];
}

/** The settings of the repository do not allow the style any more in which all are scheduled; in another one they land. */
async function styleOff(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { rowDeletedBeforeMerge: false } });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => forge.runs().length > 0 });
  forge.forbidStyle('squash');
  await look(stage, 50);
  const words = await wordsOn(stage, pr);
  if (words !== PULL_CODES.style_off.says) return [`a style that is off: "${words}"`];
  const runs = forge.runs().length;
  await look(stage, 50);
  const problems = forge.runs().length > runs ? ['it was tried again although the style is off'] : [];
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  await forge.schedule(pr, 'merge');
  await look(stage, 20);
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land in a style that is allowed'];
}

/**
 * The forge merges only what it signs from now on, and has no key: told at the second merge that does not come, and not bounced. Once
 * the rule is off, all land by themselves.
 */
async function signedFromNowOn(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
  await stage.drain({ until: async () => forge.runs().length > 0 });
  await forge.setProtection({ requiresSigned: true });
  await look(stage, 120);
  const problems: string[] = [];
  for (const pr of prs) {
    const words = await wordsOn(stage, pr);
    if (words !== PULL_CODES.merge_unsigned.says) problems.push(`a merge that is not signed: "${words}"`);
  }
  if ((await stage.events()).some(({ event }) => event === 'pr_bounced'))
    problems.push('one is bounced for a signature of the forge');
  const runs = forge.runs().length;
  await look(stage, 60);
  if (forge.runs().length > runs) problems.push('it was tried again although nothing has changed');
  await forge.setProtection({ requiresSigned: false });
  await stage.drain({ maxMs: 60 * MINUTE_MS });
  return prs.every((pr) => forge.isMerged(pr))
    ? problems
    : [...problems, 'they did not land without the rule'];
}

/** A forge with a key signs its merges: one that is lost is tried again under that rule as under any. */
async function lostUnderSignedRule(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => forge.runs().length > 0 });
  await forge.setProtection({ requiresSigned: true });
  await look(stage, 20);
  await forge.setProtection({ requiresSigned: false });
  await look(stage, 30);
  const told = (await stage.events()).some(({ reason }) => reason === 'merge_unsigned');
  const problems = told ? ['one lost merge was taken for one that is not signed'] : [];
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land at its second try'];
}

/**
 * Git takes no NUL in a message, and the forge keeps the message of a schedule: scheduled under such a title it costs no gate run, and
 * holds up none. With another title and another schedule it lands.
 */
async function unmergeableTitle(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await forge.openPullRequest({ branch: 'a', title: 'Say\0more', files: { 'src/a.txt': 'a\n' } });
  await forge.schedule(pr, 'squash');
  const others = await givenOthers(stage);
  const begun = stage.clock.now();
  await look(stage, 20);
  const problems = await judgeBlocked(stage, pr, others, begun);
  const words = await wordsOn(stage, pr);
  if (words !== PULL_CODES.title_not_mergeable.says) problems.push(`a title with NUL: "${words}"`);
  await forge.setTitle(pr, 'Say more');
  const runs = forge.runs().length;
  await look(stage, 20);
  if (forge.runs().length > runs) problems.push('a schedule of before was tried with the message of before');
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  await forge.schedule(pr, 'squash');
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land under another title'];
}

/** Scheduled under a title that can be merged, and changed while its merge is awaited: the forge merges with the message of before. */
async function titleChangedAmidLanding(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  forge.mergeBehaviour = () => ({ kind: 'slow', ms: 4 * MINUTE_MS });
  const pr = await givenScheduled(forge, 'a');
  await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
  await forge.setTitle(pr, 'Say\0more');
  await look(stage, 8);
  return forge.isMerged(pr) ? [] : ['a success was taken back for a title that the forge does not use'];
}

/** Who schedules may write by a team whose members the bot may not see, and its first merge is lost: that proves nothing against them. */
async function hiddenRight(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  await forge.setAccess('dev', 'read');
  await forge.lendByTeam({ name: 'devs', members: ['dev'], code: 'write', hidden: true });
  const pr = await givenScheduled(forge, 'a');
  forge.mergeBehaviour = () => ({ kind: 'lost' });
  await look(stage, 14);
  const problems: string[] = [];
  if (forge.runs().length === 0) problems.push('one whose right is hidden is taken for one from outside');
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 40);
  if (!forge.isMerged(pr)) problems.push('a right that the bot may not read was held against a schedule');
  return problems;
}

/** A bot that is no administrator reads the summary of the rule alone: something of the rest, or the loss of a right, keeps the forge from merging. */
export function hiddenRule(
  block: (stage: Stage, pr: number) => Promise<void>,
): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage({ switches: { botIsAdmin: false } });
    const { forge, clock } = stage;
    await givenProject(forge);
    const pr = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': '1\n' }, author: 'ann' });
    await forge.schedule(pr, 'squash');
    await block(stage, pr);
    await stage.drain({ maxMs: 60 * MINUTE_MS });
    const successes = forge.journal().filter(isSuccess).length;
    await look(stage, 10);
    if (forge.isMerged(pr)) return ['the scene did not come about'];
    const problems = await judgeBlocked(stage, pr, [], clock.now());
    const told = (await stage.events()).some((each) => each.pr === pr && each.reason === 'rule_hidden');
    if (!told) problems.push('its author is not told what may be why');
    if (forge.journal().filter(isSuccess).length > successes)
      problems.push('it was tried again although what may be why still holds');
    return problems;
  };
}

const hiddenRejection = hiddenRule(async ({ forge }, pr) => {
  await forge.setProtection({ blockOnRejectedReviews: true });
  await forge.review(pr, 'lead', 'reject');
});

const hiddenOutdated = hiddenRule(async ({ forge }) => {
  await forge.setProtection({ blockOnOutdatedBranch: true });
  await forge.pushToBase({ 'z.txt': 'z\n' });
});

const hiddenLeft = hiddenRule(async (stage) => {
  await stage.drain({ until: async () => stage.forge.runs().length > 0 });
  await stage.forge.setAccess('dev', 'read');
});

/** Such a rule may be why, but the forge is only slow: its merge comes after four minutes. */
async function slowUnderHiddenRule(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { botIsAdmin: false } });
  const { forge } = stage;
  await givenProject(forge);
  await givenScheduled(forge, 'a');
  await forge.pushToBase({ 'z.txt': 'z\n' });
  forge.mergeBehaviour = () => ({ kind: 'slow', ms: 4 * MINUTE_MS });
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  const refused = (await stage.events()).some(({ reason }) => reason === 'rule_hidden');
  return refused ? ['a merge that is only slow was taken for one that is blocked'] : [];
}

/** Such a rule may be why, but the forge has dropped the schedule before a merge that failed. */
async function droppedUnderHiddenRule(): Promise<readonly string[]> {
  const stage = await setStage({ switches: { botIsAdmin: false, rowDeletedBeforeMerge: true } });
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await forge.pushToBase({ 'z.txt': 'z\n' });
  forge.mergeFails = () => true;
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  const reasons = (await stage.events()).filter((each) => each.pr === pr).map(({ reason }) => reason);
  return reasons.includes('schedule_lost')
    ? []
    : ['its author is not told that the forge dropped the schedule'];
}

/**
 * It depends on something in a repository that the bot may not see, and that is open: told, not bounced, with one landing spent. It
 * lands at its next schedule once that is closed.
 */
async function hiddenDependency(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const pr = await givenScheduled(forge, 'a');
  await forge.setHiddenDependency(pr, 'open');
  const others = await givenOthers(stage);
  await look(stage, 60);
  const problems = await judgeBlocked(stage, pr, others, stage.clock.now());
  const words = await wordsOn(stage, pr);
  if (words !== PULL_CODES.dependency_hidden.says) problems.push(`a hidden dependency: "${words}"`);
  const rows = (await stage.rows()).length;
  await look(stage, 30);
  if ((await stage.rows()).length > rows) problems.push('it was tried again although nothing has changed');
  await forge.setHiddenDependency(pr, 'closed');
  await forge.cancelSchedule(pr);
  await look(stage, 2);
  await forge.schedule(pr, 'squash');
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land once what it depends on was closed'];
}

/** What it depends on is hidden and closed: nothing is against it, however slow the forge is, and after it was shown it lands by itself. */
async function hiddenClosedDependency(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const slow = await givenScheduled(forge, 'a');
  const lost = await givenScheduled(forge, 'b');
  for (const pr of [slow, lost]) await forge.setHiddenDependency(pr, 'closed');
  forge.mergeBehaviour = (pr) => (pr === lost ? { kind: 'lost' } : { kind: 'slow', ms: 4 * MINUTE_MS });
  await look(stage, 60);
  const problems = (await stage.events()).some(
    ({ pr, reason }) => pr === slow && reason === 'dependency_hidden',
  )
    ? ['a merge that is only slow was taken for one that is blocked']
    : [];
  if (!forge.isMerged(slow)) problems.push('what depends on something closed did not land');
  forge.mergeBehaviour = () => ({ kind: 'now' });
  await forge.setHiddenDependency(lost, null);
  await stage.drain({ maxMs: 30 * MINUTE_MS });
  return forge.isMerged(lost) ? problems : [...problems, 'it did not go on once nothing was hidden any more'];
}

export const BLOCKED_SCENES = {
  'a merge is blocked before anything is staged': blockBeforeAnything,
  'a merge is blocked in a landing': blockInLanding({ afterMs: 0, isLost: false, isUnread: false }),
  'a merge is blocked late in a landing': blockInLanding({
    afterMs: 7 * 60_000,
    isLost: true,
    isUnread: false,
  }),
  'the block of a merge cannot be read': blockInLanding({ afterMs: 0, isLost: false, isUnread: true }),
  'the forge alone sees a conflict': conflictForTheForge,
  'the forge sees a conflict after the success': conflictSeenTooLate,
  'a gate is silenced': silenceGate,
  'a rejection blocks by a rule that the bot may not read': hiddenRejection,
  'a rule that the bot may not read blocks an outdated head': hiddenOutdated,
  'who scheduled leaves where the bot is no administrator': hiddenLeft,
  'a schedule is dropped where the bot may not read the rule': droppedUnderHiddenRule,
  'a merge is slow where the bot may not read the rule': slowUnderHiddenRule,
  'a right to write is hidden in a team': hiddenRight,
  'a pull request is opened again without its branch': reopenedWithoutBranch,
  'one outside the team that may merge pushes to what a member scheduled': pushFromOutsideTheTeam,
  'who scheduled is not in the team that may merge from now on': outOfTheTeam,
  'who scheduled loses the right to write': schedulerLeaves,
  'the style of a queue is switched off amid a landing': styleOff,
  'the style of a queue is switched off before several land': styleOffForSeveral,
  'a dependency is open where the bot may not see it': hiddenDependency,
  'merges have to be signed from now on, and the forge has no key': signedFromNowOn,
  'a merge is lost where merges have to be signed': lostUnderSignedRule,
  'a title holds what git takes in no message': unmergeableTitle,
  'a title is changed amid a landing to one that git takes in no message': titleChangedAmidLanding,
  'a dependency is closed where the bot may not see it': hiddenClosedDependency,
} satisfies Scenes;
