import { STANDSTILLS } from '#core/domain/queue/standstill.ts';
import { toQueueView } from '../../../engine-container/src/queue/told/view.ts';
import { CI_AUTHOR, CI_CONTEXTS } from '../../fakes/abstract-forge/pipeline-statuses.ts';
import { endingOf, expectHonestEnd, GATE_FILE, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import { createWorld } from '../world.ts';

const MINUTE_MS = 60_000;

describe('the deadline of a gate', () => {
  test.each(['never', 'hold'] as const)(
    'a gate run that comes to nothing (%s) is staged anew once, then each member is judged alone; no pull request is blamed',
    async (judged) => {
      const world = await createWorld({ repo: { gateTimeoutMinutes: 20 } });
      await givenProject(world.forge);
      world.forge.judge = () => judged;
      const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
      await world.drain({
        until: async () =>
          (await world.rows()).some(({ terminalReason }) => terminalReason === 'gate_timeout'),
      });
      const begun = world.clock.now();
      await world.drain({
        until: async () =>
          (await world.rows()).filter(({ terminalReason }) => terminalReason === 'gate_timeout').length === 2,
      });
      expect(world.clock.now() - begun).toBeGreaterThanOrEqual(20 * MINUTE_MS);
      expect((await world.rows()).map(({ outcome }) => outcome)).toEqual(['error', 'error']);
      // For as long as nothing is tried: no gate run was broken off.
      expect((await world.reconcile())?.errorCode).toBe('gate_timeout');
      world.forge.judge = () => 'success';
      await world.drain();
      expect(await endingOf(world, prs)).toEqual({ landed: prs, bounced: [] });
      const later = (await world.rows()).filter(({ outcome }) => outcome === 'success');
      expect(later.map((row) => row.prs.length)).toEqual([1, 1]);
      await expectHonestEnd(world, prs);
    },
  );

  test('it is learned: three times what the gate runs take, 15 minutes at least, and none before five are known', async () => {
    const world = await createWorld({ repo: { gateTimeoutMinutes: null } });
    await givenProject(world.forge);
    world.forge.gateDurationMs = 10 * MINUTE_MS;
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await givenScheduled(world.forge, name);
      await world.drain();
    }
    world.forge.judge = () => 'hold';
    await givenScheduled(world.forge, 'f');
    const until = async () => (await world.rows()).some((row) => row.terminalReason === 'gate_timeout');
    const begun = world.clock.now();
    await world.drain({ until });
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(30 * MINUTE_MS);
    expect(world.clock.now() - begun).toBeLessThan(45 * MINUTE_MS);
  });

  test('it counts from the start of a run that waited for a runner, and what is learned leaves the wait out', async () => {
    const world = await createWorld({ repo: { gateTimeoutMinutes: 20 } });
    await givenProject(world.forge);
    Object.assign(world.forge, { runnerWaitMs: 30 * MINUTE_MS, gateDurationMs: 10 * MINUTE_MS });
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain({ maxMs: 15 * MINUTE_MS, until: async () => world.forge.runs().length > 0 });
    await world.reconcile();
    const repo = await world.store.getRepo('repo-1');
    if (repo === null) throw new Error('no repository');
    expect(toQueueView(repo, await world.record(), world.clock.now()).block.kind).toBe('runner');
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual([pr]);
    expect((await world.rows()).map(({ outcome }) => outcome)).toEqual(['success']);
    const [took = 0] = (await world.record()).gateTimes ?? [];
    expect([took >= 9 * MINUTE_MS, took <= 12 * MINUTE_MS]).toEqual([true, true]);
  });

  test('a second run that confirms a failure has a deadline and a duration of its own', async () => {
    const world = await createWorld({ repo: { gateTimeoutMinutes: 20 } });
    await givenProject(world.forge);
    world.forge.gateDurationMs = 15 * MINUTE_MS;
    const pr = await givenScheduled(world.forge, 'a', 'BAD\n');
    await world.drain();
    expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
    expect((await world.rows()).map(({ terminalReason }) => terminalReason)).not.toContain('gate_timeout');
    const times = (await world.record()).gateTimes ?? [];
    expect(times.length).toBeGreaterThan(1);
    expect(Math.max(...times)).toBeLessThan(17 * MINUTE_MS);
  });

  test.each([
    [40, 'lands'],
    [200, 'is given up'],
  ])(
    'a changed gate that waits %i minutes for the runner of another of ours %s: its author is not told to repair what only waits',
    async (minutes, end) => {
      const world = await createWorld({ repo: { bisectFanout: 16 } });
      await givenProject(world.forge);
      const first = await givenScheduled(world.forge, 'first');
      await world.drain();
      Object.assign(world.forge, { runners: 1, gateDurationMs: minutes * MINUTE_MS });
      const other = await givenScheduled(world.forge, 'a');
      await world.drain({ until: () => world.forge.runs().length > 1 });
      world.forge.gateDurationMs = MINUTE_MS;
      const files = { [GATE_PATH]: `# better\n${GATE_FILE}` };
      const editor = await world.forge.openPullRequest({ branch: 'gate', files });
      await world.forge.schedule(editor, 'squash');
      await world.drain({ maxMs: 10 * 60 * MINUTE_MS });
      const landed = world.forge.merges().map(({ pr }) => pr);
      expect(landed).toEqual(end === 'lands' ? [first, other, editor] : [first, other]);
    },
  );

  test('a run for which there is no runner is given up after four deadlines', async () => {
    const world = await createWorld({ repo: { gateTimeoutMinutes: 20 } });
    await givenProject(world.forge);
    world.forge.runnerWaitMs = Number.POSITIVE_INFINITY;
    await givenScheduled(world.forge, 'a');
    const begun = world.clock.now();
    const until = async () => (await world.rows()).some((row) => row.terminalReason === 'gate_timeout');
    await world.drain({ until });
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(80 * MINUTE_MS);
    expect(world.clock.now() - begun).toBeLessThan(100 * MINUTE_MS);
  });

  test('without one a gate run that never appears is waited for, as the contract has it (A20)', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'never';
    await givenScheduled(world.forge, 'a');
    await world.drain({ maxMs: 5 * 60 * MINUTE_MS });
    expect((await world.rows()).map(({ outcome }) => outcome)).toEqual(['running']);
  });

  test('the step that is told of such a run stages the batch anew, and no schedule is lost', async () => {
    expect(STANDSTILLS.gate_not_started.next).toMatch(/"Pause the queue".+a minute later "Resume the queue"/);
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'never';
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.drain({ maxMs: 20 * MINUTE_MS });
    expect(world.forge.runs()).toEqual([]);
    world.forge.judge = () => 'success';
    await world.settings({
      pause: { kind: 'pause', reason: null, since: world.clock.now(), until: null },
    });
    await world.drain({ maxMs: MINUTE_MS });
    await world.settings({ pause: null });
    await world.drain({ maxMs: 5 * MINUTE_MS });
    expect(await endingOf(world, prs)).toEqual({ landed: prs, bounced: [] });
    expect((await world.rows()).filter(({ outcome }) => outcome === 'success')).toHaveLength(1);
  });

  test('of a gate by statuses the log names the contexts that did not answer', async () => {
    const world = await createWorld({ gate: 'statuses', repo: { gateTimeoutMinutes: 20 } });
    await givenProject(world.forge);
    world.forge.judge = () => 'never';
    await givenScheduled(world.forge, 'a');
    await world.reconcile();
    const [build, test] = CI_CONTEXTS;
    await world.forge.postStatusAs(CI_AUTHOR, await world.forge.tip('mq/main/staging'), build, 'success');
    await world.clock.advance(21 * MINUTE_MS);
    const report = await world.reconcile();
    expect(report?.logTail.join()).toContain(`did not end within its deadline; no answer under ${test}`);
  });
});
