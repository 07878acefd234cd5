import { LATE_EFFECT_MS } from '../../fakes/abstract-forge/exchange.ts';
import { giveUpFirst, postsSuccess } from '../late-call.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled, staleSuccesses } from '../stories.ts';
import { createWorld } from '../world.ts';

describe('a call whose answer never came is carried out later', () => {
  test('a success that arrives after it was taken back is taken back again', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    const [a = 0, b = 0] = prs;
    const head = (await world.forge.pull(a)).headSha;
    const wasGivenUp = giveUpFirst(world.forge, postsSuccess(head));
    await world.drain({ until: wasGivenUp });
    await world.forge.cancelSchedule(a);
    // An event wakes the queue at once, while the forge still has the old call before it.
    await world.reconcile();
    await world.drain();
    const history = world.forge.statusHistory(head).map((status) => status.state);
    expect(history).toContain('success');
    expect(await staleSuccesses(world.forge, prs)).toEqual([]);
    expect((await endingOf(world, prs)).landed).toEqual([b]);
    await expectHonestEnd(world, prs);
  });

  test('a staging branch that appears after its batch is gone is swept', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a');
    const wasGivenUp = giveUpFirst(world.forge, (call) => call.path.endsWith('/diffpatch'));
    await world.reconcile();
    expect(wasGivenUp()).toBe(true);
    await world.forge.cancelSchedule(pr);
    // An event wakes the queue at once: the batch is dissolved before the forge comes to the call.
    await world.reconcile();
    expect((await world.record()).batches).toEqual([]);
    await world.clock.advance(LATE_EFFECT_MS);
    expect(await world.forge.branches()).toContain('mq/main/staging');
    await world.drain();
    await expectHonestEnd(world, [pr]);
  });

  test('a work branch whose deletion failed is swept, although the batch was built anew without one', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    let faults = 0;
    world.forge.fault = (call) => {
      const first = call.path.includes('/branches/mq-work/') && faults === 0;
      if (!first) return null;
      faults += 1;
      return { status: 502 };
    };
    await world.reconcile();
    expect(faults).toBe(1);
    await world.forge.cancelSchedule(prs[1] ?? 0);
    await world.clock.advance(30_000);
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual([prs[0]]);
    await expectHonestEnd(world, prs);
  });

  test('a deletion that may still be carried out does not meet the next batch', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const a = await givenScheduled(world.forge, 'a');
    const wasGivenUp = giveUpFirst(
      world.forge,
      (call) => call.method === 'DELETE' && call.path.endsWith('/branches/mq/main/staging'),
    );
    await world.drain({ until: wasGivenUp });
    await world.reconcile();
    const b = await givenScheduled(world.forge, 'b');
    world.forge.judge = () => 'never';
    await world.reconcile();
    const [next] = (await world.record()).batches.flatMap((batch) => batch.nodes);
    expect(next?.state).toBe('gating');
    await world.clock.advance(LATE_EFFECT_MS);
    expect(await world.forge.branches()).toContain(next?.branch);
    world.forge.judge = () => 'success';
    await world.forge.cancelSchedule(b);
    await world.drain();
    expect((await endingOf(world, [a, b])).landed).toEqual([a]);
    await expectHonestEnd(world, [a, b]);
  });

  test('a staging branch that is deleted before its run has begun is staged anew', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'never';
    const pr = await givenScheduled(world.forge, 'a');
    await world.reconcile();
    const [row] = await world.rows();
    await world.forge.deleteBranch('mq/main/staging');
    world.forge.judge = () => 'success';
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    const torn = (await world.rows()).find((each) => each.id === row?.id);
    expect(torn).toMatchObject({ outcome: 'error', terminalReason: 'gate_cancelled' });
    await expectHonestEnd(world, [pr]);
  });
});
