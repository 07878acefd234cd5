import { type EngineForge, ReadNotBegun } from '#core/ports/forge.ts';
import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { FORGE_WRITE_LABELS } from '../../support/machine.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { endingOf, givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn } from '../world.ts';

/** More than one reconcile takes here, and far less than all of them. */
const READS_MAX = 100;

/** A client that may read so often in its life, as the real one. */
function limited(forge: EngineForge): EngineForge {
  let reads = 0;
  return new Proxy(forge, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as (...values: unknown[]) => unknown;
      return (...values: unknown[]) => {
        if (!FORGE_WRITE_LABELS.includes(`forge ${String(name)}`)) reads += 1;
        if (reads > READS_MAX) throw new ReadNotBegun(String(name));
        return call.apply(target, values);
      };
    },
  });
}

async function landEight(kind: 'a client for each reconcile' | 'one client for all') {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock });
  const one = limited(forge.forge);
  const client = kind === 'one client for all' ? one : () => limited(forge.forge);
  const world = await createWorldOn(clock, forge, client, {});
  await givenProject(forge);
  const prs: number[] = [];
  for (let nth = 0; nth < 8; nth += 1) {
    prs.push(await givenScheduled(forge, `p${nth}`));
    await world.drain({ maxMs: 10 * 60_000 });
  }
  return (await endingOf(world, prs)).landed.length;
}

test('with a client for each reconcile a queue lands for as long as it lives', async () => {
  expect(await landEight('a client for each reconcile')).toBe(8);
});

test('one client for all reconciles reads nothing more in the middle of a long life', async () => {
  expect(await landEight('one client for all')).toBeLessThan(8);
});
