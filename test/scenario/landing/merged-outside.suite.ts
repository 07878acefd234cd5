import { ForgeError } from '#core/ports/forge.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;

/** Merges of pull requests that never were in the queue: the base moves, and nothing else tells of them. */
export function defineMergedOutsideTests(createWorld: (options?: WorldOptions) => Promise<World>): void {
  const listed = async (world: World) =>
    (await world.events())
      .filter(({ reason }) => reason === 'merged_outside_the_queue')
      .map(({ event, pr, title }) => `${event} #${pr} ${title}`)
      .sort();
  const alarmed = (world: World) =>
    world.log.filter(({ fields }) => fields.alarm === 'unverified_landing').map(({ fields }) => fields.pr);

  test('merges past the queue of pull requests that never were in it are listed with number and title, each once (A39)', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    const own = await givenScheduled(forge, 'own');
    await world.drain();
    const first = await forge.openPullRequest({
      branch: 'first',
      title: 'First',
      files: { 'first.txt': '1\n' },
    });
    const second = await forge.openPullRequest({
      branch: 'second',
      title: 'Second',
      files: { 's.txt': '2\n' },
    });
    await forge.openPullRequest({ branch: 'open', title: 'Stays open', files: { 'open.txt': '3\n' } });
    await world.drain();
    await forge.mergeByHand(first);
    await forge.mergeByHand(second);
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(alarmed(world)).toEqual([null]);
    expect(await listed(world)).toEqual([`pr_skipped #${first} First`, `pr_skipped #${second} Second`]);
    const third = await forge.openPullRequest({ branch: 'third', title: 'Third', files: { 't.txt': '3\n' } });
    await forge.mergeByHand(third);
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await listed(world)).at(-1)).toBe(`pr_skipped #${third} Third`);
    expect(await listed(world)).toHaveLength(3);
    expect((await world.record()).outsideMove).toBeUndefined();
    expect((await forge.pull(own)).merged).toBe(true);
  });

  test('one that was in the queue is listed once, whatever was seen first, its merge or the moved base', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    forge.judge = () => 'hold';
    const queued = await givenScheduled(forge, 'queued');
    await world.reconcile();
    const beside = await forge.openPullRequest({
      branch: 'beside',
      title: 'Beside',
      files: { 'b.txt': '1\n' },
    });
    await forge.mergeByHand(queued);
    await forge.mergeByHand(beside);
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await listed(world)).toEqual([`pr_skipped #${queued} Add queued`, `pr_skipped #${beside} Beside`]);
    const wordsOn = async (pr: number) =>
      (await forge.status((await forge.pull(pr)).headSha, 'mq'))?.description;
    expect(await wordsOn(queued)).toBe('not queued: it was merged past the queue');
    expect(await wordsOn(beside)).toBeUndefined();
  });

  test('one that a person marks as merged by hand while it is staged leaves with words, without an alarm, and the others go on', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    let isHeld = true;
    forge.judge = () => (isHeld ? 'hold' : 'success');
    const marked = await givenScheduled(forge, 'marked');
    const other = await givenScheduled(forge, 'other');
    await world.reconcile();
    await forge.markMerged(marked, await forge.tip('main'));
    isHeld = false;
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await listed(world)).toEqual([`pr_skipped #${marked} Add marked`]);
    expect(alarmed(world)).toEqual([]);
    const { headSha } = await forge.pull(marked);
    expect((await forge.status(headSha, 'mq'))?.description).toBe('not queued: it was merged past the queue');
    expect((await forge.pull(other)).merged).toBe(true);
  });

  test('a mark as merged by hand while its success stands takes that back, and stops no queue', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    forge.mergeBehaviour = () => ({ kind: 'lost' });
    const marked = await givenScheduled(forge, 'marked');
    const { headSha } = await forge.pull(marked);
    await world.drain({ until: async () => (await forge.status(headSha, 'mq'))?.state === 'success' });
    await forge.markMerged(marked, await forge.tip('main'));
    forge.mergeBehaviour = () => ({ kind: 'now' });
    const other = await givenScheduled(forge, 'other');
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await world.record()).halted).toBeNull();
    expect(alarmed(world)).toEqual([]);
    expect(await listed(world)).toEqual([`pr_skipped #${marked} Add marked`]);
    expect(await forge.status(headSha, 'mq')).toMatchObject({
      state: 'pending',
      description: 'not queued: it was merged past the queue',
    });
    expect((await forge.pull(other)).merged).toBe(true);
  });

  test('a success of another account, by which one merged past the queue, is taken back from its head, which tells that merge (A24)', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    await givenScheduled(forge, 'own');
    await world.drain();
    const pr = await givenScheduled(forge, 'past');
    const { headSha } = await forge.pull(pr);
    await forge.postStatusAs('ann', headSha, 'mq', 'success', 'looks good to me');
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await forge.pull(pr)).merged).toBe(true);
    expect(await forge.status(headSha, 'mq')).toMatchObject({
      state: 'pending',
      description: 'not queued: it was merged past the queue',
    });
  });

  test('a push to the base is alarmed, and no pull request is named for it', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    await givenScheduled(forge, 'own');
    await world.drain();
    await forge.pushToBase({ 'pushed.txt': 'x\n' });
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(alarmed(world)).toEqual([null]);
    expect(await listed(world)).toEqual([]);
    expect((await world.record()).outsideMove).toBeUndefined();
  });

  test('while the forge does not tell who was merged, the search waits and finds it later', async () => {
    let isSilent = true;
    const world = await createWorld({
      wrapForge: (forge) => ({
        ...forge,
        listMergedPullRequests: async () => {
          if (isSilent) throw new ForgeError('unreachable', 'GET pulls (merged)', 503);
          return forge.listMergedPullRequests();
        },
      }),
    });
    const { forge } = world;
    await givenProject(forge);
    await givenScheduled(forge, 'own');
    await world.drain();
    const late = await forge.openPullRequest({ branch: 'late', title: 'Late', files: { 'late.txt': '1\n' } });
    await forge.mergeByHand(late);
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 5 * MINUTE_MS });
    expect(alarmed(world)).toEqual([null]);
    expect(await listed(world)).toEqual([]);
    isSilent = false;
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await listed(world)).toEqual([`pr_skipped #${late} Late`]);
    expect(alarmed(world)).toEqual([null]);
  });
}
