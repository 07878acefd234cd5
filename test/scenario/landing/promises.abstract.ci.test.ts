import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';
import { describePushBeforeCall } from './push-before-call.suite.ts';

describePushBeforeCall(4);

describe('a bounce has one of two causes: it fails alone, or its merge timed out twice on that head (A15)', () => {
  const told = async (world: World) =>
    (await world.events())
      .filter((event) => event.event === 'pr_bounced')
      .map(({ pr, reason }) => [pr, reason]);

  test.each<[string, string, (world: Awaited<ReturnType<typeof createWorld>>, pr: number) => Promise<void>]>([
    [
      'it fails alone',
      'gate_failed',
      async (world, pr) => void (await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'BAD\n' })),
    ],
    [
      'its merge is lost again and again',
      'merge_timeout',
      async (world, pr) => {
        world.forge.mergeBehaviour = (each) => ({ kind: each === pr ? 'lost' : 'now' });
      },
    ],
  ])('%s', async (_name, reason, arrange) => {
    const world = await createWorld();
    await givenProject(world.forge);
    const [a, b] = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await arrange(world, a);
    await world.forge.cancelSchedule(a);
    await world.forge.schedule(a);
    await world.drain();
    expect(await told(world)).toEqual([[a, reason]]);
    expect((await endingOf(world, [a, b])).landed).toEqual([b]);
  });

  test.each<[string, (world: Awaited<ReturnType<typeof createWorld>>, pr: number) => Promise<void>]>([
    [
      'its runs are cancelled',
      async (world) => {
        world.forge.judge = () => 'cancelled';
      },
    ],
    [
      'its runs never appear',
      async (world) => {
        world.forge.judge = () => 'never';
      },
    ],
    [
      'it conflicts with the base',
      async (world) => void (await world.forge.pushToBase({ 'src/a.txt': 'x\n' })),
    ],
    ['its approvals are missing', (world) => world.forge.setProtection({ requiredApprovals: 1 })],
    ['its schedule is cancelled', (world, pr) => world.forge.cancelSchedule(pr)],
    ['the base is red', async (world) => void (await world.forge.pushToBase({ 'broken.txt': 'BAD\n' }))],
  ])('no pull request is bounced because %s', async (_name, arrange) => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a');
    await arrange(world, pr);
    await world.drain({ maxMs: 2 * 60 * 60_000 });
    expect(await told(world)).toEqual([]);
    expect((await world.forge.pull(pr)).merged).toBe(false);
  });
});

test('no bounce is decided on a base that fails by itself; once it is repaired the same head lands (A35)', async () => {
  for (const bisectFanout of [1, 4]) {
    const world = await createWorld({ repo: { bisectFanout } });
    await givenProject(world.forge);
    await world.forge.pushToBase({ 'broken.txt': 'BAD\n' });
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.drain({ maxMs: 60 * 60_000 });
    expect((await world.events()).filter((event) => event.event === 'pr_bounced')).toEqual([]);
    expect(world.forge.runs().some((run) => run.state === 'failure')).toBe(true);
    await world.forge.pushToBase({ 'broken.txt': 'mended\n' });
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    await expectHonestEnd(world, prs);
  }
});

test('a bounced head is not staged again, whatever moves, until it is scheduled again (A37)', async () => {
  const world = await createWorld();
  await givenProject(world.forge);
  const pr = await givenScheduled(world.forge, 'a', 'BAD\n');
  await world.drain();
  const runs = world.forge.runs().length;
  for (let round = 0; round < 3; round += 1) {
    await world.forge.pushToBase({ [`moved-${round}.txt`]: 'x\n' });
    await world.drain({ maxMs: 2 * 60 * 60_000 });
  }
  expect(world.forge.runs()).toHaveLength(runs);
  const bounces = async () => (await world.events()).filter((event) => event.event === 'pr_bounced').length;
  expect(await bounces()).toBe(1);
  await world.forge.cancelSchedule(pr);
  await world.forge.schedule(pr);
  await world.drain();
  expect(world.forge.runs().length).toBeGreaterThan(runs);
  expect(await bounces()).toBe(2);
  await expectHonestEnd(world, [pr]);
});
