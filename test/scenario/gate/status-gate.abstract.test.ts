import { CI_AUTHOR, CI_CONTEXTS, CI_STRANGER } from '../../fakes/abstract-forge/pipeline-statuses.ts';
import { PLAIN_CI } from '../../fakes/abstract-forge/world.ts';
import { wrapForge } from '../hooks.ts';
import { endingOf, expectHonestEnd, GATE_PATH, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, STATUS_GATE, type WorldOptions } from '../world.ts';

const MINUTE_MS = 60_000;
const [BUILD, TEST] = CI_CONTEXTS;

async function givenOneStaged(options: WorldOptions = {}) {
  const world = await createWorld({ gate: 'statuses', ...options });
  await givenProject(world.forge);
  world.forge.judge = () => 'never';
  const pr = await givenScheduled(world.forge, 'a');
  await world.reconcile();
  const sha = await world.forge.tip('mq/main/staging');
  const say = (context: string, state: string, author = CI_AUTHOR, description = '') =>
    world.forge.postStatusAs(author, sha, context, state, description);
  const look = async () => {
    await world.clock.advance(MINUTE_MS);
    return world.reconcile();
  };
  return { world, pr, say, look };
}

describe('a gate by commit statuses', () => {
  test('lands only once every context has passed', async () => {
    const { world, pr, say, look } = await givenOneStaged();
    await say(BUILD, 'success');
    await look();
    expect((await endingOf(world, [pr])).landed).toEqual([]);
    await say(TEST, 'success');
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  });

  test('a status of another account never counts, and is told', async () => {
    const { world, pr, say, look } = await givenOneStaged();
    for (const context of CI_CONTEXTS) await say(context, 'success', CI_STRANGER);
    const report = await look();
    expect(report?.errorCode).toBe('foreign_gate_status');
    expect(report?.logTail.join()).toContain(`${CI_STRANGER} posted ${TEST}`);
    expect((await endingOf(world, [pr])).landed).toEqual([]);
    for (const context of CI_CONTEXTS) await say(context, 'success');
    for (const context of CI_CONTEXTS) await say(context, 'failure', CI_STRANGER);
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    expect((await world.reconcile())?.errorCode).toBeNull();
  });

  test('the newest status of a context counts, whatever was said before', async () => {
    const { world, pr, say, look } = await givenOneStaged();
    await say(BUILD, 'failure');
    await say(BUILD, 'pending');
    await say(TEST, 'success');
    await look();
    expect((await world.rows()).map((row) => row.outcome)).toEqual(['running']);
    await say(BUILD, 'success');
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  });

  test.each([
    ['failure', 'Pipeline was canceled'],
    ['error', ''],
    ['skipped', ''],
    ['warning', 'This commit was not built'],
  ])(
    '%s (%s) is no fault of a pull request: it is staged anew in a commit of its own',
    async (state, words) => {
      const { world, pr, say, look } = await givenOneStaged();
      await say(BUILD, 'success');
      await say(TEST, state, CI_AUTHOR, words);
      world.forge.judge = () => 'success';
      await look();
      await world.drain();
      expect(await endingOf(world, [pr])).toEqual({ landed: [pr], bounced: [] });
      const tried = (await world.rows()).map((row) => row.stagingSha);
      expect(new Set(tried).size).toBe(tried.length);
      expect(tried.length).toBeGreaterThan(1);
      await expectHonestEnd(world, [pr]);
    },
  );

  test('failed tests of Jenkins, a warning, bounce after a second run of the same tree', async () => {
    const { world, pr, say, look } = await givenOneStaged();
    await say(TEST, 'warning', CI_AUTHOR, 'This commit is unstable');
    world.forge.judge = (files) => (files.has('src/a.txt') ? 'failure' : 'success');
    await look();
    await world.drain();
    expect(await endingOf(world, [pr])).toEqual({ landed: [], bounced: [pr] });
  });

  test('where a pattern names the contexts, a pass counts once no further one has come for a while', async () => {
    const { world, pr, say, look } = await givenOneStaged({
      repo: { gate: 'statuses', gateContexts: ['ci/woodpecker/push/*'], gateAuthors: [CI_AUTHOR] },
    });
    await say(BUILD, 'success');
    await world.clock.advance(10_000);
    await world.reconcile();
    expect((await endingOf(world, [pr])).landed).toEqual([]);
    await say(TEST, 'pending');
    await look();
    await look();
    expect((await endingOf(world, [pr])).landed).toEqual([]);
    await say(TEST, 'success');
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  });

  test.each([
    '.woodpecker.yaml',
    '.crow/test.yaml',
    '.tekton/push.yaml',
    '.agola/config.yml',
    '.gitlab-ci.yml',
  ])('who changes what the CI is told to run is judged alone: %s', async (path) => {
    const world = await createWorld({ gate: 'statuses' });
    await givenProject(world.forge);
    const prs = [
      await givenScheduled(world.forge, 'a'),
      await givenScheduled(world.forge, 'ci', 'steps: []', { path }),
      await givenScheduled(world.forge, 'b'),
    ];
    await world.drain();
    expect([...(await endingOf(world, prs)).landed].sort()).toEqual(prs);
    const together = (await world.rows()).filter((row) => row.prs.length > 1).flatMap((row) => row.prs);
    expect(together).not.toContain(prs[1]);
  });

  test('another list of contexts takes back what the earlier one has proven', async () => {
    const { world, pr, say, look } = await givenOneStaged();
    await say(BUILD, 'success');
    world.forge.judge = () => 'success';
    await world.settings({ gateContexts: [BUILD] });
    await look();
    const ends = (await world.rows()).map(({ outcome, terminalReason }) => `${outcome} ${terminalReason}`);
    expect(ends).toContain('invalidated gate_changed');
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
    await expectHonestEnd(world, [pr]);
  });

  test('a list that is changed while the engine looks ends that reconcile: nothing is decided by the earlier one', async () => {
    let whenRead: () => Promise<void> = async () => {};
    const { world, pr, say } = await givenOneStaged({
      wrapForge: wrapForge(async (name, _args, answer) => {
        const answered = await answer();
        if (name === 'listStatusHistory') await whenRead();
        return answered;
      }),
    });
    for (const context of CI_CONTEXTS) await say(context, 'success');
    whenRead = async () => {
      whenRead = async () => {};
      await world.settings({ gateContexts: [...CI_CONTEXTS, 'ci/never-answers'] });
    };
    await world.clock.advance(MINUTE_MS);
    const report = await world.reconcile();
    expect(report).toMatchObject({ errorCode: null, wakeAt: world.clock.now() });
    expect((await world.rows()).map(({ outcome }) => outcome)).toEqual(['running']);
    await world.reconcile();
    expect((await world.rows()).map(({ terminalReason }) => terminalReason)).toContain('gate_changed');
    expect((await endingOf(world, [pr])).landed).toEqual([]);
  });

  test('no run is cancelled on the forge, which has none', async () => {
    const world = await createWorld({ gate: 'statuses', repo: { bisectFanout: 16 } });
    await givenProject(world.forge);
    world.forge.ciHabits = { ...PLAIN_CI, repeats: true, strangers: true };
    const prs: number[] = [];
    for (const name of ['a', 'b', 'c', 'd'])
      prs.push(await givenScheduled(world.forge, name, name === 'b' ? 'BAD\n' : undefined));
    await world.drain();
    expect(await endingOf(world, prs)).toMatchObject({ bounced: [prs[1]] });
    expect(world.forge.calls().map(({ call }) => call)).not.toContain('POST actions/runs/{id}/cancel');
    await expectHonestEnd(world, prs);
  });
});

