import { endingOf, expectHonestEnd, givenProject, givenScheduled, statusOf } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;

/** The forge fails on one pull request's contents, and on nothing else. */
export function defineStagingFailureTests(createWorld: (options?: WorldOptions) => Promise<World>): void {
  const poison = (
    world: World,
    isOn: () => boolean = () => true,
    fault: { readonly status: number; readonly html?: boolean } = { status: 500 },
  ) => {
    world.forge.fault = ({ path, about }) =>
      isOn() && path.endsWith('/diffpatch') && about?.includes('src/poison') ? fault : null;
  };

  test.each([1, 4, 16])(
    'a pull request that cannot be staged: the others land, it is set aside with words, an event and a time (fan-out %i)',
    async (bisectFanout) => {
      const world = await createWorld({ repo: { bisectFanout } });
      await givenProject(world.forge);
      poison(world);
      const prs: number[] = [];
      for (const name of ['a', 'b', 'poison', 'c', 'd']) prs.push(await givenScheduled(world.forge, name));
      const culprit = prs[2] ?? 0;
      const others = prs.filter((pr) => pr !== culprit);
      await world.drain({
        until: () => world.forge.merges().length === others.length,
        maxMs: 30 * MINUTE_MS,
      });
      await world.drain({ maxMs: 10 * MINUTE_MS });
      expect([...(await endingOf(world, prs)).landed].sort((x, y) => x - y)).toEqual(others);
      expect(await statusOf(world, culprit)).toMatch(/^pending: waiting: the forge fails each time/);
      expect(
        (await world.events()).some(
          (event) =>
            event.pr === culprit && event.event === 'pr_refused' && event.reason === 'staging_failed',
        ),
      ).toBe(true);
      const [deferred] = (await world.record()).deferred.filter((each) => each.pr === culprit);
      expect(deferred?.until ?? 0).toBeGreaterThan(world.clock.now());
      expect(await endingOf(world, prs)).toMatchObject({ bounced: [] });
      await expectHonestEnd(world, prs);
    },
  );

  test.each([
    ['a hook of the forge refuses, with the 403 of a token without rights', { status: 403 }],
    ['a proxy refuses for its length, with a page', { status: 413, html: true }],
  ])('a content that %s: the others land', async (_name, fault) => {
    const world = await createWorld();
    await givenProject(world.forge);
    poison(world, () => true, fault);
    const prs: number[] = [];
    for (const name of ['a', 'poison', 'b']) prs.push(await givenScheduled(world.forge, name));
    const culprit = prs[1] ?? 0;
    expect(await world.reconcile()).toMatchObject({ errorCode: 'forge_call_failed' });
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, prs)).landed).toEqual(prs.filter((pr) => pr !== culprit));
    expect(await statusOf(world, culprit)).toMatch(/^pending: waiting: the forge fails each time/);
    await expectHonestEnd(world, prs);
  });

  test('a token that may write nothing any more sets no pull request aside', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    let isDenied = true;
    world.forge.fault = ({ method }) => (isDenied && method !== 'GET' ? { status: 403 } : null);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await world.record()).deferred).toEqual([]);
    isDenied = false;
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    expect((await world.events()).map(({ event }) => event)).not.toContain('pr_refused');
  });

  test('it lands as soon as it can be staged; a new head is tried at once', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    let isOn = true;
    poison(world, () => isOn);
    const once = await givenScheduled(world.forge, 'poison');
    const other = await givenScheduled(world.forge, 'a');
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect((await endingOf(world, [once])).landed).toEqual([other]);
    isOn = false;
    await world.drain({ maxMs: 45 * MINUTE_MS });
    expect((await endingOf(world, [once])).landed).toEqual([other, once]);
    isOn = true;
    const again = await givenScheduled(world.forge, 'poison-2');
    await world.drain({ maxMs: 20 * MINUTE_MS });
    await world.forge.pushToPullRequest(again, { 'src/poison-2.txt': null, 'src/good.txt': 'good\n' });
    await world.forge.cancelSchedule(again);
    await world.forge.schedule(again, 'squash');
    await world.drain({ maxMs: 10 * MINUTE_MS });
    expect((await endingOf(world, [again])).landed).toContain(again);
    await expectHonestEnd(world, [once, other, again]);
  });

  test('while it fails the forge is not hammered: calls grow no faster than the pauses', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    poison(world);
    await givenScheduled(world.forge, 'poison');
    await world.drain({ maxMs: 60 * MINUTE_MS });
    world.forge.clearCalls();
    await world.drain({ maxMs: 6 * 60 * MINUTE_MS });
    const patches = world.forge.calls().filter(({ call }) => call.endsWith('diffpatch'));
    expect(patches.length).toBeLessThanOrEqual(8);
  });

  test('a forge that is down for everything sets no pull request aside', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    let isDown = true;
    let calls = 0;
    world.forge.fault = () => {
      calls += 1;
      // It goes down in the middle of the first staging.
      return isDown && calls > 12 ? { status: 502, html: true } : null;
    };
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await world.record()).deferred).toEqual([]);
    isDown = false;
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    expect((await world.events()).map(({ event }) => event)).not.toContain('pr_refused');
    await expectHonestEnd(world, prs);
  });

  test('a forge that takes no patch at all for a while: all land afterwards, in order', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs: number[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) prs.push(await givenScheduled(world.forge, name));
    let isDown = true;
    world.forge.fault = ({ path }) => (isDown && path.endsWith('/diffpatch') ? { status: 500 } : null);
    await world.drain({ maxMs: 15 * MINUTE_MS });
    const aside = (await world.record()).deferred.length;
    expect(aside).toBeLessThanOrEqual(3);
    const isResting = async () => ((await world.record()).restsUntil ?? 0) > world.clock.now();
    await world.drain({ until: isResting, maxMs: 60 * MINUTE_MS });
    // It rests because of the forge: no gate run was broken off.
    expect([await isResting(), (await world.reconcile())?.errorCode]).toEqual([true, 'forge_call_failed']);
    isDown = false;
    await world.drain({ maxMs: 90 * MINUTE_MS });
    expect([...(await endingOf(world, prs)).landed].sort((x, y) => x - y)).toEqual(prs);
    await expectHonestEnd(world, prs);
  });

  test('a prefix that cannot be published ends the search, and its members are judged alone', async () => {
    const world = await createWorld({ repo: { bisectFanout: 1 } });
    await givenProject(world.forge);
    const prs: number[] = [];
    for (const name of ['a', 'b', 'bad', 'c'])
      prs.push(await givenScheduled(world.forge, name, name === 'bad' ? 'BAD\n' : `${name}\n`));
    // The patch of a cut holds several at once.
    world.forge.fault = ({ path, about }) =>
      path.endsWith('/diffpatch') && about?.includes('src/a.txt') && about.includes('src/b.txt')
        ? { status: 500 }
        : null;
    await world.drain({ maxMs: 3 * 60 * MINUTE_MS });
    const bad = prs[2] ?? 0;
    expect(await endingOf(world, prs)).toMatchObject({ bounced: [bad] });
    expect([...world.forge.merges().map(({ pr }) => pr)].sort((x, y) => x - y)).toEqual(
      prs.filter((pr) => pr !== bad),
    );
    await expectHonestEnd(world, prs);
  });
}
