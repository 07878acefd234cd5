import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { type Hook, wrapForge } from '../../scenario/hooks.ts';
import { givenProject } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordsOn } from '../scene-stage.ts';

/** Scenes about who may schedule, and how much (decisions 0225, 0226). */

interface Asked {
  readonly author: string;
  readonly scheduler: string;
  readonly approvedBy?: string;
}

async function setUp(repo: Readonly<Record<string, unknown>>, fail?: Hook): Promise<Stage> {
  const stage = await setStage({ repo, ...(fail === undefined ? {} : { wrapForge: wrapForge(fail) }) });
  await givenProject(stage.forge);
  await stage.forge.setAccess('guest', 'read');
  await stage.forge.setTeam('release', ['lead']);
  await stage.forge.setTeam('docs', null);
  return stage;
}

async function ask(stage: Stage, { author, scheduler, approvedBy }: Asked, content = ''): Promise<number> {
  const branch = `b${stage.clock.now()}`;
  const pr = await stage.forge.openPullRequest({ branch, author, files: { [`src/${branch}.txt`]: content } });
  if (approvedBy !== undefined) await stage.forge.review(pr, approvedBy, 'approve');
  await stage.forge.scheduleAs(scheduler, pr);
  await stage.clock.advance(1_000);
  return pr;
}

/** One that the rules allow beside one that they refuse. */
function refuse(repo: Readonly<Record<string, unknown>>, allowed: Asked, refused: Asked) {
  return async (): Promise<readonly string[]> => {
    const stage = await setUp(repo);
    const [no, yes] = [await ask(stage, refused), await ask(stage, allowed)];
    await look(stage, 30);
    const problems = stage.forge.isMerged(yes) ? [] : ['what the rules allow did not land'];
    return stage.forge.isMerged(no) ? [...problems, 'what the rules refuse landed'] : problems;
  };
}

const BOTS = { bots: ['agent', 'checker'], botApproval: true } as const;

/** A workflow schedules with the token of its job: the forge takes that, and merges nothing. A person schedules it later. */
async function scheduleByJob(): Promise<readonly string[]> {
  const stage = await setUp({});
  const { forge } = stage;
  const pr = await ask(stage, { author: 'dev', scheduler: 'forgejo-actions' });
  await look(stage, 30);
  const problems = forge.runs().length > 0 ? ['a gate run is spent on what the forge never merges'] : [];
  if ((await wordsOn(stage, pr)) !== PULL_CODES.scheduled_by_job.says)
    problems.push('its author is not told that a person has to schedule it');
  await forge.cancelSchedule(pr);
  await stage.clock.advance(1_000);
  await forge.scheduleAs('lead', pr);
  await look(stage, 30);
  return forge.isMerged(pr) ? problems : [...problems, 'it did not land once a person had scheduled it'];
}

const scheduleUnnamed = refuse(
  { schedulePeople: ['lead'] },
  { author: 'dev', scheduler: 'lead' },
  { author: 'dev', scheduler: 'dev' },
);
const scheduleOutsideTeams = refuse(
  { scheduleTeams: ['Release', 'docs'] },
  { author: 'dev', scheduler: 'lead' },
  { author: 'dev', scheduler: 'dev' },
);
const scheduleOwn = refuse(
  { scheduleOwn: false },
  { author: 'dev', scheduler: 'lead' },
  { author: 'dev', scheduler: 'dev' },
);
const scheduleByBot = refuse(
  BOTS,
  { author: 'dev', scheduler: 'agent', approvedBy: 'reviewer' },
  { author: 'dev', scheduler: 'agent' },
);
const approveByBot = refuse(
  BOTS,
  { author: 'dev', scheduler: 'agent', approvedBy: 'reviewer' },
  { author: 'dev', scheduler: 'agent', approvedBy: 'checker' },
);

const approveWithoutSay = refuse(
  BOTS,
  { author: 'dev', scheduler: 'agent', approvedBy: 'reviewer' },
  { author: 'dev', scheduler: 'agent', approvedBy: 'guest' },
);

