import { createAbstractForge } from '../fakes/abstract-forge/abstract-forge.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { defineForgeConflictTests } from './forge-conflict.suite.ts';
import { createWorldOn } from './world.ts';

defineForgeConflictTests('mode', () => {
  const clock = new VirtualClock();
  const forge = createAbstractForge({ clock, switches: { modesClash: true } });
  return createWorldOn(clock, forge, forge.forge, {});
});
