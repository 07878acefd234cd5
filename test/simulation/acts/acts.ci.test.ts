import { createSeededRandom } from '../../support/seeded-random.ts';
import { findAccepted } from './accepted.ts';
import { drawCases, EVERYTHING, playerOf, replayOf } from './moments.ts';

/** Of some hundred thousand moments; `npm run sim:acts` takes all of them. */
const DRAWN = 36;
const DRAWN_DEPLOYED = 9;
const SEED = 1;

test.each([
  ['the engine alone', false, DRAWN],
  ['the whole service', true, DRAWN_DEPLOYED],
])(
  'no act of a person between two calls makes words, landings or waits untrue: %s',
  async (_where, isDeployed, count) => {
    const found: string[] = [];
    const choice = { ...EVERYTHING, isDeployed };
    let acted = 0;
    for await (const each of drawCases(choice, count, createSeededRandom(SEED))) {
      const { story, act, target } = each;
      const { hasActed, violations } = await playerOf(isDeployed)(story, each, target);
      if (hasActed) acted += 1;
      const open = violations.filter(
        (violation) => findAccepted(story.name, act.name, violation) === undefined,
      );
      if (open.length > 0) found.push(`${replayOf(each, isDeployed)}: ${open.join('; ')}`);
    }
    expect(found).toEqual([]);
    expect(acted).toBe(count);
  },
  120_000,
);
