import type { EngineForge } from '#core/ports/forge.ts';
import type { ForgeControl } from '../../support/forge-control.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

/** Calls of a forge by an engine that lands two pull requests, and a few more. */
const CALLS = 60;

/** Lets a person act just before the engine's `nth` call. */
function beforeCall(nth: number, act: () => Promise<void>) {
  let made = 0;
  return (forge: EngineForge): EngineForge =>
    new Proxy(forge, {
      get(target, name) {
        const call = Reflect.get(target, name) as (...values: unknown[]) => Promise<unknown>;
        return async (...values: unknown[]) => {
          made += 1;
          if (made === nth) await act();
          return call.apply(target, values);
        };
      },
    });
}

const statesOf = (
  forge: ForgeControl & { statusHistory(sha: string): readonly { state: string }[] },
  sha: string,
) => forge.statusHistory(sha).map((status) => status.state);

/** A head that is pushed over just before one call of the engine; each `step`-th call is tried. */
export function describePushBeforeCall(step: number): void {
  test(`success is posted on a head that was staged and on no other, whichever of ${CALLS} calls the push comes before, in steps of ${step} (A3)`, async () => {
    let changed = 0;
    for (let nth = 1; nth <= CALLS; nth += step) {
      let act = async (): Promise<void> => undefined;
      const world = await createWorld({ wrapForge: beforeCall(nth, () => act()) });
      await givenProject(world.forge);
      const [a, b] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      let pushed = '';
      act = async () => {
        if ((await world.forge.pull(a)).merged) return;
        pushed = await world.forge.pushToPullRequest(a, { 'src/a.txt': 'BAD\n' });
      };
      await world.drain();
      if (pushed !== '') {
        changed += 1;
        expect([nth, statesOf(world.forge, pushed).includes('success')]).toEqual([nth, false]);
      }
      expect((await endingOf(world, [a, b])).landed).toContain(b);
      await expectHonestEnd(world, [a, b]);
    }
    // Landed before the push in the others.
    expect(changed).toBeGreaterThan(CALLS / step / 3);
  });
}
