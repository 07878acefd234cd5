import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const MINUTE_MS = 60_000;

describe('gate runs that wait for a runner', () => {
  async function givenLine(world: World, name: string, count: number): Promise<readonly number[]> {
    const prs: number[] = [];
    for (let each = 0; each < count; each += 1)
      prs.push(await givenScheduled(world.forge, `${name}${each}`, each === 5 ? 'BAD\n' : undefined));
    return prs;
  }

  /** Gate runs that were out at the same time, at most. */
  async function mostOut(world: World, minutes: number): Promise<number> {
    let most = 0;
    for (const end = world.clock.now() + minutes * MINUTE_MS; world.clock.now() < end; ) {
      await world.reconcile();
      await world.clock.advance(30_000);
      const out = world.forge.runs().filter(({ state }) => state === 'running' || state === 'waiting');
      most = Math.max(most, out.length);
    }
    return most;
  }

  test('on three runners no more than four are out once one was seen to wait, and all come to their end', async () => {
    const world = await createWorld({ repo: { bisectFanout: 16 } });
    await givenProject(world.forge);
    Object.assign(world.forge, { runners: 3, gateDurationMs: 10 * MINUTE_MS });
    const first = await givenLine(world, 'a', 12);
    expect(await mostOut(world, 40)).toBeGreaterThan(4);
    const later = await givenLine(world, 'b', 40);
    expect(await mostOut(world, 90)).toBeLessThanOrEqual(4);
    await world.drain();
    const prs = [...first, ...later];
    const isBad = (pr: number): boolean => pr === first[5] || pr === later[5];
    const { landed, bounced } = await endingOf(world, prs);
    expect(bounced).toEqual(prs.filter(isBad));
    expect([...landed].sort((a, b) => a - b)).toEqual(prs.filter((pr) => !isBad(pr)));
    await expectHonestEnd(world, prs);
  });

  test('another CI tells of no runner: as many are out as the owner allows', async () => {
    const world = await createWorld({ gate: 'statuses', repo: { bisectFanout: 16 } });
    await givenProject(world.forge);
    Object.assign(world.forge, { runners: 3, gateDurationMs: 10 * MINUTE_MS });
    const prs = await givenLine(world, 'a', 5);
    await mostOut(world, 5);
    expect((await world.record()).runnersSeen).toBeUndefined();
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
  });
});
