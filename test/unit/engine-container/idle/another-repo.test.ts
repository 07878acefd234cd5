import type { LookMemory } from '#core/ports/idle-look.ts';
import { lookForWork } from '../../../../engine-container/src/idle/idle-look.ts';
import { createAbstractForge } from '../../../fakes/abstract-forge/index.ts';
import { VirtualClock } from '../../../support/virtual-clock.ts';

/** Looks at a repository with the id 1, by a queue that knows this id. */
async function lookTwice(known: number | null, pulls: number) {
  const clock = new VirtualClock();
  const control = createAbstractForge({ clock });
  for (let pr = 1; pr <= pulls; pr += 1)
    await control.openPullRequest({ branch: `b${pr}`, files: { 'one.txt': `${pr}\n` } });
  let memory: LookMemory | null = null;
  const look = async (repoId: number | null) => {
    await clock.advance(300_000);
    const before = control.calls().length;
    const question = { baseBranch: 'main', statusContext: 'mq', repoId, setUp: null, memory };
    const answer = await lookForWork(control.forge, clock, question);
    if (answer.kind !== 'failed') memory = answer.memory;
    return { answer, calls: control.calls().length - before };
  };
  await look(1);
  await look(1);
  return look(known);
}

describe('an idle look', () => {
  test.each([0, 2])(
    'of another repository with %i pull requests says that its own is not reached',
    async (pulls) => {
      const { answer } = await lookTwice(2, pulls);
      expect(answer).toEqual({ kind: 'failed', fault: 'forge_access_denied' });
    },
  );

  test.each<[string, number | null, number, number]>([
    ['with pull requests asks for no id, which each of them shows', 1, 2, 4],
    ['without a pull request asks for the id besides', 1, 0, 3],
    ['without a pull request asks for no id that it could not compare', null, 0, 2],
  ])('of its own repository %s', async (_case, known, pulls, calls) => {
    expect(await lookTwice(known, pulls)).toMatchObject({ answer: { kind: 'idle' }, calls });
  });
});