/** One that may schedule did so; then one that may not pushes over it, and another that may not approves the push. */
function pushOver(repo: Readonly<Record<string, unknown>>, by: string, approver: string) {
  return async (): Promise<readonly string[]> => {
    const stage = await setUp(repo);
    stage.forge.judge = () => 'hold';
    const asked = { author: 'dev', scheduler: 'lead' };
    const [pushed, other] = [await ask(stage, asked), await ask(stage, asked)];
    await look(stage, 2);
    await stage.clock.advance(60_000);
    await stage.forge.pushToPullRequest(pushed, { 'src/never-seen.txt': 'never seen\n' }, by);
    await stage.forge.review(pushed, approver, 'approve');
    for (const run of stage.forge.runs())
      if (run.state === 'running') await stage.forge.finishRun(run.id, 'success');
    stage.forge.judge = () => 'success';
    await look(stage, 40);
    const problems = stage.forge.isMerged(other) ? [] : ['what the rules allow did not land'];
    return stage.forge.isMerged(pushed)
      ? [...problems, 'what no account that may schedule asked for landed']
      : problems;
  };
}

/** An account that is not named pushes so soon after a schedule that the entry may tell of an earlier push. */
async function pushUnnamedSoon(): Promise<readonly string[]> {
  const stage = await setUp({ schedulePeople: ['lead', 'ann'] });
  const asked = { author: 'dev', scheduler: 'lead' };
  const pushed = await ask(stage, asked);
  await stage.forge.pushToPullRequest(pushed, { 'src/never-seen.txt': 'never seen\n' }, 'dev');
  const other = await ask(stage, asked);
  await stage.forge.pushToPullRequest(other, { 'src/of-ann.txt': 'of ann\n' }, 'Ann');
  await look(stage, 40);
  const problems = stage.forge.isMerged(other) ? [] : ['what the rules allow did not land'];
  return stage.forge.isMerged(pushed)
    ? [...problems, 'what no account that may schedule asked for landed']
    : problems;
}

const pushUnnamed = pushOver({ schedulePeople: ['lead'] }, 'dev', 'reviewer');
const pushOutsideTeams = pushOver({ scheduleTeams: ['Release'] }, 'dev', 'reviewer');
const pushByBot = pushOver(BOTS, 'agent', 'checker');
const pushWithoutSay = pushOver({ scheduleOwn: false }, 'dev', 'guest');

/** An author schedules more than the settings allow. */
async function scheduleTooMany(): Promise<readonly string[]> {
  const stage = await setUp({ authorQueuedMax: 1 });
  const asked = { author: 'dev', scheduler: 'dev' };
  const prs = [await ask(stage, asked), await ask(stage, asked), await ask(stage, asked)];
  let most = 0;
  for (let count = 0; count < 60; count += 1) {
    await look(stage, 1);
    const { batches } = await stage.record();
    most = Math.max(
      most,
      batches.reduce((sum, batch) => sum + batch.members.length, 0),
    );
  }
  const landed = prs.filter((pr) => stage.forge.isMerged(pr)).length;
  const problems = landed === prs.length ? [] : [`${landed} of ${prs.length} landed`];
  return most > 1 ? [...problems, `${most} of one author were staged at once`] : problems;
}

/** A head that fails is scheduled again and again. */
async function scheduleAgain(): Promise<readonly string[]> {
  const stage = await setUp({ headAttemptsMax: 1 });
  const pr = await ask(stage, { author: 'dev', scheduler: 'dev' }, 'BAD\n');
  await look(stage, 20);
  const runs = stage.forge.runs().length;
  for (let time = 0; time < 2; time += 1) {
    await stage.forge.cancelSchedule(pr);
    await stage.clock.advance(60_000);
    await stage.forge.scheduleAs('dev', pr);
    await look(stage, 20);
  }
  if (runs === 0) return ['it was never tried'];
  const spent = stage.forge.runs().length - runs;
  return spent === 0 ? [] : [`${spent} gate runs went to a head that did not change`];
}

