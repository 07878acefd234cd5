import { type AbstractForge, createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { GITEA_126_SWITCHES, NO_LAGS } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { giveUpFirst, postsSuccess } from '../late-call.ts';
import {
  expectHonestEnd,
  givenProject,
  givenScheduled,
  staleSuccesses,
  unprovenLandings,
} from '../stories.ts';
import { createWorld, createWorldOn, type World } from '../world.ts';

const FORGES = [
  ['Forgejo 15', undefined],
  ['Gitea 1.26', GITEA_126_SWITCHES],
] as const;

async function createOn(switches: (typeof FORGES)[number][1]): Promise<World<AbstractForge>> {
  const clock = new VirtualClock();
  const forge = createAbstractForge(switches === undefined ? { clock } : { clock, switches });
  const world = await createWorldOn(clock, forge, forge.forge, {});
  await givenProject(forge, { '.gitea/workflows/mq-gate.yaml': 'on: push\njobs: {}\n' });
  return world;
}

const alarmsOf = (world: World) =>
  world.log.flatMap((line) => (line.fields.alarm === undefined ? [] : [line.fields.alarm]));

describe('a success stands on a head only until its landing is proven or given up', () => {
  test.each(FORGES)(
    '%s: the words on a commit that has landed open nothing, and say that it has',
    async (_name, switches) => {
      const world = await createOn(switches);
      const pr = await givenScheduled(world.forge, 'a');
      await world.clock.advance(30_000);
      await world.drain();
      const { headSha, merged } = await world.forge.pull(pr);
      expect(merged).toBe(true);
      expect(await world.forge.status(headSha, 'mq')).toMatchObject({
        state: 'pending',
        description: expect.stringMatching(/^landed: /),
      });
    },
  );

  test.each(FORGES)(
    '%s: landed, reverted, opened again with the same head: it gets a gate run of its own',
    async (_name, switches) => {
      const world = await createOn(switches);
      const first = await givenScheduled(world.forge, 'a');
      await world.clock.advance(30_000);
      await world.drain();
      const head = (await world.forge.pull(first)).headSha;
      const revert = await world.forge.openPullRequest({
        branch: 'revert',
        files: { 'src/a.txt': null, 'b.txt': 'b\n' },
      });
      await world.forge.schedule(revert, 'squash');
      await world.drain();
      const runs = world.forge.runs().length;
      world.forge.judge = () => 'failure';
      const again = await world.forge.openPullRequest({ branch: 'again', head });
      await world.forge.schedule(again, 'squash');
      await world.clock.advance(5_000);
      expect((await world.forge.pull(again)).merged).toBe(false);
      await world.drain();
      expect((await world.forge.pull(again)).merged).toBe(false);
      expect(world.forge.runs().length).toBeGreaterThan(runs);
      expect(await unprovenLandings(world.forge)).toEqual([]);
      expect(await staleSuccesses(world.forge, [again])).toEqual([]);
    },
  );

  test('a success of before the pull request was seen is taken back at the first look, scheduled or not', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    await world.drain();
    const prs: number[] = [];
    for (let index = 0; index < 8; index += 1) {
      const pr = await world.forge.openPullRequest({
        branch: `p${index}`,
        files: { [`p${index}.txt`]: 'x\n' },
      });
      await world.forge.postStatusAs('mq-bot', (await world.forge.pull(pr)).headSha, 'mq', 'success');
      prs.push(pr);
    }
    expect(await staleSuccesses(world.forge, prs)).toEqual(prs);
    await world.reconcile();
    expect(await staleSuccesses(world.forge, prs)).toEqual([]);
  });

  test('a success that was written while it had no schedule is taken back before it is staged', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'x\n' } });
    const { headSha } = await world.forge.pull(pr);
    await world.reconcile();
    await world.clock.advance(30_000);
    await world.reconcile();
    await world.forge.postStatusAs('mq-bot', headSha, 'mq', 'success');
    await world.forge.schedule(pr, 'squash');
    world.forge.judge = () => 'hold';
    await world.reconcile();
    expect(await world.forge.status(headSha, 'mq')).toMatchObject({ state: 'pending' });
    expect(world.forge.runs()).toHaveLength(1);
  });

  test('a success on a pull request in flight that the queue did not write is found by the patrol', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    world.forge.judge = () => 'hold';
    const pr = await givenScheduled(world.forge, 'a');
    await world.reconcile();
    const { headSha } = await world.forge.pull(pr);
    await world.forge.postStatusAs('mallory', headSha, 'mq', 'success');
    await world.clock.advance(10 * 60_000);
    await world.reconcile();
    expect(await staleSuccesses(world.forge, [pr])).toEqual([]);
    expect(alarmsOf(world)).toContain('foreign_status_writer');
  });

  test('the base is pushed to while the forge is to merge: it is taken back at once, and lands by a test on the new base (A23)', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    const word = async () => (await world.forge.status(headSha, 'mq'))?.state;
    await world.drain({ until: async () => (await word()) === 'success' });
    await world.forge.pushToBase({ 'other.txt': 'pushed\n' });
    await world.reconcile();
    expect(await word()).toBe('pending');
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.drain();
    expect(world.forge.runs()).toHaveLength(2);
    expect((await world.forge.pull(pr)).merged).toBe(true);
    await expectHonestEnd(world, [pr]);
  });

  test('a record that is lost right after a landing does not leave the success of it behind', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const pr = await givenScheduled(world.forge, 'a');
    await world.clock.advance(30_000);
    await world.drain();
    const { headSha } = await world.forge.pull(pr);
    // As a crash between the merge and the last word leaves it.
    await world.forge.postStatusAs('mq-bot', headSha, 'mq', 'success');
    await world.loseRecord();
    await world.clock.advance(30_000);
    await world.reconcile();
    expect(await world.forge.status(headSha, 'mq')).toMatchObject({
      state: 'pending',
      description: expect.stringMatching(/^landed: /),
    });
  });
});

