import { randomUUID } from 'node:crypto';
import type { OngoingReconcile } from '#core/domain/wakes/fairness.ts';
import type { World } from './subject.ts';
import { times } from './subject.ts';

const TTL_MS = 60_000;

export function describeReconciles(world: World): void {
  const givenReconcile = (): OngoingReconcile => ({
    id: randomUUID(),
    repoId: randomUUID(),
    tenantId: 'tenant-1',
    host: 'forge.example',
    standing: 'new',
  });
  /** Lets in as many as `most` beside it. */
  const begin = (next: OngoingReconcile, most: number) =>
    world.store().beginReconcile(next, TTL_MS, (others) => others.length <= most);

  describe('reconciles that run', () => {
    test('six at once where three may: three are let in, in any order', async () => {
      await world.clock.advance(TTL_MS);
      const answers = await Promise.all(times(6, () => begin(givenReconcile(), 2)));
      expect(answers.filter((isIn) => isIn)).toHaveLength(3);
    });

    test('one that begins again, because its first answer was lost, does not count beside itself', async () => {
      await world.clock.advance(TTL_MS);
      const one = givenReconcile();
      expect([await begin(one, 0), await begin(one, 0)]).toEqual([true, true]);
    });

    test('each sees all others as they were noted, until they end, or until their time is over', async () => {
      await world.clock.advance(TTL_MS);
      const [first, second] = [givenReconcile(), { ...givenReconcile(), standing: 'slow' } as const];
      await begin(first, 9);
      await begin(second, 9);
      const seen = async () => {
        let all: readonly OngoingReconcile[] = [];
        await world.store().beginReconcile(givenReconcile(), TTL_MS, (others) => {
          all = others;
          return false;
        });
        return [...all].sort((a, b) => a.standing.localeCompare(b.standing));
      };
      expect(await seen()).toEqual([first, second]);
      await world.store().endReconcile(first.id);
      await world.store().endReconcile(first.id);
      expect(await seen()).toEqual([second]);
      await world.clock.advance(TTL_MS);
      expect(await seen()).toEqual([]);
    });

    test('each section has a picture of its own, and a reconcile ends in the section in which it began', async () => {
      await world.clock.advance(TTL_MS);
      const store = world.store();
      const [here, there] = [givenReconcile(), givenReconcile()];
      const countIn = async (section: number) => {
        let count = -1;
        const look = (others: readonly OngoingReconcile[]) => {
          count = others.length;
          return false;
        };
        await store.beginReconcile(givenReconcile(), TTL_MS, look, section);
        return count;
      };
      await store.beginReconcile(here, TTL_MS, () => true, 0);
      await store.beginReconcile(there, TTL_MS, () => true, 3);
      expect([await countIn(0), await countIn(3), await countIn(4)]).toEqual([1, 1, 0]);
      await store.endReconcile(there.id, 3);
      expect([await countIn(0), await countIn(3)]).toEqual([1, 0]);
      await store.beginReconcile(there, TTL_MS, () => true, 3);
      await store.forgetReconciles(3);
      await store.forgetReconciles(5);
      expect([await countIn(0), await countIn(3), await countIn(5)]).toEqual([1, 0, 0]);
      await store.beginReconcile(there, TTL_MS, () => true, 3);
      expect(await countIn(3)).toBe(1);
    });
  });
}