/** The same while the statuses of its head cannot be read: the schedule before was admitted, this one was not. */
async function scheduleAgainUnread(): Promise<readonly string[]> {
  const stage = await setUp({ headAttemptsMax: 1 });
  const pr = await ask(stage, { author: 'dev', scheduler: 'dev' }, 'BAD\n');
  await look(stage, 20);
  const runs = stage.forge.runs().length;
  const head = (await stage.forge.pull(pr)).headSha;
  stage.forge.fault = ({ path }) => (path.includes(`${head}/status`) ? { status: 500 } : null);
  await stage.forge.cancelSchedule(pr);
  await stage.forge.scheduleAs('dev', pr);
  await look(stage, 20);
  stage.forge.fault = () => null;
  if (runs === 0) return ['it was never tried'];
  return stage.forge.runs().length === runs ? [] : ['a schedule that nothing admitted took a gate run'];
}

/** One that may schedule did so; while that is tested one that may not does, and from then on some of these calls fail. */
function replaceTested(
  repo: Readonly<Record<string, unknown>>,
  call: string,
  failsAt: (nth: number) => boolean,
) {
  return async (): Promise<readonly string[]> => {
    let times: number | null = null;
    const stage = await setUp(repo, async (name, _args, answer) => {
      if (name !== call || times === null) return answer();
      times += 1;
      if (failsAt(times)) throw new ForgeError('unreachable', name, 500);
      return answer();
    });
    stage.forge.judge = () => 'hold';
    const pr = await ask(stage, { author: 'dev', scheduler: 'lead' });
    await look(stage, 2);
    await stage.forge.scheduleAs('dev', pr);
    times = 0;
    for (const run of stage.forge.runs()) await stage.forge.finishRun(run.id, 'success');
    await look(stage, 20);
    if (times === 0) return ['the scene did not come about'];
    return stage.forge.isMerged(pr) ? ['a schedule that nothing admitted landed'] : [];
  };
}

/** The same once its success stands and its merge does not come, while the list cannot be read: the success is not posted again by it. */
async function replaceUnderSuccess(): Promise<readonly string[]> {
  let isListed = true;
  const stage = await setUp({ schedulePeople: ['lead'] }, async (name, _args, answer) => {
    if (name === 'listOpenPullRequests' && !isListed) throw new ForgeError('unreachable', name, 500);
    return answer();
  });
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await ask(stage, { author: 'dev', scheduler: 'lead' });
  const { headSha } = await stage.forge.pull(pr);
  const posts = (): number =>
    stage.forge.statusHistory(headSha).filter(({ state }) => state === 'success').length;
  for (let count = 0; count < 200 && posts() === 0; count += 1) {
    await stage.reconcile();
    await stage.clock.advance(2_000);
  }
  const before = posts();
  if (before === 0) return ['the scene did not come about'];
  await stage.forge.scheduleAs('dev', pr);
  isListed = false;
  await look(stage, 3);
  return posts() === before ? [] : ['a success was posted again for a schedule that the rules do not allow'];
}

const replaceUnread = replaceTested({ scheduleOwn: false }, 'readTimeline', (nth) => nth === 1);
const replaceUnknown = replaceTested({ scheduleTeams: ['release'] }, 'listTeamMembers', () => true);

/** Its approval is deleted while it is tested, which nothing on the pull request shows. */
function deleteApproval(repo: Readonly<Record<string, unknown>>, from: { readonly fork?: boolean }) {
  return async (): Promise<readonly string[]> => {
    const stage = await setUp(repo);
    stage.forge.judge = () => 'hold';
    const pr = await stage.forge.openPullRequest({
      branch: 'b',
      author: 'agent',
      files: { 'src/b.txt': 'b' },
      ...from,
    });
    await stage.forge.review(pr, 'reviewer', 'approve');
    await stage.forge.scheduleAs('agent', pr);
    await look(stage, 2);
    if (stage.forge.runs().length === 0) return ['the scene did not come about'];
    await stage.forge.deleteReviews(pr);
    for (const run of stage.forge.runs()) await stage.forge.finishRun(run.id, 'success');
    stage.forge.judge = () => 'success';
    await look(stage, 20);
    const posts = stage.forge
      .statusHistory((await stage.forge.pull(pr)).headSha)
      .filter(({ state }) => state === 'error').length;
    if (stage.forge.isMerged(pr)) return ['it landed by an approval that was deleted'];
    return posts === 1 ? [] : [`it was refused ${posts} times`];
  };
}

