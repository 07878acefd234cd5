import { LEASE_TTL_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../../scenario/stories.ts';
import { look, type Scenes, type Stage, setStage, wordOn } from '../scene-stage.ts';

/** Scenes about heads that a lost record had in flight, or that a record which was put back does not know. */

interface Standing {
  readonly stage: Stage;
  readonly pr: number;
  readonly head: string;
  /** The record as it was before the `success`, or before the schedule. */
  readonly before: object;
  /** Whether the forge fails to tell the statuses of this head from now on. */
  hideStatuses(isHidden: boolean): void;
}

/** A scheduled pull request wears a `success`, the forge has lost its merge, and the lease of the dead engine is over. */
export async function givenStanding(
  options: {
    readonly mayBeOlder?: true;
    /** Open pull requests beside it. */
    readonly idle?: number;
    /** The queue has seen it before it was scheduled. */
    readonly isSeenIdle?: boolean;
  } = {},
): Promise<Standing> {
  const { idle = 0, isSeenIdle = false, ...world } = options;
  let blindTo: string | null = null;
  const stage = await setStage({
    ...world,
    wrapForge: (forge) => ({
      ...forge,
      readStatuses: async (sha) => {
        if (sha === blindTo) throw new ForgeError('unreachable', 'GET statuses', 500);
        return forge.readStatuses(sha);
      },
    }),
  });
  await givenProject(stage.forge);
  for (let index = 0; index < idle; index += 1)
    await stage.forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  stage.forge.mergeBehaviour = () => ({ kind: 'lost' });
  const pr = await stage.forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' } });
  const head = (await stage.forge.pull(pr)).headSha;
  const readRecord = async () => (await stage.store.loadQueueRecord('repo-1'))?.document ?? {};
  if (isSeenIdle) await look(stage, 3);
  let before: object = await readRecord();
  await stage.forge.schedule(pr, 'squash');
  await stage.drain({
    until: async () => {
      const isLanding = (await wordOn(stage, pr)) === 'success';
      if (!isLanding && !isSeenIdle) before = await readRecord();
      return isLanding;
    },
  });
  await stage.clock.advance(70_000);
  const hideStatuses = (isHidden: boolean): void => {
    blindTo = isHidden ? head : null;
  };
  return { stage, pr, head, before, hideStatuses };
}

/** Its head cannot be read when the record is new, and the next one would land and leave it to be merged on that. */
async function loseRecordOverUnreadable(): Promise<readonly string[]> {
  const { stage, hideStatuses } = await givenStanding();
  await stage.loseRecord();
  hideStatuses(true);
  stage.forge.judge = (files) => (files.has('src/a.txt') && files.has('src/b.txt') ? 'failure' : 'success');
  const b = await givenScheduled(stage.forge, 'b');
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 12);
  hideStatuses(false);
  await stage.drain({ until: async () => (await stage.forge.pull(b)).merged });
  return (await unprovenLandings(stage.forge)).map((pr) => `#${pr} landed on a state that no gate run saw`);
}

/** Its pull request is deleted meanwhile: the commit stays, and so do the statuses on it. */
async function loseRecordOfDeleted(): Promise<readonly string[]> {
  const { stage, pr, head } = await givenStanding();
  await stage.loseRecord();
  await stage.forge.deletePullRequest(pr);
  await look(stage, 3);
  const errorCode = (await stage.reconcile())?.errorCode;
  return [
    ...((await stage.forge.status(head, DEFAULT_SERVICE_NAME))?.state === 'success'
      ? ['a success is left behind']
      : []),
    ...(errorCode === null ? [] : [`each look fails: ${errorCode}`]),
  ];
}

/** An earlier record is back in the store, as if nothing had followed it. Beside so many others the patrol comes by seldom. */
async function putBack(seen: 'scheduled' | 'idle'): Promise<Standing> {
  const standing = await givenStanding({ mayBeOlder: true, idle: 25, isSeenIdle: seen === 'idle' });
  const { stage, pr, before } = standing;
  if (seen === 'idle') await stage.forge.cancelSchedule(pr);
  const { store, clock } = stage;
  const repo = await store.getRepo('repo-1');
  if (repo === null) throw new Error('the repository is gone');
  const lease = { leases: store, clock, ids: { uuid: () => 'put-back' } };
  await withLease(lease, repo.id, 'test', LEASE_TTL_MS, async (held) => {
    const expectedVersion = (await store.loadQueueRecord(repo.id))?.version ?? null;
    await store.saveQueue(held, repo, { document: before, expectedVersion, batches: [], events: [] });
  });
  return standing;
}

