import { givenProject, givenScheduled, judgeByContent } from '../stories.ts';
import { CALL_BYTES, createWorld, type WorldOptions } from '../world.ts';

async function given(options: WorldOptions) {
  let calls = 0;
  const world = await createWorld({
    ...options,
    wrapForge: (forge) =>
      new Proxy(forge, {
        get(target, name) {
          const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
          return (...values: unknown[]) => {
            calls += 1;
            return call.apply(target, values);
          };
        },
      }),
  });
  await givenProject(world.forge);
  world.forge.judge = judgeByContent;
  const rootsOf = async () => (await world.rows()).filter((row) => row.nodeId === 'r');
  return { world, rootsOf, calls: () => calls };
}

describe('what a batch cost on the forge', () => {
  test('its root says the calls of all reconciles from its beginning to its end, polls included', async () => {
    const { world, rootsOf, calls } = await given({ lastingEngine: true });
    await givenScheduled(world.forge, 'a');
    await world.drain({ until: async () => (await rootsOf())[0]?.outcome === 'success' });
    const [root] = await rootsOf();
    expect(root?.forgeCalls).toBeGreaterThan(10);
    expect(root?.forgeCalls).toBeLessThanOrEqual(calls());
    expect(root?.forgeBytes).toBe((root?.forgeCalls ?? 0) * CALL_BYTES);
  });

  test('a batch that is searched says it in its root, once, and the batches together no more than was spent', async () => {
    const { world, rootsOf, calls } = await given({ lastingEngine: true });
    for (const name of ['a', 'b', 'c', 'd'])
      await givenScheduled(world.forge, name, name === 'b' ? 'BAD\n' : name);
    await world.drain();
    const rows = await world.rows();
    const told = rows.filter((row) => row.forgeCalls !== undefined);
    expect(told.map((row) => row.nodeId)).toEqual((await rootsOf()).map(() => 'r'));
    expect(told.reduce((sum, row) => sum + (row.forgeCalls ?? 0), 0)).toBeLessThanOrEqual(calls());
  });

  test('looks at a queue that is empty are for no batch', async () => {
    const { world, rootsOf } = await given({ lastingEngine: true });
    await givenScheduled(world.forge, 'a');
    await world.drain();
    const [first] = await rootsOf();
    for (let look = 0; look < 50; look += 1) {
      await world.reconcile();
      await world.clock.advance(60_000);
    }
    await givenScheduled(world.forge, 'b');
    await world.drain();
    const later = (await rootsOf()).find((row) => row.id !== first?.id);
    expect(later?.forgeCalls).toBeLessThan((first?.forgeCalls ?? 0) + 20);
  });

  test('of a batch that another engine began nothing is said', async () => {
    const { world, rootsOf } = await given({});
    await givenScheduled(world.forge, 'a');
    await world.drain();
    const [root] = await rootsOf();
    expect(root).toMatchObject({ outcome: 'success' });
    expect(root).not.toHaveProperty('forgeCalls');
  });
});