const deleteApprovalOfBot = deleteApproval(BOTS, {});
const deleteApprovalOfFork = deleteApproval({}, { fork: true });

/** A change that the base has already is set aside, and its author has one place. */
async function setAsideBeforeAnother(): Promise<readonly string[]> {
  const stage = await setUp({ authorQueuedMax: 1 });
  const open = async (branch: string, file: string): Promise<number> => {
    const pr = await stage.forge.openPullRequest({ branch, author: 'dev', files: { [`src/${file}`]: 'a' } });
    await stage.forge.scheduleAs('dev', pr);
    await look(stage, 30);
    return pr;
  };
  await open('first', 'a.txt');
  const same = await open('same', 'a.txt');
  const good = await open('good', 'c.txt');
  if (stage.forge.isMerged(same)) return ['what changes nothing landed'];
  return stage.forge.isMerged(good) ? [] : ['one that is set aside keeps another of its author waiting'];
}

/** The refusal of a schedule stood over the words that it changes nothing, and another one replaces that schedule. */
async function replaceRefusedAside(): Promise<readonly string[]> {
  const stage = await setUp({ scheduleOwn: false });
  const open = (branch: string) =>
    stage.forge.openPullRequest({ branch, author: 'dev', files: { 'src/a.txt': 'a' } });
  await stage.forge.scheduleAs('lead', await open('first'));
  await look(stage, 30);
  const same = await open('same');
  const told: string[] = [];
  for (const by of ['lead', 'dev', 'lead']) {
    await stage.forge.cancelSchedule(same);
    await stage.forge.scheduleAs(by, same);
    await look(stage, 30);
    told.push(await wordsOn(stage, same));
  }
  const [first, refused, last] = told;
  if (first !== PULL_CODES.no_changes.says || refused === first) return ['the scene did not come about'];
  return last === first ? [] : [`one that changes nothing is told "${last}"`];
}

export const WHO_MAY_SCENES = {
  'an account that is not named schedules': scheduleUnnamed,
  'a change that the base has is set aside before another of its author': setAsideBeforeAnother,
  'a refused schedule of a change that the base has is replaced': replaceRefusedAside,
  'an account that is in no team schedules': scheduleOutsideTeams,
  'an account that is in no team pushes under a schedule': pushOutsideTeams,
  'a workflow schedules with the token of its job': scheduleByJob,
  'an author schedules a pull request of their own': scheduleOwn,
  'an account that is not named pushes under a schedule': pushUnnamed,
  'an account that is not named pushes within seconds after a schedule': pushUnnamedSoon,
  'a bot pushes under the schedule of a person': pushByBot,
  'one without a say approves what a bot schedules': approveWithoutSay,
  'one without a say approves a push': pushWithoutSay,
  'a bot schedules without an approval': scheduleByBot,
  'a bot approves what a bot schedules': approveByBot,
  'an author schedules more than the settings allow': scheduleTooMany,
  'a head that fails is scheduled again and again': scheduleAgain,
  'a head that fails is scheduled again while its statuses cannot be read': scheduleAgainUnread,
  'an author schedules anew what is tested, and the forge does not tell at first': replaceUnread,
  'an account that is in no team schedules anew what is tested': replaceUnknown,
  'the approval of what a bot scheduled is deleted': deleteApprovalOfBot,
  'the approval of a fork is deleted': deleteApprovalOfFork,
  'a schedule is replaced by one that the rules do not allow while its success stands': replaceUnderSuccess,
} satisfies Scenes;
