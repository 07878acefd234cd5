import type { AbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { endingOf, expectHonestEnd, givenProject, givenScheduled } from '../stories.ts';
import { createWorld, type World } from '../world.ts';

const MINUTE_MS = 60_000;

/** Something takes the rest of a proven batch apart, and it comes back to the queue. */
const INTERRUPTIONS: readonly (readonly [
  string,
  (world: World<AbstractForge>, pr: number) => Promise<void>,
])[] = [
  [
    'its schedule is taken back and given again',
    async ({ forge, ...world }, pr) => {
      await forge.cancelSchedule(pr);
      await world.reconcile();
      await world.clock.advance(MINUTE_MS);
      await forge.schedule(pr, 'squash');
    },
  ],
  [
    'the queue is paused and goes on',
    async (world) => {
      await world.settings({ pause: { kind: 'pause', reason: null, since: world.clock.now(), until: null } });
      await world.reconcile();
      await world.clock.advance(10 * MINUTE_MS);
      await world.reconcile();
      await world.settings({ pause: null });
    },
  ],
  [
    'the queue is switched off and on',
    async (world) => {
      await world.settings({ queueEnabled: false });
      await world.reconcile();
      await world.clock.advance(10 * MINUTE_MS);
      await world.reconcile();
      await world.settings({ queueEnabled: true });
    },
  ],
];

describe('a tree that this queue proved is not run again where the base has moved only by what it proved', () => {
  test.each(INTERRUPTIONS)('the last of a proven batch waits, and %s', async (_name, interrupt) => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    const prs = [
      await givenScheduled(forge, 'a'),
      await givenScheduled(forge, 'b'),
      await givenScheduled(forge, 'c'),
    ];
    const [first = 0, second = 0, last = 0] = prs;
    forge.mergeBehaviour = (pr) => (pr === last ? { kind: 'lost' } : { kind: 'now' });
    const { headSha } = await forge.pull(last);
    await world.drain({ until: async () => (await forge.status(headSha, 'mq'))?.state === 'success' });
    expect([first, second].map((pr) => forge.isMerged(pr))).toEqual([true, true]);
    await interrupt(world, last);
    forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    expect(forge.runs()).toHaveLength(1);
    await expectHonestEnd(world, prs);
  });

  test('… and it is run again where the base was moved past the queue', async () => {
    const world = await createWorld();
    const { forge } = world;
    await givenProject(forge);
    const prs = [await givenScheduled(forge, 'a'), await givenScheduled(forge, 'b')];
    const [first = 0, second = 0] = prs;
    forge.mergeBehaviour = (pr) => (pr === first ? { kind: 'now' } : { kind: 'lost' });
    const { headSha } = await forge.pull(second);
    await world.drain({ until: async () => (await forge.status(headSha, 'mq'))?.state === 'success' });
    await forge.pushToBase({ 'pushed.txt': 'pushed\n' });
    forge.mergeBehaviour = () => ({ kind: 'now' });
    await world.drain();
    expect((await endingOf(world, prs)).landed).toEqual(prs);
    expect(forge.runs()).toHaveLength(2);
  });
});
