import { DAY_MS } from '#core/domain/api-limits.ts';
import { REPAIR_EVERY_MS, REPAIRS_A_DAY_MAX } from '#core/domain/set-up/repair.ts';
import { repairSetup } from '#core/services/set-up/repair-setup.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { REPO, TICK_MS } from '../queue-world.ts';
import { givenRepairWorld, removeContext, requiresQueue, undoRepairs, WEBHOOK_URL } from '../repair-world.ts';
import { givenScheduled } from '../stories.ts';

/** What drifted from the set-up is put back where the owner allowed it, and handed over where that does not help (0189). */
const HOUR_MS = 60 * 60_000;

test('a required status that was taken out of the rule by hand is put back after the next look, and noted with no person', async () => {
  const world = await givenRepairWorld();
  await removeContext(world);
  await givenScheduled(world.forge, 'a');
  await world.pass(2 * TICK_MS, { until: () => requiresQueue(world) });
  const [repair] = (await world.told()).repairs;
  expect(repair).toMatchObject({ part: 'protection', result: 'done', by: 'unknown' });
  const notes = await world.store.listAudit(world.repo.tenantId, 10);
  expect(notes).toMatchObject([{ action: 'repo.repair_protection', actor: 'service', result: 'ok' }]);
  await world.pass(TICK_MS);
  expect((await world.told()).drifts).toEqual([]);
});

test('a rule that was deleted is made again', async () => {
  const world = await givenRepairWorld();
  await world.forge.removeProtection();
  await world.pass(HOUR_MS + 3 * TICK_MS, { until: () => requiresQueue(world) });
  expect(world.writes()).toEqual(['POST branch_protections']);
});

test('a hook that was deleted is registered again with a secret of its own', async () => {
  const world = await givenRepairWorld({ wakeupMode: 'webhook', hookId: 'abc' });
  await world.forge.setHooks([]);
  const isBack = async () => (await world.forge.forge.listOwnHooks())?.length === 1;
  await world.pass(HOUR_MS + 3 * TICK_MS, { until: isBack });
  const repo = await world.store.getRepo(REPO);
  expect(repo?.hookId).not.toBe('abc');
  expect((await world.forge.forge.listOwnHooks())?.[0]?.url).toBe(`${WEBHOOK_URL}?r=${repo?.hookId}`);
  await world.pass(HOUR_MS + 2 * TICK_MS);
  expect(await world.told()).toMatchObject({ drifts: [], repairs: [{ part: 'webhook', result: 'done' }] });
  expect(world.writes()).toEqual(['POST hooks']);
});

test('nothing is put back in another repository that has the name by then', async () => {
  const world = await givenRepairWorld();
  world.afterLook = async () => {};
  await removeContext(world);
  await givenScheduled(world.forge, 'a');
  await world.pass(2 * TICK_MS);
  const other = createAbstractForge({ clock: world.clock, repoId: 2 });
  await other.setProtection({ requiredContexts: ['lint'] });
  world.named = other;
  expect(await repairSetup(world.setUp, REPO)).toEqual(['protection']);
  expect((await other.forge.readProtection('main'))?.requiredContexts).toEqual(['lint']);
  expect((await world.told()).repairs).toMatchObject([{ part: 'protection', result: 'failed' }]);
});

test('without the owner’s leave nothing is written, and the owner is told what to do', async () => {
  const world = await givenRepairWorld({ repairSetup: false });
  await removeContext(world);
  await givenScheduled(world.forge, 'a');
  await world.pass(HOUR_MS);
  expect(world.writes()).toEqual([]);
  const { drifts, repairs } = await world.told();
  expect(repairs).toEqual([]);
  expect(drifts).toMatchObject([{ repair: 'off', next: expect.stringMatching(/^Press "Put it back now"/) }]);
});

test('direct pushes that a person allowed are left to people', async () => {
  const world = await givenRepairWorld();
  await world.forge.setProtection({ directPushAllowed: true });
  await givenScheduled(world.forge, 'a');
  await world.pass(2 * TICK_MS);
  expect((await world.told()).drifts).toMatchObject([{ kind: 'protection', repair: 'people' }]);
  expect(world.writes()).toEqual([]);
});

test('a part that is changed again each time is put back once an hour and three times a day, and then handed over', async () => {
  const world = await givenRepairWorld();
  await givenScheduled(world.forge, 'a');
  await undoRepairs(world, 6 * HOUR_MS);
  const repairs = (await world.store.getRepo(REPO))?.repairs ?? [];
  expect([repairs.length, world.writes().length]).toEqual([REPAIRS_A_DAY_MAX, REPAIRS_A_DAY_MAX]);
  const times = repairs.map(({ at }) => at);
  for (const [index, at] of times.slice(1).entries())
    expect(at - (times[index] ?? 0)).toBeGreaterThanOrEqual(REPAIR_EVERY_MS);
  const { drifts } = await world.told();
  expect(drifts).toMatchObject([
    { repair: 'given_up', next: expect.stringMatching(/does not try again now/) },
  ]);
  await world.clock.advance(DAY_MS);
  await world.pass(2 * TICK_MS);
  expect(world.writes()).toHaveLength(REPAIRS_A_DAY_MAX + 1);
});

test('a repair that the forge refuses is noted as failed, and the drift goes on being told', async () => {
  const world = await givenRepairWorld();
  await removeContext(world);
  await givenScheduled(world.forge, 'a');
  world.forge.fault = ({ method }) => (method === 'PATCH' ? { status: 403 } : null);
  await world.pass(2 * TICK_MS);
  expect(await world.told()).toMatchObject({
    drifts: [{ kind: 'required_context', repair: 'planned' }],
    repairs: [{ part: 'protection', result: 'failed' }],
  });
});

test('a repair that was asked for twice at once is made once', async () => {
  const world = await givenRepairWorld({ wakeupMode: 'webhook', hookId: 'abc' });
  await world.forge.setHooks([]);
  await world.clock.advance(HOUR_MS);
  await givenScheduled(world.forge, 'a');
  world.afterLook = async () => {};
  await world.pass(2 * TICK_MS);
  expect((await world.told()).drifts).toMatchObject([{ kind: 'webhook_missing', repair: 'planned' }]);
  await Promise.all([repairSetup(world.setUp, REPO), repairSetup(world.setUp, REPO)]);
  expect(world.writes()).toEqual(['POST hooks']);
});

test('at rest a drift is noticed within an hour and a tick, by looks of four calls at most, and the engine is asked once', async () => {
  const world = await givenRepairWorld({ wakeupMode: 'webhook', hookId: 'abc', repairSetup: false });
  await world.pass(2 * TICK_MS);
  await world.forge.setHooks([]);
  await removeContext(world);
  const [runs, from] = [world.engineRuns, world.looks.length];
  await world.pass(HOUR_MS + 3 * TICK_MS);
  expect((await world.told()).drifts.map(({ kind }) => kind)).toEqual([
    'required_context',
    'webhook_missing',
  ]);
  expect(world.engineRuns - runs).toBeLessThanOrEqual(2);
  await world.pass(3 * HOUR_MS);
  expect(world.engineRuns - runs).toBeLessThanOrEqual(2);
  expect(Math.max(...world.looks.slice(from))).toBeLessThanOrEqual(4);
});