/** An earlier record is put back, and the base has moved since: the old success proves nothing. */
async function putRecordBack(): Promise<readonly string[]> {
  const { stage, pr, head } = await putBack('scheduled');
  await stage.forge.pushToBase({ 'pushed.txt': 'pushed' });
  stage.forge.judge = () => 'hold';
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 2);
  // Any word on that head makes the forge try the merge again.
  await stage.forge.postStatusAs('other-ci', head, 'other/ci', 'success');
  await look(stage, 2);
  return stage.forge.isMerged(pr) ? ['it merged while its gate run was out'] : [];
}

/** An earlier record from before the schedule is put back, and the schedule was cancelled since. */
async function putRecordBackUnscheduled(): Promise<readonly string[]> {
  const { stage, pr } = await putBack('idle');
  await look(stage, 2);
  return (await wordOn(stage, pr)) === 'success' ? ['a success stands on what is not in the queue'] : [];
}

/** Who switches the queue off is told of a success that cannot be read yet. */
async function stopOverUnreadable(): Promise<readonly string[]> {
  const { stage, pr, hideStatuses } = await givenStanding();
  hideStatuses(true);
  await stage.loseRecord();
  await stage.reconcile();
  const told = await stage.store.readObligations('repo-1');
  return told?.successStands === true && told.inFlight.includes(pr) ? [] : ['a success is told as gone'];
}

/** Its head cannot be read for long: the word that takes the success back is written all the same, and others go on. */
async function overwriteUnreadable(): Promise<readonly string[]> {
  const { stage, pr, hideStatuses } = await givenStanding();
  await stage.loseRecord();
  hideStatuses(true);
  const other = await givenScheduled(stage.forge, 'b');
  stage.forge.mergeBehaviour = (each) => ({ kind: each === pr ? 'lost' : 'now' });
  await look(stage, 16);
  return [
    ...((await wordOn(stage, pr)) === 'success' ? ['a success stands that could be written over'] : []),
    ...(stage.forge.isMerged(other) ? [] : ['a head that cannot be read holds up the others for ever']),
  ];
}

/** The lost record owed a word alone to a head that can be neither written nor read. */
async function loseRecordThatOwedWords(): Promise<readonly string[]> {
  const stage = await setStage();
  const { forge, clock } = stage;
  await givenProject(forge);
  await forge.setAccess('eve', 'read');
  const refused = await forge.openPullRequest({ branch: 'e', files: { 'e.txt': 'e' }, author: 'eve' });
  await forge.schedule(refused, 'squash');
  const { headSha } = await forge.pull(refused);
  let isBlind = false;
  forge.fault = ({ method, path }) =>
    path.includes(headSha) && path.includes('status') && (method === 'POST' || isBlind)
      ? { status: 500 }
      : null;
  await look(stage, 3);
  if ((await stage.record()).pendingStatuses.length === 0) return ['the scene did not come about'];
  isBlind = true;
  await stage.loseRecord();
  const other = await givenScheduled(forge, 'b');
  for (let minute = 0; minute < 10 && !forge.isMerged(other); minute += 1) {
    await look(stage, 1);
    await clock.advance(30_000);
  }
  return forge.isMerged(other) ? [] : ['words that are owed to one head hold up the others'];
}