describe('a success that is carried out long after its time-out', () => {
  test.each([45_000, 120_000])(
    '%d ms late, with the schedule cancelled meanwhile: it stands for a minute at most',
    async (lateMs) => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.lateEffectMs = lateMs;
      const pr = await givenScheduled(world.forge, 'a');
      const { headSha } = await world.forge.pull(pr);
      const wasGivenUp = giveUpFirst(world.forge, postsSuccess(headSha));
      // The landing's own post, not the first words on this head.
      await world.drain({ until: wasGivenUp });
      await world.forge.cancelSchedule(pr);
      const start = world.clock.now();
      await world.drain({ maxMs: lateMs + 90_000, afterEach: async () => false });
      expect(world.clock.now()).toBeGreaterThan(start + lateMs);
      const history = world.forge.statusHistory(headSha);
      const late = history.findLast((status) => status.state === 'success');
      expect(late?.createdAt).toBeGreaterThanOrEqual(start + lateMs - 15_000);
      expect(await staleSuccesses(world.forge, [pr])).toEqual([]);
      const after = history[history.findLastIndex((status) => status.state === 'success') + 1];
      expect((after?.createdAt ?? Number.POSITIVE_INFINITY) - (late?.createdAt ?? 0)).toBeLessThanOrEqual(
        61_000,
      );
      await world.drain();
      expect((await world.record()).unheard).toBeUndefined();
    },
  );
});

