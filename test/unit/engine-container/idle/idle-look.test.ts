import type { LookMemory } from '#core/ports/idle-look.ts';
import { lookForWork } from '../../../../engine-container/src/idle/idle-look.ts';
import { createAbstractForge } from '../../../fakes/abstract-forge/index.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

const TICK_MS = 300_000;

/** A forge with one open pull request, looked at once per tick; the first looks have seen what was there. */
async function givenLooks() {
  const clock = new VirtualClock();
  const control = createAbstractForge({ clock });
  const pr = await control.openPullRequest({ branch: 'one', files: { 'one.txt': 'one\n' } });
  let memory: LookMemory | null = null;
  const look = async (afterMs = TICK_MS) => {
    await clock.advance(afterMs);
    const before = control.calls().length;
    const answer = await lookForWork(control.forge, clock, {
      baseBranch: 'main',
      statusContext: 'mq',
      repoId: null,
      setUp: null,
      memory,
    });
    if (answer.kind !== 'failed') memory = answer.memory;
    return { answer: answer.kind, calls: control.calls().length - before, full: answer };
  };
  const first = await look();
  await look();
  return { clock, control, pr, look, first };
}

describe('an idle look', () => {
  test('the first one asks for the engine, which has to see the base', async () => {
    const { first } = await givenLooks();
    expect(first.answer).toBe('needed');
  });

  test('finds nothing to do for as long as nothing moves, with three calls', async () => {
    const world = await givenLooks();
    for (let tick = 0; tick < 3; tick += 1) {
      expect(await world.look()).toMatchObject({ answer: 'idle', calls: 3 });
    }
  });

  test('sees a schedule at once, and keeps seeing it until it is cancelled', async () => {
    const world = await givenLooks();
    await world.control.schedule(world.pr);
    expect((await world.look()).answer).toBe('needed');
    expect((await world.look()).answer).toBe('needed');
    await world.control.cancelSchedule(world.pr);
    expect((await world.look()).answer).toBe('idle');
  });

  test('sees a schedule that was made after it had looked, within the same second of the forge', async () => {
    const world = await givenLooks();
    await world.clock.advance(1_000 - (world.clock.now() % 1_000));
    await world.control.pushToPullRequest(world.pr, { 'one.txt': 'two\n' });
    expect((await world.look(0)).answer).toBe('idle');
    const { updatedAt } = await world.control.forge.readPullRequest(world.pr);
    await world.control.schedule(world.pr);
    expect((await world.control.forge.readPullRequest(world.pr)).updatedAt).toBe(updatedAt);
    expect((await world.look()).answer).toBe('needed');
  });

  test.each<[string, (world: Awaited<ReturnType<typeof givenLooks>>) => Promise<unknown>, 'idle' | 'needed']>(
    [
      [
        'a push to the base past the queue',
        ({ control }) => control.pushToBase({ 'x.txt': 'x\n' }),
        'needed',
      ],
      [
        'a pull request that is opened',
        ({ control }) => control.openPullRequest({ branch: 'two', files: { 'two.txt': 'two\n' } }),
        'idle',
      ],
      [
        'a push to a pull request',
        ({ control, pr }) => control.pushToPullRequest(pr, { 'one.txt': '2\n' }),
        'idle',
      ],
      [
        'a success of another account under the status of the queue',
        async ({ control, pr }) =>
          control.postStatusAs('another-account', control.headOf(pr), 'mq', 'success'),
        'needed',
      ],
      [
        'words of the queue that promise to go on',
        async ({ control, pr }) =>
          control.postStatusAs('mq-bot', control.headOf(pr), 'mq', 'pending', 'queued: waits for its batch'),
        'needed',
      ],
      [
        'a success under another context',
        async ({ control, pr }) => control.postStatusAs('ci', control.headOf(pr), 'build', 'success'),
        'idle',
      ],
    ],
  )('after %s', async (_case, act, expected) => {
    const world = await givenLooks();
    await act(world);
    expect((await world.look()).answer).toBe(expected);
  });

  test.each([
    [401, 'forge_access_denied'],
    [503, 'forge_unreachable'],
  ])('a forge that answers %i is told as %s, and nothing of it is remembered', async (status, fault) => {
    const world = await givenLooks();
    world.control.fault = () => ({ status, when: 'before' });
    expect((await world.look()).full).toEqual({ kind: 'failed', fault });
  });

  test('a head that the repository does not have is no reason to ask the engine, and the other heads are read', async () => {
    const world = await givenLooks();
    const other = await world.control.openPullRequest({ branch: 'two', files: { 'two.txt': 'two\n' } });
    const lost = world.control.headOf(world.pr);
    world.control.fault = ({ path }) =>
      path.includes(`${lost}/status`) ? { status: 404, when: 'before' } : null;
    await world.look();
    expect((await world.look()).answer).toBe('idle');
    await world.control.postStatusAs('another-account', world.control.headOf(other), 'mq', 'success');
    expect((await world.look()).answer).toBe('needed');
  });

  test('one pull request that cannot be read needs the engine, which goes on with the others', async () => {
    const world = await givenLooks();
    await world.control.openPullRequest({ branch: 'two', files: { 'two.txt': 'two\n' } });
    await world.control.review(world.pr, 'reader', 'comment');
    world.control.fault = ({ path }) => (path.endsWith('timeline') ? { status: 500, when: 'before' } : null);
    expect(await world.look()).toMatchObject({ answer: 'needed', calls: 3 });
    world.control.fault = () => null;
    expect((await world.look()).answer).toBe('idle');
  });

  test('more changed pull requests than one look reads need the engine, and are read by and by', async () => {
    const world = await givenLooks();
    for (let n = 0; n < 25; n += 1) {
      await world.control.openPullRequest({ branch: `b${n}`, files: { [`${n}.txt`]: 'x\n' } });
    }
    expect((await world.look()).answer).toBe('needed');
    await world.look();
    expect((await world.look()).answer).toBe('idle');
  });
});
