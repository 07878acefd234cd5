import { createAbstractForge } from '../../fakes/abstract-forge/index.ts';
import { GITEA_126_SWITCHES } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { createWorldOn } from '../world.ts';
import { describeOutsideHeads } from './outside-heads.suite.ts';

describeOutsideHeads('abstract Gitea', () => {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: GITEA_126_SWITCHES });
  return createWorldOn(clock, forge, forge.forge, {});
});
