import { createAbstractForge } from '../../fakes/abstract-forge/abstract-forge.ts';
import { FORGEJO_15_SWITCHES, GITEA_126_SWITCHES } from '../../fakes/abstract-forge/world.ts';
import { VirtualClock } from '../../support/virtual-clock.ts';
import { createWorldOn } from '../world.ts';
import { promotionSuite } from './promotion.suite.ts';

describe.each([
  ['Forgejo', FORGEJO_15_SWITCHES],
  ['Gitea', GITEA_126_SWITCHES],
])('a pull request from the base on %s, in memory', (_name, switches) => {
  promotionSuite(async (mergeStyle) => {
    const clock = new VirtualClock();
    const forge = createAbstractForge({ clock, switches });
    forge.checkDelayMs = 100;
    return createWorldOn(clock, forge, forge.forge, { repo: { mergeStyle } });
  });
});
