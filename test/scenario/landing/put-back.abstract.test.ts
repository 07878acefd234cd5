import { givenProject } from '../stories.ts';
import { createWorld } from '../world.ts';

const OPEN = 12;

test('an engine whose store may be of another time reads the statuses of each open head once, when it starts', async () => {
  let reads = 0;
  const world = await createWorld({
    lastingEngine: true,
    mayBeOlder: true,
    wrapForge: (forge) => ({
      ...forge,
      readStatuses: async (sha) => {
        reads += 1;
        return forge.readStatuses(sha);
      },
    }),
  });
  await givenProject(world.forge);
  for (let index = 0; index < OPEN; index += 1)
    await world.forge.openPullRequest({ branch: `b${index}`, files: { [`f${index}.txt`]: 'x' } });
  const readsOfLook = async () => {
    reads = 0;
    await world.reconcile();
    return reads;
  };
  // The first look meets no record, the second one that it has stored itself.
  expect([await readsOfLook(), await readsOfLook()]).toEqual([OPEN, 0]);
});
