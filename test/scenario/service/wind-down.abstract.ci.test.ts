import { BURIED_WIND_DOWN_MS, WIND_DOWN_MS } from '#core/domain/limits.ts';
import type { ForgeAdmin } from '#core/ports/forge-admin.ts';
import { deleteConnection } from '#core/services/connections/delete-connection.ts';
import { deleteRepo } from '#core/services/repos/delete-repo.ts';
import { saveRepo } from '#core/services/repos/save-repo.ts';
import { updateRepo } from '#core/services/repos/update-repo.ts';
import { dispatchReconcile } from '#core/services/wakes/dispatch-reconcile.ts';
import { wakeNow } from '#core/services/wakes/send-wakes.ts';
import { givenConnection, givenRepo } from '../../builders/managed-repo.ts';
import { FakeSecretBox } from '../../fakes/secret-box.ts';
import {
  CONNECTION,
  expectNothingLeft,
  givenPostedSuccess,
  QueueWorld,
  REPO,
  stopPaying,
  TICK_MS,
} from '../queue-world.ts';
import { givenScheduled } from '../stories.ts';

describe('a queue that goes off with a success posted (D-24, A24)', () => {
  test('takes it back, deletes its staging branches, resolves its batch, and is then left alone', async () => {
    const { world, pr } = await givenPostedSuccess();
    await world.switchOff();
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect((await world.rows()).filter((row) => row.outcome === 'running')).toEqual([]);
    expect((await world.store.getRepo(REPO))?.dueAt).toBeNull();
    const { engineRuns } = world;
    await world.pass(30 * 60_000);
    expect(world.engineRuns).toBe(engineRuns);
  });

  test.each([500, 403])('is not kept from its end by words that a forge answers %d to', async (status) => {
    const world = new QueueWorld();
    world.stepMs = 5_000;
    await world.open();
    const { forge } = world;
    forge.gateDurationMs = 60 * 60_000;
    await givenScheduled(forge, 'a');
    const { headSha } = await forge.pull(await givenScheduled(forge, 'b'));
    await world.start();
    await world.pass(5 * 60_000);
    forge.fault = ({ method, path }) =>
      method === 'POST' && path.endsWith(`/statuses/${headSha}`) ? { status } : null;
    await world.switchOff();
    await world.pass(5 * 60_000);
    expect((await world.store.getRepo(REPO))?.dueAt).toBeNull();
    expect((await world.store.readObligations(REPO))?.open).toBe(false);
  });

  test('switching off is answered once the success is taken back, no schedule is live, and the switch is stored', async () => {
    const { world, pr } = await givenPostedSuccess();
    const told: string[] = [];
    const clock = {
      now: () => world.clock.now(),
      monotonic: () => world.clock.monotonic(),
      // While a request waits, the service goes on.
      sleep: (ms: number) => world.pass(Math.max(1_000, ms)),
    };
    const cancel = async (each: number) => {
      const isOn = (await world.store.getRepo(REPO))?.queueEnabled;
      told.push(`cancel #${each}: ${await world.stateOf(pr)}, on ${isOn}`);
      await world.forge.cancelSchedule(each);
      return 'cancelled' as const;
    };
    const openForge = async () => ({
      kind: 'open' as const,
      forge: { cancelAutoMerge: cancel } as ForgeAdmin,
    });
    const deps = {
      ...world.deletion,
      store: world.store,
      leases: world.store,
      clock,
      openForge,
      secrets: new FakeSecretBox(),
      webhookUrl: '',
      checkNoticeTarget: async () => 'allowed' as const,
      queueName: 'mq',
    };
    const changed = await updateRepo(deps, world.repo.tenantId, REPO, { queueEnabled: false });
    expect(changed.queueEnabled).toBe(false);
    expect(told).toEqual([`cancel #${pr}: pending, on true`, `cancel #${pr + 1}: pending, on true`]);
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
  });

  test('without any message: the tick alone brings the engine back', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.queue.wakes.splice(0);
    world.queue.delayed.splice(0);
    await world.switchOff();
    await world.pass(2 * TICK_MS + 60_000);
    await expectNothingLeft(world, pr);
  });

  test('while the forge is away it is tried until it answers', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await world.switchOff();
    await world.pass(TICK_MS);
    world.forge.fault = () => null;
    await world.pass(3 * TICK_MS);
    await expectNothingLeft(world, pr);
  });

  test('switched on again it goes on: what is proven lands', async () => {
    const { world, pr } = await givenPostedSuccess();
    await world.switchOff();
    const off = await world.store.getRepo(REPO);
    if (off === null) throw new Error('the repo is gone');
    await saveRepo(world.store, off, () => ({ queueEnabled: true, enabledAt: world.clock.now() }));
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.pass(30 * 60_000, { until: async () => (await world.forge.pull(pr)).merged });
  });
});

