import { WAKE_DELAY_MS_MAX } from '#core/domain/limits.ts';
import { grantHeldLease } from '#core/domain/wakes/lease.ts';
import { StoreError } from '#core/ports/store.ts';
import { givenRepo } from '../../builders/managed-repo.ts';
import { givenNodeRow } from '../../builders/store-rows.ts';
import { Crash, type Machine } from '../../support/machine.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const wordOn = async (world: World, pr: number): Promise<string> =>
  (await world.forge.status((await world.forge.pull(pr)).headSha, 'mq'))?.state ?? 'none';
const errorOf = async (world: World) => (await world.store.loadReport('repo-1'))?.errorCode ?? null;

/** Each is told of with one event as it enters the queue: more than two transactions hold, or more than one. */
const MANY = 200;
const FEWER = 110;
const SAVES_MAX = 12;

type Blow = 'crash before' | 'crash after' | 'error before' | 'error after';

/** Its saves are counted over all machines of a test, and one of them is struck. */
function strikeSave(counted: { saves: number }, at: number, blow: Blow): Machine {
  let isDead = false;
  const hit = (): Error => {
    if (blow.startsWith('error')) return new StoreError('unavailable', 'saveQueue');
    isDead = true;
    return new Crash();
  };
  return {
    async io(label, call) {
      if (isDead) throw new Crash();
      const isHit = label === 'store saveQueue' && counted.saves++ === at;
      if (isHit && blow.endsWith('before')) throw hit();
      const result = await call();
      if (isHit) throw hit();
      return result;
    },
  };
}

const countOf = (blow: Blow): number => (blow === 'crash before' ? MANY : FEWER);

async function givenMany(at: number, blow: Blow): Promise<{ world: World; counted: { saves: number } }> {
  const counted = { saves: 0 };
  const world = await createWorld({ newMachine: () => strikeSave(counted, at, blow) });
  await givenProject(world.forge);
  world.forge.judge = () => 'hold';
  for (let index = 0; index < countOf(blow); index += 1) await givenScheduled(world.forge, `p${index}`);
  await world.clock.advance(30_000);
  return { world, counted };
}

/** Every second save for the blow that loses most, every third for the others: one more takes a third of a second. */
const stepOf = (blow: Blow): number => (blow === 'crash before' ? 2 : 3);

describe('a save that takes several writes', () => {
  test.each<Blow>(['crash before', 'crash after', 'error before', 'error after'])(
    '%s any one of them: every event is stored, and none twice',
    async (blow) => {
      for (let at = 0; at < SAVES_MAX; at += stepOf(blow)) {
        const { world, counted } = await givenMany(at, blow);
        for (let looks = 0; looks < 3; looks += 1) {
          await world.reconcile();
          await world.clock.advance(90_000);
        }
        const events = await world.store.listEvents('tenant-1', 10_000);
        const queued = events.filter((each) => each.event === 'pr_queued').map((each) => each.pr);
        expect({ at, queued: queued.length, different: new Set(queued).size }).toEqual({
          at,
          queued: countOf(blow),
          different: countOf(blow),
        });
        const rows = await world.rows();
        const staged = events.filter((each) => each.event === 'pr_staged').map((each) => each.pr);
        expect([...new Set(staged)].sort()).toEqual([...new Set(rows.flatMap((row) => row.prs))].sort());
        if (counted.saves <= at) return;
      }
    },
    120_000,
  );
});

