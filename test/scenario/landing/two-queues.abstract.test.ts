import { type AbstractForge, createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn, type World } from '../world.ts';

const MINUTE_MS = 60_000;

/** Two deployments, each with a store of its own, on one repository. */
async function createBoth(): Promise<{ readonly one: World<AbstractForge>; readonly other: World }> {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  return {
    one: await createWorldOn(clock, forge, forge.forge, {}),
    other: await createWorldOn(clock, forge, forge.forge, {}),
  };
}

async function reconcileBoth(one: World, other: World, times: number): Promise<void> {
  for (let count = 0; count < times; count += 1) {
    await Promise.all([one.reconcile(), other.reconcile()]);
    await one.clock.advance(20_000);
  }
}

const codeOf = async (world: World) => (await world.reconcile())?.errorCode;

describe('two deployments on one repository', () => {
  test('the one that sees what the other has let through stops in words, takes back what stands, and the other goes on', async () => {
    const { one, other } = await createBoth();
    const { forge } = one;
    await givenProject(forge);
    await givenScheduled(forge, 'earlier');
    await other.drain();
    const first = await givenScheduled(forge, 'a');
    await one.drain();
    expect(forge.isMerged(first)).toBe(true);
    await one.clock.advance(MINUTE_MS);
    await other.drain({ maxMs: 5 * MINUTE_MS });
    expect(await codeOf(other)).toBe('another_queue');
    const runs = forge.runs().length;
    const second = await givenScheduled(forge, 'b');
    await one.clock.advance(MINUTE_MS);
    await other.drain({ maxMs: 10 * MINUTE_MS });
    expect(forge.runs()).toHaveLength(runs);
    await one.drain();
    expect(forge.isMerged(second)).toBe(true);
    expect(await codeOf(one)).toBeNull();
  });

  test('with their calls interleaved nothing lands twice, one of them stops, and every landing is proven', async () => {
    const { one, other } = await createBoth();
    const { forge } = one;
    await givenProject(forge);
    await reconcileBoth(one, other, 1);
    for (const name of ['a', 'b', 'c', 'd']) {
      await givenScheduled(forge, name);
      await reconcileBoth(one, other, 12);
    }
    const codes = [await codeOf(one), await codeOf(other)];
    expect(codes.filter((code) => code === 'another_queue')).toHaveLength(1);
  });

  test('switched on again it goes on', async () => {
    const { one, other } = await createBoth();
    const { forge } = one;
    await givenProject(forge);
    await givenScheduled(forge, 'earlier');
    await other.drain();
    await givenScheduled(forge, 'a');
    await one.drain();
    await one.clock.advance(MINUTE_MS);
    await other.drain({ maxMs: 5 * MINUTE_MS });
    expect(await codeOf(other)).toBe('another_queue');
    await other.settings({ enabledAt: one.clock.now() });
    const second = await givenScheduled(forge, 'b');
    await other.drain({ maxMs: 10 * MINUTE_MS });
    expect(forge.isMerged(second)).toBe(true);
    expect(await codeOf(other)).toBeNull();
  });

  test('switched on again at once it goes on, also while what was merged past it is still looked for', async () => {
    const { one, other } = await createBoth();
    const { forge } = one;
    await givenProject(forge);
    await givenScheduled(forge, 'earlier');
    await other.drain();
    await givenScheduled(forge, 'a');
    await one.drain();
    let code: string | null | undefined = null;
    for (let count = 0; count < 20 && code !== 'another_queue'; count += 1) {
      await one.clock.advance(5_000);
      code = await codeOf(other);
    }
    expect(code).toBe('another_queue');
    await one.clock.advance(1_000);
    await other.settings({ enabledAt: one.clock.now() });
    await one.clock.advance(1_000);
    for (let count = 0; count < 3; count += 1) expect(await codeOf(other)).toBeNull();
    const second = await givenScheduled(forge, 'b');
    await other.drain({ maxMs: 10 * MINUTE_MS });
    expect(forge.isMerged(second)).toBe(true);
  });

  test('a queue’s own landing is not taken for another queue, also with a shared head', async () => {
    const { one } = await createBoth();
    const { forge } = one;
    await givenProject(forge);
    const first = await givenScheduled(forge, 'a');
    const { headSha } = await forge.pull(first);
    const twin = await forge.openPullRequest({ branch: 'twin', head: headSha });
    await forge.schedule(twin, 'squash');
    await one.drain();
    await one.clock.advance(10 * MINUTE_MS);
    await one.drain();
    expect([forge.isMerged(first), forge.isMerged(twin)]).toEqual([true, true]);
    expect(await codeOf(one)).not.toBe('another_queue');
  });
});
