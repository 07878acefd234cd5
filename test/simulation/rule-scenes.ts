import { DEFAULT_SERVICE_NAME } from '#core/domain/queue-names.ts';
import { FORGEJO_15_SWITCHES, GITEA_126_SWITCHES, type Switches } from '../fakes/abstract-forge/world.ts';
import { givenProject, givenScheduled } from '../scenario/stories.ts';
import { look, setStage } from './scene-stage.ts';

/** Scenes of `scenes.ts` about how the rule of a base is read. */

/** A required check that no status can answer, by the forge's own reading of its pattern: the forge does not ask for it. */
function askForMalformed(pattern: string, switches: Partial<Switches>): () => Promise<readonly string[]> {
  return async () => {
    const stage = await setStage({ switches });
    await givenProject(stage.forge);
    await stage.forge.setProtection({ requiredContexts: [DEFAULT_SERVICE_NAME, pattern] });
    const pr = await givenScheduled(stage.forge, 'a');
    await look(stage, 20);
    return stage.forge.isMerged(pr) ? [] : ['a malformed pattern is waited for'];
  };
}

export const askForOpenClass = askForMalformed('ci/[linux', GITEA_126_SWITCHES);
export const askForRangesOfForgejo = askForMalformed('ci/[a-z0-9]*', FORGEJO_15_SWITCHES);