/** An earlier record is back, and its first look has not the time to read each of the open heads. */
async function beginBeforeAllRead(): Promise<readonly string[]> {
  let readMs = 0;
  const stage = await setStage({
    mayBeOlder: true,
    lastingEngine: true,
    wrapForge: (forge) => ({
      ...forge,
      readStatuses: async (sha) => {
        await stage.clock.advance(readMs);
        return forge.readStatuses(sha);
      },
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  for (let index = 0; index < 120; index += 1)
    await forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  await look(stage, 3);
  const last = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' } });
  const { headSha } = await forge.pull(last);
  await look(stage, 2);
  // As a record that came later, and is gone, has left it there.
  await forge.postStatusAs('mq-bot', headSha, DEFAULT_SERVICE_NAME, 'success');
  const other = await givenScheduled(forge, 'b');
  stage.restartEngine();
  readMs = 500;
  for (let looks = 0; looks < 6 && forge.runs().length === 0; looks += 1) await look(stage, 1);
  if (forge.runs().length === 0) return [`#${other} is never gated`];
  return (await wordOn(stage, last)) === 'success' ? ['a gate run began before each open head was read'] : [];
}

/** An earlier record is back, and the head that wears a success cannot be read: nothing lands before it. */
async function landBesideUnreadable(): Promise<readonly string[]> {
  const { stage, pr, hideStatuses } = await putBack('idle');
  await stage.forge.schedule(pr, 'squash');
  hideStatuses(true);
  stage.forge.judge = (files) => (files.has('src/a.txt') && files.has('src/b.txt') ? 'failure' : 'success');
  const other = await givenScheduled(stage.forge, 'b');
  stage.forge.mergeBehaviour = (each) => ({ kind: each === pr ? 'lost' : 'now' });
  await look(stage, 14);
  const isMerged = stage.forge.isMerged(other);
  hideStatuses(false);
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  await stage.drain({ until: () => stage.forge.merges().length > 0 });
  return isMerged ? ['another one landed beside a head that nothing is known of'] : [];
}

/** An earlier record is back with a batch in its gate, and the forge does not tell who the bot is: a success cannot be judged. */
async function landWithoutBotLogin(): Promise<readonly string[]> {
  let isBlind = false;
  const stage = await setStage({
    mayBeOlder: true,
    lastingEngine: true,
    wrapForge: (forge) => ({
      ...forge,
      readBotLogin: async () => {
        if (isBlind) throw new ForgeError('unreachable', 'GET user', 500);
        return forge.readBotLogin();
      },
    }),
  });
  const { forge } = stage;
  await givenProject(forge);
  const worn = await forge.openPullRequest({ branch: 'a', files: { 'src/a.txt': 'a' } });
  const { headSha } = await forge.pull(worn);
  await look(stage, 3);
  const other = await givenScheduled(forge, 'b');
  forge.gateDurationMs = 60_000;
  await look(stage, 1);
  await forge.postStatusAs('mq-bot', headSha, DEFAULT_SERVICE_NAME, 'success');
  isBlind = true;
  stage.restartEngine();
  await look(stage, 8);
  if (forge.isMerged(other)) return ['another one landed while nothing can be said of a success'];
  isBlind = false;
  await stage.drain({ until: () => forge.isMerged(other) });
  return (await wordOn(stage, worn)) === 'success' ? ['a success stands on what is not in the queue'] : [];
}

/** A queue is switched off before the first look at a record that was put back. */
async function switchOffPutBack(): Promise<readonly string[]> {
  const { stage, pr } = await putBack('idle');
  await stage.settings({ queueEnabled: false });
  const told = await stage.store.readObligations('repo-1');
  await look(stage, 6);
  if (told === null) return ['the scene did not come about'];
  return (await wordOn(stage, pr)) === 'success' ? ['a success stands in a queue that is at rest'] : [];
}

export const RECALL_SCENES = {
  'the record is lost, and the head that wears a success cannot be read': loseRecordOverUnreadable,
  'the record is lost, and the pull request that wears a success is deleted': loseRecordOfDeleted,
  'an earlier record is put back under a success': putRecordBack,
  'an earlier record is put back under a success of what is not scheduled any more': putRecordBackUnscheduled,
  'a queue is to stop whose record was lost and whose success cannot be read': stopOverUnreadable,
  'the record is lost, and the head that wears a success cannot be read for long': overwriteUnreadable,
  'an earlier record is put back, and the forge does not tell who the bot is': landWithoutBotLogin,
  'an earlier record is put back, and the queue is switched off before its first look': switchOffPutBack,
  'the record is lost that owed words to a head that cannot be read': loseRecordThatOwedWords,
  'an earlier record is put back, and there is no time to read all heads at once': beginBeforeAllRead,
  'an earlier record is put back, and the head that wears a success cannot be read': landBesideUnreadable,
} satisfies Scenes;
