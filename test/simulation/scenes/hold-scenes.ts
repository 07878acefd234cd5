import { WIND_DOWN_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { ForgeError } from '#core/ports/forge.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { deleteRepo } from '#core/services/repos/delete-repo.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { stopQueue } from '#core/services/wind-down/stop-queue.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import {
  CONNECTION,
  givenPostedSuccess,
  leaveTenant,
  type QueueWorld,
  REPO,
  stopPaying,
  TICK_MS,
} from '../../scenario/queue-world.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { createWorldOn } from '../../scenario/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { type Scenes, setStage, wordOn } from '../scene-stage.ts';

/** After it a success without a merge is written once more. */
const UNHEARD_MS = 60_000;

/** The plan ends while a success stands: it is taken back before the repo is left alone (A24, A107). */
async function holdInLanding(): Promise<readonly string[]> {
  const { world, pr } = await givenPostedSuccess();
  await stopPaying(world);
  await world.pass(WIND_DOWN_MS);
  return (await world.stateOf(pr)) === 'success' ? ['a success stands on a head of a repo that is held'] : [];
}

/** The tenant leaves while a success stands: it is taken back before the rows go that would know of it (A24, A100). */
async function leaveInLanding(): Promise<readonly string[]> {
  const { world, pr } = await givenPostedSuccess();
  await leaveTenant(world);
  await world.pass(WIND_DOWN_MS);
  return (await world.stateOf(pr)) === 'success' ? ['a success stands on a head whose tenant is gone'] : [];
}

const SUCCESSOR = '44444444-4444-4444-8444-444444444444';

async function enrollAgain(world: QueueWorld): Promise<void> {
  const fresh = givenRepo({ id: SUCCESSOR, connectionId: CONNECTION, dueAt: world.clock.now() });
  await world.store.createRepo(fresh, 1);
  await wakeNow({ store: world.store, queue: world.queue, clock: world.clock }, SUCCESSOR);
}

/** Two records of one forge address: the new one begins nothing before the old one has taken back what stands. */
async function enrollInLanding(): Promise<readonly string[]> {
  const { world, pr } = await givenPostedSuccess();
  const head = (await world.forge.pull(pr)).headSha;
  // The old record cannot take anything back for a while.
  world.forge.fault = ({ method, path }) =>
    method === 'POST' && path.endsWith(`/statuses/${head}`) ? { status: 503 } : null;
  await deleteRepo(world.deletion, world.repo.tenantId, REPO);
  await enrollAgain(world);
  const problems = new Set<string>();
  const acquire = world.store.acquireLease.bind(world.store);
  world.store.acquireLease = async (id, ...rest) => {
    const stands = (await world.forge.status(head, DEFAULT_SERVICE_NAME))?.state === 'success';
    if (id === SUCCESSOR && stands && (await world.store.getRepo(REPO)) !== null)
      problems.add('two records of one address are at work at once');
    return acquire(id, ...rest);
  };
  await world.pass(60_000);
  return [...problems];
}

/** A success that the old record could never take back is taken back by the new record, although its head is not scheduled any more. */
async function enrollAfterBurial(): Promise<readonly string[]> {
  const { world, pr } = await givenPostedSuccess();
  const head = (await world.forge.pull(pr)).headSha;
  // With its connection the credential goes, and with that every chance of the old record.
  await deleteRepo(world.deletion, world.repo.tenantId, REPO);
  await world.store.markConnectionDeleting(world.repo.tenantId, CONNECTION);
  await world.store.deleteConnection(world.repo.tenantId, CONNECTION);
  await world.pass(2 * TICK_MS, { until: async () => (await world.store.getRepo(REPO)) === null });
  for (const each of [pr, pr + 1]) await world.forge.cancelSchedule(each);
  await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' });
  await world.store.createConnection(givenConnection({ id: CONNECTION }));
  await enrollAgain(world);
  await world.pass(TICK_MS);
  const stands = (await world.forge.status(head, DEFAULT_SERVICE_NAME))?.state === 'success';
  return stands ? ['a success outlives two records of its address'] : [];
}

/** The forge is away while the schedules are taken back: who switches off is told so, and the queue is on (D-24). */
async function switchOffUnconfirmed(): Promise<readonly string[]> {
  const { world } = await givenPostedSuccess();
  const repo = await world.store.getRepo(REPO);
  if (repo === null) return ['the scene did not come about'];
  const admin: Pick<ForgeAdmin, 'cancelAutoMerge'> = {
    cancelAutoMerge: () => Promise.reject(new ForgeError('unreachable', 'DELETE merge', 503)),
  };
  const clock = {
    now: () => world.clock.now(),
    monotonic: () => world.clock.monotonic(),
    sleep: (ms: number) => world.pass(Math.max(1_000, ms)),
  };
  const openForge = async () => ({ kind: 'open' as const, forge: admin as ForgeAdmin });
  const answer = await stopQueue(
    { ...world.deletion, store: world.store, leases: world.store, clock, openForge },
    repo,
    async () => {
      await world.switchOff();
      return repo;
    },
  ).catch(() => 'refused' as const);
  const isOn = (await world.store.getRepo(REPO))?.queueEnabled === true;
  return answer === 'refused' && isOn ? [] : ['a queue is off while its scheduled merges are live'];
}

