import { type ForgeSight, showsNews, sightOf } from '#core/domain/wakes/forge-sight.ts';
import { glanceAt } from '../../../engine-container/src/idle/glance-at-forge.ts';
import { lookForWork } from '../../../engine-container/src/idle/idle-look.ts';
import { givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

const MINUTE_MS = 60_000;
const BASE = { baseBranch: 'main' };

/** A queue that has come to rest; the engine has seen everything as it is now. */
async function givenSeenForge() {
  const world = await createWorld();
  await givenProject(world.forge);
  const landed = await givenScheduled(world.forge, 'a');
  const waiting = await world.forge.openPullRequest({ branch: 'b', files: { 'b.txt': 'b\n' } });
  await world.drain();
  const lookAgain = async (): Promise<ForgeSight> => {
    await world.clock.advance(MINUTE_MS);
    const report = await world.reconcile();
    if (report?.sight === undefined) throw new Error('the engine saw nothing');
    return report.sight;
  };
  const sight = await lookAgain();
  const glance = async () => {
    const answer = await glanceAt(world.forge.forge, BASE);
    if (answer.kind === 'failed') throw new Error('the glance failed');
    return answer;
  };
  return { ...world, landed, waiting, sight, lookAgain, glance };
}

describe('what a glance is compared with', () => {
  test('engine, idle look and glance see the same of one forge, and a glance is two calls', async () => {
    const world = await givenSeenForge();
    expect(world.forge.isMerged(world.landed)).toBe(true);
    world.forge.clearCalls();
    const glance = await world.glance();
    expect(world.forge.calls()).toHaveLength(2);
    expect(world.sight).toEqual({ tip: glance.tip, newest: glance.newest, isSettled: true });
    let memory = null;
    for (let count = 0; count < 2; count += 1) {
      const answer = await lookForWork(world.forge.forge, world.clock, {
        ...BASE,
        statusContext: 'mq',
        repoId: null,
        setUp: null,
        memory,
      });
      if (answer.kind === 'failed') throw new Error('the look failed');
      memory = answer.memory;
      await world.clock.advance(MINUTE_MS);
    }
    expect(sightOf(memory?.tip ?? null, memory?.pulls ?? [])).toEqual(world.sight);
  });

  test('the engine sees the same with one that was refused, so that its glances come to rest', async () => {
    const world = await givenSeenForge();
    await world.forge.setProtection({ requiredApprovals: 1 });
    await world.forge.schedule(world.waiting, 'squash');
    await world.drain();
    const sight = await world.lookAgain();
    const glance = await world.glance();
    expect(sight).toEqual({ tip: glance.tip, newest: glance.newest, isSettled: true });
  });

  test('a queue that never had work is seen as well: the first schedule need not wait for the tick', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'a\n' } });
    await world.reconcile();
    await world.clock.advance(MINUTE_MS);
    const report = await world.reconcile();
    const glance = await glanceAt(world.forge.forge, BASE);
    if (glance.kind === 'failed' || report?.sight === undefined) throw new Error('nothing was seen');
    expect(report.sight).toEqual({ tip: glance.tip, newest: glance.newest, isSettled: true });
    await world.forge.schedule(pr, 'squash');
    const after = await glanceAt(world.forge.forge, BASE);
    expect(after.kind !== 'failed' && showsNews(report.sight, after)).toBe(true);
  });

  test.each<[string, (world: Awaited<ReturnType<typeof givenSeenForge>>) => Promise<unknown>, boolean]>([
    ['nothing', async () => undefined, false],
    ['a schedule', ({ forge, waiting }) => forge.schedule(waiting, 'squash'), true],
    ['a push to the base', ({ forge }) => forge.pushToBase({ 'x.txt': 'x\n' }), true],
    ['a push to a pull request', ({ forge, waiting }) => forge.pushToPullRequest(waiting, { c: 'c' }), true],
    [
      'a pull request that is opened',
      ({ forge }) => forge.openPullRequest({ branch: 'c', files: { 'c.txt': 'c\n' } }),
      true,
    ],
  ])('after %s a glance shows news: %s', async (_case, act, isNews) => {
    const world = await givenSeenForge();
    await act(world);
    expect(showsNews(world.sight, await world.glance())).toBe(isNews);
  });

  test('a pull request that the engine read within its second is not settled, and is at the next look', async () => {
    const world = await givenSeenForge();
    await world.clock.advance(1_000 - (world.clock.now() % 1_000));
    await world.forge.openPullRequest({ branch: 'c', files: { 'c.txt': 'c\n' } });
    expect((await world.reconcile())?.sight?.isSettled).toBe(false);
    expect((await world.lookAgain()).isSettled).toBe(true);
  });

  test.each([429, 503, 401])('a forge that answers %i is told as a failure', async (status) => {
    const world = await givenSeenForge();
    world.forge.fault = () => ({ status, when: 'before' });
    expect(await glanceAt(world.forge.forge, BASE)).toEqual({ kind: 'failed' });
  });
});