describe('a record that outgrows its row', () => {
  test('facts that can be read again are left out, and everything lands all the same', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const idle = 120;
    for (let index = 0; index < idle; index += 1)
      await world.forge.openPullRequest({ branch: `idle-${index}`, title: `Idle ${index}`, files: {} });
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.clock.advance(30_000);
    await world.reconcile();
    expect((await world.record()).readings).toHaveLength(idle + prs.length);
    world.store.documentBytesMax = 12_000;
    await world.drain({ until: () => world.forge.merges().length === prs.length });
    const { readings } = await world.record();
    expect(readings.length).toBeLessThan(idle);
    expect(await errorOf(world)).toBeNull();
    expect(world.log.some(({ message }) => message === 'queue record shortened')).toBe(true);
  });

  test('a record that stays too large: a standing success is taken back first, then the alarm is raised', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain({ until: async () => (await wordOn(world, pr)) === 'success' });
    world.store.documentBytesMax = 10;
    await world.clock.advance(20_000);
    await world.reconcile();
    expect(await wordOn(world, pr)).toBe('pending');
    expect(await errorOf(world)).toBe('record_too_large');
    expect(world.log.filter(({ fields }) => fields.alarm === 'record_too_large')).toHaveLength(1);
    // A push to the base now opens nothing.
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.forge.pushToBase({ 'pushed.txt': 'pushed\n' });
    for (let looks = 0; looks < 5; looks += 1) {
      await world.clock.advance(60_000);
      await world.reconcile();
    }
    expect(world.forge.merges()).toEqual([]);
    expect(await errorOf(world)).toBe('record_too_large');
    world.store.documentBytesMax = Number.POSITIVE_INFINITY;
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual([pr]);
    expect(await errorOf(world)).toBeNull();
  });

  test('what was written before the record stopped to fit is not written again at each look', async () => {
    const world = await createWorld({ repo: { schedulePeople: ['lead'] } });
    await givenProject(world.forge);
    const refused = await givenScheduled(world.forge, 'refused');
    for (let index = 0; index < 12; index += 1) {
      const files = { [`src/f${index}.txt`]: 'x' };
      await world.forge.scheduleAs('lead', await world.forge.openPullRequest({ branch: `b${index}`, files }));
    }
    await world.clock.advance(30_000);
    world.store.afterCall = async (label) => {
      if (label !== 'saveQueue' || world.store.documentBytesMax !== Number.POSITIVE_INFINITY) return;
      // What is decided first fits; what staging adds to it does not.
      world.store.documentBytesMax = JSON.stringify({ ...(await world.record()), readings: [] }).length;
    };
    for (let looks = 0; looks < 4; looks += 1) {
      await world.reconcile();
      expect(await errorOf(world)).toBe('record_too_large');
      const { wakeAt } = (await world.store.loadReport('repo-1')) ?? {};
      expect(wakeAt).toBe(world.clock.now() + WAKE_DELAY_MS_MAX);
      await world.clock.advance(WAKE_DELAY_MS_MAX);
    }
    const head = (await world.forge.pull(refused)).headSha;
    const words = world.forge
      .statusHistory(head)
      .filter(({ context, state }) => context === 'mq' && state === 'error');
    expect(words).toHaveLength(1);
    expect((await world.events()).filter(({ event }) => event === 'pr_refused')).toHaveLength(1);
    world.store.afterCall = null;
    world.store.documentBytesMax = Number.POSITIVE_INFINITY;
    await world.drain({ until: () => world.forge.merges().length === 12 });
    expect(world.forge.merges()).toHaveLength(12);
  });

  test('a success that was to be taken back when the record stopped to fit is taken back', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain({ until: async () => (await wordOn(world, pr)) === 'success' });
    const head = (await world.forge.pull(pr)).headSha;
    await world.forge.cancelSchedule(pr);
    world.store.documentBytesMax = 10;
    await world.clock.advance(20_000);
    await world.reconcile();
    expect((await world.forge.status(head, 'mq'))?.state).toBe('pending');
  });
});

describe('a record that was lost', () => {
  /** As the tenant's other repositories leave them behind meanwhile. */
  async function writeOtherRows(world: World, count: number): Promise<void> {
    const repo = givenRepo({ id: 'repo-2', slug: 'acme/busy' });
    await world.store.createRepo(repo, null);
    const grant = await world.store.acquireLease(repo.id, 'other', 'test', 60_000);
    if (grant === 'held') throw new Error('held');
    const held = grantHeldLease(repo.id, grant, () => 0, 1);
    let expectedVersion: number | null = null;
    for (let left = count; left > 0; left -= 50) {
      const batches = Array.from({ length: 50 }, (_, index) => {
        const ids = { id: `other-${left}-${index}`, tenantId: repo.tenantId, repoId: repo.id };
        return givenNodeRow({
          ...ids,
          createdAt: world.clock.now(),
          outcome: 'success',
          phase: null,
          resolvedAt: world.clock.now(),
        });
      });
      const write = { document: {}, expectedVersion, batches, events: [] };
      expectedVersion = await world.store.saveQueue(held, repo, write);
    }
  }

  test('finds its open rows again, however much other repositories of the tenant have written since', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'hold';
    await givenScheduled(world.forge, 'a');
    await world.clock.advance(30_000);
    await world.reconcile();
    const [running] = await world.rows();
    expect(running?.outcome).toBe('running');
    await world.clock.advance(60_000);
    await writeOtherRows(world, 400);
    await world.loseRecord();
    await world.reconcile();
    const own = await world.store.listOwnBatches({ id: 'repo-1', tenantId: 'tenant-1' }, 100);
    expect(own.find(({ id }) => id === running?.id)).toMatchObject({
      outcome: 'operational_error',
      terminalReason: 'record_lost',
    });
  });

  test('and lost again before its heads were looked at: the success on a head of then is taken back', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain({ until: async () => (await wordOn(world, pr)) === 'success' });
    const { headSha } = await world.forge.pull(pr);
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' });
    world.forge.fault = ({ method, path }) =>
      method === 'POST' && path.includes('/statuses/') ? { status: 503 } : null;
    await world.loseRecord();
    await world.reconcile();
    expect((await world.rows()).map(({ terminalReason }) => terminalReason)).toContain('record_lost');
    await world.loseRecord();
    world.forge.fault = () => null;
    await world.clock.advance(60_000);
    await world.drain();
    expect((await world.forge.status(headSha, 'mq'))?.state).toBe('error');
  });

  test('while a gate run that broke off waits for its next attempt: its row is open, and is closed as lost', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'cancelled';
    await givenScheduled(world.forge, 'a');
    const isOver = async () => (await world.rows()).some(({ outcome }) => outcome === 'error');
    await world.drain({ until: isOver });
    const { batches } = await world.record();
    expect(batches[0]?.nodes.at(-1)).toMatchObject({ state: 'wanted', retryAt: expect.any(Number) });
    const open = (await world.rows()).find(({ outcome }) => outcome === 'running');
    expect(open).toMatchObject({ attempt: 2, stagingSha: null });
    await world.loseRecord();
    await world.reconcile();
    expect((await world.rows()).find(({ id }) => id === open?.id)?.terminalReason).toBe('record_lost');
  });
});
