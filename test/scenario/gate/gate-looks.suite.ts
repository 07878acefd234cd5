import { HEARD_GATE_LOOK_MS } from '#core/domain/wakes/heard-events.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;
export const LONG_GATE_MS = 40 * MINUTE_MS;

/** How often gates are polled where no event comes; each gate run takes 40 minutes. */
export function defineGateLookTests(createWorld: (options: WorldOptions) => Promise<World>): void {
  describe('a forge whose events no longer arrive', () => {
    test('costs one rare poll, lands what has passed, and is polled often again', async () => {
      const world = await createWorld({ repo: { wakeupMode: 'webhook' } });
      await givenProject(world.forge);
      await world.store.noteHeard('repo-1', 'run', world.clock.now());
      const first = await landOne(world, 'a');
      expect(first.looks).toBeLessThanOrEqual(LONG_GATE_MS / HEARD_GATE_LOOK_MS + 12);
      expect(first.ms).toBeLessThanOrEqual(LONG_GATE_MS + HEARD_GATE_LOOK_MS + MINUTE_MS);
      expect((await world.record()).gateLooks?.missedAt?.run).toBeGreaterThan(0);
      const second = await landOne(world, 'b');
      expect(second.looks).toBeGreaterThan(2 * first.looks);
      expect(second.ms).toBeLessThanOrEqual(LONG_GATE_MS + MINUTE_MS);
    });

    test('is believed again once an event has arrived', async () => {
      const world = await createWorld({ repo: { wakeupMode: 'webhook' } });
      await givenProject(world.forge);
      await world.store.noteHeard('repo-1', 'run', world.clock.now());
      await landOne(world, 'a');
      await world.clock.advance(60 * MINUTE_MS);
      await world.store.noteHeard('repo-1', 'run', world.clock.now());
      const { looks } = await landOne(world, 'b');
      expect(looks).toBeLessThanOrEqual(LONG_GATE_MS / HEARD_GATE_LOOK_MS + 12);
    });
  });
}

/** One pull request from its schedule to its landing; `looks`: reconciles until then. */
async function landOne(world: World, name: string): Promise<{ looks: number; ms: number }> {
  const begunAt = world.clock.now();
  const pr = await givenScheduled(world.forge, name);
  let looks = 0;
  await world.drain({
    until: async () => {
      looks += 1;
      return (await endingOf(world, [pr])).landed.includes(pr);
    },
  });
  const ms = world.clock.now() - begunAt;
  await world.drain();
  await expectHonestEnd(world, [pr]);
  return { looks, ms };
}
