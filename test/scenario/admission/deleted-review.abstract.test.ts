import { PULL_CODES } from '#core/domain/pulls/pull-code-table.ts';
import { givenProject, givenScheduled, statusOf } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const MINUTE_MS = 60_000;
const REFUSED = `error: ${PULL_CODES.approvals_missing.says}`;

/** Two of a batch, both approved; the approval of the second is deleted while their gate run is out, which leaves no trace. */
async function givenDeletedApproval() {
  const world = await createWorld({ lastingEngine: true });
  const { forge } = world;
  await givenProject(forge);
  await forge.setProtection({ requiredApprovals: 1 });
  const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')] as const;
  for (const pr of prs) await forge.review(pr, 'reviewer', 'approve');
  await world.clock.advance(MINUTE_MS);
  await world.drain({ until: () => forge.runs().length > 0 });
  await world.clock.advance(MINUTE_MS / 2);
  await world.reconcile();
  await forge.deleteReviews(prs[1]);
  await world.drain({ maxMs: 30 * MINUTE_MS });
  return { world, first: prs[0], second: prs[1] };
}

async function successesOn({ forge }: World, pr: number): Promise<number> {
  const history = (forge as Awaited<ReturnType<typeof createWorld>>['forge']).statusHistory(
    (await forge.pull(pr)).headSha,
  );
  const states = history.map(({ state }) => state);
  return states.filter((state, at) => state === 'success' && states[at - 1] !== 'success').length;
}

test('one whose approval was deleted without a trace is refused once its merge does not come, and stays so', async () => {
  const { world, first, second } = await givenDeletedApproval();
  expect(world.forge.isMerged(first)).toBe(true);
  expect(await statusOf(world, second)).toBe(REFUSED);
  expect(await successesOn(world, second)).toBe(1);
});

test('it goes on once it is approved again, and holds up no other one until then', async () => {
  const { world, second } = await givenDeletedApproval();
  const third = await givenScheduled(world.forge, 'c');
  await world.forge.review(third, 'reviewer', 'approve');
  await world.clock.advance(MINUTE_MS);
  await world.drain({ maxMs: 10 * MINUTE_MS });
  expect(world.forge.isMerged(third)).toBe(true);
  expect(await statusOf(world, second)).toBe(REFUSED);
  await world.forge.review(second, 'reviewer', 'approve');
  await world.drain({ maxMs: 10 * MINUTE_MS });
  expect(world.forge.isMerged(second)).toBe(true);
});
