import { LEASE_SAFETY_MARGIN_MS, LEASE_TAKEOVER_GRACE_MS, LEASE_TTL_MS } from '#core/domain/limits.ts';
import { DEFAULT_SERVICE_NAME } from '#core/domain/queue/queue-names.ts';
import { Secret } from '#core/secret.ts';
import { withLease } from '#core/services/wakes/lease.ts';
import { createReconciler } from '../../../engine-container/src/reconcile/reconciler.ts';
import { NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { wrapForge } from '../../scenario/hooks.ts';
import { givenProject, givenScheduled } from '../../scenario/stories.ts';
import { CONNECTION, Fleet, TENANT } from '../fleet.ts';
import { NO_ODDS } from '../odds.ts';
import { type Scenes, type Stage, setStage } from '../scene-stage.ts';

/** Scenes in which machines, queues and the store of the whole service fail. */

const MINUTE_MS = 60_000;
/** All repositories are in the middle of their reconciles by then. */
const CALLS_UNTIL_DEATH = 6;
const LAG_MS = 15_000;

/** The worker that answers a wake dies with it: the wake is hidden for a while, and no other of its repo is answered before. */
async function workerDies(): Promise<readonly string[]> {
  const fleet = await Fleet.start(1);
  await fleet.pass(MINUTE_MS);
  for (const forge of fleet.forges) await givenScheduled(forge, 'a');
  fleet.onCall = (label) => {
    if (label === 'store acquireLease' && !fleet.seen.has('crash'))
      fleet.service.hosts.odds = { ...NO_ODDS, crash: 1 };
    else fleet.service.hosts.odds = { ...NO_ODDS };
  };
  await fleet.wakeAll();
  await fleet.pass(20 * MINUTE_MS);
  if (!fleet.seen.has('crash')) return ['the scene did not come about'];
  return fleet.landed === 1 ? fleet.problems : ['a repository waits for the wake of a worker that died'];
}

/** The engine dies again and again with the reconciles of all repositories of an owner. */
async function engineDiesWithAll(): Promise<readonly string[]> {
  const repos = 3;
  const fleet = await Fleet.start(repos, { slowCall: 1 });
  await fleet.pass(MINUTE_MS);
  for (const forge of fleet.forges) await givenScheduled(forge, 'a');
  // Nothing lands before the last death.
  for (const forge of fleet.forges) forge.gateDurationMs = 15 * MINUTE_MS;
  let deaths = 0;
  for (let round = 0; round < 4; round += 1) {
    await fleet.wakeAll();
    fleet.seen.delete('the engine dies with several reconciles');
    let calls = 0;
    fleet.onCall = (label) => {
      if (label.startsWith('forge ')) calls += 1;
    };
    for (let waited = 0; calls < CALLS_UNTIL_DEATH && waited < MINUTE_MS; waited += 100)
      await fleet.pass(100);
    fleet.service.engine.kill();
    if (fleet.seen.has('the engine dies with several reconciles')) deaths += 1;
    await fleet.pass(LEASE_TTL_MS + LEASE_TAKEOVER_GRACE_MS + MINUTE_MS);
  }
  await fleet.pass(40 * MINUTE_MS);
  if (deaths < 2) return ['the scene did not come about'];
  return fleet.landed === repos
    ? fleet.problems
    : ['a repository waits for reconciles that died with their engine'];
}

/** The store refuses most calls for minutes: what was asked meanwhile is done soon after. */
async function storeThrottles(): Promise<readonly string[]> {
  const fleet = await Fleet.start(1);
  await fleet.pass(MINUTE_MS);
  for (const forge of fleet.forges) await givenScheduled(forge, 'a');
  await fleet.wakeAll();
  fleet.service.throttleStore();
  await fleet.pass(20 * MINUTE_MS);
  if (!fleet.seen.has('fault')) return ['the scene did not come about'];
  return fleet.landed === 1 ? fleet.problems : ['a repository waits long after the store has come back'];
}

/** A request that its worker gave up minutes ago reaches the engine while the next one of that repository is at work. */
async function requestComesLate(): Promise<readonly string[]> {
  let stage: Stage | null = null;
  let lateCalls = -1;
  let firstFence = 0;
  const comeLate = async ({ store, clock, forge }: Stage): Promise<void> => {
    lateCalls = 0;
    const [repo] = await store.listRepos(TENANT);
    if (repo === undefined) return;
    const count = wrapForge((_name, _args, answer) => {
      lateCalls += 1;
      return answer();
    });
    const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const ids = { uuid: () => CONNECTION };
    const engine = createReconciler({ store, clock, ids, log, forgeFor: () => count(forge.forge) });
    const { tenantId, slug, baseBranch, instanceUrl } = repo;
    await engine(
      {
        tenantId,
        repoSlug: slug,
        baseBranch,
        instanceUrl,
        queueName: DEFAULT_SERVICE_NAME,
        token: new Secret('token'),
      },
      { fence: firstFence, command: 'reconcile' },
    );
  };
  stage = await setStage({
    wrapForge: wrapForge(async (name, _args, answer) => {
      if (name === 'readTimeline' && lateCalls < 0 && firstFence > 0 && stage !== null) await comeLate(stage);
      return answer();
    }),
  });
  await givenProject(stage.forge);
  const first = await stage.reconcile();
  firstFence = first?.fence ?? 0;
  await givenScheduled(stage.forge, 'a');
  await stage.drain();
  if (first === null || lateCalls < 0) return ['the scene did not come about'];
  return lateCalls === 0 ? [] : [`a late request made ${lateCalls} calls under the lease of another`];
}

/** A head is pushed over right before its run ends: list and timeline do not show it yet, the pull request does. */
async function listShowsOlderHead(): Promise<readonly string[]> {
  const stage = await setStage({ delays: { pushEntryMs: 8_000 } });
  await givenProject(stage.forge);
  stage.forge.gateDurationMs = MINUTE_MS;
  const pr = await givenScheduled(stage.forge, 'a');
  const { headSha } = await stage.forge.pull(pr);
  await stage.reconcile();
  await stage.clock.advance(MINUTE_MS - 1_000);
  stage.forge.lags = { ...NO_LAGS, list: LAG_MS, listRefs: LAG_MS };
  await stage.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' });
  for (let count = 0; count < 20; count += 1) {
    await stage.reconcile();
    await stage.clock.advance(1_000);
  }
  const isPosted = stage.forge
    .statusHistory(headSha)
    .some(({ state, context }) => state === 'success' && context === DEFAULT_SERVICE_NAME);
  return isPosted ? ['a success on a head that its pull request no longer has'] : [];
}

/** A call that a frozen holder sent right before its deadline arrives after its lease: the next lease may not be held by then (E7). */
async function takeOver(): Promise<readonly string[]> {
  const stage = await setStage();
  await givenProject(stage.forge);
  const pr = await givenScheduled(stage.forge, 'a');
  const { headSha } = await stage.forge.pull(pr);
  const leases = { leases: stage.store, clock: stage.clock, ids: { uuid: () => 'frozen' } };
  const [repo] = await stage.store.listRepos('tenant-1');
  if (repo === undefined) return ['the scene did not come about'];
  const sent = await withLease(
    leases,
    repo.id,
    'test',
    LEASE_TTL_MS,
    async (held) => {
      await stage.clock.advance(LEASE_TTL_MS - LEASE_SAFETY_MARGIN_MS - 1);
      if (held.isPastDeadline()) return null;
      stage.forge.isLate = () => true;
      await stage.forge.forge
        .postStatus(headSha, {
          state: 'pending',
          context: DEFAULT_SERVICE_NAME,
          description: 'late',
          targetUrl: null,
        })
        .catch(() => undefined);
      stage.forge.isLate = () => false;
      return 'sent';
    },
    { leaveRunning: () => true },
  );
  if (sent.kind === 'skipped' || sent.value === null) return ['the scene did not come about'];
  const arrived = (): boolean =>
    stage.forge.statusHistory(headSha).some(({ description }) => description === 'late');
  for (let waited = 0; waited < LEASE_TTL_MS; waited += 250) {
    const next = await withLease(leases, repo.id, 'test', LEASE_TTL_MS, async () => arrived());
    if (next.kind === 'performed')
      return next.value ? [] : ['a lease was taken over before the last call of its holder'];
    await stage.clock.advance(250);
  }
  return ['the lease was never free'];
}

export const MACHINE_SCENES = {
  'a lease is taken over': takeOver,
  'a request comes under the lease of another': requestComesLate,
  'a worker dies with its wake': workerDies,
  'an engine dies with all its reconciles': engineDiesWithAll,
  'the store throttles': storeThrottles,
  'a list shows an older head': listShowsOlderHead,
} satisfies Scenes;