/** A person switches the queue on again at once, while it still looks for what the other one let through. */
async function switchOnBesideAnother(): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  const one = await createWorldOn(clock, forge, forge.forge, {});
  const other = await createWorldOn(clock, forge, forge.forge, {});
  await givenProject(forge);
  await givenScheduled(forge, 'earlier');
  await other.drain();
  await givenScheduled(forge, 'a');
  await one.drain();
  let code: string | null = null;
  for (let count = 0; count < 20 && code !== 'another_queue'; count += 1) {
    await clock.advance(5_000);
    code = (await other.reconcile())?.errorCode ?? null;
  }
  if (code !== 'another_queue') return ['the scene did not come about'];
  await clock.advance(1_000);
  await other.settings({ enabledAt: clock.now() });
  await clock.advance(1_000);
  const codes = [await other.reconcile(), await other.reconcile()].map((report) => report?.errorCode);
  return codes.includes('another_queue')
    ? ['a queue stops again for a landing that a person answered for']
    : [];
}

/** Two deployments on one repository, their calls interleaved: one of them sees what the other lets through, and stops. */
async function workBesideAnother(): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  const both = [
    await createWorldOn(clock, forge, forge.forge, {}),
    await createWorldOn(clock, forge, forge.forge, {}),
  ];
  const look = () => Promise.all(both.map((each) => each.reconcile()));
  await givenProject(forge);
  for (const name of ['a', 'b', 'c', 'd']) {
    await givenScheduled(forge, name);
    for (let count = 0; count < 12; count += 1) {
      await look();
      await clock.advance(20_000);
    }
  }
  if (forge.merges().length === 0) return ['the scene did not come about'];
  const codes = (await look()).map((report) => report?.errorCode);
  return codes.includes('another_queue') ? [] : ['two deployments land on one branch, and neither notices'];
}

/** What another deployment let through is found in the very look that finds the pass of the next one, or its success unheard. */
function findAnotherAmidLanding(when: 'passed' | 'unheard'): () => Promise<readonly string[]> {
  return async () => {
    let isHidden = true;
    const stage = await setStage({
      wrapForge: wrapForge(async (name, _args, answer) => {
        if (name === 'listMergedPullRequests' && isHidden) throw new ForgeError('unreachable', name, 502);
        return answer();
      }),
    });
    const { forge, clock } = stage;
    await givenProject(forge);
    forge.judge = () => 'hold';
    forge.mergeBehaviour = () => ({ kind: 'lost' });
    const files = { 'src/theirs.txt': 'theirs\n' };
    const theirs = await forge.openPullRequest({ branch: 'theirs', files });
    const pr = await givenScheduled(forge, 'a');
    await stage.drain({ until: () => forge.runs().length > 0 });
    const { headSha } = await forge.pull(theirs);
    await forge.postStatusAs('mq-bot', headSha, DEFAULT_SERVICE_NAME, 'success', 'proven: by another queue');
    await forge.mergeByHand(theirs);
    await stage.drain({ until: () => forge.runs().length > 1 });
    const run = forge.runs().at(-1);
    if (run?.state !== 'running') return ['the scene did not come about'];
    await forge.finishRun(run.id, 'success');
    if (when === 'unheard') {
      await stage.drain({ until: async () => (await wordOn(stage, pr)) === 'success' });
      await clock.advance(UNHEARD_MS);
    }
    isHidden = false;
    const before = forge.statusHistory((await forge.pull(pr)).headSha).length;
    await stage.reconcile();
    const said = forge.statusHistory((await forge.pull(pr)).headSha).slice(before);
    if ((await stage.record()).rival === undefined) return ['the scene did not come about'];
    return said.some(({ state }) => state === 'success')
      ? ['a success is written in the look that finds another queue']
      : [];
  };
}

export const HOLD_SCENES = {
  'another queue is found by the look that finds a pass': findAnotherAmidLanding('passed'),
  'another queue is found by the look that writes a success once more': findAnotherAmidLanding('unheard'),
  'a hold in a landing': holdInLanding,
  'a tenant leaves in a landing': leaveInLanding,
  'an address is enrolled again in a landing': enrollInLanding,
  'an address is enrolled again after a burial': enrollAfterBurial,
  'a queue is switched off while the forge is away': switchOffUnconfirmed,
  'two deployments on one repository': workBesideAnother,
  'a queue is switched on again beside another one': switchOnBesideAnother,
} satisfies Scenes;
