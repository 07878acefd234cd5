import { known } from '#core/domain/result.ts';
import type { EngineForge } from '#core/ports/forge.ts';
import { askHeld } from '../../../../engine-container/src/reading/ask-held.ts';
import { BASE, givenRecord } from '../../../builders/queue-record.ts';
import { givenPull, givenView } from '../../../builders/snapshot.ts';

const HELD = Array.from({ length: 12 }, (_, at) => at + 1);

test('those that the forge alone holds are asked for a few at a time, each in its turn', async () => {
  const asked: number[] = [];
  const readPullRequest = async (pr: number) => {
    asked.push(pr);
    return givenPull(pr, { mergeable: true });
  };
  const deferred = HELD.map((pr) => ({
    pr,
    head: `head-${pr}`,
    reason: 'forge_conflict' as const,
    baseTree: BASE.tree,
    until: null,
  }));
  const views = HELD.map((pr) => givenView(pr, { pull: { mergeable: false } }));
  const look = (fence: number) =>
    askHeld(
      { readPullRequest } as unknown as EngineForge,
      'main',
      async (read) => known(await read()),
      givenRecord({ deferred }),
      views,
      fence,
    );
  const found = await look(0);
  expect(found.filter(({ pull }) => pull.mergeable).map(({ pull }) => pull.number)).toEqual(asked);
  expect(asked).toHaveLength(5);
  for (let fence = 1; fence < HELD.length; fence += 1) await look(fence);
  expect(new Set(asked)).toEqual(new Set(HELD));
});
