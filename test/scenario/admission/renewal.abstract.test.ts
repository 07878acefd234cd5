import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const MINUTE_MS = 60_000;

/** One in the queue whose head is pushed over; the pushed head. */
async function pushOver(world: World, pr: number, by?: string): Promise<string> {
  await world.reconcile();
  await world.clock.advance(MINUTE_MS);
  const head = await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' }, by);
  await world.clock.advance(MINUTE_MS);
  await world.drain({ maxMs: 20 * MINUTE_MS });
  return head;
}

async function givenQueued(prepare: (world: World) => Promise<unknown> = async () => {}) {
  const world = await createWorld();
  await givenProject(world.forge);
  await world.forge.setAccess('guest', 'read');
  await prepare(world);
  world.forge.judge = () => 'hold';
  const pr = await givenScheduled(world.forge, 'a');
  return { world, pr };
}

const isMerged = async (world: World, pr: number): Promise<boolean> => (await world.forge.pull(pr)).merged;
const wordsOn = async (world: World, sha: string): Promise<string> =>
  (await world.forge.status(sha, 'mq'))?.description ?? '';

describe('a push over a scheduled head (decision 0003)', () => {
  test('of one who may merge renews the schedule: the new head lands, and the old one says what became of it', async () => {
    const { world, pr } = await givenQueued();
    const old = (await world.forge.pull(pr)).headSha;
    world.forge.judge = () => 'success';
    await world.reconcile();
    await pushOver(world, pr);
    expect(await isMerged(world, pr)).toBe(true);
    expect(world.forge.merges().at(-1)?.head).not.toBe(old);
    expect(await wordsOn(world, old)).toMatch(/^requeued: head changed; the queue goes on/);
  });

  test.each([
    ['one who may only read', 'guest', async () => {}],
    ['the queue’s own account', 'mq-bot', async () => {}],
    ['a deploy key, in the name of the owner', 'acme', (world: World) => addKey(world)],
  ] as const)(
    'of %s renews nothing: no run, words with the way, and an approval of this head lets it go on',
    async (_name, by, prepare) => {
      const { world, pr } = await givenQueued(prepare);
      await world.reconcile();
      const runs = world.forge.runs().length;
      const { headSha: old } = await world.forge.pull(pr);
      const places = async () => (await world.record()).entries.map(({ queuedAt }) => queuedAt);
      const before = await places();
      world.forge.judge = () => 'success';
      const head = await pushOver(world, pr, by);
      expect(await wordsOn(world, old)).toMatch(/^requeued: head changed; the queue goes on/);
      expect(await places()).toEqual(before);
      expect(await isMerged(world, pr)).toBe(false);
      expect(world.forge.runs()).toHaveLength(runs);
      expect(await wordsOn(world, head)).toMatch(/^requeued: head changed by a push that renews no schedule/);
      const states = world.forge.statusHistory(head).map(({ state }) => state);
      expect([...new Set(states)]).toEqual(['error']);
      // The approval of one who may only read has no say.
      await world.forge.review(pr, 'guest', 'approve');
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect(await isMerged(world, pr)).toBe(false);
      await world.forge.review(pr, 'reviewer', 'approve');
      await world.drain({ maxMs: 20 * MINUTE_MS });
      expect(await isMerged(world, pr)).toBe(true);
    },
  );

  test('of the owner renews it where no deploy key can push in that name', async () => {
    const { world, pr } = await givenQueued();
    world.forge.judge = () => 'success';
    await pushOver(world, pr, 'acme');
    expect(await isMerged(world, pr)).toBe(true);
  });

  test('where it renews nothing, cancelling and scheduling again does, as the words say', async () => {
    const { world, pr } = await givenQueued();
    world.forge.judge = () => 'success';
    await pushOver(world, pr, 'guest');
    await world.forge.cancelSchedule(pr);
    await world.forge.schedule(pr, 'squash');
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect(await isMerged(world, pr)).toBe(true);
  });

  test.each([['fork'], ['agit']] as const)(
    'of the author of a head from outside (%s), whatever the author may do, waits for a new approval of it',
    async (kind) => {
      const { world } = await givenQueued();
      world.forge.judge = () => 'success';
      const pr = await world.forge.openPullRequest({
        branch: 'outside',
        files: { 'src/b.txt': '1\n' },
        [kind]: true,
        author: 'dev',
      });
      await world.forge.review(pr, 'reviewer', 'approve');
      const approved = (await world.forge.pull(pr)).headSha;
      await world.clock.advance(MINUTE_MS);
      const other = await world.forge.pushToPullRequest(pr, { 'src/b.txt': '2\n' });
      await world.clock.advance(MINUTE_MS);
      await world.forge.schedule(pr, 'squash');
      await world.drain({ maxMs: 10 * MINUTE_MS });
      // Back to the approved head: that approval is older than the push.
      await world.forge.forcePushPullRequest(pr, approved);
      await world.clock.advance(MINUTE_MS);
      await world.drain({ maxMs: 10 * MINUTE_MS });
      expect(await isMerged(world, pr)).toBe(false);
      expect(await wordsOn(world, approved)).toMatch(/^requeued: head changed from outside the repository/);
      expect(await wordsOn(world, other)).toMatch(
        /^requeued: head changed; the queue goes on with the newer/,
      );
      await world.forge.review(pr, 'reviewer', 'approve');
      await world.drain({ maxMs: 10 * MINUTE_MS });
      expect(await isMerged(world, pr)).toBe(true);
    },
  );

  test('after a bounce is the way back that its words name: the fix lands, and no red word stands while it is tested', async () => {
    const { world } = await givenQueued();
    world.forge.judge = (files) => (files.get('src/bad.txt') === 'BAD\n' ? 'failure' : 'success');
    const pr = await givenScheduled(world.forge, 'bad', 'BAD\n');
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await wordsOn(world, (await world.forge.pull(pr)).headSha)).toMatch(
      /^bounced: .*push a fix, or cancel/,
    );
    world.forge.judge = () => 'hold';
    const fixed = await world.forge.pushToPullRequest(pr, { 'src/bad.txt': 'good\n' });
    await world.clock.advance(MINUTE_MS);
    await world.reconcile();
    expect((await world.forge.status(fixed, 'mq'))?.state).not.toBe('error');
    for (const run of world.forge.runs())
      if (run.state === 'running') await world.forge.finishRun(run.id, 'success');
    world.forge.judge = () => 'success';
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect(await isMerged(world, pr)).toBe(true);
  });

  test('a bounced head that is scheduled again is said to be staged while it is tested', async () => {
    const { world } = await givenQueued();
    world.forge.judge = (files) => (files.get('src/bad.txt') === 'BAD\n' ? 'failure' : 'success');
    const pr = await givenScheduled(world.forge, 'bad', 'BAD\n');
    await world.drain({ maxMs: 30 * MINUTE_MS });
    const { headSha } = await world.forge.pull(pr);
    world.forge.judge = () => 'hold';
    await world.forge.cancelSchedule(pr);
    await world.forge.schedule(pr, 'squash');
    await world.clock.advance(MINUTE_MS);
    await world.reconcile();
    expect(await world.forge.status(headSha, 'mq')).toMatchObject({ state: 'pending' });
    expect(await wordsOn(world, headSha)).toMatch(/^staged:/);
  });
});

async function addKey(world: World): Promise<void> {
  await (world.forge as AbstractForge).addWritingKey();
}