describe('readings of the forge that become true each in its own time', () => {
  test('a list that shows a landed pull request as open for some seconds makes no news of it', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    world.forge.lags = { ...NO_LAGS, list: 7_000 };
    const prs = [await givenScheduled(world.forge, 'a'), await givenScheduled(world.forge, 'b')];
    await world.clock.advance(30_000);
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
    const events = (await world.events()).filter((event) => event.event !== 'pr_staged');
    for (const pr of prs) {
      expect(
        events
          .filter((event) => event.pr === pr)
          .map((event) => event.event)
          .toReversed(),
      ).toEqual(['pr_queued', 'pr_landed']);
    }
    expect(alarmsOf(world)).toEqual([]);
    await expectHonestEnd(world, prs);
  });

  test.each([
    ['branch', { branch: 6_000 }],
    ['the base in the list', { listRefs: 6_000 }],
    ['the base in one pull request', { pullRefs: 6_000 }],
    [
      'all of them',
      { list: 9_000, listRefs: 4_000, pull: 2_000, pullRefs: 6_000, branch: 3_000, status: 5_000 },
    ],
  ])('a reading that lags (%s) invalidates nothing and raises no alarm', async (_name, lags) => {
    const world = await createWorld();
    await givenProject(world.forge);
    const prs = [];
    for (const name of ['a', 'b', 'c']) prs.push(await givenScheduled(world.forge, name));
    await world.clock.advance(30_000);
    world.forge.lags = { ...NO_LAGS, ...lags };
    await world.drain();
    expect(world.forge.merges().map((merge) => merge.pr)).toEqual(prs);
    const rows = await world.rows();
    expect(rows.map((row) => row.outcome)).toEqual(rows.map(() => 'success'));
    expect(alarmsOf(world)).toEqual([]);
    await expectHonestEnd(world, prs);
  });

  test('a base that is pushed back to the tip before the landing is believed once no reading can be that late', async () => {
    const world = await createWorld();
    await givenProject(world.forge);
    const before = await world.forge.tip('main');
    const pr = await givenScheduled(world.forge, 'a');
    await world.clock.advance(30_000);
    await world.drain();
    await world.forge.pushBranch('main', before);
    await world.clock.advance(120_000);
    await world.drain();
    expect(alarmsOf(world)).toContain('unverified_landing');
    expect((await world.forge.pull(pr)).merged).toBe(true);
  });
});

describe('clocks that differ', () => {
  test.each([3_000, 60_000, -3_000, -60_000])(
    'the clock of the forge is %d ms ahead of ours: a schedule in the second of the last look is seen',
    async (aheadMs) => {
      const world = await createWorld();
      await givenProject(world.forge);
      world.forge.clockAheadMs = aheadMs;
      const pr = await world.forge.openPullRequest({ branch: 'a', files: { 'a.txt': 'x\n' } });
      await world.clock.advance(1_000 - (world.clock.now() % 1_000) + 100);
      await world.forge.setTitle(pr, 'Change a, better');
      await world.reconcile();
      // The time stamp of this pull request stays what it was.
      const { updatedAt } = await world.forge.pull(pr);
      await world.forge.schedule(pr, 'squash');
      expect((await world.forge.pull(pr)).updatedAt).toBe(updatedAt);
      await world.clock.advance(30_000);
      await world.drain({ maxMs: 30 * 60_000 });
      expect((await world.forge.pull(pr)).merged).toBe(true);
    },
  );
});

test.each(FORGES)(
  '%s: a head that was pushed over while its success stood is told that for good',
  async (_name, switches) => {
    const world = await createOn(switches);
    world.forge.mergeBehaviour = () => ({ kind: 'lost' });
    const pr = await givenScheduled(world.forge, 'a');
    const { headSha } = await world.forge.pull(pr);
    const words = async () => world.forge.status(headSha, 'mq');
    await world.drain({ until: async () => (await words())?.state === 'success' });
    world.forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.forge.pushToPullRequest(pr, { 'src/a.txt': 'newer\n' });
    await world.drain();
    expect((await world.forge.pull(pr)).merged).toBe(true);
    expect(await words()).toMatchObject({
      state: 'error',
      description: expect.stringContaining('newer head'),
    });
    await expectHonestEnd(world, [pr]);
  },
);