describe('a repo that is held for payment with a success posted (A24, A107)', () => {
  test('takes it back, deletes its staging branches, resolves its batch, and then costs nothing', async () => {
    const { world, pr } = await givenPostedSuccess();
    await stopPaying(world);
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect((await world.rows()).filter((row) => row.outcome === 'running')).toEqual([]);
    const { engineRuns } = world;
    await givenScheduled(world.forge, 'late');
    await world.start();
    await world.pass(30 * 60_000);
    expect(world.engineRuns).toBe(engineRuns);
    expect(await world.stagingBranches()).toEqual([]);
  });

  test('without any message: the tick alone brings the engine back', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.queue.wakes.splice(0);
    world.queue.delayed.splice(0);
    await stopPaying(world);
    await world.pass(2 * TICK_MS + 60_000);
    await expectNothingLeft(world, pr);
  });

  test('while the forge is away it is tried until it answers, but not for ever', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await stopPaying(world);
    await world.pass(TICK_MS);
    world.forge.fault = () => null;
    await world.pass(3 * TICK_MS);
    await expectNothingLeft(world, pr);
    const gone = await givenPostedSuccess();
    gone.world.forge.fault = () => ({ status: 503 });
    await stopPaying(gone.world);
    await gone.world.pass(WIND_DOWN_MS + 3 * TICK_MS);
    const { engineRuns } = gone.world;
    await gone.world.pass(WIND_DOWN_MS);
    expect(gone.world.engineRuns).toBe(engineRuns);
  });

  test('paid again it goes on: both land', async () => {
    const { world, pr } = await givenPostedSuccess();
    await stopPaying(world);
    await world.pass(10 * 60_000);
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.store.savePlan(world.repo.tenantId, { tier: 'pro', status: 'active' });
    await world.pass(30 * 60_000, { until: async () => world.forge.merges().length === 2 });
    expect((await world.forge.pull(pr)).merged).toBe(true);
  });
});

describe('a repo that is deleted with a success posted (D-24)', () => {
  test('is gone for every caller at once, and its rows go when nothing of ours is left on the forge', async () => {
    const { world, pr } = await givenPostedSuccess();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    await expect(deleteRepo(world.deletion, world.repo.tenantId, REPO)).rejects.toThrow('not_found');
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect(await world.store.getRepo(REPO)).toBeNull();
    expect(await world.store.listRepos(world.repo.tenantId)).toEqual([]);
  });

  test('with its connection: the credential lasts as long as it is needed, and no longer', async () => {
    const { world, pr } = await givenPostedSuccess();
    const { tenantId } = world.repo;
    await deleteConnection(world.deletion, tenantId, CONNECTION);
    expect((await world.store.listConnections(tenantId)).every((each) => each.deleting)).toBe(true);
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect(await world.store.listRepos(tenantId)).toEqual([]);
    expect(await world.store.listConnections(tenantId)).toEqual([]);
  });

  test('a connection that is deleted twice keeps its credential until nothing of ours is left', async () => {
    const { world, pr } = await givenPostedSuccess();
    const { tenantId } = world.repo;
    await deleteConnection(world.deletion, tenantId, CONNECTION);
    await expect(deleteConnection(world.deletion, tenantId, CONNECTION)).rejects.toThrow('not_found');
    await world.pass(10 * 60_000);
    await expectNothingLeft(world, pr);
    expect(await world.store.listRepos(tenantId)).toEqual([]);
    expect(await world.store.listConnections(tenantId)).toEqual([]);
  });

  test('a forge that is away for hours is waited for, but not for ever', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    await world.pass(3 * WIND_DOWN_MS);
    world.forge.fault = () => null;
    await world.pass(2 * TICK_MS);
    await expectNothingLeft(world, pr);
    const gone = await givenPostedSuccess();
    gone.world.forge.fault = () => ({ status: 503 });
    await deleteRepo(gone.world.deletion, gone.world.repo.tenantId, REPO);
    await gone.world.pass(TICK_MS);
    const countDue = async () =>
      (await gone.world.store.listOverdueTenants(Number.POSITIVE_INFINITY, 1)).size;
    // A due repository keeps the engine up: for so long, and no longer.
    expect(await countDue()).toBe(1);
    await gone.world.clock.advance(BURIED_WIND_DOWN_MS);
    await gone.world.pass(3 * TICK_MS);
    expect(await gone.world.store.getRepo(REPO)).toBeNull();
    expect(await countDue()).toBe(0);
  });

  test('without its credential its batches are resolved when its rows go', async () => {
    const { world } = await givenPostedSuccess();
    expect(await world.store.listWaitingBatches(10)).not.toEqual([]);
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    await world.store.markConnectionDeleting(world.repo.tenantId, CONNECTION);
    await world.store.deleteConnection(world.repo.tenantId, CONNECTION);
    await world.pass(2 * TICK_MS);
    expect(await world.store.getRepo(REPO)).toBeNull();
    expect(await world.store.listWaitingBatches(10)).toEqual([]);
    for (const row of await world.rows()) {
      if (row.terminalReason !== 'repo_deleted') continue;
      expect(row).toMatchObject({
        outcome: 'operational_error',
        phase: null,
        resolvedAt: expect.any(Number),
      });
      expect(row.actions.map(({ pr }) => pr)).toEqual(row.prs);
    }
  });

  test('with only a last word to a head still to be written: it is written first (A24)', async () => {
    const world = new QueueWorld({ batchLingerSeconds: 3_600 });
    await world.open();
    const pr = await givenScheduled(world.forge, 'a');
    await world.start();
    await world.pass(60_000);
    world.forge.fault = ({ method, path }) =>
      method === 'POST' && path.includes('/statuses/') ? { status: 503 } : null;
    await world.forge.setAccess('stranger', 'read');
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'another\n' }, 'stranger');
    await world.start();
    await world.pass(30_000);
    expect(await world.stateOf(pr)).toBeUndefined();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    expect((await world.store.getRepo(REPO))?.tombstone).toBe(true);
    world.forge.fault = () => null;
    await world.pass(2 * TICK_MS);
    expect(await world.stateOf(pr)).toBe('pending');
    expect(await world.store.getRepo(REPO)).toBeNull();
  });

  test('with nothing in flight the rows go at once, without a look at the forge', async () => {
    const world = new QueueWorld();
    await world.open();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    expect(await world.store.getRepo(REPO)).toBeNull();
    expect(world.queue.wakes).toEqual([]);
  });
});

