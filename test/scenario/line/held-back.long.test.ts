import { landedOf } from '../hooks.ts';
import { givenProject } from '../stories.ts';
import { createWorld } from '../world.ts';

/** What has passed is not held back for ever by what is staged with it (decision 0249). */
const MINUTE = 60_000;
const GATE = 10 * MINUTE;
const HOURS = 6;
const GATES_MAX = 12;

test('while each batch has a bad one, no good one waits for more than twelve gate runs', async () => {
  const world = await createWorld({ repo: { bisectFanout: 4 } });
  const { forge, clock } = world;
  await givenProject(forge);
  forge.gateDurationMs = GATE;
  const asked = new Map<number, number>();
  const landed = new Map<number, number>();
  for (let each = 1; each <= HOURS * 15; each += 1) {
    const isBad = each % 5 === 0;
    const files = { [`src/p${each}.txt`]: isBad ? 'BAD\n' : 'good\n' };
    const author = `dev${each}`;
    const pr = await forge.openPullRequest({ branch: `p${each}`, author, files });
    await forge.scheduleAs(author, pr);
    if (!isBad) asked.set(pr, clock.now());
    const until = clock.now() + 4 * MINUTE;
    await world.drain({ maxMs: 4 * MINUTE });
    if (clock.now() < until) await clock.advance(until - clock.now());
    for (const merged of landedOf(world)) if (!landed.has(merged)) landed.set(merged, clock.now());
  }
  const waits = [...asked].map(([pr, since]) => ((landed.get(pr) ?? clock.now()) - since) / GATE);
  expect(Math.max(...waits)).toBeLessThanOrEqual(GATES_MAX);
});
