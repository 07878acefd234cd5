import { WIND_DOWN_MS } from '#core/domain/limits.ts';
import { StoreError } from '#core/ports/store.ts';
import { deleteRepo } from '#core/services/repos/delete-repo.ts';
import {
  expectNothingLeft,
  givenPostedSuccess,
  leaveTenant,
  QueueWorld,
  REPO,
  TICK_MS,
} from '../queue-world.ts';

/** The answer to a refused request: its code and its words. */
async function refusalOf(run: Promise<unknown>): Promise<string> {
  return run.then(
    () => 'answered',
    (error) => `${error.code}: ${error.extras.message}`,
  );
}

function expectNoRow(world: QueueWorld): void {
  expect(world.store.dump()).not.toContain(world.repo.tenantId);
}

describe('a tenant that leaves with a success posted (A24, A100)', () => {
  test('the success is taken back and the staging branches are deleted before any row of it goes', async () => {
    const { world, pr } = await givenPostedSuccess();
    const states: (string | undefined)[] = [];
    const drop = world.store.deleteRepo.bind(world.store);
    world.store.deleteRepo = async (...given) => {
      states.push(await world.stateOf(pr));
      return drop(...given);
    };
    const answer = await leaveTenant(world);
    expect(answer.deleted).toMatchObject({
      managed_repos: 1,
      forge_connections: 1,
      billing: 1,
      organization: 1,
    });
    expect(states).toEqual(['pending']);
    expectNoRow(world);
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.pass(30 * 60_000);
    await expectNothingLeft(world, pr);
    expectNoRow(world);
  });

  test('while the forge is away it is told so, and goes on by itself when the forge is back', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    expect(await refusalOf(leaveTenant(world))).toMatch(/^forge_unreachable: .*deleted/);
    expect(await world.stateOf(pr)).toBe('success');
    expect((await world.store.getRepo(REPO))?.tombstone).toBe(true);
    world.forge.fault = () => null;
    await world.pass(3 * TICK_MS);
    await expectNothingLeft(world, pr);
    expectNoRow(world);
  });

  test('asked again it goes on, and answers once nothing of ours is left', async () => {
    const { world, pr } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await refusalOf(leaveTenant(world));
    expect(await refusalOf(leaveTenant(world))).toMatch(/^forge_unreachable: /);
    world.forge.fault = () => null;
    await world.pass(2 * TICK_MS, { until: async () => (await world.store.getRepo(REPO)) === null });
    expect((await leaveTenant(world)).offboarded).toBe(true);
    await expectNothingLeft(world, pr);
    expectNoRow(world);
  });

  test('a forge that is away for an hour is waited for no longer: no row of the tenant is left, and the next record of the address knows the heads', async () => {
    const { world } = await givenPostedSuccess();
    world.forge.fault = () => ({ status: 503 });
    await refusalOf(leaveTenant(world));
    await world.pass(WIND_DOWN_MS + 3 * TICK_MS);
    expectNoRow(world);
    expect((await world.store.listLeftHeads(world.repo)).flatMap(({ heads }) => heads)).not.toEqual([]);
  });

  test('a repository that was deleted before, and is still being wound down, is waited for like the others', async () => {
    const { world, pr } = await givenPostedSuccess();
    await deleteRepo(world.deletion, world.repo.tenantId, REPO);
    await leaveTenant(world);
    await expectNothingLeft(world, pr);
    expectNoRow(world);
  });

  test.each(['deleteConnection', 'keepAudit', 'deletePlan', 'deleteTenant', 'deleteRepo'] as const)(
    'a worker that dies at %s is followed by another one, and no row of the tenant is left',
    async (step) => {
      const { world } = await givenPostedSuccess();
      world.forge.fault = () => ({ status: 503 });
      await refusalOf(leaveTenant(world));
      world.forge.fault = () => null;
      let died = 0;
      world.store.beforeCall = (label) => {
        if (label !== step || died > 0) return;
        died += 1;
        throw new StoreError('unavailable', label);
      };
      await expect(world.pass(6 * TICK_MS)).rejects.toThrow(step);
      await world.pass(6 * TICK_MS);
      expectNoRow(world);
    },
  );

  test('with nothing in flight it goes at once, without a look at the forge', async () => {
    const world = new QueueWorld();
    await world.open();
    await leaveTenant(world);
    expect(world.engineRuns).toBe(0);
    expectNoRow(world);
  });
});
