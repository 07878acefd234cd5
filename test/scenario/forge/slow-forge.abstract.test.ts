import { RECONCILE_BUDGET_MS } from '#core/domain/limits.ts';
import { FORGE_WRITE_LABELS } from '../../support/machine.ts';
import { createPacedWorld } from '../paced-world.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';

const MINUTE_MS = 60_000;

/** A forge that takes `answerMs` for each answer, and when each call was sent, from the start of its reconcile. */
async function givenSlowForge() {
  const sent: { readonly label: string; readonly atMs: number }[] = [];
  const pace = { answerMs: 0, reconcileAt: 0 };
  const world = await createPacedWorld(async (name, call, clock) => {
    sent.push({ label: `forge ${name}`, atMs: clock.now() - pace.reconcileAt });
    await clock.advance(pace.answerMs);
    return call();
  });
  await givenProject(world.forge);
  /** One reconcile; how long it held its worker, and what the forge was asked in it. */
  async function reconcile() {
    sent.length = 0;
    pace.reconcileAt = world.clock.now();
    const report = await world.reconcile();
    const isRead = ({ label }: { readonly label: string }) => !FORGE_WRITE_LABELS.includes(label);
    return { report, heldMs: world.clock.now() - pace.reconcileAt, reads: sent.filter(isRead) };
  }
  return { world, pace, reconcile };
}

describe('a forge that takes nine seconds for each answer', () => {
  test('no read begins once the budget of the reconcile is spent, and the worker is free one answer later', async () => {
    const { world, pace, reconcile } = await givenSlowForge();
    await givenScheduled(world.forge, 'a');
    await reconcile();
    await givenScheduled(world.forge, 'b');
    pace.answerMs = 9_000;
    for (let nth = 0; nth < 4; nth += 1) {
      const { report, heldMs, reads } = await reconcile();
      expect(reads.filter(({ atMs }) => atMs > RECONCILE_BUDGET_MS)).toEqual([]);
      expect(heldMs).toBeLessThanOrEqual(RECONCILE_BUDGET_MS + pace.answerMs);
      expect(report?.errorCode).toBe('timeout');
      await world.clock.advance(MINUTE_MS);
    }
  });

  test('loses and blames no pull request: all land once the forge is quick again', async () => {
    const { world, pace, reconcile } = await givenSlowForge();
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await reconcile();
    pace.answerMs = 9_000;
    for (let nth = 0; nth < 20; nth += 1) {
      await reconcile();
      await world.clock.advance(MINUTE_MS);
    }
    pace.answerMs = 0;
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    await expectHonestEnd(world, prs);
    expect((await world.events()).map(({ event }) => event)).not.toContain('pr_refused');
  });

  test('still has its success taken back, however late it is', async () => {
    const { world, pace, reconcile } = await givenSlowForge();
    const pr = await givenScheduled(world.forge, 'a');
    const head = (await world.forge.pull(pr)).headSha;
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    await world.drain({ until: async () => (await world.forge.status(head, 'mq'))?.state === 'success' });
    await world.settings({ queueEnabled: false });
    pace.answerMs = 7_000;
    for (let nth = 0; nth < 6; nth += 1) {
      await reconcile();
      await world.clock.advance(MINUTE_MS);
    }
    expect((await world.forge.status(head, 'mq'))?.state).not.toBe('success');
  });
});

test('a forge that takes two seconds for each answer is slow, and no failure: all land', async () => {
  const { world, pace } = await givenSlowForge();
  pace.answerMs = 2_000;
  const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
  await world.drain({ maxMs: 120 * MINUTE_MS, until: () => world.forge.merges().length === prs.length });
  expect((await endingOf(world, prs)).landed).toEqual(prs);
});
