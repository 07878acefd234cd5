import { StoreError } from '#core/ports/store.ts';
import { Crash, type Machine } from '../support/machine.ts';
import { givenProject, givenScheduled } from './stories.ts';
import { createWorld, type World } from './world.ts';

/** More than one transaction holds: each is told of with one event as it enters the line. */
const MANY = 230;
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

async function givenMany(at: number, blow: Blow): Promise<{ world: World; counted: { saves: number } }> {
  const counted = { saves: 0 };
  const world = await createWorld({ newMachine: () => strikeSave(counted, at, blow) });
  await givenProject(world.forge);
  world.forge.judge = () => 'hold';
  for (let index = 0; index < MANY; index += 1) await givenScheduled(world.forge, `p${index}`);
  await world.clock.advance(30_000);
  return { world, counted };
}

describe('a save that takes several writes', () => {
  test.each<Blow>(['crash before', 'crash after', 'error before', 'error after'])(
    '%s any one of them: every event is stored, and none twice',
    async (blow) => {
      for (let at = 0; at < SAVES_MAX; at += 1) {
        const { world, counted } = await givenMany(at, blow);
        for (let looks = 0; looks < 3; looks += 1) {
          await world.reconcile();
          await world.clock.advance(90_000);
        }
        const events = await world.store.listEvents('tenant-1', 10_000);
        const queued = events.filter((each) => each.event === 'pr_queued').map((each) => each.pr);
        expect({ at, queued: queued.length, different: new Set(queued).size }).toEqual({
          ...{ at, queued: MANY, different: MANY },
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