describe('the choice of another gate while the one of before is missing', () => {
  const NO_CONTEXTS = { ...STATUS_GATE, gateContexts: [] };

  test.each([
    ['statuses in place of a workflow', { gate: 'workflow' }, STATUS_GATE],
    ['contexts in place of none', NO_CONTEXTS, STATUS_GATE],
  ] as const)('%s: it is staged at the next look', async (_name, before, after) => {
    const world = await createWorld({ gate: 'statuses', repo: before });
    await world.forge.pushToBase({ [GATE_PATH]: null });
    const pr = await givenScheduled(world.forge, 'a');
    expect((await world.reconcile())?.errorCode).toBe('gate_missing');
    await world.settings(after);
    expect((await world.reconcile())?.errorCode).toBeNull();
    expect((await world.record()).deferred).toEqual([]);
    expect(world.forge.runs()).not.toEqual([]);
    await world.drain();
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  });

  test('a workflow in place of statuses: it is staged at the next look', async () => {
    const world = await createWorld({ repo: NO_CONTEXTS });
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a');
    expect((await world.reconcile())?.errorCode).toBe('gate_missing');
    await world.settings({ gate: 'workflow' });
    expect((await world.reconcile())?.errorCode).toBeNull();
    await world.drain({ maxMs: 4 * MINUTE_MS });
    expect((await endingOf(world, [pr])).landed).toEqual([pr]);
  });

  test('with the same gate it waits, also where nothing else could be staged', async () => {
    const world = await createWorld({ gate: 'statuses', repo: NO_CONTEXTS });
    await world.forge.pushToBase({ [GATE_PATH]: null });
    await givenScheduled(world.forge, 'a');
    await world.reconcile();
    await world.clock.advance(MINUTE_MS);
    expect((await world.reconcile())?.errorCode).toBe('gate_missing');
    expect((await world.record()).deferred).toMatchObject([{ reason: 'gate_missing' }]);
    await world.settings({ ...STATUS_GATE, queueEnabled: false });
    await world.reconcile();
    expect((await world.record()).deferred).toEqual([]);
  });
});
