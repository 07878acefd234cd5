import { ForgeError } from '#core/ports/forge.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';
import { defineStagingFailureTests } from './staging-failure.suite.ts';

defineStagingFailureTests(createWorld);

test.each([
  ['a listing that never ends', () => new ForgeError('unreachable', 'GET git/trees/{sha}', null)],
  ['a defect of ours', () => new RangeError('Invalid string length')],
])('%s of one head keeps no other from landing', async (_name, error) => {
  let poisoned = '';
  const world = await createWorld({
    wrapForge: (forge) => ({
      ...forge,
      readTree: async (id, depth) => {
        if (id === poisoned) throw error();
        return forge.readTree(id, depth);
      },
    }),
  });
  await givenProject(world.forge);
  const prs = [];
  for (const name of ['a', 'b', 'c', 'd']) prs.push(await givenScheduled(world.forge, name));
  poisoned = (await world.forge.pull(prs[1] ?? 0)).headSha;
  await world.drain({ maxMs: 25 * 60_000 });
  expect((await endingOf(world, prs)).landed).toEqual([prs[0], prs[2], prs[3]]);
  expect((await world.record()).deferred).toMatchObject([{ pr: prs[1], reason: 'staging_failed' }]);
  poisoned = '';
  await world.drain({ maxMs: 60 * 60_000 });
  expect((await endingOf(world, prs)).landed).toContain(prs[1]);
  await expectHonestEnd(world, prs);
});

test('a status that one commit never takes holds up no other', async () => {
  let stubborn = '';
  const world = await createWorld({
    wrapForge: (forge) => ({
      ...forge,
      postStatus: async (sha, status) => {
        // The answer of some forges for a commit that they no longer have.
        if (sha === stubborn) throw new ForgeError('unreachable', 'POST statuses/{sha}', 500, null, true);
        return forge.postStatus(sha, status);
      },
    }),
  });
  await givenProject(world.forge);
  await world.forge.setProtection({ requiredApprovals: 1 });
  const gone = await givenScheduled(world.forge, 'gone');
  stubborn = (await world.forge.pull(gone)).headSha;
  const refused = await givenScheduled(world.forge, 'refused');
  await world.drain({ maxMs: 10 * 60_000 });
  const { headSha } = await world.forge.pull(refused);
  expect((await world.forge.status(headSha, 'mq'))?.description).toMatch(/^refused: required approvals/);
});
