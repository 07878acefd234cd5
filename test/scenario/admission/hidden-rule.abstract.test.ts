import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { endingOf, givenProject, givenScheduled } from '../stories.ts';
import { createWorldOn } from '../world.ts';
import { defineHiddenRuleTests } from './hidden-rule.suite.ts';

const MINUTE_MS = 60_000;

async function createWorld() {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: { botIsAdmin: false } });
  return createWorldOn(clock, forge, forge.forge, {});
}

defineHiddenRuleTests(createWorld);

test('an official request for a review blocks it: told, not bounced, and it lands once the review is given', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setProtection({ blockOnOfficialReviewRequests: true });
  const pr = await givenScheduled(world.forge, 'p');
  await world.forge.requestReview(pr, 'lead');
  await world.drain({ maxMs: 2 * 60 * MINUTE_MS });
  expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [] });
  const refusals = (await world.events()).filter((each) => each.event === 'pr_refused');
  expect(refusals.map(({ reason }) => reason)).toEqual(['rule_hidden']);
  expect(world.forge.runs()).toHaveLength(1);
});
