import {
  endingOf,
  expectHonestEnd,
  GATE_FILE,
  GATE_PATH,
  givenProject,
  givenScheduled,
  statusOf,
} from '../stories.ts';
import type { World, WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;
const SILENT = GATE_FILE.replace('mq/**', 'never/**');

/** The staged tree defines its own judge, and a pull request may change it into one that never speaks (D-18). */
export function defineChangedGateTests(createWorld: (options?: WorldOptions) => Promise<World>): void {
  async function givenEditor(world: World, gate: string): Promise<number> {
    const pr = await world.forge.openPullRequest({ branch: 'gate', files: { [GATE_PATH]: gate } });
    await world.forge.schedule(pr, 'squash');
    return pr;
  }

  describe.each([1, 4, 16])('with %i runs at once', (bisectFanout) => {
    test('one that starts no run is given up in words; the others do not wait for it', async () => {
      const world = await createWorld({ repo: { bisectFanout } });
      await givenProject(world.forge);
      const editor = await givenEditor(world, SILENT);
      const others: number[] = [];
      for (const name of ['a', 'b', 'c', 'd']) others.push(await givenScheduled(world.forge, name));
      const begun = world.clock.now();
      await world.drain({
        until: () => world.forge.merges().length === others.length,
        maxMs: 20 * MINUTE_MS,
      });
      // With one slot, for as long as the changed gate may take to start; else not at all.
      expect(world.clock.now() - begun).toBeLessThan((bisectFanout === 1 ? 9 : 3) * MINUTE_MS);
      await world.drain({ maxMs: 8 * 60 * MINUTE_MS });
      expect(await endingOf(world, [editor, ...others])).toEqual({
        landed: expect.arrayContaining(others),
        bounced: [],
      });
      expect((await world.forge.pull(editor)).merged).toBe(false);
      expect(await statusOf(world, editor)).toMatch(
        /^error: refused: its changed workflow began no gate run/,
      );
      const told = (await world.events()).filter(({ pr, event }) => pr === editor && event === 'pr_refused');
      expect(told.map(({ reason }) => reason)).toEqual(['gate_not_started']);
      expect((await world.reconcile())?.errorCode).toBeNull();
      await expectHonestEnd(world, [editor, ...others]);
    });

    test('one that works lands, and the others with it', async () => {
      const world = await createWorld({ repo: { bisectFanout } });
      await givenProject(world.forge);
      const editor = await givenEditor(world, `# better\n${GATE_FILE}`);
      const prs = [editor];
      for (const name of ['a', 'b', 'c', 'd']) prs.push(await givenScheduled(world.forge, name));
      await world.drain({ maxMs: 60 * MINUTE_MS });
      expect([...(await endingOf(world, prs)).landed].sort((x, y) => x - y)).toEqual(prs);
      await expectHonestEnd(world, prs);
    });
  });

  test('one that breaks a workflow which the gate calls is given up in words; the others do not wait for it', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const called = `${GATE_PATH.slice(0, GATE_PATH.lastIndexOf('/'))}/called.yml`;
    // As Gitea from 1.27 on, which begins no run where it cannot read a workflow that is called.
    world.forge.judge = (files) => (files.has(called) ? 'never' : 'success');
    const breaker = await world.forge.openPullRequest({ branch: 'called', files: { [called]: 'on: [\n' } });
    await world.forge.schedule(breaker, 'squash');
    const others: number[] = [];
    for (const name of ['a', 'b']) others.push(await givenScheduled(world.forge, name));
    const begun = world.clock.now();
    await world.drain({
      until: () => world.forge.merges().length === others.length,
      maxMs: 20 * MINUTE_MS,
    });
    expect(world.clock.now() - begun).toBeLessThan(9 * MINUTE_MS);
    await world.drain({ maxMs: 60 * MINUTE_MS });
    expect(await endingOf(world, [breaker, ...others])).toEqual({
      landed: expect.arrayContaining(others),
      bounced: [],
    });
    expect(await statusOf(world, breaker)).toMatch(/^error: refused: its changed workflow began no gate run/);
    await expectHonestEnd(world, [breaker, ...others]);
  });

  test('one that changes a workflow beside the gate lands, however long its gate run takes', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.gateDurationMs = 50 * MINUTE_MS;
    const beside = `${GATE_PATH.slice(0, GATE_PATH.lastIndexOf('/'))}/beside.yml`;
    const pr = await world.forge.openPullRequest({ branch: 'beside', files: { [beside]: 'on: push\n' } });
    await world.forge.schedule(pr, 'squash');
    await world.drain({ maxMs: 3 * 60 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });

  test('a run of a changed gate that never ends is given up, and taken back', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = (files) => (files.get(GATE_PATH)?.includes('no such runner') ? 'hold' : 'success');
    const editor = await givenEditor(world, `# no such runner\n${GATE_FILE}`);
    const other = await givenScheduled(world.forge, 'a');
    await world.drain({ maxMs: 90 * MINUTE_MS });
    expect((await endingOf(world, [editor, other])).landed).toEqual([other]);
    expect(await statusOf(world, editor)).toMatch(/^error: refused: the gate run of its changed workflow/);
    await expectHonestEnd(world, [editor, other]);
  });

  test('given up, it is tried again when it is scheduled again, and lands once it is repaired', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const editor = await givenEditor(world, SILENT);
    await world.drain({ maxMs: 20 * MINUTE_MS });
    const events = async () =>
      (await world.events()).filter(({ pr, event }) => pr === editor && event === 'pr_refused').length;
    expect(await events()).toBe(1);
    await world.forge.pushToBase({ 'moved.txt': 'moved\n' });
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await events()).toBe(1);
    await world.forge.cancelSchedule(editor);
    await world.forge.schedule(editor, 'squash');
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect(await events()).toBe(2);
    await world.forge.pushToPullRequest(editor, { [GATE_PATH]: `# repaired\n${GATE_FILE}` });
    await world.forge.cancelSchedule(editor);
    await world.forge.schedule(editor, 'squash');
    await world.clock.advance(MINUTE_MS);
    await world.drain({ maxMs: 30 * MINUTE_MS });
    expect((await endingOf(world, [editor])).landed).toEqual([editor]);
    await expectHonestEnd(world, [editor]);
  });

  test('a run that is late although the gate did not change is waited for (D-06)', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.judge = () => 'never';
    const pr = await givenScheduled(world.forge, 'a');
    await world.drain({ maxMs: 3 * 60 * MINUTE_MS });
    expect((await world.record()).deferred).toEqual([]);
    expect(await world.forge.status((await world.forge.pull(pr)).headSha, 'mq')).toMatchObject({
      state: 'pending',
      description: expect.stringMatching(/^staged:/),
    });
  });
}