const SUCCESSOR = '44444444-4444-4444-8444-444444444444';

/** The same repository under another id, as an enrollment makes it. */
async function enrollAgain(world: QueueWorld): Promise<void> {
  const fresh = givenRepo({ id: SUCCESSOR, connectionId: CONNECTION, dueAt: world.clock.now() });
  expect(await world.store.createRepo(fresh, 1)).toBe('created');
  await wakeNow({ store: world.store, queue: world.queue, clock: world.clock }, SUCCESSOR);
}

describe('a repository that is enrolled again while its deleted record has a success posted', () => {
  test('the new record waits for the end of the old one, which takes back its success first', async () => {
    const { world, pr } = await givenPostedSuccess();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    const leased: string[] = [];
    const acquire = world.store.acquireLease.bind(world.store);
    world.store.acquireLease = async (id, ...rest) => {
      leased.push(id);
      return acquire(id, ...rest);
    };
    await enrollAgain(world);
    await world.pass(15_000);
    expect((await dispatchReconcile(world.dispatch, SUCCESSOR)).kind).toMatch(/^(waits_turn|not_due)$/);
    expect(await world.stateOf(pr)).not.toBe('success');
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.pass(30 * 60_000, { until: async () => world.forge.merges().length === 2 });
    expect(await world.store.getRepo(REPO)).toBeNull();
    expect(leased.lastIndexOf(REPO)).toBeLessThan(leased.indexOf(SUCCESSOR));
  });

  test('the new record does not wait for a credential that the forge refuses: it takes back what stands itself', async () => {
    const { world, pr } = await givenPostedSuccess();
    const head = (await world.forge.pull(pr)).headSha;
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    world.forge.fault = () => ({ status: 401 });
    await world.pass(20_000);
    expect((await world.store.getRepo(REPO))?.tombstone).toBe(true);
    await enrollAgain(world);
    await world.pass(2 * TICK_MS, { until: async () => (await world.store.getRepo(REPO)) === null });
    expect((await world.forge.status(head, 'mq'))?.state).toBe('success');
    world.forge.fault = () => null;
    // It is not scheduled any more: no other look would come to it.
    for (const each of [pr, pr + 1]) await world.forge.cancelSchedule(each);
    await world.pass(TICK_MS, {
      until: async () => (await world.forge.status(head, 'mq'))?.state === 'error',
    });
  });

  test('a success that a deleted record could never take back is taken back by a record that comes hours later, under its own bot', async () => {
    const { world, pr } = await givenPostedSuccess();
    const head = (await world.forge.pull(pr)).headSha;
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    await world.store.markConnectionDeleting(world.repo.tenantId, CONNECTION);
    await world.store.deleteConnection(world.repo.tenantId, CONNECTION);
    await world.pass(2 * TICK_MS, { until: async () => (await world.store.getRepo(REPO)) === null });
    for (const each of [pr, pr + 1]) await world.forge.cancelSchedule(each);
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' });
    await world.clock.advance(6 * 60 * 60_000);
    expect((await world.forge.status(head, 'mq'))?.state).toBe('success');
    await world.store.createConnection(givenConnection({ id: CONNECTION }));
    await enrollAgain(world);
    await world.pass(TICK_MS, {
      until: async () => (await world.forge.status(head, 'mq'))?.state === 'error',
    });
  });
});
