import { LEASE_TTL_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import { withLease } from '#core/services/lease.ts';
import { giveUpFirst, postsSuccess } from '../scenario/late-call.ts';
import { givenProject, givenScheduled, unprovenLandings } from '../scenario/stories.ts';
import { look, type Stage, setStage, wordOn } from './scene-stage.ts';

/** Scenes of `scenes.ts` of the heads that a lost record had in flight. */

interface Standing {
  readonly stage: Stage;
  readonly pr: number;
  readonly head: string;
  /** The record as it was before the `success`, or before the schedule. */
  readonly before: object;
  /** From now on the forge fails to tell the statuses of this head, until it is called again. */
  turnBlind(isBlind: boolean): void;
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
  const turnBlind = (isBlind: boolean): void => {
    blindTo = isBlind ? head : null;
  };
  return { stage, pr, head, before, turnBlind };
}

/** Its head cannot be read when the record is new, and the next one would land and leave it to be merged on that. */
export async function loseRecordOverUnreadable(): Promise<readonly string[]> {
  const { stage, turnBlind } = await givenStanding();
  await stage.loseRecord();
  turnBlind(true);
  stage.forge.judge = (files) => (files.has('src/a.txt') && files.has('src/b.txt') ? 'failure' : 'success');
  const b = await givenScheduled(stage.forge, 'b');
  stage.forge.mergeBehaviour = () => ({ kind: 'now' });
  await look(stage, 6);
  turnBlind(false);
  await stage.drain({ until: async () => (await stage.forge.pull(b)).merged });
  return (await unprovenLandings(stage.forge)).map((pr) => `#${pr} landed on a state that no gate run saw`);
}

/** The success has no answer, the record is lost, and only then the forge carries it out. */
export async function loseRecordBeforeLateSuccess(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  // Beside so many the patrol comes by seldom.
  for (let index = 0; index < 25; index += 1)
    await stage.forge.openPullRequest({ branch: `idle${index}`, files: { [`idle${index}.txt`]: 'x' } });
  const pr = await givenScheduled(stage.forge, 'a');
  const head = (await stage.forge.pull(pr)).headSha;
  await stage.drain({ until: giveUpFirst(stage.forge, postsSuccess(head)) });
  await stage.loseRecord();
  await stage.forge.close(pr);
  await look(stage, 8);
  if (!stage.forge.statusHistory(head).some(({ state }) => state === 'success'))
    return ['the scene did not come about'];
  return (await wordOn(stage, pr)) === 'success' ? ['a success that came late stands for ever'] : [];
}

/** Its pull request is deleted meanwhile: the commit stays, and so do the statuses on it. */
export async function loseRecordOfDeleted(): Promise<readonly string[]> {
  const { stage, pr, head } = await givenStanding();
  await stage.loseRecord();
  await stage.forge.deletePullRequest(pr);
  await look(stage, 20);
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

/** … and the base has moved since, so that the success proves nothing. */
export async function putRecordBack(): Promise<readonly string[]> {
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

/** … of before it was scheduled, and its schedule was taken back since: the next one would open the merge at once. */
export async function putRecordBackUnscheduled(): Promise<readonly string[]> {
  const { stage, pr } = await putBack('idle');
  await look(stage, 2);
  return (await wordOn(stage, pr)) === 'success' ? ['a success stands on what is not in the queue'] : [];
}

/** Who switches the queue off is told of a success that cannot be read yet. */
export async function stopOverUnreadable(): Promise<readonly string[]> {
  const { stage, pr, turnBlind } = await givenStanding();
  turnBlind(true);
  await stage.loseRecord();
  await stage.reconcile();
  const told = await stage.store.readObligations('repo-1');
  return told?.successStands === true && told.inFlight.includes(pr) ? [] : ['a success is told as gone'];
}
