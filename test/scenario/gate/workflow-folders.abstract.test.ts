import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { FORGEJO_15_SWITCHES, GITEA_126_SWITCHES, type Switches } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { givenScheduled } from '../stories.ts';
import { createWorldOn, type World } from '../world.ts';
import { defineWorkflowFolderTests } from './workflow-folders.suite.ts';

const on = (switches: Switches) => (): Promise<World> => {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches });
  return createWorldOn(clock, forge, forge.forge, {});
};

defineWorkflowFolderTests([
  { kind: 'forgejo', create: on(FORGEJO_15_SWITCHES) },
  { kind: 'gitea', create: on(GITEA_126_SWITCHES) },
]);

test('the report names the version of the forge, once there is something to queue', async () => {
  const world = await on(GITEA_126_SWITCHES)();
  expect((await world.reconcile())?.forge).toBeUndefined();
  await givenScheduled(world.forge, 'a');
  await world.clock.advance(60_000);
  expect((await world.reconcile())?.forge).toMatchObject({ kind: 'gitea', major: 1, minor: 26 });
});
