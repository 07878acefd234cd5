import type { PullRequestNumber } from '#core/domain/ids.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { type EngineForge, ForgeError } from '#core/ports/forge.ts';
import type { Delays } from '../../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import type { WorldOptions } from '../../scenario/world.ts';
import { isSuccess, look, type Scenes, type Stage, setStage, wordOn, wordsOn } from '../scene-stage.ts';

/** Scenes in which the merge that a landing was taken for is that of another pull request with the same change. */

export const LANDED = /^landed: /;
/** How long a pull request may be called merged late. */
const LATE_MS = 60_000;

export interface Cast {
  readonly stage: Stage;
  readonly first: PullRequestNumber;
  /** Before the first in its batch; null: none is. */
  readonly before: PullRequestNumber | null;
  /** Behind the first, in its batch. */
  readonly behind: readonly PullRequestNumber[];
  readonly same: PullRequestNumber;
}

interface Plot {
  readonly delays?: Partial<Delays>;
  readonly before?: string;
  readonly behind?: readonly string[];
  readonly world?: WorldOptions;
  /** The merge of the first comes so late, after it was begun with its head. @default never */
  readonly lateMs?: number;
  /** At the time of the success of the first. */
  readonly onOpened?: (cast: Cast) => void;
}

/** The success of the first stands, its merge does not come, and a foreign account opens that of one with the same change. */
export async function openSame(plot: Plot = {}): Promise<Cast> {
  const { behind: names = ['b'], world = {}, delays = {}, lateMs, onOpened } = plot;
  let cast: Cast | null = null;
  let head: string | null = null;
  const stage = await setStage({
    ...world,
    delays,
    switches: { mergesHeadItBeganWith: true },
    onEntry: (entry) => {
      if (cast === null || !isSuccess(entry) || entry.kind !== 'status' || entry.sha !== head) return;
      head = null;
      const { forge, clock } = cast.stage;
      const sameHead = forge.headOf(cast.same);
      clock.after(10, () => forge.postStatusAs('mallory', sameHead, DEFAULT_SERVICE_NAME, 'success'));
      onOpened?.(cast);
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  const before = plot.before === undefined ? null : await givenScheduled(forge, plot.before);
  const first = await givenScheduled(forge, 'a');
  const behind: PullRequestNumber[] = [];
  for (const name of names) behind.push(await givenScheduled(forge, name));
  const same = await givenScheduled(forge, 'same', 'a\n', { path: 'src/a.txt' });
  forge.mergeBehaviour = (pr) => {
    if (pr !== first) return { kind: 'now' };
    return lateMs === undefined ? { kind: 'lost' } : { kind: 'slow', ms: lateMs };
  };
  head = forge.headOf(first);
  cast = { stage, before, first, behind, same };
  return cast;
}

async function steps({ stage }: Cast, count: number, ms: number): Promise<void> {
  for (let step = 0; step < count; step += 1) {
    await stage.reconcile();
    await stage.clock.advance(ms);
  }
}

export const endsOf = async (stage: Stage, pr: PullRequestNumber): Promise<readonly string[]> =>
  (await stage.events())
    .filter((each) => each.pr === pr && ['pr_landed', 'pr_skipped'].includes(each.event))
    .map(({ event, reason }) => `${event} ${reason}`);

/** One alarm and one event for the other one, and those behind have landed. */
export async function judgeOthers({ stage, behind, same }: Cast): Promise<string[]> {
  const problems: string[] = [];
  const alarms = stage.log.filter(
    ({ fields }) => fields.alarm === 'unverified_landing' && fields.pr === same,
  ).length;
  if (alarms !== 1) problems.push(`a merge past the queue is alarmed ${alarms} times`);
  const ends = await endsOf(stage, same);
  if (String(ends) !== 'pr_skipped merged_outside_the_queue') problems.push(`it is told as ${ends.join()}`);
  for (const pr of behind) {
    const told = String(await endsOf(stage, pr));
    if (told !== 'pr_landed null') problems.push(`#${pr} landed and is told as ${told}`);
  }
  return problems;
}

/** The same, and the first has not landed. */
async function judge(cast: Cast): Promise<readonly string[]> {
  const { stage, first } = cast;
  const problems = await judgeOthers(cast);
  if ((await endsOf(stage, first)).some((each) => each.startsWith('pr_landed')))
    problems.push('one that another was merged for is told as landed');
  const rows = (await stage.rows()).flatMap(({ actions }) => actions);
  if (rows.some(({ pr, action }) => pr === first && action === 'landed'))
    problems.push('a row says that one landed which another was merged for');
  return problems;
}

/** One behind it waits for its merge for minutes, so that the batch is stored meanwhile. */
async function oneBehindIsSlow(): Promise<readonly string[]> {
  const cast = await openSame({ behind: ['b', 'c'] });
  const { forge } = cast.stage;
  const last = cast.behind[1];
  let isSlow = true;
  const { mergeBehaviour } = forge;
  forge.mergeBehaviour = (pr) => (pr === last && isSlow ? { kind: 'lost' } : mergeBehaviour(pr));
  try {
    for (let step = 0; step < 12; step += 1) {
      await steps(cast, 1, 10_000);
      await cast.stage.record();
    }
  } catch (error) {
    return [`the record cannot be read: ${error instanceof Error ? error.message : ''}`];
  }
  isSlow = false;
  await look(cast.stage, 40);
  return judge(cast);
}

/** The forge merges the first, and the other one on top of it, before the queue looks. */
async function otherComesOnTop(): Promise<readonly string[]> {
  const cast = await openSame({ delays: { autoMergeMs: 420 } });
  const { stage, first, same, behind } = cast;
  stage.forge.mergeBehaviour = (pr) => (pr === same ? { kind: 'slow', ms: 20 } : { kind: 'now' });
  await look(stage, 40);
  const [own, other] = stage.forge.merges();
  if (own?.pr !== first || other?.pr !== same) return ['the scene did not come about'];
  const problems = await judgeOthers(cast);
  const told = String(await endsOf(stage, first));
  if (told !== 'pr_landed null') problems.push(`the first landed and is told as ${told}`);
  const actions = (await stage.rows()).flatMap((row) => row.actions);
  const receipts = [first, ...behind].map(
    (pr) => actions.find((each) => each.pr === pr)?.receipt?.mergeCommit,
  );
  const merges = [first, ...behind].map(
    (pr) => stage.forge.merges().find((each) => each.pr === pr)?.mergeCommit,
  );
  return String(receipts) === String(merges) ? problems : [...problems, 'a receipt names another merge'];
}

/** The forge merges the first all the same, on top. */
async function ownComesLater(): Promise<readonly string[]> {
  const cast = await openSame({ lateMs: 3_000 });
  await look(cast.stage, 40);
  if (!cast.stage.forge.isMerged(cast.first)) return ['the scene did not come about'];
  const told = String(await endsOf(cast.stage, cast.first));
  const problems = told === 'pr_skipped merged_outside_the_queue' ? [] : [`the first is told as ${told}`];
  return [...problems, ...(await judge(cast))];
}

interface Trouble {
  readonly isListFailing: () => boolean;
  readonly isListEmpty: () => boolean;
  readonly isFailing: (pr: PullRequestNumber) => boolean;
}

const fail = (call: string): never => {
  throw new ForgeError('unreachable', call, 500);
};

function troubled(forge: EngineForge, { isListFailing, isListEmpty, isFailing }: Trouble): EngineForge {
  return {
    ...forge,
    listMergedPullRequests: async () => {
      if (isListFailing()) fail('GET pulls');
      return isListEmpty() ? [] : forge.listMergedPullRequests();
    },
    readPullRequest: async (pr) => (isFailing(pr) ? fail('GET pulls/{n}') : forge.readPullRequest(pr)),
  };
}

/** The list of merged ones fails for some seconds after the merge. */
async function listFails(): Promise<readonly string[]> {
  let mergedAt: number | null = null;
  let failures = 0;
  let cast: Cast | null = null;
  const isListFailing = () => {
    if (cast?.stage.forge.isMerged(cast.same) !== true) return false;
    mergedAt ??= cast.stage.clock.now();
    const isNow = cast.stage.clock.now() - mergedAt < 10_000;
    if (isNow) failures += 1;
    return isNow;
  };
  const trouble = { isListFailing, isListEmpty: () => false, isFailing: () => false };
  cast = await openSame({ world: { wrapForge: (forge) => troubled(forge, trouble) } });
  await look(cast.stage, 40);
  return failures === 0 ? ['the scene did not come about'] : judge(cast);
}

/** The list is late, and the forge fails on the first for some seconds as the time of being late is over. */
async function readingFailsAtTheEnd(): Promise<readonly string[]> {
  let mergedAt: number | null = null;
  let failures = 0;
  let cast: Cast | null = null;
  const isListEmpty = () => {
    if (cast?.stage.forge.isMerged(cast.same) !== true) return false;
    mergedAt ??= cast.stage.clock.now();
    const ageMs = cast.stage.clock.now() - mergedAt;
    return ageMs > LATE_MS - 2_000 && ageMs < LATE_MS + 15_000;
  };
  const isFailing = (pr: PullRequestNumber) => {
    const isNow = pr === cast?.first && isListEmpty();
    if (isNow) failures += 1;
    return isNow;
  };
  const trouble = { isListFailing: () => false, isListEmpty, isFailing };
  cast = await openSame({ world: { wrapForge: (forge) => troubled(forge, trouble) } });
  await steps(cast, 60, 3_000);
  await look(cast.stage, 30);
  return failures === 0 ? ['the scene did not come about'] : judge(cast);
}

/** The list has none of the batch for minutes, and the forge fails as long on the one before it. */
async function anotherCannotBeRead(): Promise<readonly string[]> {
  let isTroubled = false;
  let before: PullRequestNumber | null = null;
  const trouble = {
    isListFailing: () => false,
    isListEmpty: () => isTroubled,
    isFailing: (pr: PullRequestNumber) => isTroubled && pr === before,
  };
  const cast = await openSame({
    before: 'z',
    world: { wrapForge: (forge) => troubled(forge, trouble) },
    onOpened: ({ before: of }) => {
      before = of;
      isTroubled = true;
    },
  });
  await steps(cast, 30, 5_000);
  const told = (await endsOf(cast.stage, cast.first)).filter((each) => each.startsWith('pr_landed'));
  return before === null ? ['the scene did not come about'] : told.map((each) => `it is told as ${each}`);
}

/** The queue is switched off, and on again, long after. */
async function switchedOff(): Promise<readonly string[]> {
  const cast = await openSame();
  const { stage, first, behind } = cast;
  await stage.drain({ until: async () => stage.forge.isMerged(behind[0] ?? 0) });
  await stage.settings({ queueEnabled: false });
  await steps(cast, 20, 10_000);
  const words = await wordsOn(stage, first);
  await look(stage, 20);
  await stage.settings({ queueEnabled: true, enabledAt: stage.clock.now() });
  await look(stage, 20);
  const problems = LANDED.test(words) ? [`an open one of a queue that is off is told "${words}"`] : [];
  return [...problems, ...(await judge(cast))];
}

/** Its schedule is cancelled before the queue knows. */
async function cancelledMeanwhile(): Promise<readonly string[]> {
  const cast = await openSame();
  const { stage, first, behind } = cast;
  await stage.drain({ until: async () => stage.forge.isMerged(behind[0] ?? 0) });
  await stage.forge.cancelSchedule(first);
  await look(stage, 20);
  const words = await wordsOn(stage, first);
  return LANDED.test(words) ? [`an open one that left the queue is told "${words}"`] : [];
}

/** A person merges one with the same change that no queue knows, and another one behind it. */
async function mergedByHandAndMore(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a');
  const second = await givenScheduled(forge, 'b');
  const same = await forge.openPullRequest({ branch: 'same', files: { 'src/a.txt': 'a\n' } });
  const more = await forge.openPullRequest({ branch: 'x', files: { 'src/x.txt': 'x\n' } });
  forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'lost' } : { kind: 'now' });
  await stage.drain({ until: async () => (await wordOn(stage, first)) === 'success' });
  // Not before the look at all that begins the next reconcile.
  stage.clock.after(5_000, async () => {
    await forge.mergeByHand(same);
  });
  const cast = { stage, before: null, first, behind: [second], same };
  await steps(cast, 1, 5_000);
  await forge.mergeByHand(more);
  await steps(cast, 20, 5_000);
  await look(stage, 20);
  const told = String(await endsOf(stage, more));
  const problems = told === 'pr_skipped merged_outside_the_queue' ? [] : [`one behind it is told as ${told}`];
  return [...problems, ...(await judge(cast))];
}

/** One is refused while its merge is under way, which comes onto another base. */
async function refusedAndUnproven(): Promise<readonly string[]> {
  let cast: { readonly stage: Stage; readonly first: PullRequestNumber } | null = null;
  let isOpened = false;
  const slowMs = 25_000;
  const stage = await setStage({
    switches: { mergesHeadItBeganWith: true },
    onEntry: (entry) => {
      if (isOpened || cast === null || !isSuccess(entry)) return;
      isOpened = true;
      const { forge, clock } = cast.stage;
      clock.after(1_000, () => forge.setProtection({ requiredApprovals: 1 }));
      clock.after(slowMs - 2_000, async () => {
        await forge.pushToBase({ 'src/other.txt': 'other\n' });
        await forge.setProtection({ requiredApprovals: 0 });
      });
    },
  });
  const { forge } = stage;
  await givenProject(forge);
  const first = await givenScheduled(forge, 'a');
  await givenScheduled(forge, 'b');
  forge.mergeBehaviour = () => ({ kind: 'slow', ms: slowMs });
  cast = { stage, first };
  for (let step = 0; step < 40; step += 1) {
    await stage.reconcile();
    await stage.clock.advance(5_000);
  }
  const isUnverified = String(await endsOf(stage, first)) === 'pr_landed unverified';
  if (!forge.isMerged(first) || !isUnverified) return ['the scene did not come about'];
  const actions = (await stage.rows()).flatMap((row) => row.actions).filter(({ pr }) => pr === first);
  return actions.every(({ action, reason }) => action === 'landed' && reason === 'unverified')
    ? []
    : [`a merge that was not proven stands in a row as ${actions.map(({ action }) => action).join()}`];
}

export const MERGED_INSTEAD_SCENES = {
  'another one is merged on top of the first before the queue looks': otherComesOnTop,
  'one behind another that was merged instead is slow': oneBehindIsSlow,
  'another one is merged instead, and the first on top': ownComesLater,
  'another one is merged instead as the list of merged ones fails': listFails,
  'another one is merged instead and the first cannot be read for a moment': readingFailsAtTheEnd,
  'another one is merged instead behind one that cannot be read': anotherCannotBeRead,
  'another one is merged instead and the queue is switched off': switchedOff,
  'another one is merged instead and the first is cancelled': cancelledMeanwhile,
  'another one is merged instead by hand, and more behind it': mergedByHandAndMore,
  'a merge comes unproven after its pull request was refused': refusedAndUnproven,
} satisfies Scenes;
